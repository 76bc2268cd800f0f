"""From a rig, its airframes and some gains to a controller; the names of YAML stand in `skyrig.control`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Array

from skyrig.algebra import as_jax
from skyrig.control.attitude import Attitude
from skyrig.control.cable_belief import Margins
from skyrig.control.cables import CableGains, Cables
from skyrig.control.estimate import Filter, Late
from skyrig.control.gains import (
    Clock,
    Gain,
    authority,
    read_gains,
    vehicle_bandwidths,
)
from skyrig.control.interface import Controller, concrete
from skyrig.control.known_drag import KnownDrag
from skyrig.control.links import Links, RotorShares
from skyrig.control.position_loop import PositionGains
from skyrig.control.published import (
    PublishedCableGains,
    PublishedCables,
    PublishedLinkGains,
    PublishedLinks,
)
from skyrig.control.published_gains import LINKS, cable_gains, vehicle_gains
from skyrig.control.sharing import spreading, uncontrolled_axis, weight_shares
from skyrig.control.vehicle import Vehicles
from skyrig.control.yaw_decoupled import YawDecoupled, YawDecoupledGains
from skyrig.rigs.cables import OnCables
from skyrig.rigs.linked import Linked
from skyrig.vehicles import Airframe

Given = Mapping[str, Any] | None

CROWDED_LEAN = 0.35
"""Outward lean of cables that share one attachment (rad), as in `skyrig.rigs.equilibrium`."""


def cables(
    rig: OnCables, airframes: Sequence[Airframe], gains: Given, flavour: str, clock: Clock
) -> Controller:
    """The payload of a cable rig follows its reference."""
    n = rig.count
    parts: dict[str, Any] = {
        "mass": rig.mass,
        "inertia": rig.inertia,
        "payload_mass": rig.payload_mass,
        "payload_inertia": rig.payload_inertia,
        "attachment": rig.attachment,
        "hook": rig.hook,
        "gravity": rig.gravity,
    }
    if flavour == "published":
        values = read_gains(gains, cable_gains(rig, airframes), n)
        return PublishedCables(**parts, gains=PublishedCableGains(**values))
    share = _weights(rig) / float(rig.gravity)
    vehicle, tilt = _vehicle_defaults(rig, airframes, share, clock)
    slow, climb = tilt.min(), _climb(rig, airframes, share, clock, 6)
    known = {
        "position": Gain(np.array([slow / 8, slow / 8, climb]), "3"),
        "attitude": Gain(np.array([slow / 4, slow / 4, slow / 8]), "3"),
        "integral": Gain(min(0.8, slow / 25), zero=True),
        "cable": Gain(0.35 * tilt, "n"),
        "vehicle": Gain(vehicle, "3n"),
        "follow": Gain(0.15 * tilt, "n"),
        "damping": Gain(0.9),
        **_limits(_lift(rig, airframes, share), float(rig.gravity)),
        "most_push": Gain(
            0.3 * float(rig.gravity) * float(1 + np.asarray(rig.mass).sum() / np.asarray(rig.payload_mass))
        ),
        "observe": Gain(0.0, zero=True),
        "drag": Gain(1.0, zero=True),
        "most_turning": Gain(0.35),
        "least_pull": Gain(0.25, zero=True),
        "slack": Gain(0.01),
        "cut": Gain(0.02),
        "lean": Gain(CROWDED_LEAN if _crowded(rig) else 0.0, zero=True),
    }
    values = read_gains(gains, known, n)
    lean, drag = values.pop("lean"), values.pop("drag")
    sharp = Filter.sharp()
    return Cables(
        **parts,
        payload_inverse_inertia=rig.payload_inverse_inertia,
        length=rig.length,
        **_thrusts(airframes),
        late=Late.of(clock),
        sight=sharp,
        load_sight=sharp,
        margins=Margins.least(values["slack"], values["cut"], n),
        available=as_jax(np.ones(n)),
        turnable=_turnable(rig),
        internal=spreading(np.asarray(rig.attachment), _load(rig), concrete(lean)),
        gains=CableGains(**values),
        drag=KnownDrag(drag),
    )


def links(rig: Linked, airframes: Sequence[Airframe], gains: Given, flavour: str, clock: Clock) -> Controller:
    """The payload of a rigidly linked rig follows its reference."""
    rotors, bandwidth = rotor_shares(rig, airframes, clock)
    if flavour == "published":
        values = read_gains(gains, {name: Gain(value, "3") for name, value in LINKS.items()}, 1)
        return PublishedLinks(
            rig.mass, rig.inertia, rig.payload_offset, rig.gravity, rotors, PublishedLinkGains(**values)
        )
    slow, prompt = bandwidth[:2].min(), rotor_shares(rig, airframes, clock.prompt)[1][:2].min()
    able = np.array([each.total_thrust_max for each in airframes])
    known = {
        "position": Gain(np.array([slow / 3, slow / 3, clock.height_bandwidth(prompt / 3)]), "3"),
        "attitude": Gain(bandwidth[:, None], "3n"),
        "integral": Gain(min(0.3, slow / 24), zero=True),
        "damping": Gain(0.9),
        **_limits(float(able.sum() / rig.mass), float(rig.gravity)),
        "drag": Gain(1.0, zero=True),
    }
    values = read_gains(gains, known, 1)
    thrusts = {name: value.sum(keepdims=True) for name, value in _thrusts(airframes).items()}
    return Links(
        mass=rig.mass[None],
        inertia=rig.inertia[:, :, None],
        payload_offset=rig.payload_offset,
        gravity=rig.gravity,
        **thrusts,
        late=Late.of(clock),
        sight=Filter.sharp(),
        rotors=rotors,
        drag=KnownDrag(values.pop("drag")),
        gains=PositionGains(**values),
    )


def vehicle(
    rig: OnCables, airframes: Sequence[Airframe], gains: Given, flavour: str, clock: Clock
) -> Controller:
    """Every vehicle follows its own reference, with a load that hangs on it."""
    share = _weights(rig) / float(rig.gravity)
    if flavour == "published":
        return _yaw_decoupled(rig, gains, vehicle_gains(airframes), feed=0.0)
    bandwidth, tilt = _vehicle_defaults(rig, airframes, share, clock)
    slow, climb = tilt.min(), _climb(rig, airframes, share, clock, 5)
    known = {
        "position": Gain(np.array([slow / 6, slow / 6, climb]), "3"),
        "attitude": Gain(bandwidth, "3n"),
        "integral": Gain(min(0.3, slow / 48), zero=True),
        "damping": Gain(0.9),
        **_limits(_lift(rig, airframes, share), float(rig.gravity)),
        "carry": Gain(1.0, zero=True),
        "drag": Gain(1.0, zero=True),
    }
    # the load's weight sits in the integral term, and there must be room for it
    known["most_push"] = Gain(known["most_push"].default + float((_weights(rig) / rig.mass).max()))
    values = read_gains(gains, known, rig.count)
    return Vehicles(
        mass=rig.mass,
        inertia=rig.inertia,
        gravity=rig.gravity,
        **_thrusts(airframes),
        late=Late.of(clock),
        sight=Filter.sharp(),
        load=values.pop("carry") * _weights(rig),
        drag=KnownDrag(values.pop("drag")),
        gains=PositionGains(**values),
    )


def yaw_decoupled(
    rig: OnCables, airframes: Sequence[Airframe], gains: Given, flavour: str, clock: Clock
) -> Controller:
    """Every vehicle follows its own reference, by eqs. 25-32 of the multilift paper in either flavour."""
    share = _weights(rig) / float(rig.gravity)
    bandwidth, tilt = _vehicle_defaults(rig, airframes, share, clock)
    slow, inertia = tilt.min() / 8, np.stack([np.diag(each.inertia) for each in airframes], axis=1)
    known = {
        "position": Gain(np.full(3, slow**2), "3"),
        "velocity": Gain(np.full(3, 2 * slow), "3"),
        "attitude": Gain(inertia * bandwidth**2, "3n"),
        "rate": Gain(inertia * 2 * bandwidth, "3n"),
    }
    return _yaw_decoupled(rig, gains, known, feed=1.0)


def attitude(
    rig: OnCables, airframes: Sequence[Airframe], gains: Given, flavour: str, clock: Clock
) -> Controller:
    """Every vehicle holds the attitude of its reference, at a thrust that carries it, in either flavour."""
    share = _weights(rig) / float(rig.gravity)
    bandwidth, _ = _vehicle_defaults(rig, airframes, share, clock)
    known = {
        "attitude": Gain(bandwidth, "3n"),
        "damping": Gain(0.9),
        "carry": Gain(1.0, zero=True),
    }
    values = read_gains(gains, known, rig.count)
    weight = rig.gravity * rig.mass + values["carry"] * _weights(rig)
    return Attitude(rig.inertia, weight, values["attitude"], values["damping"])


def rotor_shares(rig: Linked, airframes: Sequence[Airframe], clock: Clock) -> tuple[RotorShares, np.ndarray]:
    """How the team's rotors share a wrench, and the bandwidths (rad/s) of roll, pitch, yaw this allows."""
    n, most = rig.count, max(each.rotor_count for each in airframes)
    effect, mixing = np.zeros((4, most, n)), np.zeros((4, most, n))
    low, high = np.zeros((most, n)), np.zeros((most, n))
    for k, each in enumerate(airframes):
        r, angle = each.rotor_count, float(rig.vehicle_yaw[k])
        cos, sin = np.cos(angle), np.sin(angle)
        turn = np.array([[cos, -sin, 0], [sin, cos, 0], [0, 0, 1]])
        offset = np.asarray(rig.vehicle_offset[:, k])
        mixing[:, :r, k] = each.mixing
        effect[0, :r, k] = 1
        effect[1:, :r, k] = turn @ each.mixing[1:] + np.cross(offset, [0.0, 0.0, 1.0])[:, None]
        low[:r, k], high[:r, k] = each.thrust_min, each.thrust_max
    whole, able = effect.reshape(4, -1), high.reshape(-1)
    share = able[:, None] * whole.T @ np.linalg.inv((whole * able) @ whole.T)
    hover = share[:, 0] * float(rig.mass * rig.gravity)
    room = np.maximum(np.minimum(hover - low.reshape(-1), able - hover), 0.0)
    strength = authority(whole[1:], room, np.asarray(rig.inertia))
    bandwidth = np.maximum(np.minimum(clock.reachable(strength), clock.fastest / 2), 0.5)
    yaw = 0.6 * strength[2] * float(rig.inertia[2, 2])
    arrays = (effect, share.reshape(most, n, 4), mixing, low, high, np.asarray(yaw))
    return RotorShares(*(as_jax(each) for each in arrays)), bandwidth


