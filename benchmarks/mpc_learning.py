"""Weights of plans learned by three kinds of gradients from several random starts, and flights that judge.

    python benchmarks/mpc_learning.py [--starts 5] [--iterations 25] [--picture docs/images/mpc-learning.png]

All starts of all gradients go down side by side in one compiled program, on short flights of
three-dragonflies-circle. The best networks of each gradient then fly whole circles that nothing was learned
from, and the slalom's path, next to the hand-tuned weights and to the geometric controller.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

import numpy as np

import skyrig
from skyrig.control.mpc.elastic_flight import WAYS
from skyrig.control.mpc.policy import Policy
from skyrig.runs import learning
from skyrig.scenario.vary import varied

CHANGES = {"controller.name": "mpc-distributed", "loop.control_rate": 50, "controller.gains.sweeps": 1}
SLALOM = {
    "type": "waypoints",
    "points": [[0.0, 0.0, 1.0], [0.5, -0.5, 1.25], [1.0, 0.0, 1.5], [1.5, -0.5, 1.75], [2.0, 0.0, 2.0]],
    "speed": 3.0,
    "acceleration": 10.0,
}


def main() -> None:
    """Print two tables and draw the curves."""
    parser = argparse.ArgumentParser()
    for name, default in (("starts", 5), ("flights", 4), ("iterations", 25), ("held-out", 4), ("seed", 0)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--seconds", type=float, default=0.4)
    parser.add_argument("--rate", type=float, default=0.1)
    parser.add_argument("--minutes", type=float, default=5.0, help="of processor time for each gradient")
    parser.add_argument("--kinds", nargs="*", default=list(WAYS))
    parser.add_argument("--picture", type=Path)
    parser.add_argument("--numbers", type=Path, help="a file to write all costs and errors to")
    asked = parser.parse_args()
    scenario = skyrig.load("three-dragonflies-circle").with_overrides(CHANGES)
    rows = varied(scenario, learning.usual(scenario), asked.flights + asked.held_out, asked.seed)
    each = [scenario.with_overrides(row) for row in rows]
    controller = learning.planner(scenario.build())
    rng = np.random.default_rng(asked.seed)
    lessons = [learning.lesson(controller, it.build(), asked.seconds, rng) for it in each[: asked.flights]]
    value = learning.slopes(controller)
    trials = [*each[asked.flights :], scenario.with_overrides({"reference": SLALOM})]
    plain = {"controller.name": "geometric", "controller.gains": {}}
    found = {"geometric": [_geometric(it.with_overrides(plain)) for it in trials]}
    hand = Policy.constant(*controller.weights)
    found["hand-tuned"] = [learning.position_rmse(it, hand) for it in trials]
    histories: dict[str, np.ndarray] = {}
    print(
        "| gradient | cost of every start: first | last | best | steps | CPU (s) |\n|---|---|---|---|---|---|"
    )
    for kind in asked.kinds:
        since, clock = time.process_time(), []

        def enough(step: int, costs: np.ndarray, clock: list[float] = clock, kind: str = kind) -> bool:
            clock.append(time.process_time())
            spent = clock[-1] - clock[0]  # without compiling, which the first step waits for
            print(f"  {kind} {step}: {np.round(costs, 3)}, {spent:.0f} s", file=sys.stderr, flush=True)
            return spent > 60 * asked.minutes

        begun = [(kind, asked.seed + k) for k in range(asked.starts)]
        policies, history = learning.descended(
            controller, lessons, begun, asked.iterations, asked.rate, enough, value
        )
        policy, (step, start) = learning.best(policies, history)
        histories[kind] = history
        first, last = (", ".join(f"{it:.3f}" for it in history[row]) for row in (0, -1))
        print(
            f"| {kind} | {first} | {last} | {history[step, start]:.3f} (start {start}, step {step}) "
            f"| {len(history) - 1} | {time.process_time() - since:.0f} |",
            flush=True,
        )
        found[kind] = [learning.position_rmse(it, policy) for it in trials]
        print(
            f"  {kind} held out: {np.round(1e3 * np.array(found[kind]), 2)} mm", file=sys.stderr, flush=True
        )
    print("| held out, position RMSE (mm) | circles | slalom |\n|---|---|---|")
    for name, values in found.items():
        circles = ", ".join(f"{1e3 * it:.2f}" for it in values[:-1])
        print(f"| {name} | {circles} | {1e3 * values[-1]:.2f} |", flush=True)
    print(f"{time.process_time():.0f} s CPU in all")
    if asked.numbers:
        kept = {"history": {kind: it.tolist() for kind, it in histories.items()}, "held_out": found}
        asked.numbers.write_text(json.dumps(kept) + "\n")
    if asked.picture:
        _draw(histories, asked.picture)


def _geometric(scenario: skyrig.Scenario) -> float:
    return skyrig.fly(scenario).metrics["tracking"]["whole"]["position_rmse"]


def _draw(histories: dict[str, np.ndarray], path: Path) -> None:
    import matplotlib
    from matplotlib.figure import Figure

    from skyrig.flight.plots import COLOURS, STYLE

    with matplotlib.rc_context(STYLE | {"figure.constrained_layout.use": True}):
        figure = Figure(figsize=(6.4, 3.2))
        axis = figure.subplots()
        for (kind, history), colour in zip(histories.items(), COLOURS, strict=False):
            for k, curve in enumerate(history.T):
                axis.plot(curve, color=colour, linewidth=1.0, label=None if k else kind)
        axis.axhline(1.0, color="#888888", linestyle=":")
        axis.set(xlabel="step", ylabel="cost (hand-tuned: 1)")
        axis.legend(loc="upper right")
        figure.savefig(path, dpi=120)


if __name__ == "__main__":
    main()
