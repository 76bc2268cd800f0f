"""The flights behind RotorTM's results: which there are, how they fly, and what is kept."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np
from msgspec import structs

from skyrig.errors import FlightDiverged, InputError
from skyrig.files import read_bundled
from skyrig.flight import Flight
from skyrig.flight.metrics import demanded_attitude, rms
from skyrig.papers.rotortm_impacts import Jolt, Series, jolts, series
from skyrig.papers.rotortm_still import still_rates
from skyrig.runs import fly
from skyrig.scenario import Scenario
from skyrig.turns import between, euler_angles, point_at

FOLDER = "papers/rotortm"
PUBLISHED, FULL, STILL = "published", "full", "still"
"""Flavours: as published, full, and as published but told that nothing is to turn."""
NOISE = 1e-3
"""The paper's standard deviation on every state (m, m/s, rad, rad/s)."""
AFTER = 5.0
"""How long flights without noise go on hovering after their reference has ended (s)."""
SLACK = 1e-3
"""RotorTM takes a cable for slack if its ends are nearer than its length by this (m)."""
STRIDE = 10
"""Of the recorded samples, figures show every tenth: 50 a second."""

_PARSING = threading.Lock()  # msgspec learns its types at first use, and not safely in two threads

Progress = Callable[[int, int, str], None]
"""Told how many flights are done, of how many, and what flew last."""


@dataclass(frozen=True)
class Ask:
    """One flight that somebody wants to know about."""

    rig: str
    task: str
    flavour: str
    noise: float = 0.0
    """Standard deviation on every state (m, m/s, rad, rad/s)."""
    seed: int = 0

    @property
    def label(self) -> str:
        """For people."""
        return f"{rig_label(self.rig)}, {task_label(self.task)}"


@dataclass(frozen=True)
class Errors:
    """Root mean squares over one window."""

    position: float
    """Of the distance to the reference (m)."""
    axes: tuple[float, ...]
    """Of x, y, z (m)."""
    attitude: float | None = None
    """Of the angle of the single turn to the reference (degrees); None of a point mass."""
    angles: tuple[float, ...] = ()
    """Of roll, pitch, yaw (degrees)."""
    floor: float | None = None
    """Of the tilt that rigid links need for the reference's acceleration (degrees)."""


@dataclass(frozen=True)
class KeptFlight:
    """What is kept of a flight."""

    errors: Mapping[str, Errors]
    """By window: 'whole', 'cruise' of circles, 'hover after' of flights without noise."""
    slack_share: float | None = None
    """Share of the measured cable lengths that RotorTM's test would take for slack."""
    record: Mapping[str, np.ndarray] = field(default_factory=dict, repr=False)
    """Of a flight without noise: times, payload and reference, for figures."""
    close: Series | None = field(default=None, repr=False)
    """Of a flight with impacts: the ends of the cable that came taut first, for figures."""
    jolts: tuple[Jolt, ...] = ()
    """Its impacts."""
    events: tuple[tuple[float, str, int | None], ...] = ()
    """When, what, which cable."""


@cache
def book() -> Mapping[str, Any]:
    """The rigs, tasks and figures in data/papers/rotortm/flights.yaml."""
    return read_bundled(FOLDER, "flights")


@cache
def printed() -> Mapping[str, Any]:
    """What the paper prints and its code gives, in data/papers/rotortm/published.yaml."""
    return read_bundled(FOLDER, "published")


def rig_label(name: str) -> str:
    """What people call a rig."""
    return str(book()["rigs"][name]["label"])


def task_label(name: str) -> str:
    """What people call a task."""
    return str(book()["tasks"][name]["label"])


def scenario(ask: Ask) -> Scenario:
    """The scenario that an ask stands for."""
    known = _known(ask.rig, ask.task, ask.flavour, ask.noise)
    return replace(known, spec=structs.replace(known.spec, seed=ask.seed))


@cache
def _known(rig_name: str, task_name: str, flavour: str, noise: float) -> Scenario:
    """The scenario whatever the seed: it is read once, not for every seed."""
    rig, task = book()["rigs"][rig_name], book()["tasks"][task_name]
    values = {key: value for key, value in {**rig, **task}.items() if key != "label"}
    values |= {"skyrig": 1, "name": f"{rig_name}-{task_name}-{flavour}"}
    values["controller"] = {"flavour": FULL if flavour == FULL else PUBLISHED}
    values["noise"] = dict.fromkeys(("position", "velocity", "attitude", "rate"), noise)
    with _PARSING:
        made = Scenario.from_dict(values, f"{FOLDER}: {rig_name}, {task_name}")
        if "duration" in task or noise:
            return made
        return made.with_overrides({"duration": made.duration + AFTER})


