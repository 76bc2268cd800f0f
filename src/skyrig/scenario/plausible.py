"""Numbers of a rig that can be, but hardly are: lengths and inertias as they come out when a unit slips."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from skyrig.checks import Numbers
from skyrig.scenario.mechanisms import RigParts
from skyrig.scenario.sentences import figure
from skyrig.vehicles import Airframe, Ball, Payload

LONGEST = 200.0
"""Length of a cable over its vehicle's radius beyond which metres are unlikely to be meant."""
FACTOR = 100.0
"""How many times larger or smaller than a uniform body's an inertia may be without a remark."""
FRAME = np.array([0.2, 0.2, 0.4])
"""Moments of inertia of usual multirotors over mass times arm squared; the bundled ones have 0.11 to 0.6."""


def implausible(parts: RigParts) -> Iterator[str]:
    """Sentences on inertias."""
    for group, loads in parts.loads.items():
        for load in loads:
            yield from _load(group, load)
    for k, frame in enumerate(parts.airframes):
        if frame not in parts.airframes[:k]:
            yield from _vehicle(k, frame)


def lengths(cables: Sequence[float], airframes: Sequence[Airframe]) -> Iterator[str]:
    """Sentences on cables of these lengths (m), one for each vehicle."""
    pairs = list(zip(cables, airframes, strict=True))
    long = [k for k, (length, frame) in enumerate(pairs) if length > LONGEST * frame.radius]
    short = [k for k, (length, frame) in enumerate(pairs) if length < frame.radius]
    if long:
        most = max(cables[k] for k in long)
        yield f"{_named(long)} {most:g} m long: were millimetres or centimetres typed for metres?"
    if short:
        least, frame = min((pairs[k] for k in short), key=lambda pair: pair[0])
        yield (
            f"{_named(short)} {least:g} m long, less than the {figure(frame.radius)} m that the "
            "vehicle reaches out, so that the load swings into its propellers: was another unit typed for m?"
        )


def overlapping(places: Numbers, airframes: Sequence[Airframe]) -> Iterator[str]:
    """A sentence on the first two vehicles at `places` (n, 3) (m) whose propellers would overlap."""
    for j in range(len(airframes)):
        for k in range(j):
            first, second = airframes[k], airframes[j]
            apart = float(np.linalg.norm((places[j] - places[k])[:2])) - first.radius - second.radius
            tall = ((first.height or 0.0) + (second.height or 0.0)) / 2
            if apart < 0 and abs(places[j, 2] - places[k, 2]) < tall:
                yield f"Vehicles {k} and {j} start with their propellers overlapping by {-apart:.3g} m."
                return


def _named(cables: list[int]) -> str:
    if len(cables) == 1:
        return f"Cable {cables[0]} is"
    return f"Cables {', '.join(map(str, cables[:-1]))} and {cables[-1]} are"


def _load(group: str, load: Payload) -> Iterator[str]:
    if load.inertia is None or isinstance(load.shape, Ball):
        return
    with np.errstate(all="ignore"):
        uniform = np.diag(load.shape.inertia(load.mass))
    yield from _compared(f"rig.{group}.inertia", load.inertia, uniform, "uniform body of its mass and size")


def _vehicle(k: int, frame: Airframe) -> Iterator[str]:
    usual = FRAME * frame.mass * frame.arm**2
    yield from _compared(
        f"rig.vehicles[{k}].inertia", frame.inertia, usual, "usual vehicle of its mass and arm"
    )


def _compared(path: str, inertia: Numbers, usual: Numbers, whose: str) -> Iterator[str]:
    """A sentence on the moment that is farthest from the usual one, if that is far."""
    with np.errstate(all="ignore"):
        ratios = np.diag(inertia) / usual
        sizes = np.abs(np.log(ratios))
    if not np.all(np.isfinite(sizes)) or sizes.max() <= np.log(FACTOR):
        return
    axis = int(np.argmax(sizes))
    times = f"{figure(ratios[axis])} times" if ratios[axis] > 1 else f"1/{figure(1 / ratios[axis])} of"
    have, want = figure(inertia[axis, axis]), figure(usual[axis])
    yield (
        f"{path} is {have} kg m^2 about {'xyz'[axis]}, {times} the {want} of a "
        f"{whose}: was another unit typed for kg m^2, such as g m^2, g cm^2 or kg mm^2?"
    )
