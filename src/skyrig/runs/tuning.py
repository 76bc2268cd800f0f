"""Better gains by gradient descent: the tracking cost of a batch of flights, differentiated through them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

from skyrig import checks
from skyrig.control.known import CONTROLLERS
from skyrig.errors import FlightDiverged, InputError
from skyrig.runs.flying import fly, loop_arguments, make_controller
from skyrig.scenario import Scenario
from skyrig.scenario.vary import Distribution, Uniform, varied
from skyrig.sim.tracking import QUICK, Tracking, tracking

HORIZON = 10.0
"""Flights are differentiated over this long at most (s)."""
ATTITUDE = 0.01
"""What a squared radian of attitude error counts (m^2): a tenth of a radian as much as a centimetre."""
SHIFT = 0.15
"""Numbers of a reference are varied by this share if nothing else is said."""
NOISE = 1e-3
"""Noise of a scenario that has none (m, m/s, rad, rad/s): gains that shake would look good without any."""
_SCALES = ("radius", "period", "speed", "acceleration", "amplitude")
_LIMITS = ("most_", "least_")
_NOT_GAINS = ("reach", "learn", "slack", "cut")


@dataclass(frozen=True)
class GainTrial:
    """One flight with the gains before and after."""

    changes: dict[str, Any]
    """What makes it differ from the scenario."""
    held_out: bool
    """Whether it was kept away from the tuning."""
    position_rmse: tuple[float, float]
    """m, whole flight, before and after."""
    attitude_rmse: tuple[float, float] | None
    """rad, likewise; None of a point mass."""


@dataclass(frozen=True)
class Tuned:
    """What tuning found."""

    scenario: Scenario
    """With the new gains in it."""
    gains: dict[str, Any]
    """The gains that were tuned, as a scenario file writes them."""
    before: dict[str, Any]
    """What they were."""
    history: np.ndarray
    """Training cost of the gains at each step, in terms of the first."""
    chosen: int
    """The step whose gains fly the training flights best from start to end."""
    trials: tuple[GainTrial, ...]

    def improvement(self, held_out: bool = True) -> float:
        """By how much the position errors of all those trials together fell (1 is all of it)."""
        pairs = np.array([it.position_rmse for it in self.trials if it.held_out is held_out])
        before, after = np.sqrt((pairs**2).mean(axis=0))
        return float(1 - after / before)


def tune(
    scenario: Scenario,
    parameters: Sequence[str] = (),
    *,
    vary: Mapping[str, str | Distribution] | None = None,
    flights: int = 4,
    held_out: int = 4,
    iterations: int = 30,
    rate: float = 0.08,
    seed: int = 0,
    progress: Callable[[int, float], None] | None = None,
) -> Tuned:
    """Lower the tracking error of a scenario's payload by gradient descent on its controller's gains.

    Gains are moved by factors (Adam on their logarithms), so they keep their signs. What is lowered is the
    mean over the training flights of each one's tracking cost in terms of what it was, over the first ten
    seconds. Among the gains on the way those are taken that fly the training flights best from start to end.

    Args:
        scenario: What to fly; its payload must follow a reference.
        parameters: Names of gains; all of the controller's if left out, but not its limits.
        vary: What the flights differ by, see `skyrig.scenario.vary`; each has a seed of its own as well. If
            left out, the numbers of the reference are varied by 15 %. Without noise in the scenario there is
            a little (1e-3) all the same.
        flights: How many flights to tune on.
        held_out: How many more to judge by.
        iterations: Steps of gradient descent.
        rate: Length of the first steps, in terms of the gains (1).
        seed: Of what the flights differ by.
        progress: Called after each step with its number and the cost in terms of the first.
    """
    for name, value, least in (
        ("flights", flights, 1),
        ("held_out", held_out, 0),
        ("iterations", iterations, 1),
    ):
        if value < least:
            raise InputError(f"{name} must be at least {least}, not {value}.")
    checks.positive("rate", rate)
    if CONTROLLERS[scenario.controller.name].follows != "payload":
        raise InputError(
            f"{scenario.where}: controller.name must be one that makes the payload follow a reference to be "
            f"tuned, not {scenario.controller.name!r}."
        )
    rows = varied(scenario, usual(scenario) if vary is None else vary, flights + held_out, seed)
    noisy = scenario.with_overrides(_noise(scenario))
    each = [noisy.with_overrides(row) for row in rows]
    names = _chosen(scenario, parameters)
    tasks = _tasks(each[:flights])
    before = {name: np.asarray(getattr(tasks[0].controller.gains, name)) for name in names}
    steps, history = _descended(tasks, before, iterations, rate, progress)
    found = [{name: _written(before[name] * np.exp(step[name])) for name in names} for step in steps]
    with ThreadPoolExecutor(os.cpu_count()) as pool:

        def flown(gains: dict[str, Any], which: Sequence[Scenario]) -> list[tuple[float, float | None]]:
            return list(pool.map(lambda it: _errors(it.with_overrides(_overrides(gains))), which))

        old = flown(found[0], each)
        judged = [_judged(flown(gains, each[:flights]), old[:flights]) for gains in found]
        chosen = int(np.argmin(judged))
        new = flown(found[chosen], each)
    trials = [
        GainTrial(row, k >= flights, (one[0], two[0]), _both(one[1], two[1]))
        for k, (row, one, two) in enumerate(zip(rows, old, new, strict=True))
    ]
    tuned = scenario.with_overrides(_overrides(found[chosen]))
    return Tuned(tuned, found[chosen], found[0], np.asarray(history), chosen, tuple(trials))


def _overrides(gains: Mapping[str, Any]) -> dict[str, Any]:
    return {f"controller.gains.{name}": value for name, value in gains.items()}


def _noise(scenario: Scenario) -> dict[str, float]:
    own = scenario.spec.noise
    if any((own.position, own.velocity, own.attitude, own.rate)):
        return {}
    return {f"noise.{name}": NOISE for name in ("position", "velocity", "attitude", "rate")}


def _judged(flown: Sequence[tuple[float, Any]], old: Sequence[tuple[float, Any]]) -> float:
    """Mean square position errors in terms of the old ones."""
    return float(np.mean([(now[0] / was[0]) ** 2 for now, was in zip(flown, old, strict=True)]))


def _both(one: float | None, two: float | None) -> tuple[float, float] | None:
    return None if one is None or two is None else (one, two)


def usual(scenario: Scenario) -> dict[str, Distribution]:
    """What flights differ by if nothing is said: the sizes and times of the reference, a little."""
    said = scenario.values.get("reference")
    found: dict[str, Distribution] = {}
    if isinstance(said, Mapping):
        for name in _SCALES:
            value = said.get(name)
            if isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
                found[f"reference.{name}"] = Uniform((1 - SHIFT) * value, (1 + SHIFT) * value)
    return found


def _chosen(scenario: Scenario, asked: Sequence[str]) -> list[str]:
    controller: Any = make_controller(scenario.build())
    known = [each.name for each in fields(controller.gains)]
    for name in asked:
        if name not in known:
            listed = f"{', '.join(known)}{checks.nearest(name, known)}"
            raise InputError(f"parameters must be gains among {listed}, not {name!r}.")
    free = [name for name in known if not name.startswith(_LIMITS) and name not in _NOT_GAINS]
    return list(asked) or free


def _tasks(scenarios: Sequence[Scenario]) -> list[Tracking]:
    """Flights of one length, so that one compiled program flies them all."""
    built = [it.build() for it in scenarios]
    seconds = min(HORIZON, *(it.duration for it in built))
    given = [loop_arguments(it, make_controller(it)) for it in built]
    return [tracking(**{**it, "duration": seconds}) for it in given]


@jax.jit(compiler_options=QUICK)
def _cost(factors: dict[str, Any], task: Tracking) -> tuple[Any, Any]:
    """Tracking cost of one flight with gains multiplied by exp(factors), and its gradient."""

    def of(factors: dict[str, Any]) -> Any:
        own = task.controller.gains
        scaled = [getattr(own, name) * jnp.exp(value) for name, value in factors.items()]
        gains = eqx.tree_at(lambda it: [getattr(it, name) for name in factors], own, scaled)
        return task.with_controller(eqx.tree_at(lambda it: it.gains, task.controller, gains)).cost(ATTITUDE)

    return jax.value_and_grad(of)(factors)


def _descended(
    tasks: Sequence[Tracking],
    gains: Mapping[str, Any],
    iterations: int,
    rate: float,
    progress: Callable[[int, float], None] | None,
) -> tuple[list[dict[str, np.ndarray]], list[float]]:
    """Factors at every step, the first being none, and the mean cost of each in terms of the first."""
    factors = {name: np.zeros(np.shape(value)) for name, value in gains.items()}
    method = optax.adam(rate)
    memory = method.init(factors)
    steps: list[dict[str, np.ndarray]] = []
    history: list[float] = []
    start = np.ones(len(tasks))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        while len(steps) <= iterations:
            now = factors
            found = [
                jax.tree.map(np.asarray, it) for it in pool.map(lambda task, f=now: _cost(f, task), tasks)
            ]
            costs = np.array([cost for cost, _ in found])
            if not steps:
                start = costs
                if not np.isfinite(start).all():
                    raise FlightDiverged("A flight with the gains to begin with does not stay finite.")
            ratio = float(np.mean(costs / start))
            if progress is not None:
                progress(len(steps), ratio)
            steps.append(factors)
            history.append(ratio)
            scaled = [
                jax.tree.map(lambda leaf, s=s: leaf / s, it) for (_, it), s in zip(found, start, strict=True)
            ]
            mean = jax.tree.map(lambda *leaves: np.mean(leaves, axis=0), *scaled)
            if not np.isfinite(ratio) or not all(np.isfinite(leaf).all() for leaf in mean.values()):
                # too far: back to the best there was, and on in smaller steps
                rate = rate / 3
                factors, method = steps[int(np.nanargmin(history))], optax.adam(rate)
                memory = method.init(factors)
                continue
            change, memory = method.update(mean, memory)
            factors = jax.tree.map(np.asarray, optax.apply_updates(factors, change))
    return steps, history


def _errors(scenario: Scenario) -> tuple[float, float | None]:
    """Root mean square errors of position (m) and attitude (rad) over the whole flight."""
    try:
        whole = fly(scenario).metrics["tracking"]["whole"]
    except FlightDiverged:
        return np.inf, np.inf
    return whole["position_rmse"], whole.get("attitude_rmse")


def _written(value: Any) -> Any:
    """A gain as files write it: vehicles first, six digits, one number where all are the same."""
    array = np.asarray(value).T
    rounded = np.vectorize(lambda it: float(f"{it:.6g}"))(array)
    if np.all(rounded == rounded.reshape(-1)[0]):
        return float(rounded.reshape(-1)[0])
    if rounded.ndim == 2 and np.all(rounded == rounded[0]):
        return rounded[0].tolist()
    return rounded.tolist()
