"""Metrics and impacts as rows of text, for the terminal, the report and comparisons. Angles in degrees."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from skyrig.flight.flight import Impact

Row = tuple[str, float | int | str | None, str]
"""A name, a value, a unit."""


def rows(metrics: dict[str, Any]) -> list[Row]:
    """The metrics of a flight, one line each."""
    found: list[Row] = [("duration", metrics["duration"], "s")]
    for name, errors in metrics["tracking"].items():
        found += _tracking(name, errors)
    for k, cable in enumerate(metrics["cables"]):
        found.append((f"cable {k}: tension, least", cable["tension_min"], "N"))
        found.append((f"cable {k}: tension, most", cable["tension_max"], "N"))
        if cable["slack_time"] > 0:
            found.append((f"cable {k}: slack or cut", cable["slack_time"], "s"))
        if cable["impacts"]:
            found.append((f"cable {k}: impacts", cable["impacts"], ""))
            found.append((f"cable {k}: hardest impact", cable["impulse_max"], "N s"))
    for kind, count in metrics["events"].items():
        found.append((f"events: {kind}", count, ""))
    found.append(("time with a rotor at its limit", 100 * metrics["saturation"]["share"], "%"))
    for field, noun in (
        ("closest_vehicles", "vehicles {} and {}"),
        ("closest_cable", "cable {} and vehicle {}"),
    ):
        if metrics[field] is not None:
            pair = noun.format(*metrics[field]["pair"])
            found.append((f"closest: {pair}", metrics[field]["distance"], "m"))
    if "real_time_factor" in metrics:
        found.append(("wall time, compilation included", metrics["wall_seconds"], "s"))
        found.append(("times faster than real time", metrics["real_time_factor"], ""))
    return found


def shown(value: object) -> str:
    """A value as people read it."""
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.4g}"
    return str(value)


def impact_rows(impact: Impact) -> Iterator[tuple[str, str, str, str]]:
    """An impact: name, before, after, change."""

    def written(value: float) -> str:
        return f"{round(value, 9) + 0.0:.9f}"

    def row(name: str, pair: Any) -> tuple[str, str, str, str]:
        before, after = (float(value) for value in pair)
        return name, written(before), written(after), written(after - before)

    yield row("speed apart, along (m/s)", impact.along)
    yield row("speed apart, across (m/s)", impact.across)
    for name, velocity in (("payload", impact.payload_velocity), ("vehicle", impact.vehicle_velocity)):
        for axis in range(3):
            if np.any(np.abs(velocity[:, axis]) > 1e-12):
                yield row(f"{name}, {'xyz'[axis]} (m/s)", velocity[:, axis])
    for axis in range(3):
        if np.any(np.abs(impact.momentum[:, axis]) > 1e-9):
            yield row(f"momentum, {'xyz'[axis]} (kg m/s)", impact.momentum[:, axis])
    yield ("impulse (N s)", "", f"{impact.impulse:.9f}", "")
    lost = float(np.linalg.norm(impact.momentum[1] - impact.momentum[0]))
    yield ("momentum lost (kg m/s)", "", "", f"{lost:.1e}")


def _tracking(name: str, errors: dict[str, Any]) -> Iterator[Row]:
    start, end = errors["window"]
    span = f"{name}, {start:g} to {end:g} s"
    for field, noun, scale, unit in (
        ("position_rmse", "position error, rms", 1e3, "mm"),
        ("position_peak", "position error, peak", 1e3, "mm"),
        ("attitude_rmse", "attitude error, rms", 180 / np.pi, "deg"),
        ("attitude_peak", "attitude error, peak", 180 / np.pi, "deg"),
        ("attitude_floor", "attitude floor of links, rms", 180 / np.pi, "deg"),
        ("attitude_rmse_demanded", "attitude error against demanded, rms", 180 / np.pi, "deg"),
    ):
        if field in errors:
            yield (f"{noun} ({span})", float(errors[field] * scale), unit)
    for k, value in enumerate(errors.get("vehicle_position_rmse", ())):
        yield (f"vehicle {k}: position error, rms ({span})", 1e3 * value, "mm")
