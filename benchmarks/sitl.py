"""How much of a core a flight with autopilots takes: python benchmarks/sitl.py [SCENARIO] [--seconds S]

Flies a scenario with stand-ins for PX4 at 250 Hz and prints processor time over flight time, of the simulator
(sensors, bridge, physics; without building and compiling) and of all stand-ins together.
"""

import argparse
import resource
import time

import skyrig
from skyrig.bridges import sitl


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("scenario", nargs="?", default="six-dragonflies-box")
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--port", type=int, default=4560)
    given = parser.parse_args()
    scenario = skyrig.load(given.scenario).with_overrides({"duration": given.seconds})
    marks: list[tuple[float, float, float]] = []

    def progress(flown: float) -> None:
        marks.append((flown, time.process_time(), time.perf_counter()))

    settings = sitl.Settings(launch="stand-in", port=given.port, companion=given.port + 1000)
    out = sitl.fly(scenario, settings, progress)
    assert out.flight is not None and not out.lost, out.lost
    first, last = marks[0], marks[-1]
    flown = last[0] - first[0]
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    n = out.flight.rig.count
    print(f"{given.scenario}: {n} vehicles, {out.exchanged} exchanges with each, every one answered")
    print(f"simulator: {(last[1] - first[1]) / flown:.2f} s of processor time a second of flight")
    per = (children.ru_utime + children.ru_stime) / given.seconds
    print(f"stand-ins together: {per:.2f} s of processor time a second of flight, boot included")
    print(f"wall clock: {(last[2] - first[2]) / flown:.2f} s a second of flight")


if __name__ == "__main__":
    main()
