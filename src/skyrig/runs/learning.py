"""Weights of plans learned through the closed loop: networks trained on short flights."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

from skyrig import checks
from skyrig.control.interface import wanted_of
from skyrig.control.mpc.distributed import DistributedMpc
from skyrig.control.mpc.elastic_flight import WAYS, Lesson, Ways, flown
from skyrig.control.mpc.policy import Policy
from skyrig.errors import FlightDiverged, InputError
from skyrig.runs.flying import fly, named_controller
from skyrig.runs.tuning import usual
from skyrig.scenario import Scenario
from skyrig.scenario.build import Built
from skyrig.scenario.vary import Distribution, varied

PLACE, SPEED, PUSH = 0.05, 0.1, 0.3
"""Standard deviations of what a short flight begins with, along each axis: of the team's place (m) and
velocity (m/s), and of the load's acceleration that nobody planned (m/s^2)."""
QUICK: Any = {"xla_backend_optimization_level": 0, "xla_cpu_multi_thread_eigen": False}
"""Derivatives compile several times faster, and run a few times slower. With XLA's threads inside products,
which wait for each other, such a program has been seen never to end."""


@dataclass(frozen=True)
class HeldOutFlight:
    """A whole flight of the scenario's own rig that nothing was learned from."""

    changes: dict[str, Any]
    """What makes it differ from the scenario."""
    position_rmse: Mapping[str, float]
    """m, by who flew it: 'hand-tuned', 'learned' and others that were asked for."""


@dataclass(frozen=True)
class Learned:
    """What learning found."""

    policy: Policy
    history: np.ndarray
    """(steps + 1, starts): cost of the short flights in terms of the hand-tuned weights' one."""
    chosen: tuple[int, int]
    """Step and start of the networks that were kept."""
    trials: tuple[HeldOutFlight, ...]

    def improvement(self, whose: str = "hand-tuned") -> float:
        """By how much the position errors of all trials together are below that one's (1 is all of it)."""
        pairs = np.array([[it.position_rmse[whose], it.position_rmse["learned"]] for it in self.trials])
        before, after = np.sqrt((pairs**2).mean(axis=0))
        return float(1 - after / before)


def learn_weights(
    scenario: Scenario,
    *,
    vary: Mapping[str, str | Distribution] | None = None,
    flights: int = 4,
    seconds: float = 1.0,
    starts: int = 1,
    iterations: int = 30,
    rate: float = 0.1,
    held_out: int = 4,
    seed: int = 0,
    gradient: str = "closed-loop",
    progress: Callable[[int, np.ndarray], None] | None = None,
) -> Learned:
    """Networks that say the weights of a team's plans, trained through the closed loop.

    Short flights begin somewhere along the scenario's reference, a little off it and pushed by what nobody
    planned. Their mean cost is lowered by Adam; derivatives go backwards through bodies, cables, messages and
    every plan at its solution. The scenario's own weights are the hand-tuned ones: the networks' weights lie
    between nothing and twice theirs, and begin spread about them.

    Args:
        scenario: What to fly; its controller must be mpc-distributed or mpc-central.
        vary: What flights differ by, see `skyrig.scenario.vary`; if left out, the numbers of the reference by
            15 %.
        flights: How many short flights to learn from.
        seconds: How long each is.
        starts: How many networks to train, from different random beginnings; the best one is kept.
        iterations: Steps of gradient descent.
        rate: Length of a step.
        held_out: How many whole flights, of scenarios not learned from, to judge by.
        seed: Of all that is drawn.
        gradient: 'closed-loop'; 'uncoupled', which leaves out what agents do to each other; or 'open-loop',
            that of every agent's own plans alone (Safe-PDP).
        progress: Called after each step with its number and every start's cost, the hand-tuned one's being 1.
    """
    for name, value, least in (
        ("flights", flights, 1),
        ("starts", starts, 1),
        ("iterations", iterations, 1),
        ("held_out", held_out, 0),
    ):
        if value < least:
            raise InputError(f"{name} must be at least {least}, not {value}.")
    checks.choice("gradient", gradient, WAYS)
    checks.positive("rate", rate)
    checks.positive("seconds", seconds)
    rows = varied(scenario, usual(scenario) if vary is None else vary, flights + held_out, seed)
    each = [scenario.with_overrides(row) for row in rows]
    controller = planner(scenario.build())
    rng = np.random.default_rng(seed)
    lessons = [lesson(controller, it.build(), seconds, rng) for it in each[:flights]]
    begun = [(gradient, seed + k) for k in range(starts)]
    policies, history = descended(controller, lessons, begun, iterations, rate, progress)
    policy, chosen = best(policies, history)
    hand = Policy.constant(*controller.weights)
    trials = [
        HeldOutFlight(row, {"hand-tuned": position_rmse(it, hand), "learned": position_rmse(it, policy)})
        for row, it in zip(rows[flights:], each[flights:], strict=True)
    ]
    return Learned(policy, history, chosen, tuple(trials))


def best(policies: Sequence[Policy], history: np.ndarray) -> tuple[Policy, tuple[int, int]]:
    """The networks whose flights cost least, of which step and of which start."""
    step, start = np.unravel_index(int(np.nanargmin(history)), history.shape)
    return jax.tree.map(lambda leaf: leaf[start], policies[int(step)]), (int(step), int(start))


