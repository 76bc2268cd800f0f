"""How the default controllers stand noise, wrong models, lagging rotors and delay, on every bundled scenario.

python benchmarks/robustness.py                        # the table, 64 flights of every scenario
python benchmarks/robustness.py --write docs/control.md # the same, put into the page between its marks
python benchmarks/robustness.py --flights 8 --seed 2 --only three-dragonflies-circle
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

import skyrig
from skyrig.control.known import OPEN_LOOP
from skyrig.runs.batches import Flights
from skyrig.scenario import Scenario, names

DURATION = 10.0
"""Of every flight (s): the same for all, so that rigs of one shape share a compiled program."""
NOISE = {"position": 0.01, "velocity": 0.05, "attitude": float(np.radians(1.0)), "rate": 0.05}
"""Standard deviations of the measurements (m, m/s, rad, rad/s)."""
LAG, DELAY = 0.02, 1
"""Of the rotors (s), and of commands (control periods)."""
MASS, INERTIA, LENGTH = 0.10, 0.05, 0.05
"""How wrong the controller's model is, in shares of the truth; every one too large or too small by chance."""
SEED = 1
"""Of noise and errors: not zero, with which gains were chosen."""
FAR = 1.0
"""A flight that is ever farther than this from its reference has fallen (m)."""
BEGIN, END = "<!-- robustness: begin -->", "<!-- robustness: end -->"


def standard(name: str, duration: float = DURATION) -> tuple[Scenario, dict[str, str]]:
    """A bundled scenario under the standard's conditions, and what varies from flight to flight.

    All vehicles are believed too heavy, or too light, together, as vehicles of one kind would be; so is the
    payload, by a factor of its own. Inertias and cable lengths are wrong each on its own.
    """
    known = skyrig.load(name)
    cables, count = known.parts.mechanism == "cables", known.parts.count
    factors: dict[str, Any] = {"vehicle_inertia": [1.0] * count}
    shares = {"vehicle_mass": MASS, "payload_mass": MASS, "payload_inertia": INERTIA}
    shares |= {f"vehicle_inertia[{k}]": INERTIA for k in range(count)}
    if cables:
        factors["cable_length"] = [1.0] * count
        shares |= {f"cable_length[{k}]": LENGTH for k in range(count)}
    changes = {
        "noise": NOISE,
        "loop.rotor_lag": LAG,
        "loop.delay": DELAY,
        "controller.factors": factors,
        "duration": duration,
    }
    vary = {f"controller.factors.{path}": f"choice({1 - it}, {1 + it})" for path, it in shares.items()}
    return known.with_overrides(changes), vary


def fly(name: str, flights: int, duration: float = DURATION, seed: int = SEED) -> Flights:
    """The standard's flights of one scenario."""
    scenario, vary = standard(name, duration)
    return skyrig.fly_many(scenario, flights, vary, seed=seed)


def fallen(flown: Flights) -> np.ndarray:
    """Which flights hit the ground, broke off, or were ever far from their reference."""
    peak = _largest(flown, "position_peak", "vehicle_position_peak")
    down = flown.metrics["events.ground"] > 0
    broken = np.isin(np.arange(len(flown)), list(flown.failures))
    return broken | down | ~(peak < FAR)


def row(name: str, flown: Flights) -> str:
    """One line of the table."""
    good = ~fallen(flown)
    rmse = _largest(flown, "position_rmse", "vehicle_position_rmse")
    peak = _largest(flown, "position_peak", "vehicle_position_peak")
    cells = [
        f"{np.nanmedian(rmse) * 1e3:.0f}",
        f"{np.nanmax(rmse) * 1e3:.0f}",
        f"{np.nanmax(peak) * 1e3:.0f}",
    ]
    angle = flown.metrics.get("attitude_rmse")
    cells.append("" if angle is None else f"{np.degrees(np.nanmedian(angle)):.1f}")
    touched = int((flown.verdict == "collided").sum())
    return f"| {name} | {int((~good).sum())} of {len(flown)} | {touched} | " + " | ".join(cells) + " |"


def _largest(flown: Flights, one: str, each: str) -> np.ndarray:
    """A metric of the payload, or the largest of the vehicles' where the payload has no reference."""
    if one in flown.metrics:
        return flown.metrics[one]
    return np.max([column for name, column in flown.metrics.items() if name.startswith(f"{each}.")], axis=0)


HEAD = """\
| scenario | fallen | collided | RMSE, median (mm) | largest (mm) | farthest (mm) | attitude RMSE (deg) |
|---|---|---|---|---|---|---|"""


def write(page: Path, rows: dict[str, str], whole: bool) -> None:
    """Put rows into a page's table: a `whole` new table, or only these rows into the one that is there."""
    text = page.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    old, after = rest.split(END)
    found = {line.split(" | ")[0].removeprefix("| "): line for line in old.splitlines() if " of " in line}
    kept = rows if whole else found | rows
    table = "\n".join([HEAD, *(kept[name] for name in closed_loop() if name in kept)])
    page.write_text(f"{before}{BEGIN}\n\n{table}\n\n{END}{after}", encoding="utf-8")


def closed_loop() -> list[str]:
    """Bundled scenarios with a controller."""
    left_out = {OPEN_LOOP, "mpc-distributed"}  # plans take an hour for so many flights
    return [name for name in names() if skyrig.load(name).controller.name not in left_out]


def main() -> None:
    """Fly all, print the table, and write it if asked to, after every row: a run may take an hour."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--flights", type=int, default=64, help="of each scenario")
    parser.add_argument("--duration", type=float, default=DURATION, help="of each flight (s)")
    parser.add_argument("--seed", type=int, default=SEED, help="of noise and errors")
    parser.add_argument("--only", nargs="+", default=None, help="these scenarios alone")
    parser.add_argument("--write", type=Path, default=None, help="put the table, or the rows, into this page")
    given = parser.parse_args()
    rows: dict[str, str] = {}
    print(HEAD, flush=True)
    for name in given.only or closed_loop():
        rows[name] = row(name, fly(name, given.flights, given.duration, given.seed))
        print(rows[name], flush=True)
        if given.write is not None:
            write(given.write, rows, whole=given.only is None)


if __name__ == "__main__":
    main()
