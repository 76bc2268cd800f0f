"""The rigs that benchmarks fly, and how they start."""

from __future__ import annotations

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from skyrig import Cable, Slung, airframe, payload, trim
from skyrig.sim import Effort

RATE = np.array([0.3, 0.2, 1.0])


def ring(n: int, length: float = 1.0) -> Slung:
    """n dragonflies around the box."""
    turn = 2 * np.pi * np.arange(n) / n
    points = (
        0.4 * np.stack([np.cos(turn), np.sin(turn), 0.2 + 0 * turn], axis=1) if n > 1 else np.zeros((1, 3))
    )
    return Slung.build([airframe("dragonfly")] * n, payload("box"), [Cable(length, p) for p in points])


def triangle() -> Slung:
    """Three dragonflies on the triangle, 1 m cables."""
    load = payload("triangle")
    points = load.attachment_points("cable", 3)
    return Slung.build([airframe("dragonfly")] * 3, load, [Cable(1.0, p) for p in points])


def start(rig: Slung, rate: np.ndarray = RATE):
    """Hover with a turning payload, and the thrusts that hold it up."""
    hover = trim(rig, [0, 0, 5.0])
    state = eqx.tree_at(lambda s: s.payload.rate, hover.state, jnp.asarray(rate))
    return state, Effort(jnp.asarray(hover.thrust), jnp.zeros((3, rig.count)))
