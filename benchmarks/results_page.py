"""The page about skyrig next to other simulators."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import jax
import mujoco
from contenders import HELD, THREE, WORDS
from precision import FINE, SECONDS, Study
from turns import Entry

TOP = """# Next to other simulators

How fast skyrig flies, next to MuJoCo, rotorpy, crazyflow and udaan. This page is written by a command,
numbers and pictures alike:

```sh
make bench-peers
```

It installs the other simulators into an environment of their own, lets all take turns in one run and writes
this page anew. The machine should have nothing else to do meanwhile.

"""
TABLE = """## Simulated seconds per CPU second

CPU time of all threads, warm-up and compilation excluded; higher is better. These simulators do different
things, and the columns say what: rotorpy and crazyflow carry no load; MuJoCo flies the same rig as skyrig
with no controller, its cables soft tendons; udaan's payload is a point on one cable; skyrig locates the
instant at which a cable goes slack or taut.

"""
NOTES = """
rotorpy's flights include the sensors of its environment; its batched mode needs torch, which is not installed
here. crazyflow is shown with two of its models of a drone, both with Euler's method, the cheapest it has,
and with the same option of XLA as skyrig, which makes its single flights faster.
"""
WHOLE = """A call of `fly_many` is counted whole: drawing values, building rigs and controllers, flying.
"""
PRECISION = """
## Work against precision

How much CPU time it takes to know where the payload is after {seconds:g} s: three vehicles, a rigid load on
cables, thrusts held. The reference is skyrig at {step:g} ms. MuJoCo's cables are tendons with an upper limit,
its solver's time constant as short as its step allows; each of its integrators is tried with many steps. At
each error the cheapest way that is at least as good counts, for both. Both have one core: a program of JAX
that may use more hands small pieces of work to threads, which costs a short flight as much as flying it.
"""


@dataclass(frozen=True)
class Measured:
    """A contender and how fast it was."""

    entry: Entry
    speed: float
    """Simulated seconds per CPU second."""


def page(
    rows: Sequence[Measured], missing: Sequence[str], studies: dict[str, Study], rounds: int, minutes: float
) -> str:
    """The whole page."""
    machine = (
        f"Measured on {os.cpu_count()} cores ({platform.machine()}) with Python {platform.python_version()}, "
        f"JAX {jax.__version__} and MuJoCo {mujoco.__version__}; medians of {rounds} "
        f"turn{'s' * (rounds > 1)}; the run took {minutes:.0f} minutes.\n\n"
    )
    fast = _table(
        ("who", "flies", "controller", "step", "flights at once", "simulated s per CPU s"),
        (
            (it.who, it.flies, it.controller, it.step, f"{it.flights:,}", _short(row.speed))
            for row in rows
            for it in (row.entry,)
        ),
    )
    whole = WHOLE if any("fly_many" in row.entry.who for row in rows) else ""
    absent = "".join(f"\n{sentence}\n" for sentence in missing)
    work = "".join(_study(name, it) for name, it in studies.items())
    promises = _table(("promise", "measured", "kept"), _promises(rows, studies))
    return (
        f"{TOP}{machine}## In short\n\n{promises}\n{TABLE}{fast}{absent}{NOTES}"
        f"{whole}{PRECISION.format(seconds=SECONDS, step=1e3 * SECONDS / FINE[0])}{work}"
    )


def _promises(rows: Sequence[Measured], studies: dict[str, Study]) -> Iterable[tuple[str, str, str]]:
    def best(who: str, batch: bool) -> float | None:
        """The fastest of those who begin so."""
        speeds = [
            row.speed
            for row in rows
            if row.entry.who.startswith(who)
            and (row.entry.flights > 1) == batch
            and (who != "skyrig" or row.entry.flies == WORDS[THREE])
            and (who != "skyrig" or row.entry.controller != HELD)
        ]
        return max(speeds, default=None)

    ours = best("skyrig", True)
    for words, who, batch, least in (
        ("mujoco.rollout (1 ms, Euler, no controller)", "MuJoCo", True, 5),
        ("rotorpy's one flight", "rotorpy", False, 200),
    ):
        promise = f"Three vehicles, closed loop, in a batch: at least {least} times {words}"
        theirs = best(who, batch)
        if ours is None or theirs is None:
            yield promise, "not measured in this run", "–"
        else:
            yield promise, f"{_short(ours / theirs)} times", _kept(ours / theirs >= least)
    for name, study in studies.items():
        for it in study.compared():
            promise = f"MuJoCo takes at least 20 times the CPU time to {it.error:g} m, {name}"
            yield promise, f"{_short(it.times)} times", _kept(it.times >= 20)


def _study(name: str, study: Study) -> str:
    compared = _table(
        ("error at most (m)", "skyrig (CPU ms)", "MuJoCo (CPU ms)", "times"),
        (
            (f"{it.error:g}", _short(it.ours * 1e3), _short(it.theirs * 1e3), _short(it.times))
            for it in study.compared()
        ),
    )
    ways = _table(
        ("who", "step (ms)", "error (m)", "CPU ms"),
        ((it.who, f"{it.step * 1e3:.3g}", f"{it.error:.1e}", _short(it.cpu * 1e3)) for it in study.points),
    )
    return (
        f"\n### {name.capitalize()}\n\n{study.flight.words.capitalize()}: {study.events} events. "
        f"The reference and one with twice its step are {study.doubt:.0e} m apart. "
        f"A call of skyrig's takes {study.call * 1e3:.2f} ms for a single step.\n\n"
        f"![Error of the payload's position against CPU time](benchmarks/{name}.png)\n\n{compared}\n"
        f"All ways that were tried:\n\n{ways}"
    )


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 20 else f"{value:.2g}"


def _kept(kept: bool) -> str:
    return "yes" if kept else "no"
