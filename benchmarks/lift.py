"""Lifts from the floor to the floor, in still and moving air: the tables of docs/lift.md.

    python benchmarks/lift.py floor        # take-off, 10 m, landing; n = 1, 3, 4, 6; noise and rotor lag
    python benchmarks/lift.py wash         # formations in their own downwash, without and with wind
    python benchmarks/lift.py air          # bundled scenarios in rough air, beside the ideal case
    python benchmarks/lift.py circle       # the multilift report's trajectory test
    python benchmarks/lift.py drag         # a fast circle with drag that controllers know and do not know

Each prints a line for every rig, of all seeds together. `--seeds` says how many, `--rigs` which.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

import skyrig
from skyrig.turns import euler_angles

NOISE = {"noise.position": 0.005, "noise.velocity": 0.02, "loop.rotor_lag": 0.03}
"""5 mm and 2 cm/s of every measured position and velocity; rotors follow in 30 ms."""
SIDE, TOP = 0.3048, 0.2286
"""Where the bundled box has its corners (m)."""


def _boxed(count: int) -> dict[str, Any]:
    """A box like the bundled one, uniform, with 0.1 kg for each of its four or six cables."""
    corners = [[x, y, TOP] for x, y in ((SIDE, -SIDE), (SIDE, SIDE), (-SIDE, SIDE), (-SIDE, -SIDE))]
    more = [[SIDE, 0.0, TOP], [-SIDE, 0.0, TOP]] if count == 6 else []
    box = {
        "name": "parcel",
        "mass": 0.1 * count,
        "shape": {"kind": "box", "size": [2 * SIDE, 2 * SIDE, 2 * TOP]},
        "attachments": {f"cable-{count}": corners + more},
    }
    return {"rig.vehicles.count": count, "rig.payload": box, "rig.cables.length": 1.0}


RIGS: dict[str, dict[str, Any]] = {
    "1": {"rig.vehicles.count": 1, "rig.payload": "point-mass", "rig.payload.mass": 0.15},
    "3": {},
    "4": _boxed(4),
    "6": {**_boxed(6), "controller": {"gains": {"lean": 0.2}}},
}
"""By number of vehicles: Dragonflies of 0.25 kg, each with some 0.1 kg of the load."""
LASTING = 0.05
"""Tension is also looked at as its mean over this (s)."""
CARRY = {"reference.carry": {"type": "line", "end": [10.0, 0.0, 1.5]}}


def floor(rigs: list[str], seeds: int) -> None:
    """Take-off, 10 m and landing; then with floors 5 cm from where they were thought to be."""
    said = "tension/static: most, in 50 ms, in the air  load, craft (m/s)  error (mm)"
    print(f"rig  floor (cm)  flights  failed  arrival (mN s)  {said}")
    for name in [it for it in rigs if it in RIGS]:
        for off in (0.0, 0.05, -0.05):
            changes = {**RIGS[name], **CARRY, **NOISE, "reference.landing_floor": -off}
            few = seeds if off == 0 else max(seeds // 5, 1)
            flights = [_lifted(it) for it in _flown("takeoff-circle-land", changes, few, f"{name} {off:g}")]
            bad = sum(not it["well"] for it in flights)
            worst = [1e3 * _most(flights, "impulse")]
            worst += [_most(flights, it) for it in ("tension", "lasting", "carried")]
            worst += [_most(flights, "load"), _most(flights, "craft"), 1e3 * _most(flights, "error")]
            cells = "  ".join(f"{it:.3g}" for it in worst)
            print(f"{name:>3}  {100 * off:>9g}  {len(flights):>7}  {bad:>6}  {cells}", flush=True)


def _lifted(flight: Any) -> dict[str, Any]:
    """The worst of one lift."""
    plan, times = skyrig.Scenario.from_text(flight.scenario).motions.plan, flight.times
    tension = np.asarray(flight.cables.tension)
    up = (times > plan.lift + 3) & (times < plan.creep - 1)
    away = np.linalg.norm(flight.carried.position - flight.reference.position, axis=1)
    touches = [it for it in flight.events if it.kind == "touch"]
    share = tension / tension[up].mean(axis=0)
    rows = round(LASTING / float(np.median(np.diff(times))))
    added = share.cumsum(axis=0)
    return {
        "well": flight.verdict.flew and _stands(flight),
        "impulse": max((it.value for it in flight.events if it.kind == "impact"), default=0.0),
        "tension": float(share.max()),
        "lasting": float((added[rows:] - added[:-rows]).max() / rows),
        "carried": float(share[(times > plan.lift) & (times < plan.creep)].max()),
        "load": max((it.value for it in touches if it.owner.startswith("payload")), default=np.inf),
        "craft": max((it.value for it in touches if it.owner.startswith("vehicles")), default=np.inf),
        "error": float(away[up].max()),
    }


def _stands(flight: Any) -> bool:
    """Whether everything is at rest on the floor, upright, at the end."""
    bodies = (flight.carried, flight.vehicles)
    still = all(np.abs(it.velocity[-1]).max() < 1e-3 for it in bodies)
    level = np.abs(euler_angles(flight.vehicles.attitude[-1].reshape(-1, 4))[:, :2]).max() < 0.05
    return bool(still and level and np.abs(flight.signals["ground.gap"][-1]).max() < 1e-3)


def _flown(name: str, changes: dict[str, Any], seeds: int, what: str) -> Iterator[Any]:
    """Flights with seeds 0, 1, ..., and a line on stderr now and then."""
    scenario, began = skyrig.load(name).with_overrides(changes), time.process_time()
    for seed in range(seeds):
        yield skyrig.fly(scenario.with_overrides({"seed": seed}))
        if seed in (0, seeds - 1) or seed % 25 == 24:
            spent = time.process_time() - began
            print(f"  {what}: {seed + 1} of {seeds}, {spent:.0f} s of CPU", file=sys.stderr, flush=True)


def _most(flights: list[dict[str, Any]], name: str) -> float:
    return max(it[name] for it in flights)


BOX = {
    "name": "light-box",
    "mass": 0.25,
    "shape": {"kind": "box", "size": [0.4, 0.4, 0.2]},
    "attachments": {"cable-3": [[0.2, 0.0, 0.1], [-0.1, 0.17320508, 0.1], [-0.1, -0.17320508, 0.1]]},
}
STILL = {"world.wind": {"velocity": [0.0, 0.0, 0.0]}, "world.turbulence": {"speed": 1e-3, "height": 6.0}}
WASHES: dict[str, tuple[str, dict[str, Any]]] = {
    "3": ("takeoff-circle-land", {"rig.payload": BOX, "rig.cables.length": 1.0}),
    "4": ("takeoff-circle-land", _boxed(4)),
    "6": ("takeoff-circle-land", _boxed(6)),
    "ring": ("six-hummingbirds-lift", {"controller": {}}),
}
"""By number of Dragonflies, each with some 0.1 kg of a box; and the ring of six Hummingbirds."""


def wash(rigs: list[str], seeds: int) -> None:
    """Lifts in downwash: on straight cables, in the chosen formation, and that in wind with turbulence."""
    print("rig  wind (m/s)  lean (rad)  flights  failed  highest (m)  hover error, mean and most (mm)")
    for name in [it for it in rigs if it in WASHES]:
        base, own = WASHES[name]
        hover = {"reference.carry": {"type": "hover", "duration": 15.0}, "world.downwash": {}}
        common = {**own, **hover, **STILL, **NOISE, "world.payload_drag": {}}
        straight = {"controller": {"gains": {"lean": 0.0}}}
        for speed, more in ((0.0, straight), (0.0, {}), (1.0, {}), (3.0, {})):
            wind = {"world.wind.velocity": [speed, 0.0, 0.0], "world.turbulence.speed": max(speed, 1e-3)}
            changes = {**common, **more, **wind}
            flights = [
                _hovered(it) for it in _flown(base, changes, seeds if speed else 1, f"{name} {speed:g}")
            ]
            lean = skyrig.load(base).with_overrides(changes).gains["lean"]
            bad = sum(not it["well"] for it in flights)
            cells = f"{_most(flights, 'top'):.2f}  {1e3 * np.mean([it['mean'] for it in flights]):.3g}"
            cells += f"  {1e3 * _most(flights, 'most'):.3g}"
            print(f"{name:>3}  {speed:>10g}  {lean:>10.2f}  {len(flights):>7}  {bad:>6}  {cells}", flush=True)


def _hovered(flight: Any) -> dict[str, Any]:
    plan, times = skyrig.Scenario.from_text(flight.scenario).motions.plan, flight.times
    hover = (times > plan.lift + 10) & (times < plan.creep - 8)
    away = np.linalg.norm(flight.carried.position - flight.reference.position, axis=1)[hover]
    top = float(flight.carried.position[:, 2].max())
    return {
        "well": flight.verdict.flew and _stands(flight),
        "top": top,
        "mean": away.mean(),
        "most": away.max(),
    }


ROUGH = {
    **NOISE,
    "noise.attitude": 0.005,
    "noise.rate": 0.02,
    "world.payload_drag": {},
    "world.rotor_drag": {"coefficient": 1e-6},
    "world.turbulence": {"speed": 5.0, "height": 6.0},
}
BUNDLED = ("three-dragonflies-circle", "three-dragonflies-poke", "one-dragonfly-hover")
"""A circle, a hover that is hit, and one from 0.7 m off, of vehicles that have the thrust."""


def air(rigs: list[str], seeds: int) -> None:
    """Bundled scenarios ideally, and with rotor lag, noise, drag and turbulence of 5 m/s at 6 m together."""
    print("scenario  flights  failed  error, root mean square and most (mm)  ideal (mm)")
    for name in BUNDLED:
        ideal = 1e3 * skyrig.fly(name).metrics["tracking"]["whole"]["position_rmse"]
        errors, bad = [], 0
        for flight in _flown(name, ROUGH, seeds, name):
            found = flight.metrics["tracking"]["whole"]
            errors.append((1e3 * found["position_rmse"], 1e3 * found["position_peak"]))
            bad += not flight.verdict.flew
        mean, most = np.array(errors).T
        print(f"{name}  {seeds}  {bad}  {mean.mean():.3g}  {most.max():.3g}  {ideal:.3g}", flush=True)


def circle(rigs: list[str], seeds: int) -> None:
    """Six vehicles from the floor round a circle of 5 m at 0.2 rad/s, yaw along the path."""
    print("case  flights  failed  position error, mean and most (mm)  vehicles' yaw, mean and most (degrees)")
    for case, changes, count in (("ideal", {}, 1), ("noise and lag", NOISE, seeds)):
        rows = [_followed(it) for it in _flown("six-hummingbirds-lift", dict(changes), count, case)]
        bad = sum(not it[0] for it in rows)
        mean, most, yaw, worst = np.array([it[1:] for it in rows]).T
        cells = f"{1e3 * mean.mean():.3g}  {1e3 * most.max():.3g}  {yaw.mean():.3g}  {worst.max():.3g}"
        print(f"{case}  {count}  {bad}  {cells}", flush=True)


def _followed(flight: Any) -> tuple[bool, float, float, float, float]:
    plan, times = skyrig.Scenario.from_text(flight.scenario).motions.plan, flight.times
    up = (times > plan.lift + 3) & (times < plan.creep)
    away = np.linalg.norm(flight.carried.position - flight.reference.position, axis=1)[up]
    turned = flight.vehicles.attitude[up]
    yaw = euler_angles(turned.reshape(-1, 4))[:, 2].reshape(turned.shape[:2])
    off = yaw - euler_angles(flight.reference.attitude[up])[:, 2:]
    off = np.degrees(np.abs((off + np.pi) % (2 * np.pi) - np.pi))
    return flight.verdict.flew, away.mean(), away.max(), off.mean(), off.max()


DRAGS = {
    "world.drag": {"bodies": {"vehicles": {"linear": 0.05, "quadratic": [0.005, 0.005, 0.01]}}},
    "world.payload_drag": {},
    "world.rotor_drag": {"coefficient": 2e-5},
}
"""About 1 m/s^2 on a Dragonfly at 2.4 m/s."""
FAST = {
    "reference": {
        "type": "circle",
        "radius": 1.5,
        "period": 4.0,
        "ramp": 4.0,
        "turns": 4,
        "start": [1.5, 0.0, 1.5],
    }
}
DRAGGED = {"1": "one-dragonfly-circle", "3": "three-dragonflies-circle", "links": "three-dragonflies-links"}


def drag(rigs: list[str], seeds: int) -> None:
    """A circle at 2.4 m/s with drag: known or not, observed or not."""
    print("rig  known  observed (rad/s)  verdict  position error, root mean square and most (mm)")
    for name in [it for it in rigs if it in DRAGGED]:
        scenario = skyrig.load(DRAGGED[name]).with_overrides({**FAST, **DRAGS})
        for observed in (0.0,) if name == "links" else (0.0, 1.0, 2.0):
            watch = {} if name == "links" else {"controller.gains.observe": observed}
            for known in (1.0, 0.0):
                flight = skyrig.fly(scenario.with_overrides({"controller.gains.drag": known, **watch}))
                found = flight.metrics["tracking"]["whole"]
                cells = f"{1e3 * found['position_rmse']:.3g}  {1e3 * found['position_peak']:.3g}"
                print(f"{name:>5}  {known:g}  {observed:g}  {flight.verdict.word}  {cells}", flush=True)


STUDIES = {"drag": drag, "floor": floor, "wash": wash, "air": air, "circle": circle}


def main() -> None:
    """Run one of the studies."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("study", choices=STUDIES)
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--rigs", nargs="*")
    given = parser.parse_args()
    STUDIES[given.study](given.rigs or [*RIGS, "ring", "links"], given.seeds)


if __name__ == "__main__":
    main()
