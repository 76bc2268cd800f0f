"""What the world costs in a batch, measured here and now: `python benchmarks/elements.py`.

Three dragonflies on the triangle, or what `--scenario` names, on a circle in closed loop, 64 flights side by
side through `skyrig.fly_many`, once in an empty world and once with each of the worlds below. CPU time of all
threads, worlds in turns; what counts is the ratio to the empty world of the same turn. `--only` names the
worlds to measure.
"""

from __future__ import annotations

import argparse
import statistics
import time
from typing import Any

from skyrig import fly_many, load

DRAGS: dict[str, Any] = {
    "drag": {"bodies": {"vehicles": {"quadratic": [0.005, 0.005, 0.01]}}},
    "payload_drag": {},
    "rotor_drag": {"coefficient": 1.19e-4},
    "cable_drag": {"diameter": 0.002},
}
WORLDS: dict[str, dict[str, Any]] = {
    "empty": {},
    "ground": {"ground": {}},
    "obstacles": {"obstacles": {"boxes": [{"centre": [20, 0, 1], "size": [1, 1, 2]}]}},
    **{name: {name: said} for name, said in DRAGS.items()},
    "turbulence": {"turbulence": {"speed": 3.0}, "payload_drag": {}},
    "drags": DRAGS,
    "drags and turbulence": {**DRAGS, "turbulence": {"speed": 3.0}},
    "ground effect": {"ground_effect": {}},
    "downwash": {"downwash": {}},
}


def main() -> None:
    """Fly all worlds in turns and print their ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--only", nargs="*", default=list(WORLDS), help="worlds to measure beside the empty one"
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=20.0, help="of each flight")
    parser.add_argument("--scenario", default="three-dragonflies-circle")
    said = parser.parse_args()
    names = ["empty", *(name for name in said.only if name != "empty")]
    base = load(said.scenario).with_overrides(
        {
            "duration": said.seconds,
            "reference": {
                "type": "circle",
                "radius": 1.0,
                "period": 6.0,
                "turns": 30,
                "start": [1.0, 0.0, 1.5],
            },
        }
    )
    scenarios = {name: base.with_overrides({"world": WORLDS[name]} if WORLDS[name] else {}) for name in names}
    vary = {"noise.position": "uniform(0, 0.002)"}
    taken: dict[str, list[float]] = {name: [] for name in names}
    for turn in range(said.rounds + 1):
        for name, scenario in scenarios.items():
            began = time.process_time()
            fly_many(scenario, 64, vary, seed=1)
            if turn:  # the first compiles
                taken[name].append(time.process_time() - began)
    steps = 64 * said.seconds / 0.002
    print(f"{'world':24} {'us a step':>10} {'ratio':>7}")
    for name in names:
        ratios = [own / bare for own, bare in zip(taken[name], taken["empty"], strict=True)]
        print(
            f"{name:24} {1e6 * statistics.median(taken[name]) / steps:10.3f} {statistics.median(ratios):7.2f}"
        )


if __name__ == "__main__":
    main()
