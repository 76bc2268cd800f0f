"""What elastic cables must show, measured and printed next to what is asked.

    python benchmarks/elastic_checks.py [NAME ...]

Names are those of the functions below; all without any. Rigs and starts are those of the tests.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np

import skyrig
from skyrig.papers.multilift_cables import STIFFNESS, single, six
from skyrig.rigs import Cable, Elastic, Material, Slung, restitution
from skyrig.rigs.elastic.energy import energy
from skyrig.sim.batch import advance, stack
from skyrig.sim.plant import Effort

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "physics"))
import test_auto_multilift as stored
import test_elastic as cases

Row = tuple[str, str, str]
"""What, measured, asked."""
LATE = (0.0, 0.25, 0.5, 0.75)
"""Shares of a step by which a flight begins late, so that cables arrive at other moments of a step."""


def table_1() -> Iterator[Row]:
    """Stiffness and fall of the report's single cable."""
    for segments in (10, 20):
        drops = [single(mass, segments) for mass in (0.1, 0.5, 1.0, 5.0)]
        off = max(abs(it.stiffness / STIFFNESS - 1) for it in drops)
        yield f"stiffness off, N = {segments}", f"{100 * off:.5f} %", "below 0.01 %"
        yield f"fall off, RMS, N = {segments}", f"{100 * max(it.error for it in drops):.3f} %", "0.1 %"


def overshoot() -> Iterator[Row]:
    """Six cables at 30 degrees."""
    for mass in (6.0, 30.0, 60.0):
        drop = six(mass, 10)
        wanted = f"{100 * drop.ideal_overshoot:.2f} within 0.2"
        yield f"overshoot of {mass:g} kg", f"{100 * drop.overshoot:.2f} %", wanted


def pendulum() -> Iterator[Row]:
    """From 45 degrees, ten seconds, 4 ms."""
    it = Elastic.build(
        [cases.WALL], cases.point(1.0), [Cable(1.0)], Material(**cases.STIFF, mass_per_metre=1e-3), 10
    )
    start = np.array([np.sin(np.pi / 4), 0.0, -np.cos(np.pi / 4)]) * (1 + 9.81 * np.cos(np.pi / 4) / 1e5)
    _, _, (place, _, _) = cases.watched(
        it, it.state(start, [[0.0, 0.0, 0.0]]), cases.held(it), 4e-3, np.zeros(2500)
    )
    x, _, z = np.asarray(place).T
    last = np.degrees(np.arctan2(np.abs(x), -z))[-300:].max()
    yield "pendulum after 10 s at 4 ms", f"{last:.4f} degrees", "at least 44.97"


def radau() -> Iterator[Row]:
    """Six vehicles, six cables of ten segments, two seconds, against SciPy's Radau at 1e-10."""
    coarse, fine = cases.off_radau((2e-3, 1e-3))
    yield "payload off Radau after 2 s at 1 ms", f"{fine[:, 0].max():.1e} m", "1e-6 m"
    yield "vehicles off Radau", f"{fine[:, 1:].max():.1e} m", "-"
    yield "error at 2 ms over that at 1 ms", f"{coarse[:, 0].max() / fine[:, 0].max():.2f}", "4"


def conserved() -> Iterator[Row]:
    """Momentum, and energy over 200 fold-and-snap starts."""
    pair, state = cases.team(np.random.default_rng(3), 4, stiffness=2e4, damping=40.0)
    pair = eqx.tree_at(lambda it: it.gravity, pair, jnp.asarray(0.0))

    def momentum(state: Any) -> Any:
        nodes = (pair.segment(state).node_mass * state.nodes.velocity).sum((1, 2))
        craft = (pair.mass * state.vehicles.velocity).sum(1)
        return nodes + craft + pair.payload_mass * state.payload.velocity

    end, _ = advance(pair, state, cases.unforced(pair), 1e-3, 500)
    off = float(jnp.abs(momentum(end) - momentum(state)).max())
    yield "momentum after 500 steps", f"{off:.1e} N s", "1e-9"
    rigs, states = cases.snapping(200)
    before = energy(rigs, states)
    for dt in (1e-3, 2e-3, 4e-3):
        _, _, (_, active, total) = cases.watched(rigs, states, cases.unforced(rigs), dt, np.zeros(250))
        total = np.concatenate([np.asarray(before.total)[None], np.asarray(total)])
        scale = np.asarray(before.kinetic + before.stored)
        active = np.concatenate([scale[None], np.asarray(active)])
        gain = (np.diff(total, axis=0) / np.maximum(active[1:], active[:-1])).max()
        above = ((total - total[0]) / scale).max()
        finite = "" if np.isfinite(total).all() else ", NOT FINITE"
        yield f"most gained in a step, 200 starts, {1e3 * dt:g} ms", f"{gain:.1e}{finite}", "never grows"
        yield "most above the start's energy", f"{above:.1e}", "never grows"