def run(asks: Iterable[Ask], progress: Progress | None = None) -> dict[Ask, KeptFlight]:
    """Fly every ask once. Flights that share compiled code follow one another, others fly side by side."""
    groups: dict[tuple[Any, ...], list[Ask]] = {}
    for ask in dict.fromkeys(asks):
        groups.setdefault(_kind(ask), []).append(ask)
    total = sum(len(group) for group in groups.values())
    found: dict[Ask, KeptFlight] = {}
    lock, stop = threading.Lock(), threading.Event()

    def work(group: list[Ask]) -> None:
        for ask in group:
            if stop.is_set():
                return
            try:
                flown = fly_one(ask)
            except FlightDiverged as error:
                raise FlightDiverged(f"{ask.label}, {ask.flavour}: {error}") from None
            with lock:
                found[ask] = flown
                if progress is not None:
                    progress(len(found), total, ask.label)

    if not groups:
        return found
    with ThreadPoolExecutor(max_workers=min(_cores(), len(groups))) as pool:
        waiting = [pool.submit(work, group) for group in sorted(groups.values(), key=len, reverse=True)]
        try:
            done, _ = wait(waiting, return_when=FIRST_EXCEPTION)
            for each in done:
                each.result()
        finally:
            stop.set()
    return found


def fly_one(ask: Ask) -> KeptFlight:
    """Fly an ask and keep what the page needs."""
    known = scenario(ask)
    flight = fly(known, controller=still_rates if ask.flavour == STILL else None)
    circling = book()["tasks"][ask.task]["reference"]["type"] == "circle"
    windows = {"whole": (0.0, flight.duration if ask.noise else flight.duration - AFTER)}
    if circling and known.motions.payload is not None:
        _, ramp, slow, _ = (float(time) for time in np.asarray(known.motions.payload.knots))
        windows["cruise"] = (ramp, slow)
    if not ask.noise:
        windows["hover after"] = (0.0, flight.duration)
    errors = {name: _errors(flight, window) for name, window in windows.items()}
    if ask.noise:
        return KeptFlight(errors, _slack_share(flight))
    events = tuple((event.time, event.kind, event.cable) for event in flight.events if event.time > 0)
    if not any(kind == "impact" for _, kind, _ in events):
        return KeptFlight(errors, record=_record(flight, STRIDE), events=events)
    hit = next(cable for _, kind, cable in events if kind == "impact")
    found = jolts(flight, known)
    return KeptFlight(errors, None, _record(flight, 2), series(flight, hit or 0), found, events)


def _kind(ask: Ask) -> tuple[Any, ...]:
    """Flights of one kind run the same compiled code."""
    rig, task = book()["rigs"][ask.rig]["rig"], book()["tasks"][ask.task]
    vehicles = rig["vehicles"]
    count = vehicles.get("count", 1) if isinstance(vehicles, Mapping) else len(vehicles)
    count = 1 if isinstance(vehicles, str) else count
    return rig["mechanism"], count, ask.flavour, "happenings" in task, ask.rig == "single"


def _errors(flight: Flight, window: tuple[float, float]) -> Errors:
    wanted = flight.reference
    if wanted is None:
        raise InputError(f"{flight.name} has no reference to be compared with.")
    rows = (flight.times >= window[0] - 1e-9) & (flight.times <= window[1] + 1e-9)
    times = flight.times[rows]
    apart = (flight.payload.position - wanted.position)[rows]
    axes = tuple(rms(apart[:, k], times) for k in range(3))
    position = rms(np.linalg.norm(apart, axis=1), times)
    if flight.rig.payload_is_point:
        return Errors(position, axes)
    angle = np.degrees(between(wanted.attitude, flight.payload.attitude))[rows]
    turned = np.degrees(euler_angles(flight.payload.attitude) - euler_angles(wanted.attitude))[rows]
    floor = None
    if flight.rig.rigid:
        floor = rms(np.degrees(between(wanted.attitude, demanded_attitude(flight)))[rows], times)
    return Errors(position, axes, rms(angle, times), tuple(rms(turned[:, k], times) for k in range(3)), floor)


def _slack_share(flight: Flight) -> float | None:
    load, craft = flight.measured_payload, flight.measured_vehicles
    if load is None or craft is None or not flight.rig.cables:
        return None
    ends = point_at(load.position[:, None], load.attitude[:, None], flight.rig.attachments)
    apart = np.linalg.norm(ends - craft.position, axis=2)
    return float(np.mean(apart <= flight.cables.length[0] - SLACK))


def _record(flight: Flight, stride: int) -> dict[str, np.ndarray]:
    assert flight.reference is not None
    kept = {"time": flight.times[::stride], "vehicles": flight.vehicles.position[::stride]}
    for name in ("position", "velocity", "attitude", "rate"):
        kept[name] = getattr(flight.payload, name)[::stride]
        kept[f"reference {name}"] = getattr(flight.reference, name)[::stride]
    return kept


def _cores() -> int:
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1
