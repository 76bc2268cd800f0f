"""Metrics and impacts as rows, for the terminal, the report and comparisons. Values in SI units and radians.

`skyrig.flight.units.shown` writes them as people read them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from skyrig.flight.flight import Impact
from skyrig.flight.units import Value, shown

Row = tuple[str, Value, str]
"""A name, a value, a unit."""


def rows(metrics: dict[str, Any], zeros: bool = False, spans: bool = True) -> list[Row]:
    """The metrics of a flight, one line each.

    Args:
        metrics: Of the flight.
        zeros: Whether also to tell what never happened, so that flights have the same rows.
        spans: Whether names say from when to when their window goes.
    """
    found: list[Row] = [("duration", metrics["duration"], "s")]
    for name, errors in metrics["tracking"].items():
        start, end = errors["window"]
        found += _tracking(f"{name}, {start:.4g} to {end:.4g} s" if spans else name, errors)
    small = sum(cable.get("small_impacts", 0) for cable in metrics["cables"])
    for k, cable in enumerate(metrics["cables"]):
        found += _cable(k, cable, zeros)
    for name, numbers in metrics.get("signals", {}).items():
        found += _signal(name, numbers)
    for kind in sorted({*metrics["events"], *(KINDS if zeros else ())}):
        count = metrics["events"].get(kind, 0) - (small if kind == "impact" else 0)
        if count or zeros:
            found.append((f"events: {kind}", count, ""))
    if small and not zeros:
        (least,), unit = shown("N s", [metrics["least_impulse"]])
        found.append((f"impacts below {least} {unit}, left out above", small, ""))
    if zeros:
        found.append(("small impacts, left out above", small, ""))
    found.append(("time with a rotor at its limit", metrics["saturation"]["share"], "1"))
    for field, noun in (
        ("closest_vehicles", "vehicles {} and {}"),
        ("closest_cable", "cable {} and vehicle {}"),
    ):
        if metrics[field] is not None:
            pair = noun.format(*metrics[field]["pair"]) if spans else field.removeprefix("closest_")
            found.append((f"closest: {pair}", metrics[field]["distance"], "m"))
    if "real_time_factor" in metrics:
        found.append(("wall time, compilation included", metrics["wall_seconds"], "s"))
        found.append(("flown at, compilation included", metrics["real_time_factor"], "x real time"))
    return found


KINDS = ("cut", "ground", "impact", "poke", "slack", "taut")
"""Of events."""


def _cable(k: int, cable: dict[str, Any], zeros: bool) -> Iterator[Row]:
    impacts = cable["impacts"] - cable.get("small_impacts", 0)
    yield (f"cable {k}: tension, least", cable["tension_min"], "N")
    yield (f"cable {k}: tension, most", cable["tension_max"], "N")
    if cable["slack_time"] > 0 or zeros:
        yield (f"cable {k}: slack or cut", cable["slack_time"], "s")
    if impacts or zeros:
        yield (f"cable {k}: impacts", impacts, "")
        yield (f"cable {k}: hardest impact", cable["impulse_max"], "N s")


def _signal(name: str, numbers: dict[str, Any]) -> Iterator[Row]:
    """A signal of the mechanism's own, as `flight.metrics` sums it up."""
    for k, (least, most, mean) in enumerate(
        zip(*(numbers[it] for it in ("min", "max", "mean")), strict=True)
    ):
        owner, _, rest = name.partition(".")
        who = f"{owner} {k}: {rest}" if rest else f"{owner} {k}"
        if numbers["unit"] == "":
            yield (f"{who}, share of the time", float(mean), "1")
            continue
        yield (f"{who}, least", float(least), numbers["unit"] if numbers["unit"] != "1" else "")
        yield (f"{who}, most", float(most), numbers["unit"] if numbers["unit"] != "1" else "")


def _tracking(span: str, errors: dict[str, Any]) -> Iterator[Row]:
    for field, noun, unit in (
        ("position_rmse", "position error, rms", "m"),
        ("position_peak", "position error, peak", "m"),
        ("attitude_rmse", "attitude error, rms", "rad"),
        ("attitude_peak", "attitude error, peak", "rad"),
        ("attitude_floor", "attitude floor of links, rms", "rad"),
        ("attitude_rmse_demanded", "attitude error against demanded, rms", "rad"),
    ):
        if field in errors:
            yield (f"{noun} ({span})", float(errors[field]), unit)
    for k, value in enumerate(errors.get("vehicle_position_rmse", ())):
        yield (f"vehicle {k}: position error, rms ({span})", float(value), "m")


def texts(found: list[Row]) -> list[tuple[str, str, str]]:
    """Rows as people read them: name, value, unit."""
    written = []
    for name, value, unit in found:
        (text,), people = shown(unit, [value])
        written.append((name, text, people))
    return written


def impact_rows(impact: Impact) -> Iterator[tuple[str, str, str, str]]:
    """An impact as people read it: name with unit, before, after, change."""

    def row(name: str, unit: str, pair: Any) -> tuple[str, str, str, str]:
        before, after = (float(value) for value in np.round(pair, 9) + 0.0)
        (one, other, change), people = shown(unit, [before, after, after - before])
        return f"{name} ({people})", one, other, change

    yield row("speed apart, along", "m/s", impact.along)
    yield row("speed apart, across", "m/s", impact.across)
    for name, velocity in (("payload", impact.payload_velocity), ("vehicle", impact.vehicle_velocity)):
        for axis in range(3):
            if np.any(np.abs(velocity[:, axis]) > 1e-9):
                yield row(f"{name}, {'xyz'[axis]}", "m/s", velocity[:, axis])
    for axis in range(3):
        if np.any(np.abs(impact.momentum[:, axis]) > 1e-9):
            yield row(f"momentum, {'xyz'[axis]}", "kg m/s", impact.momentum[:, axis])
    (text,), people = shown("N s", [impact.impulse])
    yield (f"impulse ({people})", "", text, "")