def planner(built: Built) -> DistributedMpc:
    """The scenario's controller, if it is one that plans."""
    controller = named_controller(built)
    if not isinstance(controller, DistributedMpc):
        raise InputError(
            f"{built.scenario.where}: controller.name must be mpc-distributed or mpc-central for its weights "
            f"to be learned, not {built.controller.name!r}."
        )
    return controller


def with_policy(built: Built, policy: Policy) -> DistributedMpc:
    """The scenario's controller with its weights from networks."""
    controller = planner(built)
    own, load = policy.vehicle_unit.shape, policy.load_unit.shape
    count = controller.mass.shape[0]
    if own != (count, 28) or load != (24 + count,):
        raise InputError(
            f"{built.scenario.where}: rig.vehicles.count must be {own[0]}, that of the networks, not {count}."
        )
    return dataclasses.replace(controller, policy=policy.normalised())


def lesson(controller: DistributedMpc, built: Built, seconds: float, rng: np.random.Generator) -> Lesson:
    """A short flight that begins somewhere along a scenario's reference, a little off it."""
    period = float(controller.period)
    count = max(round(seconds / period), 2)
    ahead = controller.horizon * controller.stride
    latest = max(built.duration - (count + ahead) * period, 0.0)
    times = period * np.round(rng.uniform(0, latest) / period) + period * np.arange(count + ahead + 1)
    wanted = jax.tree.map(
        lambda leaf: jnp.asarray(np.asarray(leaf)[:count]),
        controller.prepare(wanted_of("payload", built.reference).sample(times)),
    )
    off = np.zeros(13)
    off[:3], off[3:6] = rng.normal(0, PLACE, 3), rng.normal(0, SPEED, 3)
    return Lesson(
        wanted.vehicles[0, 0].T + off, wanted.load[0, 0] + off, wanted, jnp.asarray(rng.normal(0, PUSH, 3))
    )


def mean_cost(controller: DistributedMpc, policy: Policy, lessons: Lesson, ways: Ways | None = None) -> Any:
    """Of short flights, in front of every leaf, with a policy's weights (m^2); see `Ways` of derivatives."""
    flies = dataclasses.replace(controller, policy=policy.normalised())
    return jnp.mean(jax.vmap(lambda it: jnp.mean(flown(flies, it, ways)[1]))(lessons))


def descended(
    controller: DistributedMpc,
    lessons: Sequence[Lesson],
    begun: Sequence[tuple[str, int]],
    iterations: int,
    rate: float,
    progress: Callable[[int, np.ndarray], bool | None] | None = None,
    slope_of: Callable[..., Any] | None = None,
) -> tuple[list[Policy], np.ndarray]:
    """Networks of all starts at every step, and their costs in terms of the hand-tuned one.

    Args:
        controller: Whose weights are learned.
        lessons: Short flights to learn from.
        begun: The gradient (`WAYS`) and the seed of the networks of every start; all go down side by side.
        iterations: Steps of gradient descent.
        rate: Length of a step.
        progress: Called after each step with its number and every start's cost; True ends the descent.
        slope_of: `slopes` of this controller, if another descent of as many starts has compiled it already.
    """
    together = jax.tree.map(lambda *leaves: jnp.stack(leaves), *lessons)
    fresh = [Policy.random(*controller.weights, seed=seed) for _, seed in begun]
    policies = jax.tree.map(lambda *leaves: jnp.stack(leaves), *fresh)
    ways = Ways(*(jnp.asarray(column) for column in zip(*(WAYS[kind] for kind, _ in begun), strict=True)))
    units = jax.tree.map(lambda _: True, policies)
    learns = eqx.tree_at(lambda it: (it.vehicle_unit, it.load_unit), units, (False, False))
    value = slope_of or slopes(controller)
    hand = jax.tree.map(lambda leaf: jnp.stack([leaf] * len(begun)), Policy.constant(*controller.weights))
    before = float(value(hand, together, ways)[0][0])
    if not np.isfinite(before):
        raise FlightDiverged("A flight with the hand-tuned weights does not stay finite.")
    method = optax.adam(rate)
    memory = method.init(eqx.filter(policies, learns))
    kept, history = [], []
    while len(kept) <= iterations:
        cost, slope = value(policies, together, ways)
        kept.append(policies)
        history.append(np.asarray(cost) / before)
        if progress is not None and progress(len(kept) - 1, history[-1]):
            break
        # a start whose flights end beyond all numbers waits where it is
        slope = jax.tree.map(
            lambda leaf: jnp.nan_to_num(leaf / before, nan=0.0, posinf=0.0, neginf=0.0), slope
        )
        change, memory = method.update(eqx.filter(slope, learns), memory)
        policies = eqx.apply_updates(policies, change)
    return kept, np.array(history)


def slopes(controller: DistributedMpc) -> Callable[..., Any]:
    """Cost of short flights, and its derivative, by policies side by side, lessons and `Ways`; compiled."""
    one = jax.value_and_grad(lambda it, lessons, ways: mean_cost(controller, it, lessons, ways))
    return jax.jit(jax.vmap(one, (0, None, 0)), compiler_options=QUICK)


def position_rmse(scenario: Scenario, policy: Policy) -> float:
    """Root mean square error of the position over a whole flight (m); infinite if it ends beyond numbers."""
    try:
        return fly(scenario, controller=lambda built: with_policy(built, policy)).metrics["tracking"][
            "whole"
        ]["position_rmse"]
    except FlightDiverged:
        return np.inf
