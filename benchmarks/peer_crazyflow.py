"""crazyflow as a contender: one drone a world, its own controller, on the CPU. Run by `peers.py`."""

from importlib.metadata import version

import jax
import numpy as np
from crazyflow.sim import Sim
from turns import Contender, Entry, serve

RATE = 500


def contender(dynamics: str, worlds: int, seconds: float) -> Contender:
    """Hover in `worlds` worlds; all steps in one compiled loop."""
    sim = Sim(n_worlds=worlds, dynamics=dynamics, control="state", integrator="euler", freq=RATE)
    wanted = np.zeros((worlds, 1, 16))
    wanted[..., 2] = wanted[..., 12] = 1.0  # a height of 1 m, upright
    sim.state_control(wanted)
    steps = round(seconds * RATE)

    def fly() -> None:
        sim.step(steps)
        jax.block_until_ready(sim.data)

    fly()  # its first two calls compile, and `serve` makes one
    entry = Entry(
        who=f"crazyflow {version('crazyflow')}, {dynamics}",
        flies="one vehicle, no load",
        controller="its state controller, 100 Hz",
        step=f"{1e3 / RATE:g} ms, Euler, float32",
        flights=worlds,
        seconds=seconds,
    )
    return entry, fly


serve([contender(kind, *size) for size in ((1, 5.0), (1024, 1.0)) for kind in ("first_principles", "so_rpy")])
