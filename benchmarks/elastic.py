"""Elastic cables: what a second of six vehicles and six cables of ten segments costs, and how exact it is.

    python benchmarks/elastic.py

The same springs, dampers and point masses in MuJoCo (spatial tendons between nodes on slide joints) fly the
same second from the same start, in the same run. Errors are distances of the payload from a flight at steps
of 20 us.
"""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
from timing import cpu_seconds

from skyrig.rigs import Cable, Elastic, Material
from skyrig.sim.batch import advance, spread
from skyrig.sim.plant import Effort

COUNT, SEGMENTS, SECONDS = 6, 10, 1.0
STIFFNESS, DAMPING, LENGTH, MASS = 1e5, 1e3, 2.0, 0.01
"""Of a whole cable (N/m, N s/m, m), and its mass per metre (kg/m)."""
BATCH = 64
CRAFT = SimpleNamespace(mass=1.0, inertia=np.diag([0.02, 0.02, 0.035]))
LOAD = SimpleNamespace(mass=7.0, inertia=np.diag([1.4, 1.4, 1.75]))
AROUND = np.arange(COUNT) * np.pi / 3
POINTS = np.stack([np.cos(AROUND), np.sin(AROUND), 0 * AROUND], axis=1)


def rig() -> Elastic:
    """The rig of the measurement."""
    material = Material(stiffness=STIFFNESS, damping=DAMPING, mass_per_metre=MASS)
    return Elastic.build([CRAFT] * COUNT, LOAD, [Cable(LENGTH, it) for it in POINTS], material, SEGMENTS)


def inputs(hover: Any) -> tuple[np.ndarray, np.ndarray]:
    """Thrusts (n) and moments (n, 3), away from hover."""
    chance = np.random.default_rng(1)
    thrust = hover.thrust * (1 + 0.05 * chance.standard_normal(COUNT))
    return thrust, hover.moment + 0.01 * chance.standard_normal((COUNT, 3))


def mujoco_model(built: Elastic, state: Any, step: float, integrator: str) -> mujoco.MjModel:
    """The same in MuJoCo, its bodies where `state` has them."""

    def text(numbers: Any) -> str:
        return " ".join(f"{it:.17g}" for it in np.asarray(numbers).ravel())

    def body(name: str, at: Any, turn: Any, it: Any, sites: str) -> str:
        moments = text(np.diag(it.inertia))
        return (
            f'<body name="{name}" pos="{text(at)}" quat="{text(turn)}"><freejoint/>'
            f'<inertial pos="0 0 0" mass="{it.mass}" diaginertia="{moments}"/>{sites}</body>'
        )

    ends = "".join(f'<site name="c{k}-{SEGMENTS}" pos="{text(p)}"/>' for k, p in enumerate(POINTS))
    world = body("load", state.payload.position, state.payload.attitude, LOAD, ends)
    mass = float(built.segment(state).node_mass[0])
    tendons, motors = "", ""
    rest = LENGTH / SEGMENTS
    for k in range(COUNT):
        craft = state.vehicles
        world += body(f"v{k}", craft.position[:, k], craft.attitude[:, k], CRAFT, f'<site name="c{k}-0"/>')
        for i in range(SEGMENTS - 1):
            slides = "".join(f'<joint type="slide" axis="{axis}"/>' for axis in ("1 0 0", "0 1 0", "0 0 1"))
            world += (
                f'<body pos="{text(state.nodes.position[:, i, k])}">{slides}<inertial pos="0 0 0" '
                f'mass="{mass}" diaginertia="1e-9 1e-9 1e-9"/><site name="c{k}-{i + 1}"/></body>'
            )
        for i in range(SEGMENTS):
            tendons += (
                f'<spatial stiffness="{SEGMENTS * STIFFNESS}" damping="{SEGMENTS * DAMPING}" '
                f'springlength="0 {rest:.17g}"><site site="c{k}-{i}"/><site site="c{k}-{i + 1}"/></spatial>'
            )
        for gear in ("0 0 1 0 0 0", "0 0 0 1 0 0", "0 0 0 0 1 0", "0 0 0 0 0 1"):
            motors += f'<motor site="c{k}-0" gear="{gear}"/>'
    return mujoco.MjModel.from_xml_string(
        f'<mujoco><compiler boundmass="0"/><option timestep="{step}" integrator="{integrator}" '
        f'gravity="0 0 -9.81"><flag contact="disable"/></option><worldbody>{world}</worldbody>'
        f"<tendon>{tendons}</tendon><actuator>{motors}</actuator></mujoco>"
    )


def mujoco_end(model: mujoco.MjModel, thrust: np.ndarray, moment: np.ndarray) -> np.ndarray:
    """Where MuJoCo has the payload in the end (m); not a number if it gave up."""
    data = mujoco.MjData(model)
    data.ctrl[:] = np.concatenate([thrust[:, None], moment], axis=1).ravel()
    for _ in range(round(SECONDS / model.opt.timestep)):
        mujoco.mj_step(model, data)
    bad = sum(int(it.number) for it in data.warning)
    return np.full(3, np.nan) if bad else np.array(data.qpos[:3])


def main() -> None:
    """Print compile times, times of a second flown, and errors."""
    built = rig()
    hover = built.trim([0.0, 0.0, 0.0], lean=0.35)
    thrust, moment = inputs(hover)
    effort = Effort(jnp.asarray(thrust), jnp.asarray(moment.T))

    def end(step: float, made: Any = built, state: Any = hover.state, push: Any = effort) -> Any:
        return jax.block_until_ready(advance(made, state, push, step, round(SECONDS / step))[0])

    began, cpu = time.perf_counter(), time.process_time()
    end(1e-3)
    print(f"compiled in {time.perf_counter() - began:.1f} s ({time.process_time() - cpu:.1f} s of CPU time)")
    many = [spread(it, BATCH) for it in (built, hover.state, effort)]
    began, cpu = time.perf_counter(), time.process_time()
    end(1e-3, *many)
    print(f"batch compiled and flown in {time.perf_counter() - began:.1f} s")
    exact = np.asarray(end(2e-5).payload.position)
    models = {
        (name, step): mujoco_model(built, hover.state, step, name)
        for name in ("implicitfast", "implicit", "RK4")
        for step in (2e-3, 1e-3, 1e-4)
    }
    calls: dict[Any, Any] = {("skyrig", step): (lambda s=step: end(s)) for step in (4e-3, 2e-3, 1e-3)}
    calls["skyrig, batch of 64", 1e-3] = lambda: end(1e-3, *many)
    calls |= {
        (f"MuJoCo {name}", step): (lambda m=model: mujoco_end(m, thrust, moment))
        for (name, step), model in models.items()
    }
    taken = cpu_seconds(calls, rounds=3)
    print("| who | step (s) | CPU s for a second of a flight | times real time | payload off by (m) |")
    print("|---|---|---|---|---|")
    for (name, step), seconds in taken.items():
        found = calls[name, step]()
        batch = name.endswith("64")
        place = found if isinstance(found, np.ndarray) else np.asarray(found.payload.position)
        error = np.abs((place[:, 0] if batch else place) - exact).max()
        seconds = seconds / BATCH if batch else seconds
        print(f"| {name} | {step:g} | {seconds:.4f} | {SECONDS / seconds:.3g} | {error:.2e} |")


if __name__ == "__main__":
    main()
