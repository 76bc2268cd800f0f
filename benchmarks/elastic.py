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
STEPS = (4e-3, 2e-3, 1e-3, 4e-4, 1e-4, 2.5e-5)
"""At which MuJoCo is tried (s)."""
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


def mujoco_runs(built: Elastic, state: Any, thrust: np.ndarray, moment: np.ndarray) -> dict[Any, Any]:
    """End of the payload (m) and CPU seconds by integrator and step, from coarse to fine."""
    found = {}
    for name in ("implicitfast", "implicit", "Euler", "RK4"):
        for step in STEPS:
            model = mujoco_model(built, state, step, name)
            began = time.process_time()
            end = mujoco_end(model, thrust, moment)
            found[name, step] = end, time.process_time() - began
    return found


def equal_error(rows: list[tuple[float, float, float]], wanted: float) -> tuple[float, float] | None:
    """Step (s) and CPU seconds at which an error (m) is reached, between two rows; None if it never is.

    `rows` are steps, CPU seconds and errors, finer and finer; error and cost go with powers of the step.
    """
    k = next((k for k in range(1, len(rows)) if rows[k][2] <= wanted), None)
    if k is None:
        return None
    steps, seconds, errors = (np.log(column) for column in zip(*rows[k - 1 : k + 1], strict=True))
    share = (np.log(wanted) - errors[0]) / (errors[1] - errors[0])
    between = [float(np.exp(it[0] + share * (it[1] - it[0]))) for it in (steps, seconds)]
    return between[0], between[1]


def main() -> None:
    """Print compile times, times of a second flown, errors, and MuJoCo's cost at the same errors."""
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
    wall, cpu = time.perf_counter() - began, time.process_time() - cpu
    print(f"batch compiled and flown in {wall:.1f} s ({cpu:.1f} s of CPU time)", flush=True)
    exact = np.asarray(end(2e-5).payload.position)
    calls: dict[Any, Any] = {("skyrig", step): (lambda s=step: end(s)) for step in (4e-3, 2e-3, 1e-3)}
    calls["skyrig, batch of 64", 1e-3] = lambda: end(1e-3, *many)
    taken = cpu_seconds(calls, rounds=3)
    print("| who | step (s) | CPU s for a second of a flight | times real time | payload off by (m) |")
    print("|---|---|---|---|---|")
    errors = {}
    for (name, step), seconds in taken.items():
        batch = name.endswith("64")
        place = np.asarray(calls[name, step]().payload.position)
        errors[name, step] = np.abs((place[:, 0] if batch else place) - exact).max()
        seconds = seconds / BATCH if batch else seconds
        print(f"| {name} | {step:g} | {seconds:.4f} | {SECONDS / seconds:.3g} | {errors[name, step]:.2e} |")
    rows: dict[str, list[tuple[float, float, float]]] = {}
    for (name, step), (place, seconds) in mujoco_runs(built, hover.state, thrust, moment).items():
        error = np.abs(place - exact).max()
        shown = f"{error:.2e}" if error < 1 else "gave up"
        print(f"| MuJoCo {name} | {step:g} | {seconds:.4f} | {SECONDS / seconds:.3g} | {shown} |", flush=True)
        if error < 1:
            rows.setdefault(name, []).append((step, seconds, error))
    print()
    for name, own in rows.items():
        print(f"MuJoCo {name}: largest stable step of these {own[0][0]:g} s")
        for step in (4e-3, 2e-3, 1e-3):
            reached = equal_error(own, errors["skyrig", step])
            if reached is None:
                found, cost = "is not reached with", own[-1]
            else:
                found, cost = "takes", (*reached, errors["skyrig", step])
            wanted = f"skyrig's error at {step:g} s, {errors['skyrig', step]:.1e} m,"
            print(
                f"  {wanted} {found} steps of {cost[0]:.1e} s: "
                f"{cost[1] / taken['skyrig', step]:.3g} times the CPU time for {cost[2]:.1e} m"
            )


if __name__ == "__main__":
    main()
