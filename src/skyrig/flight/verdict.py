"""Whether a flight flew as asked, and if not, what went wrong first: the same for one flight and for many.

docs/flights.md says it in full. What is judged is the true motion at the end of every physics step.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from skyrig.contacts import NONE, Contact, named, touching
from skyrig.flight.flight import Flight, FlightEvent, RigData
from skyrig.flight.limits import FlightLimits, limits_of
from skyrig.hulls import Outlines, outlines
from skyrig.turns import between

FLEW = "flew"
DIVERGED = "diverged"
NOT_FLOWN = "not flown"
WORDS = (FLEW, "crashed", "collided", "left arena", "lost load", "off reference", DIVERGED, NOT_FLOWN)
"""What a verdict may be."""
LOOSE = 0.2
"""How long no cable may hold the payload at a flight's end (s): it falls 0.2 m meanwhile."""
_AT_ONCE = 4096
"""Instants looked at together, which bounds the memory it takes."""


@dataclass(frozen=True)
class Verdict:
    """How a flight went."""

    word: str
    """One of `WORDS`."""
    reason: str = ""
    """What went wrong, when and where, in one sentence; empty if nothing did."""
    time: float | None = None
    """When it went wrong (s), if there was such an instant."""

    @property
    def flew(self) -> bool:
        """Whether the flight flew as asked."""
        return self.word == FLEW

    @property
    def line(self) -> str:
        """All of it on one line."""
        return "flew as asked." if self.flew else f"{self.word}: {self.reason}"

    def to_dict(self) -> dict[str, Any]:
        """As JSON holds it."""
        return {"word": self.word, "reason": self.reason, "time": self.time}


@dataclass(frozen=True)
class Outcome:
    """What a flight is judged by."""

    end: float
    """When it ended (s)."""
    contact: Contact | None = None
    """What touched first, if anything did."""
    time: float = 0.0
    """When (s)."""
    place: Sequence[float] = (0.0, 0.0, 0.0)
    """Where the body was, or the vehicle of a cable (m)."""
    held: float | None = None
    """When a cable last held the payload (s); None if none ever did, or rigid links do."""
    released: bool = False
    """Whether the scenario cut every cable, and let the payload go."""
    position: float | None = None
    """Payload's distance from its reference at the end (m)."""
    attitude: float | None = None
    """Payload's angle from its reference at the end (rad)."""
    vehicles: Sequence[float] = ()
    """Each vehicle's distance from its reference at the end (m)."""


def judge(outcome: Outcome, limits: FlightLimits) -> Verdict:
    """The verdict: what went wrong first, and at the end whether the flight is where it should be."""
    touched = _touched(outcome) if outcome.contact is not None else None
    held = outcome.held
    meant = outcome.released or limits.ends == "standing"
    lost = held is not None and not meant and outcome.end - held > LOOSE
    if held is not None and lost and (touched is None or held < outcome.time):
        return Verdict("lost load", f"No cable holds the payload from t = {held:.4g} s on.", held)
    if touched is not None:
        return touched
    if outcome.position is not None and not outcome.released:
        if not outcome.position <= limits.position:
            return _far("The payload", outcome.position, limits.position, "m")
        if outcome.attitude is not None and not outcome.attitude <= limits.attitude:
            return _far("The payload", outcome.attitude, limits.attitude, "rad")
    for k, apart in enumerate(outcome.vehicles):
        if not apart <= limits.position:
            return _far(f"Vehicle {k}", apart, limits.position, "m")
    return Verdict(FLEW)


def verdict(flight: Flight, limits: FlightLimits | None = None) -> Verdict:
    """The verdict on a recorded flight, by `limits` or those of its scenario."""
    asked = limits_of(flight.scenario) if limits is None else limits
    return judge(outcome_of(flight, asked), asked)


def outcome_of(flight: Flight, limits: FlightLimits) -> Outcome:
    """What a recorded flight is judged by."""
    body, team = flight.carried, flight.vehicles
    load = team.one() if body is None else body  # where nothing is carried it stands for nothing
    shape, count = outlines_of(flight.rig, limits), len(flight.times)
    found = Outcome(0.0)
    for start in range(0, count, _AT_ONCE):
        rows = slice(start, start + _AT_ONCE)
        found = looked_on(
            found,
            shape,
            flight.times[rows],
            (load.position[rows], load.attitude[rows]),
            (team.position[rows], team.attitude[rows]),
            flight.cables.taut[rows],
            flight.events,
            body is not None,
        )
    position = attitude = None
    apart: list[float] = []
    if flight.reference is not None:
        position = float(np.linalg.norm(load.position[-1] - flight.reference.position[-1]))
        if not flight.rig.payload_is_point:
            attitude = float(between(flight.reference.attitude[-1:], load.attitude[-1:])[0])
    if flight.vehicle_references is not None:
        gaps = team.position[-1] - flight.vehicle_references.position[-1]
        apart = np.linalg.norm(gaps, axis=1).tolist()
    return replace(found, position=position, attitude=attitude, vehicles=apart)


