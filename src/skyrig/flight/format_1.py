"""Files of format 1: one payload, vehicles, cables or links, of which corners and radii alone are known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from skyrig.errors import InputError
from skyrig.flight import agreement
from skyrig.flight.agreement import TRACK, WANTED, each
from skyrig.flight.records import PAYLOAD, TEAM, FlightEvent, ReferenceTrack, Signal
from skyrig.flight.rig import RigData, sketched
from skyrig.tracks import Track

FORMAT = 1
SHAPES = {
    **agreement.COMMON,
    **dict.fromkeys(("rig.mechanism", "rig.payload_mass", "rig.payload_is_point"), ""),
    **dict.fromkeys(("rig.vehicle_mass", "rig.vehicle_radius", "rig.vehicle_thrust_max"), "n"),
    **dict.fromkeys(("rig.attachments", "rig.hooks"), "n 3"),
    "rig.payload_corners": "c 3",
    **each("payload", "T", TRACK),
    **each("vehicles", "T n", TRACK),
    **each("cables", "T m", {"tension": "", "length": "", "taut": ""}),
    **each("reference", "T", WANTED),
    **each("vehicle_references", "T n", WANTED),
    **agreement.inputs("n"),
    **each("measured_payload", "K", TRACK),
    **each("measured_vehicles", "K n", TRACK),
    **each("events", "e", {"time": "", "kind": "", "cable": "", "impulse": ""}),
    **agreement.IMPACTS,
}
"""What each array of the file is like.

T times, K times of the inputs, n vehicles, m cables (as many, or none), e events, i impacts, c corners.
"""
_JOINTS = {"cables": ("on cables", False), "links": ("on rigid links", True)}
"""Of each mechanism its words, and whether it is rigid."""
_UNITS = {"impact": "N s", "poke": "N s"}
_CABLES = (("tension", "N"), ("length", "m"), ("taut", ""))


def parts(arrays: Mapping[str, np.ndarray], where: str) -> dict[str, Any]:
    """Rig, bodies, references, what was measured, signals and events of a flight, by its fields' names."""
    extents = agreement.check(arrays, SHAPES, where)
    vehicles, cables = extents.get("n", 0), extents.get("m", 0)
    if cables not in (0, vehicles):
        raise agreement.odd(
            where, "cables.tension", f"has {cables} columns, but there are {vehicles} vehicles"
        )
    for name in ("events.cable", "impacts.cable"):
        agreement.check_indices(arrays, name, "cable", cables, where)

    def some(names: dict[str, str], kind: type) -> dict[str, Any]:
        there = {
            name: own for name, own in names.items() if any(key.startswith(f"{name}.") for key in arrays)
        }
        return {own: _group(arrays, name, kind) for name, own in there.items()}

    return {
        "rig": _rig(arrays, where),
        "bodies": {own: _group(arrays, own, Track) for own in (PAYLOAD, TEAM)},
        "references": some({"reference": PAYLOAD, "vehicle_references": TEAM}, ReferenceTrack),
        "measured": some({"measured_payload": PAYLOAD, "measured_vehicles": TEAM}, Track),
        "signals": _signals(arrays, cables),
        "events": tuple(_events(arrays)),
    }


def _rig(arrays: Mapping[str, np.ndarray], where: str) -> RigData:
    numbers = {
        key.removeprefix("rig."): arrays[key]
        for key in SHAPES
        if key.startswith("rig.") and key != "rig.mechanism"
    }
    mechanism = str(arrays["rig.mechanism"])
    words, rigid = _JOINTS.get(mechanism, ("joined together", False))
    mass, point = float(numbers.pop("payload_mass")), bool(numbers.pop("payload_is_point"))
    try:
        return sketched(
            mechanism=mechanism,
            words=words,
            rigid=rigid,
            payload_mass=mass,
            payload_is_point=point,
            **numbers,
        )
    except InputError:
        raise InputError(f"{where} is not a flight: no rig has the masses and sizes in it.") from None


def _group(arrays: Mapping[str, np.ndarray], name: str, kind: type) -> Any:
    """The bodies of a group, (T, k, 3); a payload's arrays have no axis for bodies."""
    found = {field: arrays[f"{name}.{field}"] for field in kind.__dataclass_fields__}
    return kind(**{field: it[:, None] if it.ndim == 2 else it for field, it in found.items()})


def _signals(arrays: Mapping[str, np.ndarray], cables: int) -> dict[str, Signal]:
    found = {}
    for name, unit in _CABLES if cables else ():
        values = arrays[f"cables.{name}"]
        found[f"cable.{name}"] = Signal(values if unit else values.astype(bool), unit, owner="cable")
    count = len(arrays["inputs.times"])
    for key in arrays:
        if key.startswith("signals.") and arrays[key].ndim == 2 and len(arrays[key]) == count:
            name = key.removeprefix("signals.")
            found[name] = Signal(arrays[key], "1", owner="controller", held=True)
    return found


def _events(arrays: Mapping[str, np.ndarray]) -> list[FlightEvent]:
    columns = (arrays[f"events.{name}"].tolist() for name in ("time", "kind", "cable", "impulse"))
    found = []
    for time, kind, cable, impulse in zip(*columns, strict=True):
        whom = ("cable", int(cable)) if cable >= 0 else ("", None)
        found.append(FlightEvent(float(time), str(kind), *whom, float(impulse), _UNITS.get(kind, "")))
    return found
