"""What we claim about speed, measured here and now: `make bench`.

All figures are CPU time (every thread of the process counts), MuJoCo's C stepping in the same run, in turns.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time

import equinox as eqx
import jax
import jax.numpy as jnp
import mujoco
import mujoco_rig
import numpy as np
import precision
from rich.console import Console
from rich.table import Table
from rigs import ring, start, triangle
from timing import cpu_seconds

from skyrig import airframe, closed_loop, trim
from skyrig.control import build
from skyrig.planning import circle
from skyrig.sim import Effort, chunked, openloop
from skyrig.sim.batch import advance, advance_in_chunks, spread
from skyrig.sim.chunks import Cursor
from skyrig.sim.driver import HeldEfforts
from skyrig.sim.log import Log
from skyrig.sim.preparation import prepare
from skyrig.sim.schedule import StepPlan

STEP = 2e-3
console = Console()


def throughput() -> None:
    """Simulated seconds per CPU second, one flight and batches, against MuJoCo."""
    rig, steps = triangle(), 1000
    rate = np.array([0.0, 0.0, 0.5])
    state, inputs = start(rig, rate)
    rng = np.random.default_rng(0)
    lively = spread(state, 1024)
    # payloads thrown upwards at different speeds: cables go slack and snap taut again and again
    thrown = jnp.asarray(np.stack([rng.normal(size=1024), rng.normal(size=1024), rng.uniform(1, 3, 1024)]))
    lively = eqx.tree_at(lambda s: s.payload.velocity, lively, thrown)
    many = spread((rig, state, inputs), 1024)
    busy = (many[0], lively, many[2])
    count = jnp.asarray(steps)
    model = mujoco_rig.model(1e-3)
    thrust = np.asarray(inputs.thrust)

    def block(tree):
        return jax.block_until_ready(tree)

    logs = {}

    def flown(name, *arguments):
        _, log = block(advance_in_chunks(*arguments, STEP, count, 256))
        logs[name] = log

    spent = cpu_seconds(
        {
            "skyrig, one flight": lambda: block(advance(rig, state, inputs, STEP, count)),
            "skyrig, 1,024 flights, no events": lambda: flown("calm", *many),
            "skyrig, 1,024 flights, many events": lambda: flown("busy", *busy),
            "MuJoCo, 1 ms, Euler": lambda: mujoco_rig.fly(model, thrust, rate, np.zeros(3), 2.0),
        },
        rounds=5,
    )
    table = Table(title="Three vehicles on a rigid payload, inputs held, 2 s")
    for column in ("who", "CPU us per simulated 2 ms", "simulated s per CPU s", "times MuJoCo"):
        table.add_column(column, justify="left" if column == "who" else "right")
    flights = {name: 1024 if "1,024" in name else 1 for name in spent}
    each = {name: seconds / flights[name] for name, seconds in spent.items()}
    for name, seconds in each.items():
        ratio = each["MuJoCo, 1 ms, Euler"] / seconds
        table.add_row(name, f"{seconds / steps * 1e6:.2f}", f"{2 / seconds:,.0f}", f"{ratio:.1f}")
    console.print(table)
    per = {name: float(log.count.mean()) for name, log in logs.items()}
    worst = max(int(np.max(log.trouble)) for log in logs.values())
    console.print(f"Events a flight: {per['calm']:.1f} and {per['busy']:.1f}; troubles: {worst}.")


def work_precision(kind: str) -> None:
    """CPU time against error, skyrig against the best MuJoCo can do."""
    flown = precision.study(precision.FLIGHTS[kind])
    table = Table(title=f"Payload's place after {precision.SECONDS:g} s: {flown.flight.words}")
    for column in ("who", "step (ms)", "error (m)", "CPU ms"):
        table.add_column(column, justify="left" if column == "who" else "right")
    for it in flown.points:
        table.add_row(it.who, f"{it.step * 1e3:g}", f"{it.error:.1e}", f"{it.cpu * 1e3:.3f}")
    console.print(table)
    for it in flown.compared():
        console.print(
            f"To {it.error:.0e} m: skyrig {it.ours * 1e3:.3f} ms, MuJoCo at best {it.theirs * 1e3:.1f} ms: "
            f"{it.times:.0f}x."
        )


def in_the_loop() -> None:
    """What the full controller adds at 2 ms and 100 Hz: in the compiled loop, and in a whole call."""
    rig, frames = triangle(), [airframe("dragonfly")] * 3
    reference = circle(radius=1.0, period=6.0, start=(0.0, 0.0, 2.0))
    hover = trim(rig, reference.start.position[0])
    controller = build("cables", rig, frames)
    model, thrust = mujoco_rig.model(1e-3), np.asarray(hover.thrust)

    def closed():
        return closed_loop(rig, hover.state, controller, frames, reference, duration=20.0)

    job, pilot = prepare(rig, hover.state, controller, frames, reference, duration=20.0)
    chunks, steps = chunked.Chunks(job, pilot), chunked.STEPS
    part = Cursor(job.planned).chunk(0, steps, chunked.TICKS, chunked.INTERVALS)
    inputs = Effort(jnp.asarray(hover.thrust), jnp.asarray(hover.moment.T))
    held = jax.tree.map(lambda leaf: jnp.repeat(leaf[..., None], chunked.INTERVALS, -1), inputs)
    whole = job.planned.plan
    rows = (leaf[:steps] for leaf in (whole.time, whole.dt, whole.hold, whole.act, whole.tick))
    plan = StepPlan(*rows, whole.acts)
    room = Log.ready(job.plant, job.state, chunked.ROOM, sides=True)

    spent = cpu_seconds(
        {
            "closed loop, full controller, recorded": lambda: jax.block_until_ready(chunks._called(*part)),
            "open loop, recorded": lambda: jax.block_until_ready(
                openloop._fly(job.plant, job.state, HeldEfforts(held), plan, room)
            ),
            "open loop, nothing recorded": lambda: jax.block_until_ready(
                advance(rig, hover.state, inputs, STEP, jnp.asarray(steps))
            ),
            "a whole call of closed_loop": closed,
            "MuJoCo, 1 ms, Euler, no controller": lambda: mujoco_rig.fly(
                model, thrust, np.zeros(3), np.zeros(3), 20.0
            ),
        },
        rounds=9,
    )
    base = spent["open loop, recorded"] / steps
    table = Table(title="In the loop: three vehicles on a circle, 2 ms steps")
    for column in ("what", "CPU us a step", "times the open loop"):
        table.add_column(column, justify="left" if column == "what" else "right")
    for name, seconds in spent.items():
        each = seconds / (steps if "loop, " in name else 10_000)
        table.add_row(name, f"{each * 1e6:.2f}", f"{each / base:.2f}")
    console.print(table)
    ours, theirs = spent["a whole call of closed_loop"], spent["MuJoCo, 1 ms, Euler, no controller"]
    times = f"{theirs * 1e3:.1f} ms in mj_step: {theirs / ours:.2f} times"
    console.print(f"20 s: {ours * 1e3:.1f} ms CPU in closed_loop, {times}.")


def growth() -> None:
    """Cost against the number of vehicles."""
    table = Table(title="Growth with the team (one flight, 2 ms steps)")
    for column in ("vehicles", "CPU us a step", "compiled in (s)"):
        table.add_column(column, justify="right")
    for n in (1, 2, 4, 8, 16, 32):
        rig = ring(n)
        state, inputs = start(rig, np.zeros(3))
        count = jnp.asarray(1000)
        begun = time.perf_counter()
        jax.block_until_ready(advance(rig, state, inputs, STEP, count))
        compiled = time.perf_counter() - begun
        spent = cpu_seconds(
            {
                "it": lambda r=rig, s=state, u=inputs, c=count: jax.block_until_ready(
                    advance(r, s, u, STEP, c)
                )
            },
            5,
        )
        table.add_row(str(n), f"{spent['it'] * 1e3:.2f}", f"{compiled:.1f}")
    console.print(table)


FIRST_CALL = """
import time
begun = time.perf_counter()
import numpy as np, skyrig
load = skyrig.payload("triangle")
cables = [skyrig.Cable(1.0, p) for p in load.attachment_points("cable", 3)]
rig = skyrig.Slung.build([skyrig.airframe("dragonfly")] * 3, load, cables)
hover = skyrig.trim(rig, [0, 0, 2.0])
from skyrig.sim import rollout  # so that importing is not counted
imported = time.perf_counter() - begun
start, busy = time.perf_counter(), time.process_time()
rollout(rig, hover.state, [0, 2.0], hover.thrust)
first, busy = time.perf_counter() - start, time.process_time() - busy
start = time.perf_counter()
skyrig.rollout(rig, hover.state, [0, 1.7], hover.thrust * 1.1, happenings=[skyrig.Poke(0.5, [0.1, 0, 0])])
print(f"{first:.2f} {busy:.2f} {time.perf_counter() - start:.3f} {imported:.2f}")
"""


def first_call() -> None:
    """Wall time of the first roll-out in a new process, cache cold and warm, and of a second one."""
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "JAX_COMPILATION_CACHE_DIR": cache}
        for kind in ("cold", "warm"):
            start = time.perf_counter()
            done = subprocess.run(
                [sys.executable, "-c", FIRST_CALL],
                env=environment,
                capture_output=True,
                text=True,
                check=True,
            )
            first, busy, second, imported = done.stdout.split()
            whole = time.perf_counter() - start
            console.print(
                f"First roll-out, cache {kind}: {first} s ({busy} s CPU) after {imported} s of imports and "
                f"building the rig (process {whole:.1f} s); other numbers: {second} s."
            )


if __name__ == "__main__":
    console.print(
        f"MuJoCo {mujoco.__version__}, JAX {jax.__version__}, {os.cpu_count()} cores; CPU time, medians."
    )
    throughput()
    for kind in precision.FLIGHTS:
        work_precision(kind)
    in_the_loop()
    growth()
    first_call()
