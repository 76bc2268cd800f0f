"""How much of a core a flight with autopilots takes: python benchmarks/sitl.py [SCENARIO] [--seconds S]

Flies a scenario with stand-ins for PX4 at 250 Hz and prints processor time over flight time, of the simulator
(sensors, bridge, physics) and of every stand-in: both without what it takes to start, build and compile.
"""

import argparse
import os
import time
from pathlib import Path

import skyrig
from skyrig.bridges import sitl


def children() -> dict[int, float]:
    """Processor time that each child of this process has had so far (s)."""
    found, tick = {}, os.sysconf("SC_CLK_TCK")
    for place in Path("/proc").glob("[0-9]*/stat"):
        try:
            words = place.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it ended meanwhile
        if int(words[1]) == os.getpid():
            found[int(place.parent.name)] = (int(words[11]) + int(words[12])) / tick
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("scenario", nargs="?", default="six-dragonflies-box")
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--port", type=int, default=4560)
    given = parser.parse_args()
    scenario = skyrig.load(given.scenario).with_overrides({"duration": given.seconds})
    marks = []

    def progress(flown: float) -> None:
        marks.append((flown, time.process_time(), time.perf_counter(), children()))

    settings = sitl.Settings(launch="stand-in", port=given.port, companion=given.port + 1000)
    out = sitl.fly(scenario, settings, progress)
    assert out.flight is not None and not out.lost, out.lost
    first, last = marks[0], marks[-1]
    flown = last[0] - first[0]
    own = (last[1] - first[1]) / flown
    each = [(last[3][pid] - first[3][pid]) / flown for pid in last[3]]
    n = out.flight.rig.count
    print(f"{given.scenario}: {n} vehicles, {out.exchanged} exchanges with each, every one answered")
    print(f"simulator: {own:.2f} s of processor time a second of flight")
    print(f"stand-ins: {sum(each) / n:.2f} s each, {sum(each):.2f} s together")
    print(f"all of it: {own + sum(each):.2f} s, of two seconds that two cores have")
    print(f"one after the other (simulator, then stand-ins on two cores): {own + sum(each) / 2:.2f} s")
    print(f"by the clock: {(last[2] - first[2]) / flown:.2f} s a second of flight")


if __name__ == "__main__":
    main()
