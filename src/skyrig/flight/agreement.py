"""Whether the arrays of a flight file fit together: one sentence names the first that does not."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from skyrig.errors import InputError

_TRACK = {"position": "3", "velocity": "3", "attitude": "4", "rate": "3"}
_WANTED = {**_TRACK, "acceleration": "3"}


def _each(group: str, rows: str, parts: Mapping[str, str]) -> dict[str, str]:
    """The arrays of a group, which all have `rows` and then what is their own."""
    return {f"{group}.{name}": f"{rows} {own}" for name, own in parts.items()}


SHAPES = {
    **dict.fromkeys(("format", "name", "scenario", "metrics", "versions"), ""),
    "times": "T",
    **dict.fromkeys(("rig.mechanism", "rig.payload_mass", "rig.payload_is_point"), ""),
    **dict.fromkeys(("rig.vehicle_mass", "rig.vehicle_radius", "rig.vehicle_thrust_max"), "n"),
    **dict.fromkeys(("rig.attachments", "rig.hooks"), "n 3"),
    "rig.payload_corners": "c 3",
    **_each("payload", "T", _TRACK),
    **_each("vehicles", "T n", _TRACK),
    **_each("cables", "T m", {"tension": "", "length": "", "taut": ""}),
    **_each("reference", "T", _WANTED),
    **_each("vehicle_references", "T n", _WANTED),
    "inputs.times": "K",
    **_each("inputs", "K n", {"commanded_thrust": "", "thrust": "", "saturated": ""}),
    **_each("inputs", "K n", {"commanded_moment": "3", "moment": "3"}),
    **_each("measured_payload", "K", _TRACK),
    **_each("measured_vehicles", "K n", _TRACK),
    **_each("events", "e", {"time": "", "kind": "", "cable": "", "impulse": ""}),
    **_each("impacts", "i", {"time": "", "cable": "", "impulse": "", "along": "2", "across": "2"}),
    **_each("impacts", "i 2", {"payload_velocity": "3", "vehicle_velocity": "3", "momentum": "3"}),
}
"""What each array of the file is like, first those that the others are measured by.

T times, K times of the inputs, n vehicles, m cables (as many, or none), e events, i impacts, c corners.
"""
TEXTS = ("name", "scenario", "metrics", "versions", "rig.mechanism", "events.kind")
LONGEST_NAME = 200
"""No flight has a longer name (characters)."""


def check(arrays: Mapping[str, np.ndarray], where: str) -> None:
    """Raise an `InputError` that begins with `where` unless the arrays of a flight fit together."""
    extents: dict[str, tuple[int, str]] = {}
    for name, letters in SHAPES.items():
        if name in arrays:
            _check_kind(arrays[name], name, where)
            _check_shape(arrays[name], name, letters.split(), extents, where)
    vehicles, cables = extents.get("n", (0, ""))[0], extents.get("m", (0, ""))[0]
    if cables not in (0, vehicles):
        raise _odd(where, "cables.tension", f"has {cables} columns, but there are {vehicles} vehicles")
    _check_times(arrays, where)
    for name in ("events.cable", "impacts.cable"):
        if name in arrays and np.any(arrays[name] >= max(cables, 1)):
            raise _odd(where, name, f"names cable {int(np.max(arrays[name]))}, but there are {cables}")
    if "name" in arrays and len(str(arrays["name"])) > LONGEST_NAME:
        raise _odd(where, "name", f"is longer than {LONGEST_NAME} characters")


def _check_kind(array: np.ndarray, name: str, where: str) -> None:
    wanted, kinds = ("text", "U") if name in TEXTS else ("numbers", "fiub")
    if array.dtype.kind not in kinds and array.size:
        raise _odd(where, name, f"must be {wanted}, not of type {array.dtype}")


def _check_shape(
    array: np.ndarray, name: str, letters: list[str], extents: dict[str, tuple[int, str]], where: str
) -> None:
    if letters[:1] in (["e"], ["i"]) and array.shape[:1] == (0,):
        letters, array = letters[:1], array.reshape(0)  # nothing happened, so nobody knows of what shape
    if array.ndim != len(letters):
        raise _odd(where, name, f"has {array.ndim} dimensions, not {len(letters)}")
    for extent, letter in zip(array.shape, letters, strict=True):
        wanted, whose = (int(letter), "") if letter.isdigit() else extents.setdefault(letter, (extent, name))
        if extent != wanted:
            by = f", as {whose} says" if whose else ""
            shape = " x ".join(map(str, array.shape))
            raise _odd(where, name, f"has shape {shape}, where {extent} should be {wanted}{by}")


def _check_times(arrays: Mapping[str, np.ndarray], where: str) -> None:
    for name in ("times", "inputs.times"):
        times = np.asarray(arrays.get(name, [0.0]), float)
        if not (np.all(np.isfinite(times)) and np.all(np.diff(times) >= 0)):
            raise _odd(where, name, "must be finite and must not go back")
    if not len(arrays.get("times", [0.0])):
        raise _odd(where, "times", "is empty")


def _odd(where: str, name: str, problem: str) -> InputError:
    return InputError(f"{where} is not a whole flight: its {name} {problem}.")
