"""A flight put together from what flying gave."""

from __future__ import annotations

import platform
from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

import numpy as np

import skyrig
from skyrig.flight.flight import Cables, Flight, FlightEvent, Inputs, RigData, Track, Wanted
from skyrig.planning import Reference
from skyrig.scenario.mechanisms import RigParts

if TYPE_CHECKING:
    from skyrig.scenario.build import Built


def assemble(
    built: Built,
    flown: Any,
    inputs: Inputs,
    measured_payload: Track | None = None,
    measured_vehicles: Track | None = None,
) -> Flight:
    """A flight without metrics from what flying gave.

    Args:
        built: What was flown.
        flown: Anything with times (T,), payload and vehicles (position, velocity, attitude, rate; times
            first, xyz last), tension, cable_length and taut (T, n), and events: a `skyrig.sim.Rollout`, say.
        inputs: What was asked for and produced.
        measured_payload: What the controller was told, at the times of `inputs`.
        measured_vehicles: The same of the vehicles.
    """
    times = np.asarray(flown.times, dtype=np.float64)
    return Flight(
        name=built.scenario.name,
        times=times,
        payload=track(flown.payload),
        vehicles=track(flown.vehicles),
        cables=Cables(
            np.asarray(flown.tension), np.asarray(flown.cable_length), np.asarray(flown.taut, dtype=bool)
        ),
        inputs=inputs,
        rig=rig_data(built.scenario.parts),
        reference=None if built.reference is None else wanted([built.reference], times, one=True),
        vehicle_references=None
        if built.vehicle_references is None
        else wanted(built.vehicle_references, times, one=False),
        measured_payload=measured_payload,
        measured_vehicles=measured_vehicles,
        events=tuple(FlightEvent(it.time, it.kind, it.cable, it.impulse) for it in flown.events),
        scenario=built.scenario.to_yaml(),
        versions=versions(),
    )


def track(bodies: Any) -> Track:
    """A `Track` of anything with position, velocity, attitude and rate, times first and xyz last."""
    return Track(
        *(np.asarray(getattr(bodies, name)) for name in ("position", "velocity", "attitude", "rate"))
    )


def wanted(references: Sequence[Reference], times: np.ndarray, one: bool) -> Wanted:
    """References sampled at `times`: (T, 3) of a single one, else (T, n, 3)."""
    samples = [reference.sample(times) for reference in references]
    columns: list[Callable[[Any], Any]] = [
        lambda sample: sample.position[:, 0],
        lambda sample: sample.position[:, 1],
        lambda sample: sample.position[:, 2],
        lambda sample: sample.attitude,
        lambda sample: sample.rate[:, 0],
    ]
    return Wanted(
        *(
            np.asarray(column(samples[0])) if one else np.stack([column(each) for each in samples], axis=1)
            for column in columns
        )
    )


def rig_data(parts: RigParts) -> RigData:
    """What a flight remembers of its rig."""
    hooks = [it.start.point for it in parts.tethers] or [(0.0, 0.0, 0.0)] * parts.count
    load = parts.payload
    assert load is not None
    return RigData(
        mechanism=parts.mechanism,
        payload_mass=load.mass,
        payload_is_point=load.is_point,
        payload_corners=np.asarray(load.shape.corners),
        vehicle_mass=np.array([frame.mass for frame in parts.airframes]),
        vehicle_radius=np.array([frame.radius for frame in parts.airframes]),
        vehicle_thrust_max=np.array([frame.total_thrust_max for frame in parts.airframes]),
        attachments=np.asarray(parts.points),
        hooks=np.asarray(hooks, dtype=np.float64),
    )


def versions() -> dict[str, str]:
    """What computed a flight."""
    found = {"skyrig": skyrig.__version__, "python": platform.python_version()}
    for package in ("jax", "numpy"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
