"""Flights made up by hand, for what is worked out from them."""

from dataclasses import fields
from dataclasses import replace as replace_fields
from typing import Any

import numpy as np

from skyrig.flight import Flight, ReferenceTrack, Signal, Track
from skyrig.flight.flight import CableSignals, Inputs
from skyrig.flight.rig import RigData, sketched

LEVEL = np.array([1.0, 0.0, 0.0, 0.0])
UNITS = {"tension": "N", "length": "m", "taut": ""}
GROUPS = {
    "payload": ("bodies", "payload"),
    "vehicles": ("bodies", "vehicles"),
    "reference": ("references", "payload"),
    "vehicle_references": ("references", "vehicles"),
    "measured_payload": ("measured", "payload"),
    "measured_vehicles": ("measured", "vehicles"),
}
"""Where a flight keeps what its short cuts lead to."""


def tracks(position: np.ndarray, attitude: np.ndarray = LEVEL) -> Track:
    many = position.shape[:-1]
    return Track(
        position, np.zeros_like(position), np.broadcast_to(attitude, (*many, 4)).copy(), 0 * position
    )


def cable_signals(cables: CableSignals) -> dict[str, Signal]:
    there = cables.tension.shape[1] > 0
    return {
        f"cable.{name}": Signal(getattr(cables, name), unit, owner="cable")
        for name, unit in UNITS.items()
        if there
    }


def filled(**short: Any) -> dict[str, Any]:
    """A flight's fields, some of them given by its short cuts: payload, vehicles, cables, reference, ..."""
    found: dict[str, Any] = {"bodies": {}, "references": {}, "measured": {}, "signals": {}}
    for name, value in short.items():
        if name == "cables":
            found["signals"] |= cable_signals(value)
        elif name == "signals":
            found["signals"] |= value
        elif name not in GROUPS:
            found[name] = value
        elif value is not None:
            kept, group = GROUPS[name]
            alone = value.position.ndim == 2
            many = type(value)(*(it[:, None] if alone else it for it in vars(value).values()))
            found[kept][group] = many
    return found


def replace(thing: Any, **changes: Any) -> Any:
    """As `dataclasses.replace`; of a flight also what its short cuts lead to."""
    if not isinstance(thing, Flight):
        return replace_fields(thing, **changes)
    made = filled(**changes)
    for name in ("bodies", "references", "measured", "signals"):
        whole = dict(getattr(thing, name)) | made.pop(name)
        gone = [group for short, (kept, group) in GROUPS.items() if kept == name and short in changes]
        for group in gone:
            short = next(it for it, place in GROUPS.items() if place == (name, group))
            if changes[short] is None:
                whole.pop(group, None)
        made[name] = changes.get(name, whole)
    assert set(made) <= {each.name for each in fields(Flight)}
    return replace_fields(thing, **made)


def rig(count: int = 2, mechanism: str = "cables", **changes: Any) -> RigData:
    """Vehicles of 1 kg and 0.2 m radius, and half a kilogram of next to no size."""
    given: dict[str, Any] = {
        "payload_mass": 0.5,
        "payload_is_point": False,
        "payload_corners": np.zeros((1, 3)),
        "vehicle_mass": np.full(count, 1.0),
        "vehicle_radius": np.full(count, 0.2),
        "vehicle_thrust_max": np.full(count, 20.0),
        "attachments": np.zeros((count, 3)),
        "hooks": np.zeros((count, 3)),
        "mechanism": mechanism,
        "words": "on cables" if mechanism == "cables" else "on rigid links",
        "rigid": mechanism == "links",
    }
    return sketched(**given | changes)


def flight(times: np.ndarray, count: int = 2, mechanism: str = "cables", **changes: Any) -> Flight:
    """Vehicles in a row one metre apart, two metres above a payload at rest in the origin."""
    n, size = count, len(times)
    places = np.stack([np.arange(n) - (n - 1) / 2, np.zeros(n), np.full(n, 2.0)], axis=1)
    cables = n if mechanism == "cables" else 0
    made = Flight(
        **filled(
            name="made up",
            times=times,
            payload=tracks(np.zeros((size, 3))),
            vehicles=tracks(np.broadcast_to(places, (size, n, 3)).copy()),
            cables=CableSignals(
                np.ones((size, cables)), np.full((size, cables), 2.0), np.ones((size, cables), dtype=bool)
            ),
            inputs=Inputs(
                times[:-1],
                np.ones((size - 1, n)),
                np.zeros((size - 1, n, 3)),
                np.ones((size - 1, n)),
                np.zeros((size - 1, n, 3)),
                np.zeros((size - 1, n)),
            ),
            rig=rig(n, mechanism),
            reference=ReferenceTrack(
                *(np.zeros((size, 3)) for _ in range(3)), np.tile(LEVEL, (size, 1)), np.zeros((size, 3))
            ),
        )
    )
    return replace(made, **changes)
