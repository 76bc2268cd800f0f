"""What teams that plan can stand, as tables: `python benchmarks/mpc_flights.py PART...`.

slalom   Table III's slalom: planned and geometric, on inextensible and on elastic cables
limits   a hundred random flights of three vehicles, in a batch: distances, tensions, rotors
lost     half a second without a vehicle's messages while the load is pushed (0.5 N, 0.3 s), and messages
         that take some periods
failing  one of six vehicles fails, or its cable does
teams    one to eight vehicles, rigid and point loads, from a start that is off
gate     a gate narrower than the formation
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import skyrig
from skyrig.errors import FlightDiverged, InputError

PLANNED = {"controller.name": "mpc-distributed", "loop.control_rate": 50}
CENTRAL = PLANNED | {"controller.name": "mpc-central"}
ELASTIC = {
    "rig.mechanism": "elastic",
    "rig.material": {"stiffness": 2000.0, "damping": 8.0},
    "rig.segments": 1,
}
HEAD = (
    "| flight | verdict | position RMSE, peak, last (mm) | attitude RMSE, peak (deg) | tension (N) "
    "| slack (s) | rotors at a limit | nearest vehicles (m) |\n|---|---|---|---|---|---|---|---|"
)


def show(label: str, scenario: skyrig.Scenario) -> Any:
    """Fly, and print one row."""
    try:
        flight = skyrig.fly(scenario)
    except (FlightDiverged, InputError) as error:
        print(f"| {label} | {error} | | | | | | |", flush=True)
        return None
    whole = flight.metrics["tracking"]["whole"]
    place = ", ".join(f"{1e3 * whole[f'position_{it}']:.1f}" for it in ("rmse", "peak", "last"))
    point = "attitude_rmse" not in whole
    turn = (
        "" if point else f"{np.rad2deg(whole['attitude_rmse']):.2f}, {np.rad2deg(whole['attitude_peak']):.2f}"
    )
    tension = np.asarray(flight.cables.tension)
    slack = max(it["slack_time"] for it in flight.metrics["cables"])
    near = flight.metrics["closest_vehicles"]
    print(
        f"| {label} | {flight.verdict.line} | {place} | {turn} | {np.nanmin(tension):.2f} to "
        f"{np.nanmax(tension):.2f} | {slack:.2f} | {flight.metrics['saturation']['share']:.1%} | "
        f"{near['distance'] if near else np.nan:.3f} |",
        flush=True,
    )
    return flight


def slalom() -> None:
    """Errors and peaks of tension on the paper's path."""
    print(HEAD)
    path = skyrig.load("three-dragonflies-slalom").with_overrides(
        {"reference.speed": 3.0, "reference.acceleration": 10.0}
    )
    for who, changes in (("geometric", {}), ("mpc-distributed", PLANNED), ("mpc-central", CENTRAL)):
        for what, cables in (("inextensible", {}), ("elastic", ELASTIC)):
            show(f"{who}, {what}", path.with_overrides(changes | cables))


