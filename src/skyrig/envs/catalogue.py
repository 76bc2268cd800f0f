"""Environments by name: from a scenario and a few words to an `Environment`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from skyrig import checks
from skyrig.algebra import as_jax
from skyrig.envs.actions import Level, WantedAcceleration, level
from skyrig.envs.courses import PREVIEW, Gate, Recover, TrackPath
from skyrig.envs.environment import Environment
from skyrig.envs.grasping import GraspTask, Hand
from skyrig.envs.pool import PooledRig
from skyrig.envs.tasks import CarryTask, HoverTask, Rewards, Spread, Task
from skyrig.errors import InputError
from skyrig.planning import Reference
from skyrig.planning.hover import hover
from skyrig.scenario import Scenario
from skyrig.scenario.vary import Distribution, varied
from skyrig.sim.pilot import Noise

HAND = "hand"
"""The name of actions that close a hand besides."""


class Sketch(NamedTuple):
    """What a task is made from."""

    place: np.ndarray
    """(3,) where the scenario's reference begins (m)."""
    reference: Reference
    period: float
    """Between actions (s)."""
    limit: int
    """Control periods in an episode."""
    arena: float | None
    """m, if somebody said so."""


class Named(NamedTuple):
    """A task of the catalogue."""

    make: Callable[[Sketch], Task]
    scenario: str
    """Whose rig and reference are flown if nothing else is said."""
    seconds: float
    """Length of an episode (s)."""
    action: str = "rates"
    """What actions mean if nothing else is said."""
    changes: Mapping[str, Any] = MappingProxyType({})
    """Of that scenario, by path."""


def _spread(position: float, velocity: float = 0.3, swing: float = 0.2, tilt: float = 0.1) -> Spread:
    numbers = (np.full(3, position), np.asarray(velocity), np.asarray(swing), np.asarray(tilt))
    return Spread(*(as_jax(number) for number in numbers))


def _common(sketch: Sketch, spread: Spread, arena: float) -> dict[str, Any]:
    wide = arena if sketch.arena is None else sketch.arena
    return {"place": as_jax(sketch.place), "spread": spread, "arena": as_jax(np.asarray(wide))}


def _hover(sketch: Sketch) -> Task:
    return HoverTask(**_common(sketch, _spread(1.0), 3.0))


def _carry(sketch: Sketch) -> Task:
    return CarryTask(**_common(sketch, _spread(0.5, 0.2, 0.1), 2.0))


def _recover(sketch: Sketch) -> Task:
    window = np.array([round(0.2 / sketch.period), round(1.0 / sketch.period)])
    return Recover(
        **_common(sketch, _spread(0.1, 0.1, 0.05), 3.0),
        hardest=as_jax(np.asarray(2.0)),
        window=as_jax(window),
    )


def _gate(sketch: Sketch) -> Task:
    return Gate(
        **_common(sketch, _spread(0.3), 4.0),
        beyond=as_jax(np.array([1.2, 0.0, -0.25])),
        before=as_jax(np.array([-2.4, 0.0, 0.0])),
        half=as_jax(np.array([0.5, 0.6])),
        shift=as_jax(np.array([0.5, 0.2])),
        prize=as_jax(np.asarray(5.0)),
    )


def _track(sketch: Sketch) -> Task:
    ahead = [max(round(seconds / sketch.period), 1) for seconds in PREVIEW]
    moving = float(sketch.reference.duration)
    if not np.isfinite(moving):
        moving = 60.0
    latest = max(int(moving / sketch.period) - sketch.limit, 0)
    ticks = np.arange(latest + sketch.limit + max(ahead) + 2) * sketch.period
    sample = sketch.reference.sample(ticks)
    return TrackPath(
        **_common(sketch, _spread(0.3), 2.0),
        path=as_jax(np.ascontiguousarray(sample.position[:, 0].T)),
        speed=as_jax(np.ascontiguousarray(sample.position[:, 1].T)),
        latest=as_jax(np.asarray(latest)),
        ahead=as_jax(np.asarray(ahead)),
    )


def _grasp(sketch: Sketch) -> Task:
    return GraspTask(**_common(sketch, _spread(0.05, 0.0, 0.0, 0.02), 1.0), lift=as_jax(np.asarray(0.3)))


CATALOGUE = {
    "hover": Named(_hover, "one-dragonfly-hover", 5.0),
    "track": Named(_track, "one-dragonfly-circle", 8.0),
    "carry": Named(_carry, "three-dragonflies-circle", 5.0),
    "recover": Named(_recover, "one-dragonfly-hover", 5.0),
    "gate": Named(_gate, "one-dragonfly-hover", 5.0),
    "grasp": Named(_grasp, "soft-grasp", 3.0, HAND, {"rig.finger.elements": "rod"}),
}
"""The tasks by name."""


