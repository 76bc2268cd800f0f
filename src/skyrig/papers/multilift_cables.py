"""The cable tests of the multilift report (Gao, NUS 2025, section 4.1): weights let go on stiff cables."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from skyrig.constants import GRAVITY

Reals = npt.NDArray[np.float64]

STIFFNESS, DAMPING = 1e5, 1e3
"""Of a whole cable (N/m, N s/m), as the report sets them."""
LENGTH, MASS_PER_METRE = 1.0, 2e-4
"""Of a cable (m, kg/m); the report prints neither, and calls them light."""
STEP = 1e-3
"""Of the physics (s)."""
HEAVY = 1e12
"""Mass of what the cables hang from (kg): nothing moves it."""
LEAN = np.radians(30)
"""Of the six cables from the vertical (rad)."""


class Drop(NamedTuple):
    """A weight let go on unstretched cables."""

    mass: float
    """kg."""
    segments: int
    times: Reals
    """(T,) s."""
    fall: Reals
    """(T,) from where it was let go, less what the cables' own weight does (m)."""
    theory: Reals
    """(T,) by the ideal second-order response (m)."""
    stiffness: float
    """By the weight over the last fall (N/m)."""

    @property
    def error(self) -> float:
        """Root mean square of the distance from theory, over the fall in the end."""
        return float(np.sqrt(np.mean((self.fall - self.theory) ** 2)) / self.theory[-1])

    @property
    def overshoot(self) -> float:
        """Of the fall beyond the last one, as a share of it."""
        return float(self.fall.max() / self.fall[-1] - 1)

    @property
    def ideal_overshoot(self) -> float:
        """The same by theory."""
        return float(self.theory.max() / self.theory[-1] - 1)


def single(mass: float, segments: int, duration: float = 0.4) -> Drop:
    """One cable, straight down (Figs. 8-11 and Table 1)."""
    return _drop(mass, segments, np.array([[0.0, 0.0, 1.0]]), duration)


def six(mass: float, segments: int, duration: float = 0.6) -> Drop:
    """Six cables, 30 degrees from the vertical (Figs. 12-14)."""
    around = np.arange(6) * np.pi / 3
    flat = np.sin(LEAN) * np.stack([np.cos(around), np.sin(around)], axis=1)
    return _drop(mass, segments, np.column_stack([flat, np.full(6, np.cos(LEAN))]), duration)


def response(mass: float, stiffness: float, damping: float, times: Reals) -> Reals:
    """Fall of a weight on an ideal spring and damper, let go at rest and unstretched (m)."""
    decay = damping / (2 * mass)
    root = np.sqrt(complex(decay**2 - stiffness / mass))
    slow, fast = -decay + root, -decay - root
    left = (fast * np.exp(slow * times) - slow * np.exp(fast * times)) / (fast - slow)
    return mass * GRAVITY / stiffness * (1 - left.real)


def _drop(mass: float, segments: int, up: Reals, duration: float) -> Drop:
    import skyrig
    from skyrig.rigs import Cable, Elastic, Material

    n = len(up)
    wall = SimpleNamespace(mass=HEAVY, inertia=HEAVY * np.eye(3))
    load: Any = SimpleNamespace(mass=mass, inertia=None)
    material = Material(stiffness=STIFFNESS, damping=DAMPING, mass_per_metre=MASS_PER_METRE)
    rig = Elastic.build([wall] * n, load, [Cable(LENGTH)] * n, material, segments)
    state = rig.state(np.zeros(3), LENGTH * up)
    times: Reals = STEP * np.arange(round(duration / STEP) + 1, dtype=np.float64)
    thrust: Sequence[float] = [HEAVY * GRAVITY] * n
    flown = skyrig.rollout(rig, state, times[[0, -1]], thrust, np.zeros((n, 3)), at=times, step=STEP)
    # along z every cable acts with the square of its cosine
    share = float((up[:, 2] ** 2).sum())
    own = MASS_PER_METRE * LENGTH * GRAVITY / (2 * STIFFNESS) if segments > 1 and n == 1 else 0.0
    fall = -np.asarray(flown.payload.position)[:, 2] - own
    theory = response(mass, share * STIFFNESS, share * DAMPING, times)
    return Drop(mass, segments, times, fall, theory, float(mass * GRAVITY / fall[-1] / share))
