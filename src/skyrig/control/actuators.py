"""The one stage between a command and the rig: rotors with limits, thrust loss and, if wanted, lag.

Every vehicle's thrust and moment are made by its rotors, each between its least and most thrust. When a
command cannot be met, this is given up, in this order:

1. yaw moment, as much of it as does not fit;
2. thrust, moved up or down until roll and pitch moments fit;
3. roll and pitch moments, both in the same proportion, when even that does not help.

An airframe that `gives_up` thrust before yaw has the first two the other way round.
"""

from __future__ import annotations

from collections.abc import Sequence

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from skyrig import checks
from skyrig.algebra import as_jax, largest, smallest, total
from skyrig.control.interface import Command, axes, fitted
from skyrig.control.spare_rotors import Spare
from skyrig.elements.rotors import speeds_of
from skyrig.errors import InputError
from skyrig.vehicles import Airframe
from skyrig.vehicles.rotor_loss import RotorLoss


class Produced(eqx.Module):
    """What the rotors really make."""

    thrust: Float[Array, " n *batch"]
    """N, along each vehicle's z axis."""
    moment: Float[Array, "3 n *batch"]
    """N m, each vehicle's body frame."""
    rotors: Float[Array, "r n *batch"]
    """Thrust of every rotor (N), before losses; zero where a vehicle has fewer rotors than others."""
    saturated: Bool[Array, "r n *batch"]
    """Rotors that were asked for something else than they could do."""


class Actuators(eqx.Module):
    """The rotors of a team; `Actuators.build(airframes)` makes them.

    Vehicles may differ in how many rotors they have: arrays go up to the largest number r.
    """

    mixing: Float[Array, "4 r n ..."] = axes(3)
    """From rotor thrusts (N) to thrust (N) and moment (N m)."""
    inverse: Float[Array, "r 4 n ..."] = axes(3)
    """Its pseudo-inverse: least-norm rotor thrusts."""
    low: Float[Array, "r n ..."] = axes(2)
    """Least thrust of each rotor (N)."""
    high: Float[Array, "r n ..."] = axes(2)
    """Most thrust of each rotor (N)."""
    efficiency: Float[Array, "n ..."] = axes(1)
    """Share of each vehicle's thrust and moment that is really made; 1 when nothing is lost."""
    lag: Float[Array, "n ..."] | None = axes(1)
    """Time constant of the rotors (s); None for rotors that follow at once."""
    keeps_yaw: Float[Array, "n ..."] | None = axes(1)
    """One where thrust is given up before yaw moment, else zero; None if nowhere."""
    coefficient: Float[Array, "r n ..."] | None = axes(2)
    """Thrust over speed squared of each rotor (N/(rad/s)^2)."""
    fastest: Float[Array, "n ..."] | None = axes(1)
    """Most that rotor speeds change (rad/s^2), infinite for no limit; None if there is none anywhere."""
    spare: Spare | None = None
    """How work is shared once rotors are known to have stopped; None if none ever stops."""
    counts: tuple[int, ...] = eqx.field(static=True, default=())
    """Rotors of each vehicle."""

    @staticmethod
    def build(
        airframes: Sequence[Airframe],
        efficiency: Sequence[float] | float = 1.0,
        lag: Sequence[float] | float | None = None,
        losses: Sequence[RotorLoss] = (),
    ) -> Actuators:
        """The actuators of a team.

        Args:
            airframes: One for each vehicle, in order.
            efficiency: Share of thrust and moment that is left, of each vehicle or of all.
            lag: Time constant of rotor speeds (s), of each vehicle or of all; None for no lag.
            losses: Rotors that stop, and when their mixers learn of it.
        """
        n = len(airframes)
        if n == 0:
            raise InputError("airframes must name at least one vehicle, but the list is empty.")
        rotors = max(each.rotor_count for each in airframes)
        mixing, inverse = np.zeros((4, rotors, n)), np.zeros((rotors, 4, n))
        low, high, coefficient = np.zeros((rotors, n)), np.zeros((rotors, n)), np.ones((rotors, n))
        for k, each in enumerate(airframes):
            r = each.rotor_count
            mixing[:, :r, k] = each.mixing
            inverse[:r, :, k] = each.allocation
            low[:r, k], high[:r, k] = each.thrust_min * each.shares, each.thrust_max * each.shares
            coefficient[:r, k] = each.thrust_coefficient * each.shares
        share = checks.nonnegative("efficiency", np.broadcast_to(efficiency, (n,)), (n,))
        slow = None if lag is None else as_jax(checks.positive("lag", np.broadcast_to(lag, (n,)), (n,)))
        arrays = (as_jax(each) for each in (mixing, inverse, low, high, share))
        kept = np.array([1.0 if each.gives_up == "thrust" else 0.0 for each in airframes])
        rates = np.array([each.speed_rate or np.inf for each in airframes])
        return Actuators(
            *arrays,
            lag=slow,
            keeps_yaw=as_jax(kept) if kept.any() else None,
            coefficient=as_jax(coefficient),
            fastest=as_jax(rates) if np.isfinite(rates).any() else None,
            spare=Spare.of(airframes, losses),
            counts=tuple(each.rotor_count for each in airframes),
        )

    def rotor_thrusts(
        self, command: Command, noticed: Float[Array, "n *batch"] | None = None
    ) -> tuple[Float[Array, "r n *batch"], Bool[Array, "r n *batch"]]:
        """Thrust of every rotor (N) inside its limits, and where a limit was in the way.

        `noticed` says of how many rotors that stopped each vehicle's mixer knows; of none if left out.
        """
        it = fitted(self, command.thrust)
        if self.spare is not None and noticed is not None:
            it, command = _without_lost(it, command, noticed)
        present = it.high > 0
        lift, rolling, pitching, yawing = (
            it.inverse[:, 0],
            it.inverse[:, 1],
            it.inverse[:, 2],
            it.inverse[:, 3],
        )
        tilting = rolling * command.moment[0] + pitching * command.moment[1]
        twisting = yawing * command.moment[2]
        asked = lift * command.thrust + tilting + twisting

        # in newtons of collective thrust: what each rotor leaves free below and above
        each = jnp.where(present & (lift > 0), lift, 1.0)
        lowest = largest(jnp.where(present, it.low / each, -jnp.inf))
        highest = smallest(jnp.where(present, it.high / each, jnp.inf))
        tilt = tilting / each
        most = largest(jnp.where(present, tilt, -jnp.inf))
        least = smallest(jnp.where(present, tilt, jnp.inf))
        need, room = most - least, highest - lowest
        tight = need > room
        tilt_share = jnp.where(tight, room / jnp.where(tight, need, 1.0), 1.0)
        if it.keeps_yaw is not None:
            most, least, twisting = _with_yaw(it.keeps_yaw, present, tilt, tilt_share, twisting, each, room)
            tilting, tilt_share = tilt_share * tilting, jnp.ones_like(tilt_share)
        thrust = jnp.clip(command.thrust, lowest - tilt_share * least, highest - tilt_share * most)
        steady = lift * thrust + tilt_share * tilting

        # rounding may put `steady` a hair past a limit: no space then, not less than none
        space = jnp.maximum(jnp.where(twisting > 0, it.high - steady, steady - it.low), 0.0)
        size = jnp.abs(twisting)
        short = present & (size > space)
        yaw_share = smallest(jnp.where(short, space / jnp.where(short, size, 1.0), 1.0))
        made = jnp.clip(steady + yaw_share * twisting, it.low, it.high)
        return made, jnp.abs(made - asked) > 1e-9 * it.high

    def speeds(self, rotors: Float[Array, "r n *batch"]) -> Float[Array, "r n *batch"]:
        """At which rotors give these thrusts (rad/s)."""
        it = fitted(self, rotors[0])
        assert it.coefficient is not None
        return speeds_of(rotors, it.coefficient)

    def within_limits(
        self, asked: Float[Array, "r n *batch"]
    ) -> tuple[Float[Array, "r n *batch"], Bool[Array, "r n *batch"]]:
        """Thrusts (N) asked of every rotor as far as its limits go, and where a limit was in the way."""
        it = fitted(self, asked[0])
        made = jnp.clip(asked, it.low, it.high)
        return made, made != asked

    def __call__(self, command: Command, efficiency: Float[Array, " n *batch"] | None = None) -> Produced:
        """What a command makes of rotors that follow at once.

        Args:
            command: What is asked for.
            efficiency: Share of each vehicle's thrust that is left now; its own if left out.
        """
        return self.produced(*self.rotor_thrusts(command), efficiency)

    def produced(
        self,
        rotors: Float[Array, "r n *batch"],
        saturated: Bool[Array, "r n *batch"],
        efficiency: Float[Array, " n *batch"] | None = None,
    ) -> Produced:
        """Thrust and moment that rotors make at these thrusts (N)."""
        it = fitted(self, rotors[0])
        share = it.efficiency if efficiency is None else efficiency
        force = share * total(it.mixing * rotors[None], 1)
        return Produced(force[0], force[1:], rotors, saturated)


