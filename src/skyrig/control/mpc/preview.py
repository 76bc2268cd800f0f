"""What a team would like to do over the coming horizon, tick by tick, out of the payload's reference.

Everything follows from the reference by differential flatness (`skyrig.control.cable_nominal`): where load
and vehicles should be, how they should turn, how hard cables and rotors should pull. The public code of
Auto-Multilift is content with less: level attitudes, vehicles at a fixed lean, equal tensions.
"""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from skyrig.arrays import namespace
from skyrig.control.cable_nominal import cable_series, times_first
from skyrig.control.interface import axes, components_first
from skyrig.control.mpc.agents import StageAim
from skyrig.planning import Sample, taylor


class Preview(eqx.Module):
    """What is wanted at the stages of one tick's horizon (ticks first in a stack)."""

    load: Float[Array, ...] = axes(2)
    """(N + 1, 13) states of the load."""
    tension: Float[Array, ...] = axes(2)
    """(N + 1, n) N."""
    vehicles: Float[Array, ...] = axes(3)
    """(N + 1, 13, n) states of the vehicles."""
    effort: Float[Array, ...] = axes(3)
    """(N + 1, 4, n) thrust and moment of the vehicles (N, N m)."""

    @property
    def load_aim(self) -> StageAim:
        """Of the load, without a batch."""
        return StageAim(self.load, self.tension)

    @property
    def vehicle_aims(self) -> StageAim:
        """Of the vehicles, n in front, without a batch."""
        return StageAim(jnp.moveaxis(self.vehicles, -1, 0), jnp.moveaxis(self.effort, -1, 0))


def preview(model: Any, payload: Sample, horizon: int, stride: int, period: Any) -> Preview:
    """The horizons of all ticks.

    Args:
        model: What the rig is like, in numbers: see `cable_series`; and its vehicles' inertias and hooks.
        payload: The payload's reference at every tick, times first.
        horizon: Number of steps that are looked ahead.
        stride: Ticks in a step of the horizon.
        period: Between ticks (s).
    """
    rows = _wanted(model, payload)
    count = rows.load.shape[0]
    index = np.arange(count)[:, None] + stride * np.arange(horizon + 1)
    over = np.maximum(index - (count - 1), 0) * period
    held = np.minimum(index, count - 1)
    load, tension, vehicles, effort = (
        leaf[held] for leaf in (rows.load, rows.tension, rows.vehicles, rows.effort)
    )
    return Preview(_onward(load, over), tension, _onward(vehicles, over), effort)


def _onward(states: Any, over: np.ndarray) -> Any:
    """States beyond the last tick go on at their speed."""
    xp = namespace(states)
    time = over.reshape(*over.shape, *(1,) * (states.ndim - 2))
    return xp.concatenate([states[:, :, :3] + time * states[:, :, 3:6], states[:, :, 3:]], axis=2)


def _wanted(model: Any, payload: Sample) -> Preview:
    """Of every tick, times first."""
    it = cable_series(model, payload, 0.0 * model.gravity)
    xp = namespace(it.position, it.thrust)
    up = it.thrust[0] / xp.sqrt((it.thrust[0] ** 2).sum(0, keepdims=True))
    attitude = xp.stack([1 + up[2], -up[1], up[0], 0 * up[0]])
    attitude = attitude / xp.sqrt((attitude**2).sum(0, keepdims=True))
    rate, spin = it.turning[0], taylor.derivatives(it.turning[:2])[1]
    inertia = model.inertia.reshape(*model.inertia.shape[:3], 1, *model.inertia.shape[3:])
    inertia = inertia.reshape(inertia.shape + (1,) * (rate.ndim + 1 - inertia.ndim))

    def applied(vector: Any) -> Any:
        return (inertia * vector[None]).sum(1)

    momentum = applied(rate)
    turn = xp.stack([rate[i - 2] * momentum[i - 1] - rate[i - 1] * momentum[i - 2] for i in range(3)])
    size = xp.sqrt((it.thrust[0] ** 2).sum(0))[None]
    effort = xp.concatenate([size, applied(spin) + turn])
    place, speed = it.craft[0], taylor.derivatives(it.craft[:2])[1]
    vehicles = xp.concatenate([place, speed, attitude, rate])
    level = xp.moveaxis(xp.asarray(components_first(payload.attitude, 1)), 0, 1)
    level = level.reshape(level.shape + (1,) * (it.rate.ndim - 1 - level.ndim))
    load = xp.concatenate([it.position[0], taylor.derivatives(it.position[:2])[1], level, it.rate[0]])
    tension = xp.sqrt((it.pull[0] ** 2).sum(0))
    return Preview(
        times_first(load, 1), times_first(tension, 1), times_first(vehicles, 2), times_first(effort, 2)
    )
