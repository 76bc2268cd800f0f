"""Work against precision: how much CPU time it takes to know where a payload is after a few seconds.

skyrig and MuJoCo fly the same three-vehicle rig with thrusts held, each with several steps, MuJoCo with
several integrators too. MuJoCo's cables are tendons with an upper limit, as stiff as its step allows.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import mujoco_rig
import numpy as np
from rigs import start, triangle
from timing import cpu_seconds

from skyrig.sim.batch import advance
from skyrig.sim.kernel import in_one_kernel
from skyrig.sim.packing import Packing

SECONDS = 5.0
FINE = (100_000, 50_000)
"""Steps of the reference, and of the one that checks it."""
OUR_STEPS = (20, 30, 40, 60, 80, 100, 125, 200, 250, 350, 500, 700, 1000, 2500)
THEIR_STEPS = {
    "Euler": (25e-3, 20e-3, 16e-3, 8e-3, 4e-3, 2e-3, 1e-3, 5e-4, 2e-4, 1e-4, 5e-5, 2.5e-5),
    "implicitfast": (25e-3, 20e-3, 16e-3, 8e-3, 4e-3, 2e-3, 1e-3, 5e-4, 2e-4, 1e-4, 5e-5),
    "RK4": (25e-3, 20e-3, 16e-3, 8e-3, 4e-3, 2e-3, 1e-3, 5e-4, 2e-4, 1e-4),
}
"""s, by integrator."""
COSTLY = 9e-4
"""Steps below this take up to seconds of CPU time, and fewer turns (s)."""
ERRORS = (1e-2, 1e-3, 1e-4, 1e-5)
"""At which the two are compared (m)."""


@dataclass(frozen=True)
class Swing:
    """A flight with thrusts held: every vehicle tilted outwards by `tilt`, the payload set going."""

    words: str
    tilt: float
    """rad."""
    share: tuple[float, float, float]
    """Thrust of each vehicle over what holds the rig up."""
    velocity: tuple[float, float, float]
    """Of the payload (m/s)."""
    rate: tuple[float, float, float]
    """Of the payload, body frame (rad/s)."""
    slack: bool
    """Whether cables go slack and snap taut."""


FLIGHTS = {
    "taut": Swing(
        "all cables taut, swinging out and back",
        tilt=0.25,
        share=(1.08, 1.0, 1.04),
        velocity=(1.0, 0.5, 0.0),
        rate=(0.0, 0.0, 2.0),
        slack=False,
    ),
    "slack-taut": Swing(
        "payload thrown upwards, all cables slack, then snapping taut one after the other",
        tilt=0.25,
        share=(1.0, 1.0, 1.0),
        velocity=(0.3, 0.2, 1.0),
        rate=(0.0, 0.0, 0.5),
        slack=True,
    ),
}


@dataclass(frozen=True)
class Point:
    """One way to fly it."""

    who: str
    step: float
    """s."""
    error: float
    """Of the payload's position at the end (m)."""
    cpu: float
    """s."""


@dataclass(frozen=True)
class Comparison:
    """The cheapest way of each to an error."""

    error: float
    ours: float
    theirs: float

    @property
    def times(self) -> float:
        """How many times more CPU time MuJoCo takes."""
        return self.theirs / self.ours


@dataclass(frozen=True)
class Study:
    """All ways to fly one flight."""

    flight: Swing
    points: list[Point]
    doubt: float
    """Distance between the reference and the one that checks it (m)."""
    events: int
    """In the reference."""
    call: float
    """CPU time of a call of skyrig's with a single step (s)."""

    def compared(self) -> list[Comparison]:
        """Cheapest ways to each error that both reach."""
        found = []
        for error in ERRORS:
            good = [it for it in self.points if it.error <= error]
            ours = [it.cpu for it in good if it.who == "skyrig"]
            theirs = [it.cpu for it in good if it.who != "skyrig"]
            if ours and theirs:
                found.append(Comparison(error, min(ours), min(theirs)))
        return found