def _with_yaw(
    keeps: Array, present: Array, tilt: Array, tilt_share: Array, twisting: Array, each: Array, room: Array
) -> tuple[Array, Array, Array]:
    """Most and least collective thrust (N) that moments ask of rotors, and the yaw thrusts that fit.

    Where yaw is kept, as much of it as fits beside roll and pitch is counted among what thrust makes way for.
    The share that fits is the largest s with tilt_i - tilt_j + s (twist_i - twist_j) <= room for all i, j.
    """
    tilt, twist = tilt_share * tilt, twisting / each
    apart, turns = tilt[:, None] - tilt[None], twist[:, None] - twist[None]
    both = present[:, None] & present[None] & (turns > 0)
    fits = jnp.where(both, (room - apart) / jnp.where(both, turns, 1.0), 1.0)
    share = jnp.clip(fits.min((0, 1)), 0.0, 1.0)
    whole = tilt + keeps * share * twist
    most = jnp.where(present, whole, -jnp.inf).max(0)
    least = jnp.where(present, whole, jnp.inf).min(0)
    return most, least, jnp.where(keeps > 0, share * twisting, twisting)


def _without_lost(it: Actuators, command: Command, noticed: Array) -> tuple[Actuators, Command]:
    """Actuators that work with the rotors they have left, and the yaw that must come on top of the rest."""
    assert it.spare is not None
    inverse, coupling, left = it.spare.chosen(noticed, it.inverse)
    it = eqx.tree_at(lambda it: (it.inverse, it.low, it.high), it, (inverse, left * it.low, left * it.high))
    if it.keeps_yaw is not None:  # whoever has lost a rotor gives up yaw first
        it = eqx.tree_at(lambda it: it.keeps_yaw, it, jnp.where(noticed > 0, 0.0, it.keeps_yaw))
    along = coupling[0] * command.thrust + coupling[1] * command.moment[0] + coupling[2] * command.moment[1]
    moment = jnp.stack([command.moment[0], command.moment[1], command.moment[2] - along])
    return it, Command(command.thrust, moment)
