"""Open-loop roll-out from arrays: a rig, a state, held inputs in; motion, tensions and events out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt
from jaxtyping import Array, Bool, Float

from skyrig import checks
from skyrig.algebra import as_jax, traced
from skyrig.brief import brief
from skyrig.errors import InputError
from skyrig.programs import Program
from skyrig.sim.events import Event, events, raise_troubles
from skyrig.sim.plan import STEP, Cut, Plan, Poke, bucket, held_inputs, schedule
from skyrig.sim.stepping import Log, step
from skyrig.sim.walk import Held, Record, _happen, _held, _record, _row, record_layout, walk, walk_packed

Reals = Float[Array, "..."] | Float[np.ndarray, "..."]


@dataclass(frozen=True)
class Track:
    """How one body (times first, xyz last) or several (times, bodies, xyz) moved."""

    position: Reals
    """m, world."""
    velocity: Reals
    """m/s, world."""
    attitude: Reals
    """Quaternion wxyz, body to world."""
    rate: Reals
    """rad/s, body frame."""

    __repr__ = brief


@dataclass(frozen=True)
class Rollout:
    """What came out of a roll-out; times first in every array."""

    times: np.ndarray
    """(T,) s."""
    payload: Track
    """(T, 3) and (T, 4)."""
    vehicles: Track
    """(T, n, 3) and (T, n, 4)."""
    tension: Reals
    """(T, n) N; just before the inputs change, where they do."""
    taut: Bool[Array, "..."] | Bool[np.ndarray, "..."]
    """(T, n)."""
    cable_length: Reals
    """(T, n) free lengths (m)."""
    events: list[Event] = field(repr=False)
    """In order of time; empty while tracing."""
    final: Any = field(repr=False)
    """State at the end, to go on from."""
    log: Log = field(repr=False)
    event_times: Reals = field(repr=False)
    """(rows,) times of the log's resets (s); those of impacts differentiate."""

    __repr__ = brief


def rollout(
    rig: Any,
    state: Any,
    times: npt.ArrayLike,
    thrust: npt.ArrayLike,
    moment: npt.ArrayLike | None = None,
    *,
    payload_force: npt.ArrayLike | None = None,
    payload_torque: npt.ArrayLike | None = None,
    vehicle_force: npt.ArrayLike | None = None,
    vehicle_torque: npt.ArrayLike | None = None,
    winch: npt.ArrayLike | None = None,
    happenings: Sequence[Poke | Cut] = (),
    at: npt.ArrayLike | None = None,
    step: float = STEP,
    max_events: int = 256,
) -> Rollout:
    """Fly a rig open loop with inputs held over the intervals of a time grid.

    With K + 1 times there are K intervals; inputs have K rows, or no row axis if they stay the same.
    Compiled once for each kind of rig, team size and rough length; other numbers never compile again.
    Differentiable by JAX with respect to rig, state and inputs (see `skyrig.sim.walk`).

    Args:
        rig: A `Slung` or `Linked` rig.
        state: Where it starts, from `rig.state(...)`, `trim(...)` or another roll-out's `final`.
        times: (K + 1,) when inputs change, first and last being start and end (s).
        thrust: (K, n) or (n,) thrust of each vehicle along its z axis (N).
        moment: (K, n, 3) or (n, 3) rotor moment of each vehicle, its body frame (N m).
        payload_force: (K, 3) or (3,) external force on the payload, world frame (N).
        payload_torque: (K, 3) or (3,) external torque on the payload, world frame (N m).
        vehicle_force: (K, n, 3) or (n, 3) external forces on the vehicles, world frame (N).
        vehicle_torque: (K, n, 3) or (n, 3) external torques on the vehicles, world frame (N m).
        winch: (K, n) or (n,) wanted reel-out rates (m/s).
        happenings: Pokes and cuts.
        at: Times to report (s); every step where left out. Reporting never changes the flight.
        step: Physics step (s).
        max_events: Room for events; more are an error.
    """
    grid = checks.numbers("times", times, (None,))
    if len(grid) < 2 or np.any(np.diff(grid) <= 0):
        raise InputError("times must be at least two, each later than the one before.")
    if happenings and not hasattr(rig, "cables") and any(isinstance(it, Cut) for it in happenings):
        raise InputError("cut.cable names a cable, but this rig has none.")
    dtype = state.side.dtype
    inputs = held_inputs(
        rig,
        len(grid) - 1,
        thrust,
        moment,
        payload_force,
        payload_torque,
        vehicle_force,
        vehicle_torque,
        winch,
        dtype,
    )
    if inputs.winch is not None and getattr(rig, "winch", None) is None:
        raise InputError("winch gives reel-out rates, but no cable of this rig has a winch.")
    planned = schedule(rig, grid, step, happenings, dtype)
    states, kept, log, shift = _flown(rig, state, inputs, planned.plan, max_events)
    unknown = traced(*jax.tree.leaves((kept, log)))
    count = len(planned.times)
    asked = planned.times if at is None else checks.numbers("at", at, (None,))
    record = _reported(rig, inputs, planned.plan, states, kept, planned.times, asked)
    final = jax.tree.map(lambda leaf: as_jax(leaf[count - 1]), states)
    found: list[Event] = []
    if not unknown:
        whole = jax.tree.map(lambda leaf: leaf[:count], kept)
        raise_troubles(log, planned.times, *(xyz_last(body) for body in (whole.payload, whole.vehicles)))
        found = events(log, planned.times, np.asarray(rig.cable_state(state)[1]), planned.happenings)
    starts = np.concatenate([planned.times[:1], planned.times[:-1]])
    number = jnp.maximum(log.step, 0) if unknown else np.maximum(log.step, 0)
    moments = (as_jax(starts) if unknown else starts)[number] + log.offset + shift
    return Rollout(
        times=asked,
        payload=Track(*xyz_last(record.payload)),
        vehicles=Track(*xyz_last(record.vehicles)),
        tension=record.tension,
        taut=record.taut,
        cable_length=record.length,
        events=found,
        final=final,
        log=log,
        event_times=moments,
    )


