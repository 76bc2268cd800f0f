"""Many flights of one environment at once: in chunks that fit the cache, spread over the cores.

Flights are independent of one another and of how many there are: the flight with the same key and the same
actions is the same flight. What ends starts again by itself, in the same step or in the next one.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache, wraps
from typing import Any, NamedTuple, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from skyrig import checks
from skyrig.envs.environment import Environment, EnvState
from skyrig.errors import InputError
from skyrig.sim.batch import CHUNK
from skyrig.sim.kernel import in_one_kernel

Made = TypeVar("Made")


class Lanes(eqx.Module):
    """Flights under way: chunks in front, flights of a chunk last; a flight alone has neither axis."""

    state: EnvState
    over: Array
    """Whether the last step ended an episode that has not started again."""


class StepOutcome(NamedTuple):
    """What a step of many flights brings, flights first in every array."""

    observation: Any
    """(flights, size), or (flights, n, size) where every vehicle observes for itself; float32."""
    reward: Any
    """(flights,) float32."""
    terminated: Any
    truncated: Any
    final: Any
    """The observation before a start in the same step; elsewhere the same as `observation`."""
    info: Any
    """Of the period that was flown, before any start: (flights,) by name."""
    started: Any
    """(flights,) whether a new episode began in this step: `observation` is then its first."""


def split(count: int, threads: int, chunk: int = CHUNK) -> tuple[int, int, int]:
    """Parts, chunks in a part and flights in a chunk for `count` flights; they may hold a few more."""
    parts = min(threads, -(-count // chunk))
    chunks = -(-count // (parts * chunk))
    return parts, chunks, -(-count // (parts * chunks))


MODES = ("same", "next", "never")
"""When a flight that has ended starts again: in the same step, in the next one, or when it is told to."""


class Many:
    """A batch of flights that goes on as long as it is stepped.

    In mode "next" the step after an end ignores that flight's action, starts it again, and rewards nothing.

    Args:
        environment: What is flown.
        count: How many flights.
        mode: One of `MODES`.
        threads: Threads to spread them over; one for each core if left out.
        chunk: Most flights computed together.
    """

    def __init__(
        self,
        environment: Environment,
        count: int,
        mode: str = "next",
        threads: int | None = None,
        chunk: int = CHUNK,
    ) -> None:
        if count < 1:
            raise InputError(f"count must be at least 1, not {count}.")
        self.environment = environment
        self._apart = Apart(*jax.tree.flatten(environment))
        self.count = count
        self.mode = checks.choice("mode", mode, MODES)
        self._parts, self._chunks, self._size = split(count, threads or os.cpu_count() or 1, chunk)
        self._pool = ThreadPoolExecutor(self._parts) if self._parts > 1 else None
        self._lanes: list[Lanes] | None = None

    def reset(self, keys: np.ndarray) -> Any:
        """Start every flight anew from its key (count, 2); observations, flights first."""
        cut = self._cut(keys)
        return self._begin([np.moveaxis(part, -1, 1) if part.ndim == 3 else part for part in cut])

    def restart(self) -> Any:
        """Start every flight anew by its own chances; observations, flights first."""
        return self._begin([lanes.state.key for lanes in self._under_way()])

    def step(self, actions: np.ndarray | Array) -> StepOutcome:
        """One control period of every flight.

        Args:
            actions: (count, n * a), or (count, n, a) with one row for each vehicle.
        """
        flown = self._each(_flown, self._under_way(), self._cut(actions), [self.mode] * self._parts)
        self._lanes = [lanes for lanes, _ in flown]
        return jax.tree.map(lambda *leaves: self._joined(leaves), *(outcome for _, outcome in flown))

    def state(self, index: int = 0) -> EnvState:
        """Where one flight is, without the axes of a batch."""
        part, rest = divmod(index, self._chunks * self._size)
        lanes = self._under_way()[part]
        if self.count == 1:
            return lanes.state
        chunk, lane = divmod(rest, self._size)
        return jax.tree.map(lambda leaf: leaf[chunk, ..., lane], lanes.state)

    def close(self) -> None:
        """Let the threads go."""
        if self._pool is not None:
            self._pool.shutdown()

    def _under_way(self) -> list[Lanes]:
        if self._lanes is None:
            raise InputError("reset must be called before anything else.")
        return self._lanes

    def _begin(self, keys: list[Any]) -> Any:
        begun = self._each(_begun, keys)
        self._lanes = [lanes for lanes, _ in begun]
        return self._joined([observation for _, observation in begun])

    def _each(self, work: Any, *columns: Any) -> list[Any]:
        """`work` for every part; in threads, since compiled code lets go of Python's lock."""
        rows = [(self._apart, *row) for row in zip(*columns, strict=True)]
        if self._pool is None:
            return [work(*row) for row in rows]
        return list(self._pool.map(lambda row: jax.block_until_ready(work(*row)), rows))

    def _cut(self, rows: Any) -> list[Any]:
        """Rows of flights, (chunks, size, ...) for each part; the last flight fills up what is missing."""
        if self.count == 1:
            return [rows[0]]
        whole = self._parts * self._chunks * self._size
        if whole != self.count:
            rows = rows[np.minimum(np.arange(whole), self.count - 1)]
        shaped = rows.reshape((self._parts, self._chunks, self._size, *rows.shape[1:]))
        return [shaped[part] for part in range(self._parts)]

    def _joined(self, parts: Any) -> Any:
        if len(parts) == 1:
            return parts[0] if parts[0].shape[0] == self.count else parts[0][: self.count]
        return np.concatenate([np.asarray(part) for part in parts])[: self.count]