def limits(count: int = 100) -> None:
    """Flights of which starts, paths, loads and wind differ."""
    scenario = skyrig.load("three-dragonflies-circle").with_overrides(
        PLANNED
        | {
            "controller.gains": {"lean": 0.2, "apart": 0.38},
            "reference": {
                "type": "circle",
                "radius": 1.0,
                "period": 6.0,
                "cruise": 1.0,
                "start": [1.0, 0, 1.5],
            },
            "start.payload": {"position": [1.0, 0.0, 1.5]},
            "happenings": [{"type": "wrench", "force": [0.1, 0.0, 0.0], "time": 0.5, "until": 2.0}],
            "duration": 3.0,
        }
    )
    vary = {
        **{
            f"start.payload.position[{k}]": f"uniform({at - 0.4}, {at + 0.4})"
            for k, at in enumerate((1, 0, 1.5))
        },
        **{f"happenings[0].force[{k}]": "uniform(-0.4, 0.4)" for k in range(3)},
        "rig.payload.mass": "uniform(0.18, 0.38)",
        "reference.radius": "uniform(0.5, 1.5)",
        "reference.period": "uniform(4, 8)",
    }
    begun = time.process_time()
    flights = skyrig.fly_many(scenario, count, vary, seed=0)
    it, cables = flights.metrics, range(3)
    least = np.min([it[f"tension_min.{k}"] for k in cables], axis=0)
    most = np.max([it[f"tension_max.{k}"] for k in cables], axis=0)
    near, slack = it["closest_vehicles"], np.max([it[f"slack_time.{k}"] for k in cables], axis=0)
    busy, last = it["saturation"], 1e3 * it["position_last"]
    print(f"{flights.success.sum()} of {count} flew as asked: {sorted(set(flights.verdict))}")
    print(f"nearest vehicles (m): least {near.min():.3f}, median {np.median(near):.3f}")
    print(f"tension (N): {least.min():.3f} to {most.max():.3f}")
    print(f"flights with a slack cable: {(slack > 0).sum()}, for {slack.max():.2f} s at most")
    print(f"flights with a rotor at a limit: {(busy > 0).sum()}, for {busy.max():.2%} of the time at most")
    print(f"position at the end (mm): median {np.median(last):.1f}, most {last.max():.1f}")
    print(f"{time.process_time() - begun:.0f} s CPU")


def lost() -> None:
    """Messages that do not arrive, or late."""
    print(HEAD)
    circle = skyrig.load("six-dragonflies-box").with_overrides(
        PLANNED
        | {
            "reference": {
                "type": "circle",
                "radius": 1.0,
                "period": 5.0,
                "cruise": 1.0,
                "start": [1.0, 0, 1.5],
            },
            "happenings": [{"type": "wrench", "force": [0.5, 0.0, 0.0], "time": 2.1, "until": 2.4}],
            "duration": 4.0,
            "controller.gains": {"lean": 0.2},
        }
    )
    show("every message arrives", circle)
    for since, until in ((2.0, 2.5), (1.0, 2.0)):
        gains = {"deaf_from": [0, 0, since, 0, 0, 0], "deaf_until": [0, 0, until, 0, 0, 0]}
        show(
            f"vehicle 2 alone from {since} to {until} s",
            circle.with_overrides({f"controller.gains.{name}": value for name, value in gains.items()}),
        )
    for delay in (1, 3):
        late = circle.with_overrides({"controller.gains.delay": delay})
        show(f"messages {20 * delay} ms late", late)


def failing() -> None:
    """One of six gives less, nothing, or hangs on nothing."""
    print(HEAD)
    weak = skyrig.load("six-dragonflies-thrust-loss").with_overrides(
        PLANNED | {"duration": 8.0, "happenings[0].until": 6.0}
    )
    show("0.65 of the thrust from 3 to 6 s, box", weak)
    show(
        "cable cut at 3 s, box",
        skyrig.load("six-dragonflies-box-cut").with_overrides(PLANNED | {"duration": 8.0}),
    )
    ring = _ring(6, "rigid").with_overrides({"duration": 10.0, "start": {}})
    dead = {"type": "thrust-loss", "vehicle": 2, "factor": 0.0, "time": 1.0}
    cut = {"type": "cut", "cable": 2, "time": 1.1}
    show(
        "rotors stop at 1 s, its cable let go 0.1 s later, ring",
        ring.with_overrides({"happenings": [dead, cut]}),
    )
    hanging = ring.with_overrides({"happenings": [dead]})
    show("rotors stop at 1 s, it hangs from the load, ring, default weights", hanging)
    level = {"controller.gains.load_attitude": 1000.0, "controller.gains.load_rate": 40.0}
    held = show(
        "the same, attitude and rate of the load count ten times as much", hanging.with_overrides(level)
    )
    tilt = 2 * np.linalg.norm(np.asarray(held.payload.attitude)[:, 1:3], axis=1)
    late = np.rad2deg(tilt[np.asarray(held.times) > 4.0].max())
    print(f"from 4 s on: {1e3 * farthest(held, 4.0):.0f} mm and {late:.1f} degrees off at most")


