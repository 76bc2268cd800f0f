"""Flights behind the page on the soft aerial manipulator: hovers after a jump, and grasps."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from skyrig.errors import FlightDiverged
from skyrig.runs import fly
from skyrig.scenario import Scenario, load
from skyrig.vehicles.shapes import Prism

BASE = "soft-grasp"
SOFT, STIFF = 2e4, 2e5
"""Young's moduli of figs. 8 and 9 (Pa)."""
MIDDLE = 0.04
"""Height of the target's middle (m)."""
OVER = 0.2
"""Height of the set-point above the target's middle (m)."""
ARRIVES = 2.0
"""t_g, which the paper does not print (s)."""
AFTER = 3.0
"""What follows t_g: a wait of 0.3 s, a lift of 2 s, and holding (s)."""
HIGH = 12.0
"""Of the vehicle after whose target jumps (m): very heavy fingers hang down far."""
COARSE = 3
"""Elements of a finger there."""
VISCOSITY = 200.0
"""Of the rubber, soft or stiff (Pa s): damping is this over Young's modulus."""

Tell = Callable[[str], None]


@dataclass(frozen=True)
class GraspFlight:
    """One grasp; what the paper leaves open has our values."""

    x: float
    """How far behind the target the vehicle starts (m)."""
    z: float
    """How far above the target's middle (m)."""
    young: float = SOFT
    approach: str = "spread"
    mass: float = 0.05
    velocity: tuple[float, float, float] = (0.0, 0.0, 0.0)
    arrives: float = ARRIVES
    friction: float = 1.2
    tendon_stiffness: float = 1e3
    shape: str = "can"
    elements: str = "rod"
    slices: int = 6
    above: float = 0.15
    """Height of the vehicle above the target's middle at t_g (m)."""
    squeeze: float = 0.03
    """How much further the inner tendons are pulled after t_g (m)."""
    closing: float | None = None
    """How long the fingers have to close before t_g, at least (s)."""


WEDGE = Prism(np.array([[0.036, 0.0], [-0.018, 0.031], [-0.018, -0.031]]), 0.08)
SHAPES = {
    "can": {"kind": "cylinder", "radius": 0.03, "height": 0.08},
    "box": {"kind": "box", "size": [0.05, 0.05, 0.08]},
    "ball": {"kind": "point", "radius": 0.04},
    "wedge": {"kind": "prism", "outline": WEDGE.outline.tolist(), "height": WEDGE.height},
}
"""Targets: all 0.08 m high."""


class GraspOutcome(NamedTuple):
    """What came of a grasp."""

    held: bool
    """Whether the target was lifted and is still held, by two fingers or more, in the last half second."""
    off: float
    """How far the vehicle was from where it should be at t_g (m)."""
    knocked: float
    """The target's largest speed until 0.3 s after t_g (m/s)."""
    pressed: float
    """Largest press of a finger on it in that time (N)."""


class JumpErrors(NamedTuple):
    """Errors of eq. 18 after a jump of the target, (times,)."""

    times: np.ndarray
    position: np.ndarray
    """m."""
    velocity: np.ndarray
    """m/s."""
    attitude: np.ndarray
    """Sine of the tilt, |e_r|."""
    hangs: float
    """How far fingers hang below the vehicle's middle at the start (m)."""


def grasp_scenario(it: GraspFlight) -> Scenario:
    """The scenario of a grasp."""
    known = load(BASE).values
    finger = {
        "elements": it.elements,
        "young": it.young,
        "damping": VISCOSITY / it.young,
        "tendon_stiffness": it.tendon_stiffness,
        "slices": it.slices,
    }
    payload = {"name": it.shape, "mass": it.mass, "shape": SHAPES[it.shape]}
    if it.shape == "wedge":  # scenarios ask for the inertia of what has no name
        payload["inertia"] = WEDGE.inertia(it.mass).tolist()
    rig = known["rig"] | {"finger": finger, "payload": payload, "friction": it.friction}
    reference = known["reference"] | {
        "start": [-it.x, 0.0, MIDDLE + it.z],
        "approach": it.approach,
        "grasp_time": it.arrives,
        "velocity": list(it.velocity),
        "above": it.above,
        "squeeze": it.squeeze,
    }
    if it.closing is not None:
        reference["closing"] = it.closing
    if not any(it.velocity):
        reference["over"] = OVER
    values = {**known, "rig": rig, "reference": reference, "duration": it.arrives + AFTER}
    return Scenario.from_dict(values)


