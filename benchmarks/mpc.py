"""How long plans take: one control period of distributed and central plans, by the number of vehicles.

    python benchmarks/mpc.py [--rounds 300]

Each row is one compiled call of the controller, as a control period has it, on a flight round a circle:
median and 99th percentile of its wall time, and CPU time per call, in one process.
"""

from __future__ import annotations

import argparse
import time

import jax
import numpy as np

import skyrig
from skyrig.control.building import build
from skyrig.control.interface import Measurement, row, targets

PERIOD = 0.02
"""Of control (s): what a call must fit into."""


def team(count: int) -> tuple:
    """A ring of vehicles round Auto-Multilift's load, and its rig."""
    frame = skyrig.airframe("multilift")
    around = 2 * np.pi * np.arange(count) / count
    points = np.stack([np.cos(around), np.sin(around), 0.1 + 0 * around], axis=1)
    cables = [skyrig.Cable(2.0, point) for point in points]
    rig = skyrig.Slung.build([frame] * count, skyrig.payload("multilift-ring"), cables)
    return rig, [frame] * count


def measured(name: str, count: int, rounds: int) -> list[float]:
    """Wall times (s) of every call, then CPU time per call (s)."""
    rig, frames = team(count)
    controller = build(name, rig, frames, {"lean": 0.35}, period=PERIOD)
    ticks = PERIOD * np.arange(rounds + 20)
    circle = skyrig.planning.circle(radius=3.0, period=9.0, start=(3.0, 0.0, 2.0))
    wanted = targets(controller, circle.sample(ticks))
    hover = skyrig.trim(rig, position=(3.0, 0.0, 2.0), lean=0.35)
    seen = Measurement(rig.bodies(hover.state), rig.readings(hover.state))
    memory = controller.start(seen)
    call = jax.jit(lambda memory, t, target: controller(memory, t, target, seen))
    walls = []
    begun = 0.0
    for k in range(rounds + 5):
        if k == 5:
            begun = time.process_time()
        start = time.perf_counter()
        memory, command = call(memory, float(ticks[k]), row(wanted, k))
        jax.block_until_ready(command)
        walls.append(time.perf_counter() - start)
    return [*walls[5:], (time.process_time() - begun) / rounds]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--counts", type=int, nargs="*", default=[2, 4, 6, 8])
    rounds = parser.parse_args().rounds
    print("| plans | vehicles | median (ms) | 99th percentile (ms) | CPU (ms) |\n|---|---|---|---|---|")
    for name in ("mpc-distributed", "mpc-central"):
        for count in parser.parse_args().counts:
            *walls, cpu = measured(name, count, rounds)
            median, slow = (1e3 * np.percentile(walls, share) for share in (50, 99))
            print(f"| {name} | {count} | {median:.1f} | {slow:.1f} | {1e3 * cpu:.1f} |", flush=True)


if __name__ == "__main__":
    main()
