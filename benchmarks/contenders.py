"""skyrig and MuJoCo as contenders, in skyrig's own process."""

from __future__ import annotations

import os
from functools import partial

import mujoco
import mujoco.rollout
import mujoco_rig
import numpy as np
from rigs import start, triangle
from turns import Contender, Entry

import skyrig
from skyrig.control import build
from skyrig.sim.batch import CHUNK

STEP = 2e-3
BATCH = 1024
ONE, THREE = "one-dragonfly-circle", "three-dragonflies-1m"
WORDS = {ONE: "one vehicle, slung point mass", THREE: "three vehicles, rigid load on cables"}
"""What a scenario flies."""
NOISE = {"noise.position": "uniform(0, 0.002)"}
MASS = {"rig.payload.mass": "uniform(0.2, 0.25)"}
"""What is drawn for each flight of a batch, by path."""
OURS = "2 ms, RK4, events located, float64"
HELD = "none, thrusts held"


def ours() -> list[Contender]:
    """skyrig: one flight and a batch of each scenario."""
    kinds = ((ONE, NOISE, "noise drawn"), (THREE, NOISE, "noise drawn"), (THREE, MASS, "load's mass drawn"))
    return [_one(name) for name in WORDS] + [_closed_loop(*kind) for kind in kinds]


def _one(name: str) -> Contender:
    """A whole call of `closed_loop`, every step recorded."""
    seconds = 10.0
    built = skyrig.load(name).build()
    frames = built.team.airframes
    controller = build("cables", built.rig, frames)

    def fly() -> None:
        skyrig.closed_loop(
            built.rig, built.state, controller, frames, built.reference, duration=seconds, step=STEP
        )

    entry = Entry("skyrig, closed_loop", WORDS[name], "full, 100 Hz", OURS, 1, seconds)
    return entry, fly


def _closed_loop(name: str, vary: dict[str, str], words: str) -> Contender:
    """A whole call of `fly_many`: values drawn, rigs and controllers built, flights flown and measured."""
    seconds = 10.0
    scenario = skyrig.load(name).with_overrides({"duration": seconds, "loop.step": STEP})
    entry = Entry(f"skyrig, fly_many, {words}", WORDS[name], "full, 100 Hz", OURS, BATCH, seconds)

    def fly(flights: int) -> object:
        return skyrig.fly_many(scenario, flights, vary, seed=1)

    return entry, partial(fly, BATCH), partial(fly, CHUNK)


def mujocos() -> list[Contender]:
    """MuJoCo: one flight, and its own batches on one thread and on all."""
    cores = os.cpu_count() or 1
    return [_stepped(), _rolled(1), *([_rolled(cores)] if cores > 1 else [])]


def _stepped() -> Contender:
    seconds = 5.0
    model, thrust = mujoco_rig.model(1e-3), _hover()
    entry = Entry(f"MuJoCo {mujoco.__version__}, mj_step", WORDS[THREE], HELD, "1 ms, Euler", 1, seconds)
    return entry, lambda: mujoco_rig.fly(model, thrust, np.zeros(3), np.zeros(3), seconds)


def _rolled(threads: int) -> Contender:
    """`mujoco.rollout` of as many flights as take a few seconds."""
    flights, seconds = 256, 1.0
    model = mujoco_rig.model(1e-3)
    workers = [mujoco.MjData(model) for _ in range(threads)]
    kind = mujoco.mjtState.mjSTATE_FULLPHYSICS
    state = np.zeros((flights, mujoco.mj_stateSize(model, kind)))
    mujoco.mj_getState(model, workers[0], state[0], kind)
    state[:] = state[0]
    control = np.broadcast_to(_hover(), (flights, round(seconds / model.opt.timestep), 3))
    words = f"MuJoCo {mujoco.__version__}, rollout, {threads} thread{'s' * (threads > 1)}"
    entry = Entry(words, WORDS[THREE], HELD, "1 ms, Euler", flights, seconds)
    return entry, lambda: mujoco.rollout.rollout(model, workers, state, control)


def _hover() -> np.ndarray:
    return np.asarray(start(triangle())[1].thrust)
