"""Whether the arrays of a flight file fit together: one sentence names the first that does not."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from skyrig.errors import InputError

TRACK = {"position": "3", "velocity": "3", "attitude": "4", "rate": "3"}
WANTED = {**TRACK, "acceleration": "3"}
TEXTS = (
    *("name", "scenario", "metrics", "versions", "header", "rig.mechanism"),
    *("events.kind", "events.owner", "events.unit"),
)
"""Arrays that hold text; all others hold numbers."""
LONGEST_NAME = 200
"""No flight has a longer name (characters)."""

COMMON = {
    **dict.fromkeys(("format", "name", "scenario", "metrics", "versions"), ""),
    "times": "T",
}
"""Arrays that files of all formats have, first those that the others are measured by."""


def each(group: str, rows: str, parts: Mapping[str, str]) -> dict[str, str]:
    """The arrays of a group, which all have `rows` and then what is their own."""
    return {f"{group}.{name}": f"{rows} {own}" for name, own in parts.items()}


def inputs(vehicles: str) -> dict[str, str]:
    """The arrays of what was asked of so many vehicles."""
    return {
        "inputs.times": "K",
        **each("inputs", f"K {vehicles}", {"commanded_thrust": "", "thrust": "", "saturated": ""}),
        **each("inputs", f"K {vehicles}", {"commanded_moment": "3", "moment": "3"}),
    }


IMPACTS = {
    **each("impacts", "i", {"time": "", "cable": "", "impulse": "", "along": "2", "across": "2"}),
    **each("impacts", "i 2", {"payload_velocity": "3", "vehicle_velocity": "3", "momentum": "3"}),
}


def check(arrays: Mapping[str, np.ndarray], shapes: Mapping[str, str], where: str) -> dict[str, int]:
    """Raise an `InputError` that begins with `where` unless the arrays of a flight fit together.

    Args:
        arrays: By name.
        shapes: What each is like: numbers are extents, the same letter stands for the same extent everywhere.
        where: What is read.

    Returns:
        The extent of each letter.
    """
    extents: dict[str, tuple[int, str]] = {}
    for name, letters in shapes.items():
        if name in arrays:
            _check_kind(arrays[name], name, where)
            _check_shape(arrays[name], name, letters.split(), extents, where)
    _check_times(arrays, where)
    if "name" in arrays and len(str(arrays["name"])) > LONGEST_NAME:
        raise odd(where, "name", f"is longer than {LONGEST_NAME} characters")
    return {letter: extent for letter, (extent, _) in extents.items()}


def check_indices(arrays: Mapping[str, np.ndarray], name: str, noun: str, count: int, where: str) -> None:
    """Refuse an array that names more things than there are."""
    if name in arrays and np.any(arrays[name] >= count):
        raise odd(where, name, f"names {noun} {int(np.max(arrays[name]))}, but there are {count}")


def _check_kind(array: np.ndarray, name: str, where: str) -> None:
    wanted, kinds = ("text", "U") if name in TEXTS else ("numbers", "fiub")
    if array.dtype.kind not in kinds and array.size:
        raise odd(where, name, f"must be {wanted}, not of type {array.dtype}")


def _check_shape(
    array: np.ndarray, name: str, letters: list[str], extents: dict[str, tuple[int, str]], where: str
) -> None:
    if letters[:1] in (["e"], ["i"]) and array.shape[:1] == (0,):
        letters, array = letters[:1], array.reshape(0)  # nothing happened, so nobody knows of what shape
    if array.ndim != len(letters):
        raise odd(where, name, f"has {array.ndim} dimensions, not {len(letters)}")
    for extent, letter in zip(array.shape, letters, strict=True):
        wanted, whose = (int(letter), "") if letter.isdigit() else extents.setdefault(letter, (extent, name))
        if extent != wanted:
            by = f", as {whose} says" if whose else ""
            shape = " x ".join(map(str, array.shape))
            raise odd(where, name, f"has shape {shape}, where {extent} should be {wanted}{by}")


def _check_times(arrays: Mapping[str, np.ndarray], where: str) -> None:
    for name in ("times", "inputs.times"):
        times = np.asarray(arrays.get(name, [0.0]), float)
        if not (np.all(np.isfinite(times)) and np.all(np.diff(times) >= 0)):
            raise odd(where, name, "must be finite and must not go back")
    if not len(arrays.get("times", [0.0])):
        raise odd(where, "times", "is empty")


def odd(where: str, name: str, problem: str) -> InputError:
    """The error to raise about one array of a file."""
    return InputError(f"{where} is not a whole flight: its {name} {problem}.")
