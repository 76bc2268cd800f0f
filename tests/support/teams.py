"""Teams for tests of statics, and slung rigs whose vehicles hold still."""

from types import SimpleNamespace

import numpy as np

from skyrig import airframe, payload
from skyrig.rigs import Cable, Slung
from skyrig.statics import Team

HEAVY = 1e9
"""Mass of a vehicle that no cable moves (kg)."""


def frame(**others) -> Team:
    """The team of Michael, Fink and Kumar."""
    return _made("hummingbird", "frame", 1.0, 3, **others)


def box(n: int = 4) -> Team:
    """Dragonflies on the box, whose attachments are off its centre of mass."""
    return _made("dragonfly-bullnose", "box", 0.5, n)


def _made(vehicle: str, load: str, length: float, n: int, **others) -> Team:
    points = payload(load).attachment_points("cable", n)
    cables = [Cable(length, point) for point in points]
    return Team.build([airframe(vehicle)] * n, payload(load), cables, **others)


def random_team(rng: np.random.Generator, n: int) -> Team:
    """Strong vehicles on a payload of random shape, its centre of mass below the attachments."""
    sides = rng.uniform(0.3, 0.8, 3)
    mass = rng.uniform(0.2, 1.0)
    inertia = mass / 12 * np.array([sides[1] ** 2 + sides[2] ** 2, sides[0] ** 2 + sides[2] ** 2, 1e-9])
    inertia[2] = mass / 12 * (sides[0] ** 2 + sides[1] ** 2)
    around = 2 * np.pi * (np.arange(n) + rng.uniform(-0.3, 0.3, n)) / n
    reach = rng.uniform(0.3, 0.6, n)
    points = np.stack([reach * np.cos(around), reach * np.sin(around), rng.uniform(0.0, 0.15, n)], axis=1)
    vehicles = [SimpleNamespace(mass=0.5, total_thrust_max=40.0, radius=0.1) for _ in range(n)]
    cables = [Cable(length, point) for length, point in zip(rng.uniform(0.6, 1.4, n), points, strict=True)]
    return Team.build(vehicles, SimpleNamespace(mass=mass, inertia=inertia), cables)


def held(team: Team) -> tuple[Slung, np.ndarray]:
    """The same team as a rig whose vehicles no cable moves, and the thrusts that hold them up (N)."""
    vehicles = [SimpleNamespace(mass=HEAVY, inertia=HEAVY * np.ones(3))] * team.count
    load = SimpleNamespace(mass=team.mass, inertia=team.inertia)
    cables = [Cable(length, point) for length, point in zip(team.length, team.attachment, strict=True)]
    rig = Slung.build(vehicles, load, cables, gravity=team.gravity)
    return rig, np.full(team.count, HEAVY * team.gravity)
