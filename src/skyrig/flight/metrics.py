"""Numbers that sum up a flight. Every error is that of the true state against the reference.

Means are over time: samples count by the time they stand for, so uneven sampling does not matter.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from skyrig.constants import GRAVITY
from skyrig.flight.distances import closest
from skyrig.flight.flight import Flight
from skyrig.flight.limits import FlightLimits
from skyrig.flight.verdict import verdict
from skyrig.rigs.layout import is_course
from skyrig.turns import between, tilted

Window = tuple[float, float]


def metrics(
    flight: Flight,
    windows: Mapping[str, Window] | None = None,
    wall_seconds: float | None = None,
    limits: FlightLimits | None = None,
) -> dict[str, Any]:
    """The metrics of `flight` as a dictionary that JSON can hold, in SI units and radians.

    Args:
        flight: The flight.
        windows: Spans of time (s) to give errors for besides the whole flight; by default the time in which
            the reference moves, and the last two seconds.
        wall_seconds: How long flying took, for the real-time factor.
        limits: What the flight is judged by; as its scenario says if left out.
    """
    spans = {"whole": (float(flight.times[0]), float(flight.times[-1]))}
    spans |= default_windows(flight) if windows is None else dict(windows)
    found: dict[str, Any] = {
        "verdict": verdict(flight, limits).to_dict(),
        "duration": flight.duration,
        "tracking": {name: tracking(flight, span) for name, span in spans.items()},
        "cables": [_cable(flight, k) for k in range(flight.cables.tension.shape[1])],
        "events": _event_counts(flight),
        "saturation": _saturation(flight),
        **closest(flight),
    }
    if flight.cables.tension.shape[1]:
        found["least_impulse"] = flight.least_impulse
    others = {name: _signal(flight, name) for name in own_signals(flight) if not flight.signals[name].held}
    if others:
        found["signals"] = others
    if wall_seconds is not None:
        found["wall_seconds"] = wall_seconds
        found["real_time_factor"] = flight.duration / wall_seconds
    return found


def default_windows(flight: Flight) -> dict[str, Window]:
    """The time in which the reference moves, if it ever does, and the last two seconds of a longer flight."""
    spans: dict[str, Window] = {}
    wanted = flight.reference or flight.vehicle_references
    if wanted is not None:
        speeds = np.abs(np.concatenate([wanted.velocity, wanted.rate], axis=-1))
        moving = np.flatnonzero(speeds.reshape(len(flight.times), -1).max(axis=1) > 1e-9)
        span = flight.times[moving[[0, -1]]] if len(moving) > 1 else np.zeros(2)
        if 0 < span[1] - span[0] < 0.98 * flight.duration:
            spans["moving"] = (float(span[0]), float(span[1]))
    if flight.duration > 4:
        spans["last 2 s"] = (float(flight.times[-1]) - 2.0, float(flight.times[-1]))
    return spans


def tracking(flight: Flight, window: Window) -> dict[str, Any]:
    """Errors within `window` (s): root mean square, peak and last, of 3-D position (m) and attitude (rad).

    Rigid rigs also get `attitude_floor`, the error that the reference's acceleration demands because such a
    rig must tilt to accelerate, and `attitude_rmse_demanded`, the error against that tilted attitude.
    """
    rows = (flight.times >= window[0] - 1e-9) & (flight.times <= window[1] + 1e-9)
    times = flight.times[rows]
    found: dict[str, Any] = {"window": [float(window[0]), float(window[1])]}
    if not rows.any():
        return found
    if flight.reference is not None:
        body = flight.carried
        assert body is not None
        error = np.linalg.norm(body.position - flight.reference.position, axis=1)[rows]
        found |= _summary("position", error, times)
        if not flight.rig.payload_is_point:
            angle = between(flight.reference.attitude, body.attitude)[rows]
            found |= _summary("attitude", angle, times)
            if flight.rig.rigid:
                found |= _rigid(flight, body.attitude, rows, times)
    if flight.vehicle_references is not None:
        apart = np.linalg.norm(flight.vehicles.position - flight.vehicle_references.position, axis=2)[rows]
        found["vehicle_position_rmse"] = [rms(apart[:, k], times) for k in range(apart.shape[1])]
        found["vehicle_position_peak"] = [float(value) for value in apart.max(axis=0)]
    return found


def rms(values: np.ndarray, times: np.ndarray) -> float:
    """Root mean square over time."""
    return float(np.sqrt(_mean(np.asarray(values) ** 2, times)))


def demanded_attitude(flight: Flight) -> np.ndarray:
    """The attitude (T, 4) in which thrust along the payload's z axis gives the reference's acceleration."""
    assert flight.reference is not None
    pull = flight.reference.acceleration + [0.0, 0.0, GRAVITY]
    return tilted(flight.reference.attitude, pull)


def _rigid(flight: Flight, attitude: np.ndarray, rows: np.ndarray, times: np.ndarray) -> dict[str, float]:
    assert flight.reference is not None
    demanded = demanded_attitude(flight)
    floor = between(flight.reference.attitude, demanded)[rows]
    error = between(demanded, attitude)[rows]
    return {"attitude_floor": rms(floor, times), "attitude_rmse_demanded": rms(error, times)}


def _summary(name: str, error: np.ndarray, times: np.ndarray) -> dict[str, Any]:
    peak = int(np.argmax(error))
    return summary(name, rms(error, times), float(error[peak]), float(times[peak]), float(error[-1]))


def summary(name: str, rmse: Any, peak: Any, peak_time: Any, last: Any) -> dict[str, Any]:
    """How an error went, of one flight or, as arrays, of many."""
    return {
        f"{name}_rmse": rmse,
        f"{name}_peak": peak,
        f"{name}_peak_time": peak_time,
        f"{name}_last": last,
    }


def cable_summary(
    least: Any, largest: Any, mean: Any, slack: Any, impacts: Any, impulse: Any
) -> dict[str, Any]:
    """How a cable fared, of one flight or, as arrays, of many: tensions (N), time (s), impulse (N s).

    A cable that is slack between two samples has no tension there, whatever the samples say.
    """
    return {
        "tension_min": np.where(slack > 0, 0.0, least)[()],
        "tension_max": largest,
        "tension_mean": mean,
        "slack_time": slack,
        "impacts": impacts,
        "impulse_max": impulse,
    }


def _mean(values: np.ndarray, times: np.ndarray) -> float:
    """Mean over time by the trapezoidal rule; of a single sample, its value."""
    if len(times) < 2 or times[-1] <= times[0]:
        return float(np.mean(values))
    return float(np.trapezoid(values, times) / (times[-1] - times[0]))


def _cable(flight: Flight, k: int) -> dict[str, Any]:
    """One cable: its summary, and its small impacts."""
    tension, taut = flight.cables.tension[:, k], flight.cables.taut[:, k]
    own = [event for event in flight.events if event.cable == k]
    impulses = [event.impulse for event in own if event.kind == "impact"]
    largest = float(max(impulses, default=0.0))
    mean, slack = _mean(tension, flight.times), slack_time(flight, k)
    found = cable_summary(float(tension.min()), float(tension.max()), mean, slack, len(impulses), largest)
    small = sum(impulse < flight.least_impulse for impulse in impulses)
    return found | {
        "tension_min": float(found["tension_min"]),
        "taut_at_end": bool(taut[-1]),
        "small_impacts": small,
    }


KNOWN = ("cable.tension", "cable.length", "cable.taut")
"""Signals that have numbers and pictures of their own."""
QUIET = ("cable_belief", "missing_thrust")
"""Signals that tell something only where they are not next to nothing."""
NOTHING = 1e-3
"""What is next to nothing, in a signal's own unit."""


