"""From a rig, its airframes and some gains to a controller that plans."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from skyrig import checks
from skyrig.algebra import as_jax
from skyrig.control.gains import Clock, Gain, read_gains
from skyrig.control.interface import Controller, concrete
from skyrig.control.mpc.distributed import DistributedMpc
from skyrig.control.mpc.gains import MpcGains
from skyrig.control.mpc.team import ORDERS
from skyrig.control.sharing import spreading, weight_shares
from skyrig.errors import InputError
from skyrig.rigs.cables import OnCables, inverse
from skyrig.vehicles import Airframe

WHOLE = {"horizon": (10, 2, 50), "sweeps": (3, 1, 20), "turns": (2, 1, 20), "delay": (0, 0, 10)}
"""Gains that are whole numbers: default, least, most."""


Given = Mapping[str, Any] | None


def distributed(
    rig: OnCables, airframes: Sequence[Airframe], gains: Given, flavour: str, clock: Clock
) -> Controller:
    """Every vehicle and the load plan by themselves."""
    given = dict(gains or {})
    order = ORDERS[_whole("parallel", given.pop("parallel", 0), (0, 0, 1))]
    return _built(rig, airframes, given, order, clock)


def central(
    rig: OnCables, airframes: Sequence[Airframe], gains: Given, flavour: str, clock: Clock
) -> Controller:
    """One planner plans for all."""
    return _built(rig, airframes, {"sweeps": 1, "delay": 0, **(gains or {})}, "central", clock)


def _built(
    rig: OnCables, airframes: Sequence[Airframe], given: dict[str, Any], order: str, clock: Clock
) -> DistributedMpc:
    whole: dict[str, Any] = {
        name: _whole(name, given.pop(name, limits[0]), limits) for name, limits in WHOLE.items()
    }
    obstacles = _obstacles(given.pop("obstacles", []))
    n, gravity = rig.count, float(rig.gravity)
    weight = float(rig.payload_mass) * gravity
    share = weight_shares(np.asarray(rig.attachment), weight)
    hover = np.asarray(rig.mass) * gravity + share
    able = np.array([each.total_thrust_max for each in airframes])
    moment = np.stack([_moments(each, lift) for each, lift in zip(airframes, hover, strict=True)], axis=1)
    values = read_gains(given, _known(hover, share, moment), n)
    stride = max(round(float(concrete(values.pop("step"))) / clock.period), 1)
    low = np.array([each.total_thrust_min for each in airframes])
    until = np.asarray(concrete(values.pop("deaf_until")))
    times = np.stack([np.asarray(concrete(values.pop("deaf_from"))), until])
    errors = _errors(values, "", n)
    load = _errors(values, "load_", 1)[:, 0]
    effort = np.concatenate([np.asarray(values.pop("thrust"))[None], np.asarray(values.pop("moment"))])
    still = np.zeros((3, n))
    lean = float(concrete(values.pop("lean")))
    return DistributedMpc(
        mass=rig.mass,
        inertia=rig.inertia,
        inverse_inertia=as_jax(np.stack([inverse(np.asarray(rig.inertia)[:, :, k]) for k in range(n)], -1)),
        payload_mass=rig.payload_mass,
        payload_inertia=rig.payload_inertia,
        payload_inverse_inertia=rig.payload_inverse_inertia,
        attachment=rig.attachment,
        hook=as_jax(still) if rig.hook is None else rig.hook,
        length=rig.length,
        gravity=rig.gravity,
        available=as_jax(np.ones(n)),
        internal=spreading(np.asarray(rig.attachment), weight, lean),
        least=as_jax(np.concatenate([low[None], -moment])),
        most=as_jax(np.concatenate([able[None], moment])),
        least_tension=as_jax(np.full(n, float(concrete(values.pop("least_pull"))) * weight / n)),
        most_tension=as_jax(np.maximum(2 * able, 4 * share)),
        deaf=as_jax(times),
        obstacles=as_jax(obstacles),
        period=as_jax(clock.period),
        gains=MpcGains(vehicle=as_jax(errors), effort=as_jax(effort), load=as_jax(load), **values),
        stride=stride,
        order=order,
        **whole,
    )


def _known(hover: np.ndarray, share: np.ndarray, moment: np.ndarray) -> dict[str, Gain]:
    """Weights are one over the square of an error that matters as much as another's."""
    own = {"position": 100.0, "velocity": 10.0, "attitude": 4.0, "rate": 0.05}
    load = {"position": 400.0, "velocity": 40.0, "attitude": 100.0, "rate": 4.0}
    return {
        **{name: Gain(value, "3n", zero=True) for name, value in own.items()},
        **{f"load_{name}": Gain(value, "3", zero=True) for name, value in load.items()},
        "thrust": Gain(1 / (0.3 * hover) ** 2, "n"),
        "moment": Gain(1 / (0.5 * moment) ** 2, "3n"),
        "tension": Gain(1 / (0.5 * share) ** 2, "n"),
        "final": Gain(5.0),
        "approach": Gain(3.0, zero=True),
        "brake": Gain(0.0, zero=True),
        "softness": Gain(1e-4),
        "apart": Gain(0.0, zero=True),
        "shy": Gain(1e4, zero=True),
        "learn": Gain(0.2, zero=True),
        "step": Gain(0.02),
        "least_pull": Gain(0.05, zero=True),
        "lean": Gain(0.0, zero=True),
        "deaf_from": Gain(0.0, "n", zero=True),
        "deaf_until": Gain(0.0, "n", zero=True),
    }


def _errors(values: dict[str, Any], prefix: str, n: int) -> np.ndarray:
    """(12, n) weights of position, velocity, attitude and rate."""
    names = [f"{prefix}{name}" for name in ("position", "velocity", "attitude", "rate")]
    return np.concatenate([np.asarray(values.pop(name)).reshape(3, -1) * np.ones((3, n)) for name in names])


def _moments(airframe: Airframe, hover: float) -> np.ndarray:
    """Moments (N m) about x, y, z that a vehicle can make at a thrust, with some to spare."""
    each = hover / airframe.rotor_count
    room = max(min(each - airframe.thrust_min, airframe.thrust_max - each), 0.1 * airframe.thrust_max)
    return 0.7 * np.abs(np.asarray(airframe.mixing)[1:]) @ np.full(airframe.rotor_count, room)


def _obstacles(given: Any) -> np.ndarray:
    """(k, 3) x, y and radius of upright round obstacles (m)."""
    rows = list(given) if isinstance(given, list | tuple | np.ndarray) else [given]
    if any(np.shape(row) != (3,) for row in rows):
        raise InputError(f"gains.obstacles must be rows of x, y and radius (m), not {given}.")
    for k, row in enumerate(rows):
        checks.numbers(f"gains.obstacles[{k}]", row, (3,))
        checks.nonnegative(f"gains.obstacles[{k}][2]", row[2])
    return np.array(rows, float).reshape(-1, 3)


def _whole(name: str, value: Any, limits: tuple[int, int, int]) -> int:
    _, least, most = limits
    number = float(checks.nonnegative(f"gains.{name}", value))
    if number != int(number) or not least <= number <= most:
        raise InputError(f"gains.{name} must be a whole number from {least} to {most}, not {value}.")
    return int(number)
