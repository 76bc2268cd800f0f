"""What a flight with autopilots takes: python benchmarks/sitl.py [SCENARIO] [--setpoints attitude] and so on.

Flies a scenario with stand-ins, for PX4 at 250 Hz or for ArduPilot at 400 Hz, and prints processor time over
flight time, of the simulator (sensors, bridge, physics) and of every stand-in: both without what it takes to
start, build and compile. With --pause S the first stand-in is stopped half-way for so many seconds, with
--kill it is killed there: what physics did meanwhile, and how soon the flight ended, is printed.
"""

import argparse
import os
import signal
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

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


class Meddler:
    """Pauses or kills the first stand-in half-way, and watches the clock."""

    def __init__(self, given: argparse.Namespace) -> None:
        self.given, self.acted, self.longest, self.last = given, 0.0, 0.0, 0.0

    def __call__(self, flown: float) -> None:
        now = time.perf_counter()
        if self.acted:
            self.longest = max(self.longest, now - self.last)
        elif flown >= self.given.seconds / 2 and (self.given.pause or self.given.kill):
            self.acted, victim = now, min(children())
            os.kill(victim, signal.SIGKILL if self.given.kill else signal.SIGSTOP)
            if self.given.pause:
                threading.Timer(self.given.pause, os.kill, (victim, signal.SIGCONT)).start()
        self.last = now


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("scenario", nargs="?", default="six-dragonflies-box")
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--port", type=int)
    parser.add_argument("--ardupilot", action="store_true")
    parser.add_argument("--setpoints", choices=("position", "attitude"), default="position")
    parser.add_argument("--pause", type=float, default=0.0, metavar="S")
    parser.add_argument("--kill", action="store_true")
    given = parser.parse_args()
    scenario = skyrig.load(given.scenario).with_overrides({"duration": given.seconds})
    marks, meddler = [], Meddler(given)

    def progress(flown: float) -> None:
        meddler(flown)
        marks.append((flown, time.process_time(), time.perf_counter(), children()))

    protocol = sitl.ARDUPILOT if given.ardupilot else sitl.PX4
    companion = 14540 if given.port is None else given.port + 1000
    settings = sitl.Settings(
        protocol, launch="stand-in", port=given.port, companion=companion, setpoints=given.setpoints
    )
    out = sitl.fly(scenario, settings, progress)
    ended = time.perf_counter()
    assert out.flight is not None
    first, last = marks[0], marks[-1]
    n, flight = out.flight.rig.count, out.flight
    print(f"{given.scenario}: {n} vehicles, {out.exchanged} exchanges with each, every one answered")
    steps = np.diff(flight.inputs.times)
    print(f"time steps: {steps.min() * 1e3:.4f} to {steps.max() * 1e3:.4f} ms")
    if given.kill:
        print(f"killed: {out.lost!r} {ended - meddler.acted:.2f} s later, {flight.duration:g} s are flown")
        with tempfile.TemporaryDirectory() as folder:
            again = skyrig.Flight.load(flight.save(Path(folder) / "killed.npz"))
        whole = np.array_equal(again.payload.position, flight.payload.position)
        print(f"its file, read again, is {'whole' if whole else 'NOT WHOLE'}")
        return
    assert not out.lost, out.lost
    tracked = flight.metrics["tracking"]["whole"]
    print(f"the load against its reference: {1e3 * tracked['position_rmse']:.3g} mm RMS")
    if given.pause:
        print(f"paused for {given.pause:g} s: physics stood still for {meddler.longest:.2f} s")
        return
    flown = last[0] - first[0]
    own = (last[1] - first[1]) / flown
    each = [(last[3][pid] - first[3][pid]) / flown for pid in last[3]]
    print(f"simulator: {own:.2f} s of processor time a second of flight")
    print(f"stand-ins: {sum(each) / n:.2f} s each, {sum(each):.2f} s together")
    print(f"all of it: {own + sum(each):.2f} s, of two seconds that two cores have")
    print(f"by the clock: {(last[2] - first[2]) / flown:.2f} s a second of flight")


if __name__ == "__main__":
    main()