def own_signals(flight: Flight) -> tuple[str, ...]:
    """The signals that are the mechanism's or the controller's own and tell something."""
    return tuple(
        name
        for name, it in flight.signals.items()
        if name not in KNOWN
        and not is_course(name)
        and it.values.size
        and (name not in QUIET or np.abs(it.values).max() > NOTHING)
    )


def _signal(flight: Flight, name: str) -> dict[str, Any]:
    """A signal's least, largest and mean value, in its unit, for each of its owners; of a flag its share."""
    signal = flight.signals[name]
    values = np.asarray(signal, dtype=np.float64)
    return {
        "unit": signal.unit,
        "min": values.min(0).tolist(),
        "max": values.max(0).tolist(),
        "mean": [_mean(column, flight.times) for column in values.T],
    }


def slack_spans(flight: Flight, k: int) -> list[Window]:
    """The spans of time (s) in which cable `k` is slack or cut, their ends taken from the events.

    Cables that come and go without events, such as elastic ones, have them from sample to sample.
    """
    changes = {"impact": True, "taut": True, "slack": False, "cut": False}
    loose = ~np.asarray(flight.cables.taut[:, k], dtype=bool)
    if loose.any() and not any(event.kind in ("impact", "taut", "slack") for event in flight.events):
        return _sampled_spans(flight.times, loose)
    taut = bool(flight.cables.taut[0, k]) if len(flight.times) else True
    since, spans = float(flight.times[0]), []
    for event in flight.events:
        if event.cable != k or event.kind not in changes or changes[event.kind] == taut:
            continue
        if taut:
            since = event.time
        else:
            spans.append((since, float(event.time)))
        taut = changes[event.kind]
    if not taut:
        spans.append((since, float(flight.times[-1])))
    return [span for span in spans if span[1] > span[0]]


def _sampled_spans(times: np.ndarray, flag: np.ndarray) -> list[Window]:
    """The spans between samples at which a flag rises and falls."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], flag, [False]])))
    last = len(times) - 1
    return [
        (float(times[a]), float(times[min(b, last)]))
        for a, b in zip(edges[::2], edges[1::2], strict=True)
        if min(b, last) > a
    ]


def slack_time(flight: Flight, k: int) -> float:
    """How long cable `k` is slack or cut (s)."""
    return float(sum(end - start for start, end in slack_spans(flight, k)))


def _event_counts(flight: Flight) -> dict[str, int]:
    """How often each kind of event happened; cables that are taut from the start are no events."""
    first = flight.times[0]
    kinds = (it.kind for it in flight.events if not (it.kind == "taut" and it.time <= first))
    return dict(sorted(Counter(kinds).items()))


def _saturation(flight: Flight) -> dict[str, Any]:
    """Share of the time in which any rotor is at a limit, of the team and of each vehicle (1)."""
    inputs = flight.inputs
    held = np.diff(np.append(inputs.times, flight.times[-1]))
    if not held.size or held.sum() <= 0:
        return {"share": 0.0, "vehicles": [0.0] * flight.rig.count}
    busy = inputs.saturated > 0
    return {
        "share": float(held @ busy.any(axis=1) / held.sum()),
        "vehicles": [float(value) for value in held @ busy / held.sum()],
    }
