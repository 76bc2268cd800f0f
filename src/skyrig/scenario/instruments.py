"""Sensors as scenarios mount them."""

from __future__ import annotations

from typing import Any

from skyrig.scenario.crosschecks import controller_of
from skyrig.scenario.mechanisms import RigParts
from skyrig.scenario.sentences import refuse
from skyrig.sensing.estimator import needs
from skyrig.sensing.sensor import TEAM, Carrier, CableOnBoard, sensors_of


def carrier_of(spec: Any, parts: RigParts) -> Carrier:
    """What the sensors are mounted on."""
    groups = {**{group: len(them) for group, them in parts.loads.items()}, TEAM: parts.count}
    cables = [it for it in parts.tethers if it.name == "cable"]
    lines = [CableOnBoard(it.start, it.end, length) for it, length in zip(cables, parts.lengths, strict=True)]
    return Carrier(parts.airframes, groups, lines, spec.loop.control_rate)


def check_sensors(spec: Any, parts: RigParts, where: str) -> None:
    """Refuse sensors that this rig cannot have."""
    for name, sensor in sensors_of(spec).items():
        fault = sensor.fault(carrier_of(spec, parts))
        if fault is not None:
            field, sentence = fault
            raise refuse(where, f"sensors.{name}.{field}".rstrip("."), sentence)
    if controller_of(spec).sees == "estimate":
        missing = needs(sensors_of(spec), bool(parts.loads))
        if missing is not None:
            raise refuse(where, "controller.sees", f"must not be 'estimate' without {missing}")