def replayed() -> Iterator[Row]:
    """Auto-Multilift's stored flights."""
    for row, name in enumerate(("cl", "ol", "clnc", "cl from 10 s")):
        off = stored.apart(stored.flown(row), stored.STORED["states"][row][..., :3])
        yield f"Auto-Multilift's {name}, 1 s", f"{1e3 * off:.2f} mm", "10 mm"


def stiff() -> Iterator[Row]:
    """The drop of RotorTM's Fig. 16 at growing stiffness, against the inextensible rig."""
    frame, load = skyrig.airframe("dragonfly"), skyrig.payload("point-mass")
    start = ([0.15, 0.0, 1 - 0.3 * np.cos(np.pi / 6)], [[0.0, 0.0, 1.0]])
    push: Any = ([frame.mass * 9.81], np.zeros((1, 3)))
    share = frame.mass * load.mass / (frame.mass + load.mass)
    drops = [(ratio, k) for ratio in (0.2, 1.0) for k in (1e3, 1e4, 1e5, 1e6)]
    rigs, states, limits = [], [], {}
    for ratio, k in drops:
        stuff = Material(stiffness=k, damping=2 * ratio * np.sqrt(k * share))
        rigs.append(Elastic.build([frame], load, [Cable(0.5)], stuff, 1))
        states.append(rigs[-1].state(*start))
        rigid = Slung.build([frame], load, [Cable(0.5)], restitution=restitution(ratio))
        limits[ratio] = skyrig.rollout(rigid, rigid.state(*start), [0.0, 0.3], *push, at=[0.3])
    it, begin = stack(rigs), stack(states)
    effort = Effort(it.mass * 9.81, jnp.zeros((3, 1, len(drops))))
    change, far = {}, {}
    for dt, late in ((1e-4, 0.0), *((1e-3, late * 1e-3) for late in LATE)):
        now, _ = advance(it, begin, effort, late, 1)
        now, _ = advance(it, now, effort, dt, round(0.209 / dt))
        speed = []
        for _ in range(91):  # bounces of soft cables last longer than those of stiff ones
            speed.append(np.array(now.payload.velocity))
            now, _ = advance(it, now, effort, dt, round(1e-3 / dt))
        if not late:
            far[dt] = np.array(now.payload.position)
        for lane, (ratio, k) in enumerate(drops):
            last = 2 + int(np.ceil(1e3 * 4 * np.sqrt(share / k)))
            by = speed[last][:, lane] - speed[0][:, lane] + [0.0, 0.0, 9.81 * 1e-3 * last]
            change[dt, late, lane] = load.mass * np.linalg.norm(by) / limits[ratio].events[0].impulse - 1
    for lane, (ratio, k) in enumerate(drops):
        place = np.asarray(limits[ratio].payload.position)[-1]
        off = " and ".join(f"{1e3 * np.abs(far[dt][:, lane] - place).max():.3f}" for dt in far)
        found = " and ".join(f"{100 * change[dt, 0.0, lane]:+.2f}" for dt in far)
        worst = max((change[1e-3, late * 1e-3, lane] for late in LATE), key=abs)
        yield (
            f"impulse, {k:.0e} N/m, damping ratio {ratio:g} (restitution {restitution(ratio):.3f})",
            f"{found} % at 0.1 and 1 ms, {100 * worst:+.2f} % at worst; {off} mm off",
            "2 %" if k == 1e6 else "-",
        )


CHECKS = (table_1, overshoot, pendulum, radau, conserved, replayed, stiff)


def main() -> None:
    """Print a table."""
    wanted = sys.argv[1:]
    print("| what | measured | asked |")
    print("|---|---|---|")
    for check in CHECKS:
        if not wanted or check.__name__ in wanted:
            for row in check():
                print("| " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()
