"""What flying by estimates costs: python benchmarks/estimates.py [SCENARIO] [--seconds S]

Flies a scenario twice, its controller told the truth and told what filters make of an IMU and of motion
capture at their defaults, and prints a table: how well the load keeps to its reference, and how far the
estimates are from the truth.
"""

import argparse

import numpy as np

import skyrig
from skyrig.turns import between

SENSORS = {"sensors.imu": {}, "sensors.motion_capture": {}}


def rms(gaps: np.ndarray) -> float:
    """Of vectors (..., 3)."""
    return float(np.sqrt((gaps**2).sum(-1).mean()))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("scenario", nargs="?", default="three-dragonflies-circle")
    parser.add_argument("--seconds", type=float)
    given = parser.parse_args()
    known = skyrig.load(given.scenario).with_overrides(SENSORS)
    if given.seconds is not None:
        known = known.with_overrides({"duration": given.seconds})
    print("| sees | position RMS (mm) | peak (mm) | attitude RMS (mrad) |\n|---|---|---|---|")
    for sees in ("truth", "estimate"):
        flight = skyrig.fly(known.with_overrides({"controller.sees": sees}))
        tracked = flight.metrics["tracking"]["whole"]
        turned = 1e3 * tracked.get("attitude_rmse", 0.0)
        place = f"{1e3 * tracked['position_rmse']:.3g} | {1e3 * tracked['position_peak']:.3g}"
        print(f"| {sees} | {place} | {turned:.3g} |", flush=True)
    print("\n| estimates of | position (mm) | velocity (m/s) | attitude (mrad) |\n|---|---|---|---|")
    rows = np.searchsorted(flight.times, flight.inputs.times - 1e-9)
    for group, told in flight.measured.items():
        so = flight.bodies[group].at(rows)
        place, speed = 1e3 * rms(told.position - so.position), rms(told.velocity - so.velocity)
        angle = 1e3 * float(np.sqrt((between(so.attitude, told.attitude) ** 2).mean()))
        print(f"| {group} | {place:.3g} | {speed:.3g} | {angle:.3g} |")


if __name__ == "__main__":
    main()