def looked_on(
    before: Outcome,
    shape: Outlines,
    times: np.ndarray,
    load: tuple[np.ndarray, np.ndarray],
    vehicles: tuple[np.ndarray, np.ndarray],
    taut: np.ndarray,
    events: Iterable[FlightEvent],
    carried: bool,
) -> Outcome:
    """What a flight is judged by after T more instants: its first contact, and what holds its load.

    Args:
        before: The same up to then.
        shape: From `outlines_of`.
        times: (T,) s.
        load: Positions (T, 3) (m) and attitudes (T, 4) of what is carried.
        vehicles: The same of the vehicles, (T, n, ...).
        taut: (T, cables) which are.
        events: Those of the whole flight: from when all cables are cut the load counts no more.
        carried: Whether anything is carried at all.
    """
    cuts = {event.cable: event.time for event in events if event.kind == "cut"}
    released = 0 < taut.shape[1] <= len(cuts)
    since = -np.inf if not carried else max(cuts.values()) if released else np.inf
    holding = times[taut.any(axis=1)] if taut.shape[1] else times[:0]
    held = float(holding[-1]) if len(holding) else before.held
    made = replace(before, end=float(times[-1]), held=held, released=released)
    if before.contact is not None:
        return made
    wide = Outlines(*(part[..., None] for part in shape))
    place, turn = (np.moveaxis(part, 0, -1).swapaxes(0, 1) for part in vehicles)
    found = touching(wide, (load[0].T, load[1].T), (place, turn), taut.T, times > since)
    hit = np.flatnonzero(found != NONE)
    if not len(hit):
        return made
    row = int(hit[0])
    contact = named(vehicles[0].shape[1])[int(found[row])]
    where = _place_of(contact, load[0][row], vehicles[0][row])
    return replace(made, contact=contact, time=float(times[row]), place=where)


def outlines_of(rig: RigData, limits: FlightLimits) -> Outlines:
    """What the bodies of a rig look like, and where they may be."""
    ends = [(it.end.point, it.start.point) for it in rig.cables]
    attachments, hooks = np.asarray(ends, dtype=np.float64).reshape(-1, 2, 3).swapaxes(0, 1)
    return outlines(
        rig.payload_corners,
        rig.vehicle_radius,
        attachments,
        hooks,
        None if isinstance(limits.ground, str) else limits.ground,
        None if limits.arena is None else np.asarray(limits.arena),
    )


def outcome_of_lane(it: Any, lane: int) -> Outcome:
    """What one flight of a batch is judged by, from `sim.statistics.Statistics` in NumPy's arrays."""
    cables = it.taut.shape[0]
    number = int(it.contact[lane])
    contact = None if number == NONE else named(it.busy.shape[0])[number]
    held = float(it.held[lane])
    places = it.places[:, :, lane].T
    return Outcome(
        end=float(it.time[lane]),
        contact=contact,
        time=float(it.contact_time[lane]),
        place=_place_of(contact, places[0], places[1:]),
        held=held if np.isfinite(held) else None,
        released=bool(cables and it.severed[:, lane].all()),
        position=None if it.position is None else float(it.position.last[lane]),
        attitude=None if it.attitude is None else float(it.attitude.last[lane]),
        vehicles=() if it.vehicles is None else it.vehicles.last[:, lane].tolist(),
    )


def _place_of(contact: Contact | None, payload: np.ndarray, vehicles: np.ndarray) -> list[float]:
    """Where the body of a contact is, of a cable's the vehicle or payload that it touches."""
    if contact is None:
        return [0.0, 0.0, 0.0]
    body = contact.second if contact.kind.startswith("cable") else contact.first
    return (payload if body == 0 else vehicles[body - 1]).tolist()


def _touched(outcome: Outcome) -> Verdict:
    contact = outcome.contact
    assert contact is not None
    first, second = (_body(body) for body in (contact.first, contact.second))
    word, said = {
        "ground": ("crashed", f"{first} touches the ground"),
        "vehicles": ("collided", f"{first} touches {second.lower()}"),
        "payload-vehicle": ("collided", f"{first} touches {second.lower()}"),
        "cable-vehicle": ("collided", f"Cable {contact.first} touches {second.lower()}"),
        "cable-payload": ("collided", f"Cable {contact.first} runs through the payload"),
        "arena": ("left arena", f"{first} leaves the arena"),
    }[contact.kind]
    x, y, z = (round(value, 2) + 0.0 for value in outcome.place)
    place = f"({x:.2f}, {y:.2f}, {z:.2f}) m"
    return Verdict(word, f"{said} at t = {outcome.time:.4g} s, near {place}.", outcome.time)


def _body(body: int) -> str:
    return "The payload" if body == 0 else f"Vehicle {body - 1}"


def _far(who: str, apart: float, most: float, unit: str) -> Verdict:
    return Verdict(
        "off reference", f"{who} ends {apart:.3g} {unit} from its reference, more than {most:g} {unit}."
    )