def _flights_last(rows: Array, many: bool) -> Array:
    """(chunks, size, ...) to (chunks, ..., size), the components in reverse order."""
    return rows.transpose((0, *range(rows.ndim - 1, 0, -1))) if many else rows.T


def _flights_first(leaf: Array, many: bool) -> Array:
    """(chunks, ..., size) to (chunks * size, ...), the components in reverse order."""
    if not many:
        return leaf.T[None]
    turned = leaf.transpose((0, *range(leaf.ndim - 1, 0, -1)))
    return turned.reshape((-1, *turned.shape[2:]))


class Apart(NamedTuple):
    """An environment taken apart into numbers and what is compiled for, once and not at every step."""

    numbers: list[Array]
    structure: Any


def _compiled(work: Callable[..., Made]) -> Callable[..., Made]:
    """`work` on an environment, compiled once for all environments of the same structure."""

    @lru_cache(maxsize=64)
    def program(structure: Any) -> Callable[..., Made]:
        return jax.jit(lambda numbers, *rest: work(jax.tree.unflatten(structure, numbers), *rest))

    @wraps(work)
    def call(env: Apart, *rest: Any) -> Made:
        return program(env.structure)(env.numbers, *rest)

    return call


def _chunk_by_chunk(work: Any, given: Any, many: bool) -> Any:
    return jax.lax.map(work, given) if many else work(given)


@_compiled
def _begun(env: Environment, keys: Array) -> tuple[Lanes, Array]:
    """Flights from keys (chunks, 2, size)."""
    many = keys.ndim == 3
    state, observation = _chunk_by_chunk(env.reset, keys, many)
    return Lanes(state, jnp.zeros(state.tick.shape, bool)), _flights_first(observation, many)


@_compiled
def _stepped(env: Environment, lanes: Lanes, actions: Array) -> tuple[Lanes, StepOutcome]:
    """One period of all flights; those that were over get no reward, and have yet to be started again."""
    if lanes.over.ndim == 0:  # a flight alone: what a call costs is most of it
        return in_one_kernel(lanes.state.tick >= 0, _period, env, lanes, actions)
    return _period(env, lanes, actions)


def _period(env: Environment, lanes: Lanes, actions: Array) -> tuple[Lanes, StepOutcome]:
    many = lanes.over.ndim == 2
    by_vehicle = actions.reshape((*lanes.over.shape, env.count, env.action_size))

    def chunk(part: tuple[Lanes, Array]) -> tuple[Lanes, StepOutcome]:
        lanes, action = part
        state, seen, reward, terminated, truncated, info = env.step(lanes.state, action)
        going = ~lanes.over
        terminated, truncated = terminated & going, truncated & going
        reward = jnp.where(going, reward, 0.0)
        outcome = StepOutcome(seen, reward, terminated, truncated, seen, info, lanes.over)
        return Lanes(state, terminated | truncated), outcome

    new, outcome = _chunk_by_chunk(chunk, (lanes, _flights_last(by_vehicle, many)), many)
    return new, jax.tree.map(lambda leaf: _flights_first(leaf, many), outcome)


@_compiled
def _alone_again(env: Environment, key: Array) -> tuple[EnvState, Array]:
    """A flight alone, from the start."""
    state, observation = env.reset(key)
    return state, _flights_first(observation, False)


@_compiled
def _some_again(env: Environment, state: EnvState, seen: Array, spots: Array) -> tuple[EnvState, Array]:
    """The flights at `spots`, as many as a chunk holds, from the start; spots beyond the last mean none."""
    chunk, lane = jnp.divmod(spots, state.tick.shape[-1])
    keys = jnp.moveaxis(state.key[jnp.minimum(chunk, len(state.key) - 1), ..., lane], 0, -1)
    new, observation = env.reset(keys)

    def put(leaf: Array, own: Array) -> Array:
        return leaf.at[chunk, ..., lane].set(jnp.moveaxis(own, -1, 0), mode="drop")

    first = _flights_first(observation[None], True)
    return jax.tree.map(put, state, new), seen.at[spots].set(first, mode="drop")


def _again(env: Apart, state: EnvState, which: np.ndarray, seen: Array) -> tuple[EnvState, Array]:
    """The flights in `which` from the start, put together so that few starts cost little."""
    if which.ndim == 0:
        return _alone_again(env, state.key)
    size, spots = which.shape[-1], np.flatnonzero(which)
    for k in range(0, len(spots), size):
        some = spots[k : k + size]
        padded = np.concatenate([some, np.full(size - len(some), which.size)])
        state, seen = _some_again(env, state, seen, padded)
    return state, seen


def _flown(env: Apart, lanes: Lanes, actions: Any, mode: str) -> tuple[Lanes, StepOutcome]:
    """One period of one part, with what starts again; a program of its own, which not every step needs."""
    new, out = _stepped(env, lanes, actions)
    if mode == "never":
        return Lanes(new.state, lanes.over), out
    which = new.over if mode == "same" else lanes.over
    starting = np.asarray(which)
    over = jnp.zeros_like(which) if mode == "same" else new.over
    if not starting.any():
        return Lanes(new.state, over), out._replace(started=starting.reshape(-1))
    state, seen = _again(env, new.state, starting, out.observation)
    final = out.observation if mode == "same" else seen
    return Lanes(state, over), out._replace(observation=seen, final=final, started=starting.reshape(-1))
