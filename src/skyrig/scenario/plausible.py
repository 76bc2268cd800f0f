"""Numbers of a rig that can be, but hardly are: lengths and inertias as they come out when a unit slips."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from skyrig.checks import Numbers
from skyrig.scenario.parts import RigParts
from skyrig.scenario.sentences import figure
from skyrig.vehicles import Airframe, Ball

LONGEST = 200.0
"""Length of a cable over its vehicle's radius beyond which metres are unlikely to be meant."""
FACTOR = 100.0
"""How many times larger or smaller than a uniform body's an inertia may be without a remark."""
FRAME = np.array([0.2, 0.2, 0.4])
"""Moments of inertia of usual multirotors over mass times arm squared; the bundled ones have 0.11 to 0.6."""


def implausible(parts: RigParts) -> Iterator[str]:
    """Sentences on cables and inertias."""
    yield from _cables(parts)
    yield from _payload(parts)
    for k, frame in enumerate(parts.airframes):
        if frame not in parts.airframes[:k]:
            yield from _vehicle(k, frame)


def _cables(parts: RigParts) -> Iterator[str]:
    pairs = list(zip(parts.cables, parts.airframes, strict=False))
    long = [k for k, (cable, frame) in enumerate(pairs) if cable.length > LONGEST * frame.radius]
    short = [k for k, (cable, frame) in enumerate(pairs) if cable.length < frame.radius]
    if long:
        most = max(parts.cables[k].length for k in long)
        yield f"{_named(long)} {most:g} m long: were millimetres or centimetres typed for metres?"
    if short:
        least, frame = min((pairs[k] for k in short), key=lambda pair: pair[0].length)
        yield (
            f"{_named(short)} {least.length:g} m long, less than the {figure(frame.radius)} m that the "
            "vehicle reaches out, so that the load swings into its propellers: was another unit typed for m?"
        )


def _named(cables: list[int]) -> str:
    if len(cables) == 1:
        return f"Cable {cables[0]} is"
    return f"Cables {', '.join(map(str, cables[:-1]))} and {cables[-1]} are"


def _payload(parts: RigParts) -> Iterator[str]:
    load = parts.payload
    if load.inertia is None or isinstance(load.shape, Ball):
        return
    with np.errstate(all="ignore"):
        uniform = np.diag(load.shape.inertia(load.mass))
    yield from _compared("rig.payload.inertia", load.inertia, uniform, "uniform body of its mass and size")


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