def _fly_plan(rig: Any, state: Any, inputs: Any, plan: Plan, room: Log):
    _, _, log, kept = walk_packed(rig, state, Held(inputs), plan, room)
    return log, kept.rows


_fly = Program(_fly_plan, lambda rig, state, inputs, plan, room: (room, 0))


@eqx.filter_jit
def _fly_traced(rig: Any, state: Any, inputs: Any, plan: Plan, room: Log):
    flown = walk(rig, state, Held(inputs), plan, room)
    return flown.states, flown.record, flown.log, flown.times_shift


def _flown(rig: Any, state: Any, inputs: Any, plan: Plan, max_events: int) -> tuple[Any, Record, Log, Any]:
    """States and record of every step, log, and shifts of the impacts' times: in NumPy where all is known."""
    if traced(*jax.tree.leaves((rig, state, inputs, plan))):
        return _fly_traced(rig, state, inputs, plan, Log.empty(rig, state, max_events))
    log, rows = jax.tree.map(np.asarray, _fly(rig, state, inputs, plan, Log.ready(rig, state, max_events)))
    states, record = record_layout(rig, state, Held(inputs)).unpack(rows)
    return states, record, log, np.zeros_like(log.offset)


def xyz_last(bodies: Any) -> tuple[Any, ...]:
    """Position, velocity, attitude, rate with components moved from second to last place."""
    leaves = (bodies.position, bodies.velocity, bodies.attitude, bodies.rate)
    return tuple(leaf.swapaxes(1, -1) if leaf.ndim == 3 else leaf for leaf in leaves)


def _reported(
    rig: Any, inputs: Any, plan: Plan, states: Any, record: Record, ends: np.ndarray, asked: np.ndarray
) -> Record:
    """The record at the asked times: at step ends as flown, in between by a side step from the last end."""
    near = 1e-9
    if np.any(asked < ends[0] - near) or np.any(asked > ends[-1] + near):
        raise InputError(f"at must lie between {ends[0]:g} and {ends[-1]:g} s, the flight's start and end.")
    index = np.clip(np.searchsorted(ends, asked + near, side="right") - 1, 0, len(ends) - 1)
    beyond = asked - ends[index]
    chosen = jax.tree.map(lambda leaf: leaf[index], record)
    between = np.flatnonzero(beyond > near)
    if len(between) == 0:
        return chosen
    room = bucket(len(between))
    first, late = np.resize(index[between], room), np.resize(beyond[between], room)
    side = _side_steps(rig, states, inputs, plan, as_jax(first), as_jax(late))

    def put(whole: Any, part: Any) -> Any:
        if traced(whole, part):
            return as_jax(whole).at[between].set(part[: len(between)])
        whole = np.array(whole)
        whole[between] = np.asarray(part)[: len(between)]
        return whole

    return jax.tree.map(put, chosen, side)


@eqx.filter_jit
def _side_steps(rig: Any, states: Any, inputs: Any, plan: Plan, index: Array, dt: Array) -> Record:
    """Records a little after the ends of the steps `index`, each flown apart."""

    def one(index, dt):
        following = index + 1
        state = _row(states, index)
        act = plan.act[following]
        state = jax.tree.map(
            lambda new, old: jnp.where(act >= 0, new, old),
            _happen(rig, state, plan, jnp.maximum(act, 0)),
            state,
        )
        held = _held(inputs, plan.hold[following])
        state, _ = step(rig, state, held, dt, Log.empty(rig, state, 8), following)
        return _record(rig, state, held)

    return jax.lax.map(lambda pair: one(*pair), (index, dt.astype(plan.dt.dtype)))