def build(
    task: str | Callable[[Sketch], Task] = "hover",
    scenario: Scenario | str | Path | None = None,
    *,
    action: str | None = None,
    vary: Mapping[str, str | Distribution] | None = None,
    pool: int = 64,
    seed: int = 0,
    control_rate: float = 50.0,
    seconds: float | None = None,
    arena: float | None = None,
    rewards: Rewards | None = None,
    teams: bool = False,
) -> Environment:
    """An environment: a scenario's rig and reference, a task, and what actions mean.

    From the scenario come the rig, the reference, the physics step, the rotors' lag and the measurements'
    noise; its start, controller and happenings are the task's business.

    Args:
        task: A name in `CATALOGUE`, or a function that makes a task of your own.
        scenario: Whose rig is flown; the task's own choice if left out.
        action: "rotors", "rates" (thrust and body rates), "acceleration", or for a gripper "hand"; the task's
            own choice if left out.
        vary: Distributions of the rig's values by path, such as {"rig.payload.mass": "uniform(0.05, 0.1)"};
            every episode takes one rig of a pool drawn from them.
        pool: How many rigs are drawn when something varies.
        seed: Of the pool.
        control_rate: Actions a second (Hz); a period must be a whole number of physics steps.
        seconds: Length of an episode (s).
        arena: The episode fails when the load is farther than this from where it is wanted (m).
        rewards: Weights of the reward; `Rewards.usual()` if left out.
        teams: Whether every vehicle observes for itself.
    """
    if isinstance(task, str):
        named = CATALOGUE[checks.choice("task", task, CATALOGUE)]
    else:
        named = Named(task, "one-dragonfly-hover", 5.0)
    known = _scenario(named) if scenario is None else scenario
    known = known if isinstance(known, Scenario) else Scenario.load(known)
    rate = float(checks.positive("control_rate", control_rate))
    step = known.spec.loop.step
    substeps = round(1 / (rate * step))
    if substeps < 1 or abs(substeps * step * rate - 1) > 1e-6:
        raise InputError(
            f"control_rate must make its period a whole number of physics steps of {step:g} s, "
            f"which {rate:g} Hz does not."
        )
    period = substeps * step
    limit = round(float(checks.positive("seconds", named.seconds if seconds is None else seconds)) / period)
    reference = known.motions.payload
    if reference is None and known.motions.begin is not None and "payload" in known.motions.begin:
        reference = hover(start=known.motions.begin["payload"][0][0])
    if reference is None:
        raise InputError(f"{known.where}: reference must tell the motion of the payload, not of vehicles.")
    sketch = Sketch(
        np.asarray(reference.start.position[0], dtype=np.float64),
        reference,
        period,
        max(limit, 1),
        None if arena is None else float(checks.positive("arena", arena)),
    )
    meaning = _level(named.action if action is None else action, known, period)
    noise = known.spec.noise
    sizes = (noise.position, noise.velocity, noise.attitude, noise.rate)
    return Environment(
        plants=PooledRig.pool(_rigs(known, vary, pool, seed), period, meaning.drives),
        task=named.make(sketch),
        level=meaning,
        rewards=Rewards.usual() if rewards is None else rewards,
        noise=Noise.of(*sizes) if any(sizes) else None,
        dt=as_jax(np.asarray(step)),
        limit=as_jax(np.asarray(sketch.limit)),
        substeps=substeps,
        turns=known.parts.payload is not None and not known.parts.payload.is_point,
        teams=teams,
    )


def _scenario(named: Named) -> Scenario:
    """A task's own."""
    known = Scenario.load(named.scenario)
    return known.with_overrides(named.changes) if named.changes else known


def _level(name: str, scenario: Scenario, period: float) -> Level:
    """The action level of that name."""
    if name != HAND:
        return level(name, period)
    move = level("acceleration", period)
    assert isinstance(move, WantedAcceleration)
    return Hand.of(move, scenario, period)


def _rigs(
    scenario: Scenario, vary: Mapping[str, str | Distribution] | None, pool: int, seed: int
) -> list[Scenario]:
    """The scenarios whose rigs make the pool."""
    if not vary:
        return [scenario]
    for path in vary:
        if not path.startswith("rig."):
            raise InputError(f"vary must name values of the rig, such as rig.payload.mass, not {path}.")
    return [scenario.with_overrides(row) for row in varied(scenario, vary, pool, seed)]