def _crowded(rig: OnCables) -> bool:
    points = np.asarray(rig.attachment)
    return rig.count > 1 and bool(np.abs(points - points[:, :1]).max() < 1e-9)


def _weights(rig: OnCables) -> np.ndarray:
    return weight_shares(np.asarray(rig.attachment), _load(rig))


def _load(rig: OnCables) -> float:
    """Weight of the payload (N)."""
    return float(rig.payload_mass) * float(rig.gravity)


def _turnable(rig: OnCables) -> Array:
    axis = uncontrolled_axis(np.asarray(rig.attachment).T)
    return as_jax(np.eye(3) if axis is None else np.eye(3) - np.outer(axis, axis))


def _vehicle_defaults(
    rig: OnCables, airframes: Sequence[Airframe], load: np.ndarray, clock: Clock
) -> tuple[np.ndarray, np.ndarray]:
    found = vehicle_bandwidths(airframes, load, float(rig.gravity), clock)
    return found.vehicle, found.tilt


def _climb(
    rig: OnCables, airframes: Sequence[Airframe], load: np.ndarray, clock: Clock, slower: float
) -> float:
    """Bandwidth of heights (rad/s), `slower` than roll and pitch would be without lag and delay."""
    _, tilt = _vehicle_defaults(rig, airframes, load, clock.prompt)
    return clock.height_bandwidth(float(tilt.min()) / slower)


