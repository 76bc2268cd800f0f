"""A quadrotor with four soft fingers and an object: cost of a step, of a batch, and how still it holds.

    python benchmarks/soft.py [elements|rod|batch]

`elements` and `rod` fly `soft-grasp` for 11 s at steps of 10 ms, twice: the first flight compiles. They print
simulated over processor time of the second, how hard the fingers press, how far the can is from its last
place in the hand in the last 5 s, in which everything is held still, and how far the middle of its swing
moves. `batch` steps rods and elements side by side, open loop, closing on the can.
"""

from __future__ import annotations

import sys
import time
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from skyrig.rigs import Bodies
from skyrig.rigs.gripper import RodGripper, SoftGripper
from skyrig.rigs.protocol import Loads
from skyrig.runs import fly
from skyrig.scenario import load
from skyrig.turns import conjugate, turn
from skyrig.vehicles.shapes import Cylinder

CAN = Cylinder(radius=0.03, height=0.08)
CRAFT = SimpleNamespace(mass=1.0, inertia=np.diag([0.08, 0.08, 0.14]))
THING = SimpleNamespace(mass=0.05, shape=CAN, inertia=CAN.inertia(0.05))


def flown(elements: str) -> None:
    """One quadrotor at 10 ms: real-time factor, and drift of what is held."""
    changes: dict[str, Any] = {"rig.finger.elements": elements, "duration": 11.0}
    known = load("soft-grasp").with_overrides(changes)
    fly(known)
    began = time.process_time()
    flight = fly(known)
    spent = time.process_time() - began
    print(
        f"{elements}: {spent:.2f} s of processor time for {known.duration:g} s, "
        f"{known.duration / spent:.2f} times real time"
    )
    craft, thing = flight.vehicles, flight.payload
    press = np.asarray(flight.signals["finger.force"])[-1]
    print(f"  presses at the end {press.round(3)} N, the can at {thing.position[-1, 2]:.3f} m")
    apart = turn(conjugate(craft.attitude[:, 0]), thing.position - craft.position[:, 0])
    for last in (5.0, 3.0, 1.0):
        rows = flight.times >= flight.times[-1] - last
        drift = np.linalg.norm(apart[rows] - apart[-1], axis=1)
        print(f"  last {last:g} s: never more than {1e3 * drift.max():.4f} mm from where it ends")
    first = (flight.times >= flight.times[-1] - 5.0) & (flight.times < flight.times[-1] - 4.0)
    moved = np.linalg.norm(apart[first].mean(0) - apart[flight.times > flight.times[-1] - 1.0].mean(0))
    print(f"  the middle of its swing, from the first to the last of 5 s: {1e3 * moved:.4f} mm")


def batch(kind: type[SoftGripper], count: int, steps: int) -> float:
    """Processor time of a step of 10 ms of one flight, with `count` side by side (ms)."""
    rig = kind.build(CRAFT, THING, friction=1.2)
    state = rig.placed({"vehicles": Bodies.still((0, 0, 0.2)), "payload": Bodies.still((0, 0, 0.04))})

    def beside(leaf: jax.Array) -> jax.Array:
        return jnp.repeat(leaf[..., None], count, axis=-1)

    own, begin = jax.tree.map(beside, (rig, state))
    pairs = jnp.tile(jnp.array([0.135, 0.185]), 4)[:, None] * jnp.ones(count)
    loads = Loads(jnp.full((1, count), 10.9), jnp.zeros((3, 1, count)), {}, {"tendon": pairs})
    span = jnp.full(count, 0.01)

    @jax.jit
    def go(rig: Any, state: Any, count: Any) -> Any:
        def one(_: Any, state: Any) -> Any:
            return rig.step(rig.prepare(state, loads, span), lambda share, at: loads, span)[0]

        return jax.lax.fori_loop(0, count, one, state)

    jax.block_until_ready(go(own, begin, 1))
    began = time.process_time()
    jax.block_until_ready(go(own, begin, steps))
    return 1e3 * (time.process_time() - began) / steps / count


def main() -> None:
    """Print what is asked for, or everything."""
    wanted = sys.argv[1:] or ["elements", "rod", "batch"]
    for name in wanted:
        if name != "batch":
            flown("H20" if name == "elements" else name)
            continue
        for count in (1, 16, 64, 256):
            print(f"rods, {count} side by side: {batch(RodGripper, count, 5):.3f} ms a step and flight")
        for count in (1, 16):
            print(f"elements, {count} side by side: {batch(SoftGripper, count, 5):.3f} ms a step and flight")


if __name__ == "__main__":
    main()
