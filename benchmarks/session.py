"""How many steps a second a `skyrig.Session` takes from Python, next to MuJoCo's `mj_step` in the same run.

One vehicle with a load on a cable, one physics step a call, by CPU time; all in turns, the best of each.
Run: python benchmarks/session.py
"""

from __future__ import annotations

import time
from collections.abc import Callable

import mujoco
import numpy as np

import skyrig

CALLS, ROUNDS = 2000, 7


def skyrig_step(sense: bool) -> Callable[[], None]:
    """One step of a session, commanded, with what is sensed before if asked for."""
    scenario = skyrig.load("one-dragonfly-hover")
    long = {"duration": 1.2 * 2e-3 * CALLS * (ROUNDS + 1), "loop.control_rate": 500.0}
    session = skyrig.Session(scenario.with_overrides(long))
    hover = skyrig.trim(session.built.rig, np.zeros(3))  # the same wherever it is
    command = (np.asarray(hover.thrust), np.asarray(hover.moment))

    def once() -> None:
        if sense:
            session.sense()
        session.step(command)

    return once


def mujoco_step() -> Callable[[], None]:
    """`mj_step` of a free body with a load on a tendon, at the same step."""
    model = mujoco.MjModel.from_xml_string(
        """<mujoco><option timestep="0.002"/><worldbody>
        <body pos="0 0 1.5"><freejoint/><geom type="box" size=".1 .1 .03" mass=".25"/><site name="a"/></body>
        <body pos="0 0 1"><freejoint/><geom type="sphere" size=".03" mass=".07"/><site name="b"/></body>
        </worldbody><tendon><spatial limited="true" range="0 0.5"><site site="a"/><site site="b"/></spatial>
        </tendon></mujoco>"""
    )
    data = mujoco.MjData(model)

    def once() -> None:
        data.xfrc_applied[1, 2] = 0.32 * 9.81
        mujoco.mj_step(model, data)

    return once


def main() -> None:
    """Print the table."""
    each = {
        "skyrig.Session.step": skyrig_step(False),
        "skyrig.Session.sense and step": skyrig_step(True),
        "mujoco.mj_step": mujoco_step(),
    }
    best = dict.fromkeys(each, np.inf)
    for once in each.values():
        once()
    for _ in range(ROUNDS):
        for name, once in each.items():
            began = time.process_time()
            for _ in range(CALLS):
                once()
            best[name] = min(best[name], (time.process_time() - began) / CALLS)
    print("| one step from Python | us (CPU) | steps a second |")
    print("|---|---|---|")
    for name, seconds in best.items():
        print(f"| {name} | {seconds * 1e6:.1f} | {1 / seconds:,.0f} |")


if __name__ == "__main__":
    main()