def grasped(it: GraspFlight) -> GraspOutcome:
    """Fly a grasp; one that cannot be flown to its end has failed."""
    try:
        flight = fly(grasp_scenario(it))
    except FlightDiverged:
        return GraspOutcome(False, np.nan, np.nan, np.nan)
    times, thing = flight.times, flight.payload
    references = flight.vehicle_references
    assert references is not None
    late, near = times > times[-1] - 0.5, times < it.arrives + 0.3
    held = np.asarray(flight.signals["object.held"])[late, 0].all() and thing.position[-1, 2] > MIDDLE + 0.2
    row = int(np.searchsorted(times, it.arrives))
    off = np.linalg.norm(flight.vehicles.position[row, 0] - references.position[row, 0])
    knocked = np.linalg.norm(thing.velocity[near], axis=1).max()
    pressed = np.asarray(flight.signals["finger.force"])[near].max()
    return GraspOutcome(bool(held), float(off), float(knocked), float(pressed))


def jump_scenario(density: float, angle: float, tendons: float = 1e3) -> Scenario:
    """The vehicle hovers, and its target is 1 m away, in a direction (rad); tendons of a stiffness (N/m)."""
    known = load(BASE).values
    target = [float(np.cos(angle)), float(np.sin(angle)), HIGH]
    finger = {"slices": COARSE, "density": density, "tendon_stiffness": tendons}
    # the paper's quadrotor pushes and turns as asked: rotors far out and strong do
    craft = {"type": "soft-drone", "arm": 3.0, "speed_max": 2e4}
    begin = {"payload": {"position": [0.0, 9.0, MIDDLE]}, "vehicles": [{"position": [0.0, 0.0, HIGH]}]}
    values = {
        **{name: value for name, value in known.items() if name != "reference"},
        "rig": known["rig"] | {"finger": finger, "vehicles": craft},
        "start": begin,
        "reference": {"vehicles": [{"type": "hover", "start": target}]},
        "duration": 5.0,
    }
    return Scenario.from_dict(values)


def jumped(density: float, angle: float, tendons: float = 1e3) -> JumpErrors:
    """The errors of such a flight."""
    flight = fly(jump_scenario(density, angle, tendons))
    references, craft = flight.vehicle_references, flight.vehicles
    assert references is not None
    position = np.linalg.norm((craft.position - references.position)[:, 0], axis=1)
    velocity = np.linalg.norm(craft.velocity[:, 0], axis=1)
    # of the tilt, for the wanted attitude in the end is level
    w, x, y, _ = np.moveaxis(craft.attitude[:, 0], -1, 0)
    tilt = np.hypot(2 * (w * x), 2 * (w * y))
    nodes = np.asarray(flight.signals["tendon.nodes"]).reshape(len(flight.times), -1, 3)
    hangs = float(np.ptp(np.append(nodes[0, :, 2], craft.position[0, 0, 2])))
    return JumpErrors(flight.times, position, velocity, tilt, hangs)


def run(jobs: Sequence[Callable[[], Any]], tell: Tell, label: str) -> list[Any]:
    """Do them all, as many at a time as there are cores; the first alone, for it compiles for the others."""
    lock = Lock()

    def one(job: Callable[[], Any]) -> Any:
        made = job()
        with lock:
            tell(label)
        return made

    if not jobs:
        return []
    first = one(jobs[0])
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        return [first, *pool.map(one, jobs[1:])]


def grasps(asked: Sequence[GraspFlight], tell: Tell, label: str) -> dict[GraspFlight, GraspOutcome]:
    """What comes of many grasps."""
    return dict(zip(asked, run([partial(grasped, it) for it in asked], tell, label), strict=True))


def jumps(density: float, count: int, tell: Tell, tendons: float = 1e3) -> list[JumpErrors]:
    """Flights to targets that are drawn by chance, the same for every density."""
    angles = np.random.default_rng(6).uniform(0.0, 2 * np.pi, 20)[:count]
    jobs = [partial(jumped, density, float(angle), tendons) for angle in angles]
    return run(jobs, tell, f"{density:g} kg/m^3")