def _ready(flight: Swing) -> tuple[Any, Any, Any, np.ndarray, np.ndarray]:
    """Rig, state and inputs, and the thrusts and attitudes in them."""
    rig = triangle()
    state, inputs = start(rig, np.asarray(flight.rate))
    thrust = np.asarray(inputs.thrust) * flight.share / np.cos(flight.tilt)
    place = np.asarray(rig.attachment)[:2]
    outward = place / np.linalg.norm(place, axis=0)
    axis = np.sin(flight.tilt / 2) * np.stack([-outward[1], outward[0], np.zeros(3)])
    attitude = np.concatenate([np.full((1, 3), np.cos(flight.tilt / 2)), axis])
    state = eqx.tree_at(
        lambda it: (it.vehicles.attitude, it.payload.velocity),
        state,
        (jnp.asarray(attitude), jnp.asarray(flight.velocity)),
    )
    return rig, state, eqx.tree_at(lambda it: it.thrust, inputs, jnp.asarray(thrust)), thrust, attitude


def _repeated(fly: Callable[[], np.ndarray], times: int) -> None:
    """Several calls in a row, so that a short one does not begin in the caches another has left."""
    for _ in range(times):
        fly()


def study(flight: Swing) -> Study:
    """Fly it in every way, on one core: XLA hands small pieces of work to threads of all it may use."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    try:
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as alone:
            return alone.submit(_study, flight).result()
    finally:
        os.sched_setaffinity(0, cores)


def _study(flight: Swing) -> Study:
    rig, state, inputs, thrust, attitude = _ready(flight)

    # a call of thirty steps costs mostly the call: one row in, one kernel
    given = jax.tree.map(np.asarray, (rig, state, inputs))
    layout = Packing.of(given, np.float64)
    leaves = jnp.asarray(layout.pack(given))

    def flown(row: Any, dt: Any, steps: Any) -> tuple[Any, Any]:
        end, log = advance(*layout.unpack(row), dt, steps)
        return end.payload.position, log.count

    @jax.jit
    def flown_to(row: Any, dt: Any, steps: Any) -> tuple[Any, Any]:
        """Where the payload is at the end, and how many events there were; nothing else is asked for."""
        return in_one_kernel(steps >= 0, flown, row, dt, steps)

    numbers = {steps: (jnp.asarray(SECONDS / steps), jnp.asarray(steps)) for steps in (*OUR_STEPS, *FINE)}

    def ours(steps: int) -> np.ndarray:
        return np.asarray(flown_to(leaves, *numbers[steps])[0])

    exact, check = map(ours, FINE)
    events = int(flown_to(leaves, *numbers[FINE[0]])[1])
    assert flight.slack == (events > 0), "the flight is not what it says"
    ways: dict[tuple[str, float], Callable[[], np.ndarray]] = {
        ("skyrig", SECONDS / steps): partial(ours, steps) for steps in OUR_STEPS
    }
    rate, velocity = np.asarray(flight.rate), np.asarray(flight.velocity)
    for integrator, lengths in THEIR_STEPS.items():
        for step in lengths:
            model = mujoco_rig.model(step, integrator)
            ways[f"MuJoCo {integrator}", step] = partial(
                mujoco_rig.fly, model, thrust, rate, velocity, SECONDS, attitude.T
            )
    errors, spent = {}, {}
    for costly in (False, True):
        group = {way: fly for way, fly in ways.items() if (way[1] < COSTLY) == costly}
        errors |= {way: float(np.linalg.norm(fly() - exact)) for way, fly in group.items()}
        again = 1 if costly else 5
        whole = cpu_seconds({way: partial(_repeated, fly, again) for way, fly in group.items()}, 2 * again)
        spent |= {way: seconds / again for way, seconds in whole.items()}
    # a step of no length: what a call costs before anything is flown
    nothing = (jnp.asarray(0.0), jnp.asarray(1))
    call = cpu_seconds({"it": lambda: jax.block_until_ready(flown_to(leaves, *nothing))}, 50)["it"]
    points = [Point(*way, errors[way], spent[way]) for way in ways]
    return Study(flight, points, float(np.linalg.norm(exact - check)), events, call)