def farthest(flight: Any, since: float) -> float:
    """How far a ring is from where it should hover, from then on (m)."""
    late = np.asarray(flight.times) > since
    return float(np.linalg.norm(np.asarray(flight.payload.position)[late] - [0.0, 0.0, 2.0], axis=1).max())


def _ring(count: int, kind: str) -> skyrig.Scenario:
    """Vehicles round a ring of Auto-Multilift's load, or on a point, from 0.4 m off."""
    around = 2 * np.pi * np.arange(count) / count
    radius = 1.0 if count > 1 else 0.0
    points = [[float(radius * np.cos(a)), float(radius * np.sin(a)), 0.1] for a in around]
    lean = 0.5 if kind == "point" and count > 6 else 0.35  # less would let seven touch
    load = {"type": "multilift-ring", "mass": 7.0 * count / 6, "attachments": {"ring": points}}
    if kind == "point":
        load = {"type": "point-mass", "mass": 7.0 * count / 6}
        points = [[0.0, 0.0, 0.0]] * count
    return skyrig.load("six-multilift-figure-8").with_overrides(
        PLANNED
        | {
            "rig": {
                "mechanism": "cables",
                "vehicles": {"type": "multilift", "count": count},
                "payload": load,
                "cables": {"length": 2.0, "attachments": points},
            },
            "reference": {"type": "hover", "start": [0.0, 0.0, 2.0]},
            "start": {"payload": {"position": [0.3, -0.2, 1.8]}} | ({"lean": lean} if count > 1 else {}),
            "controller.gains": {
                "lean": lean if count > 1 else 0.0,
                "brake": 0.2 if kind == "rigid" else 0.0,
            },
            "duration": 4.0,
        }
    )


def teams(counts: tuple[int, ...], kinds: tuple[str, ...]) -> None:
    """From a start that is 0.4 m off."""
    print(HEAD)
    for kind in kinds:
        for count in counts:
            flight = show(f"{count}, {kind}", _ring(count, kind))
            print(f"in the last second: {1e3 * farthest(flight, flight.times[-1] - 1.0):.0f} mm at most")


def gate() -> None:
    """How wide the team is before, in and behind it."""
    print(HEAD)
    flight = show("gate of 0.84 m", skyrig.load("three-dragonflies-gate"))
    across = np.ptp(np.asarray(flight.vehicles.position)[:, :, 1], axis=1)
    widths = [across[np.searchsorted(flight.times, t)] for t in (1.5, 2.0, 2.2, 2.5, 4.9)]
    print("vehicles' axes apart across the gate (m) at 1.5, 2, 2.2, 2.5, 4.9 s:", np.round(widths, 3))
    gaps = np.nanmin(np.asarray(flight.signals["obstacles.gap"].values), axis=0)
    print("least gaps to the posts (m), payload first:", np.round(gaps, 3))


PARTS: dict[str, Callable[..., None]] = {
    it.__name__: it for it in (slalom, limits, lost, failing, teams, gate)
}


def main() -> None:
    """Print the tables of the parts asked for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("parts", nargs="+", choices=PARTS)
    parser.add_argument("--count", type=int, default=100, help="of the part limits")
    parser.add_argument(
        "--vehicles", type=int, nargs="*", default=list(range(1, 9)), help="of the part teams"
    )
    parser.add_argument("--loads", nargs="*", default=["rigid", "point"], help="of the part teams")
    asked = parser.parse_args()
    given = {"limits": (asked.count,), "teams": (tuple(asked.vehicles), tuple(asked.loads))}
    for part in asked.parts:
        print(f"\n{part}\n")
        PARTS[part](*given.get(part, ()))


if __name__ == "__main__":
    main()