def _thrusts(airframes: Sequence[Airframe]) -> dict[str, Any]:
    return {
        "thrust_min": as_jax([each.total_thrust_min for each in airframes]),
        "thrust_max": as_jax([each.total_thrust_max for each in airframes]),
    }


def _lift(rig: OnCables, airframes: Sequence[Airframe], share: np.ndarray) -> float:
    """Acceleration (m/s^2) at which the weakest vehicle lifts itself and its share of the load (kg)."""
    able = np.array([each.total_thrust_max for each in airframes])
    return float((able / (np.asarray(rig.mass) + share)).min())


def _limits(lift: float, gravity: float) -> dict[str, Gain]:
    """Bounds on what feedback asks for, from what the rotors have left in hover."""
    spare = lift - gravity
    return {
        "reach": Gain(0.6),
        "most_side": Gain(0.3 * gravity),
        "most_up": Gain(min(max(0.5 * spare, 0.02 * gravity), 0.3 * gravity)),
        "learn": Gain(0.05),
        "most_push": Gain(0.3 * gravity),
        "most_turn": Gain(50.0),
    }


def _yaw_decoupled(rig: OnCables, gains: Given, known: Mapping[str, Gain], feed: float) -> YawDecoupled:
    values = read_gains(gains, {**known, "carry": Gain(1.0, zero=True)}, rig.count)
    load = values.pop("carry") * _weights(rig)
    return YawDecoupled(rig.mass, rig.inertia, rig.gravity, load, as_jax(feed), YawDecoupledGains(**values))
