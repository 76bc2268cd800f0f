"""RotorTM's Figures 8 to 20: which flights each needs, its data, and its caption."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from skyrig.papers.page import Picture
from skyrig.papers.rotortm_drawing import BOTH, draw
from skyrig.papers.rotortm_flights import (
    FULL,
    PUBLISHED,
    Ask,
    KeptFlight,
    book,
    rig_label,
    scenario,
    task_label,
)
from skyrig.turns import between, euler_angles, point_at

Results = Mapping[Ask, KeptFlight]
Arrays = dict[str, np.ndarray]


def numbers() -> list[int]:
    """The figures there are."""
    return [int(number) for number in book()["figures"]]


def asks(number: int) -> Iterator[Ask]:
    """The flights of a figure."""
    entry = book()["figures"][number]
    for task in entry.get("tasks") or [entry["task"]]:
        for rig in entry["rigs"]:
            yield from (Ask(rig, task, flavour) for flavour in BOTH)


def data(number: int, found: Results) -> Arrays:
    """The arrays that a figure is drawn from."""
    entry = book()["figures"][number]
    return _COLLECT[entry["kind"]](entry, found)


def picture(number: int, arrays: Arrays, found: Results, folder: str) -> Picture:
    """A figure with its caption."""
    entry = book()["figures"][number]
    image = draw(entry["kind"], arrays, entry)
    caption = f"Figure {number}. {_CAPTION[entry['kind']](entry, found)}"
    return Picture(f"{folder}/figure-{number:02d}.png", image, caption)


def packed(arrays: Arrays) -> bytes:
    """Arrays as the content of an .npz file."""
    stream = io.BytesIO()
    np.savez_compressed(stream, allow_pickle=False, **arrays)
    return stream.getvalue()


def _tracks(entry: Mapping[str, Any], found: Results) -> Arrays:
    arrays: Arrays = {}
    for ask in _flights(entry):
        record = found[ask].record
        arrays |= {"time": record["time"]}
        for field in ("position", "velocity"):
            arrays[f"reference.{field}"] = record[f"reference {field}"]
            arrays[f"{ask.rig}.{ask.flavour}.{field}"] = record[field]
    return arrays


def _turns(entry: Mapping[str, Any], found: Results) -> Arrays:
    arrays: Arrays = {}
    for ask in _flights(entry):
        record, axis = found[ask].record, ("roll", "pitch", "yaw").index(ask.task)
        arrays[f"{ask.task}.time"] = record["time"]
        arrays[f"{ask.task}.reference"] = np.degrees(euler_angles(record["reference attitude"])[:, axis])
        arrays[f"{ask.task}.{ask.rig}.{ask.flavour}"] = np.degrees(euler_angles(record["attitude"])[:, axis])
    return arrays


def _impact(entry: Mapping[str, Any], found: Results) -> Arrays:
    arrays: Arrays = {}
    begin, until = (0.9, 8.0) if entry["task"] == "poke" else (0.0, 8.0)
    for ask in _flights(entry):
        flown = found[ask]
        close, record = flown.close, flown.record
        assert close is not None
        for name in ("time", "distance", "along", "across"):
            arrays[f"{ask.flavour}.{name}"] = getattr(close, name)
        arrays[f"{ask.flavour}.impact"] = np.asarray(flown.jolts[0].time)
        arrays[f"{ask.flavour}.slow_time"] = record["time"]
        arrays[f"{ask.flavour}.apart"] = record["position"] - record["reference position"]
        if ask.rig != "single":
            angle = between(record["reference attitude"], record["attitude"])
            arrays[f"{ask.flavour}.tilt"] = np.degrees(angle)
        arrays["length"] = np.asarray(close.length)
    return arrays | {"start": np.asarray(begin), "until": np.asarray(until)}


def _stills(entry: Mapping[str, Any], found: Results) -> Arrays:
    ask = next(it for it in _flights(entry) if it.flavour == FULL)
    record, hit = found[ask].record, found[ask].jolts[0].time
    parts = scenario(ask).parts
    times = [0.5, 0.5 * (1.0 + hit), hit + 3.0]
    rows = np.searchsorted(record["time"], times)
    place, attitude = record["position"][rows], record["attitude"][rows]
    outline = np.asarray(parts.points) * [1.0, 1.0, 0.0]
    ends = point_at(place[:, None], attitude[:, None], np.asarray(parts.points))
    taut = np.ones((3, len(parts.points)), bool)
    taut[1, entry["cable"]] = False
    return {
        "times": record["time"][rows],
        "corners": point_at(place[:, None], attitude[:, None], outline),
        "vehicles": record["vehicles"][rows],
        "ends": ends,
        "taut": taut,
    }


def _velocities(entry: Mapping[str, Any], found: Results) -> Arrays:
    arrays: Arrays = {}
    for ask in _flights(entry):
        arrays[f"{ask.flavour}.time"] = found[ask].record["time"]
        arrays[f"{ask.flavour}.value"] = found[ask].record[entry["field"]]
        arrays[f"{ask.flavour}.impact"] = np.asarray(found[ask].jolts[0].time)
    return arrays


_COLLECT = {
    "tracks": _tracks,
    "turns": _turns,
    "impact": _impact,
    "stills": _stills,
    "velocities": _velocities,
}


def _flights(entry: Mapping[str, Any]) -> list[Ask]:
    number = next(key for key, value in book()["figures"].items() if value is entry)
    return list(asks(number))


def _say_tracks(entry: Mapping[str, Any], found: Results) -> str:
    parts = []
    for rig in entry["rigs"]:
        whole = [found[Ask(rig, entry["task"], flavour)].errors["whole"].position for flavour in BOTH]
        parts.append(f"{rig_label(rig)} {1e3 * whole[0]:.3g} / {1e3 * whole[1]:.2g}")
    stand_in = " (a stand-in: the paper's waypoints are not printed)" if "bar" in entry["rigs"] else ""
    return (
        f"The payload's position and velocity, {task_label(entry['task'])}{stand_in}. "
        f"Root mean square distance from the reference in mm, as published / full: {', '.join(parts)}."
    )


def _say_turns(entry: Mapping[str, Any], found: Results) -> str:
    parts = []
    for ask in _flights(entry):
        axis = ("roll", "pitch", "yaw").index(ask.task)
        if ask.flavour == PUBLISHED:
            full = found[Ask(ask.rig, ask.task, FULL)].errors["whole"].angles[axis]
            own = found[ask].errors["whole"].angles[axis]
            name = rig_label(ask.rig) if len(entry["rigs"]) > 1 else ask.task
            parts.append(f"{name} {own:.3g}° / {full:.2g}°")
    return (
        "The payload turned to and fro in place; amplitude and period are ours. Root mean square error, as "
        f"published / full: {', '.join(parts)}."
    )


def _say_impact(entry: Mapping[str, Any], found: Results) -> str:
    flown = found[Ask(entry["rigs"][0], entry["task"], FULL)]
    hit = flown.jolts[0]
    what = (
        "A point mass falls on a slack cable" if entry["task"] == "drop" else "A poke lifts the front corner"
    )
    return (
        f"{what}. Left: the ends of the cable that comes taut; right: the payload's way back. Dotted: the "
        f"moment of impact, {hit.time:.3f} s in the full flavour, where {hit.along[0]:.2f} m/s along the "
        "cable are lost."
    )


def _say_stills(entry: Mapping[str, Any], found: Results) -> str:
    return (
        "The poke from the side, in the paper three photographs: here the flight of Figure 17, full flavour. "
        "Squares are vehicles, the dotted line is the slack cable."
    )


def _say_velocities(entry: Mapping[str, Any], found: Results) -> str:
    name = "velocity (world)" if entry["field"] == "velocity" else "angular velocity (body)"
    return (
        f"The payload's {name} through poke (at 1 s), impact (dotted) and recovery, the flight of Figure 17."
    )


_CAPTION = {
    "tracks": _say_tracks,
    "turns": _say_turns,
    "impact": _say_impact,
    "stills": _say_stills,
    "velocities": _say_velocities,
}
