"""Vehicles rigidly on a payload: one body, with thrust along its own z axis (RotorTM eq. 74, in full).

Such a body accelerates only by tilting (by atan(a/g) when level in height), so its attitude follows from the
wanted acceleration; the reference gives its yaw alone. Its centre of mass is flown; where that must be for
the payload to be on its reference depends on the tilt, which is solved for ahead of the flight.

Thrust and moment are shared among all rotors of the team: least sum of f^2 / f_max over rotors, which loads
every rotor in proportion to what it can do, and inside their limits.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from skyrig import algebra
from skyrig.algebra import apply, cross
from skyrig.arrays import namespace
from skyrig.control.estimate import Filter, Late
from skyrig.control.interface import (
    Command,
    Controller,
    Measurement,
    Noise,
    Target,
    axes,
    concrete,
    fitted,
    fitted_target,
    part,
    wanted_of,
)
from skyrig.control.known_drag import KnownDrag, going
from skyrig.control.nominal import apply_last, heading_rate, motion, second_derivative, upwards
from skyrig.control.position_loop import (
    PositionGains,
    PositionMemory,
    PositionNominal,
    hold_course,
    position_nominal,
)
from skyrig.planning import Sample
from skyrig.rigs.bodies import Bodies

ROUNDS = 4
"""Rounds of sharing out anew what clamped rotors could not give."""


class RotorShares(eqx.Module):
    """How a rigid team's rotors share a thrust and a moment about the common centre of mass."""

    effect: Float[Array, "4 r n ..."] = axes(3)
    """Thrust (N) and moment (N m, payload axes) of a newton from each rotor."""
    share: Float[Array, "r n 4 ..."] = axes(3)
    """Least-effort rotor thrusts (N) for a unit of each."""
    mixing: Float[Array, "4 r n ..."] = axes(3)
    """Each vehicle's own thrust (N) and moment (N m, vehicle frame) from its rotors."""
    low: Float[Array, "r n ..."] = axes(2)
    high: Float[Array, "r n ..."] = axes(2)
    most_yaw: Float[Array, " ..."] = axes(0)
    """Most moment about z that is asked for (N m): yaw comes last."""

    def command(self, thrust: Float[Array, " ..."], moment: Float[Array, "3 ..."]) -> Command:
        """What every vehicle must do for the whole team to make this."""
        twist = jnp.clip(moment[2], -self.most_yaw, self.most_yaw)
        wanted = jnp.stack([thrust, moment[0], moment[1], twist])
        rotors = (self.share * wanted).sum(2)
        for _ in range(ROUNDS):
            rotors = jnp.clip(rotors, self.low, self.high)
            left = wanted - (self.effect * rotors[None]).sum((1, 2))
            rotors = rotors + (self.share * left).sum(2)
        each = (self.mixing * jnp.clip(rotors, self.low, self.high)[None]).sum(1)
        return Command(each[0], each[1:])


class Links(Controller):
    """Full control of a linked rig; build one with `skyrig.control.build`."""

    prepares_from: ClassVar[tuple[str, ...] | None] = ("payload_offset", "gravity", "late")

    mass: Float[Array, "1 ..."] = axes(1)
    """Of everything together (kg)."""
    inertia: Float[Array, "3 3 1 ..."] = axes(3)
    """Of everything about the common centre of mass, payload axes (kg m^2)."""
    payload_offset: Float[Array, "3 ..."] = axes(1)
    """Payload from the common centre of mass, payload axes (m)."""
    gravity: Float[Array, " ..."] = axes(0)
    thrust_min: Float[Array, "1 ..."] = axes(1)
    thrust_max: Float[Array, "1 ..."] = axes(1)
    """Of the whole team (N)."""
    late: Late = part()
    """What stands between a measurement and the command it leads to."""
    sight: Filter = part()
    """How far measurements are believed."""
    rotors: RotorShares = part()
    gains: PositionGains = part()
    drag: KnownDrag = part()
    """Of the air, as far as it is known."""

    def told_of_noise(self, noise: Noise) -> Links:
        """The same, believing measurements as far as their noise lets them be believed."""
        return dataclasses.replace(self, sight=Filter.of(noise, self.late.period))

    def in_air(self, laws: Sequence[Any]) -> Links:
        """The same, told of drag."""
        return dataclasses.replace(self, drag=self.drag.knowing(laws))

    def prepare(self, payload: Sample | None = None, vehicles: Sample | None = None) -> PositionNominal:
        """Motion of the common centre of mass that keeps the payload on its reference.

        x_c = x_d - R p with R from x_c'' itself: one round of substitution from R of x_d'' leaves an error of
        |p|^2 times the tilt's second derivative over g, hundredths of a millimetre in the published flights.
        """
        payload = wanted_of("payload", payload)
        model = jax.tree.map(concrete, self)
        body = motion(payload, model.late.lead)
        yaw = body.euler[..., 2]
        rotation = heading_rate(upwards(second_derivative(body.position), model.gravity), yaw)[1]
        xp = namespace(rotation, model.payload_offset)
        offset = xp.moveaxis(model.payload_offset, 0, -1)
        centre = body.position[:5] - apply_last(rotation, offset)
        return position_nominal(centre[..., None, :], yaw[..., None], model.gravity)

    def start(self, measurement: Measurement) -> PositionMemory:
        """No integral."""
        it = fitted(self, measurement.length)
        body = centre_of_mass(measurement.payload, it.payload_offset)
        return PositionMemory.start(jax.tree.map(lambda leaf: leaf[:, None], body), it.late)

    def __call__(
        self, memory: PositionMemory, t: Any, target: Target, measurement: Measurement
    ) -> tuple[PositionMemory, Command]:
        """Thrusts and moments of the vehicles from the payload's errors."""
        it = fitted(self, measurement.length)
        nominal: PositionNominal = fitted_target(target, measurement).nominal
        body = centre_of_mass(measurement.payload, it.payload_offset)
        body = jax.tree.map(lambda leaf: leaf[:, None], body)
        course = hold_course(it, nominal, body, memory, it.pushed(nominal, measurement))
        return course.memory, it.rotors.command(course.thrust[0], course.moment[:, 0])

    def pushed(self, nominal: PositionNominal, measurement: Measurement) -> Array | None:
        """Acceleration of the whole rig by known drag (m/s^2), None for none; integrals see to its moment."""
        if not self.drag.laws:
            return None
        load, craft = measurement.payload, measurement.vehicles
        wanted = nominal.position[1]
        felt = self.drag.felt(
            going(load, wanted[:, 0]),
            going(craft, wanted),
            self.mass * self.gravity / craft.position.shape[1] + 0 * craft.position[0],
        )
        assert felt is not None
        return (felt.craft.sum(1) + felt.load)[:, None] / self.mass


def centre_of_mass(payload: Bodies, offset: Float[Array, "3 ..."]) -> Bodies:
    """The composite body of which the payload sits `offset` (m) from the centre of mass."""
    rotation = algebra.rotation_matrix(payload.attitude)
    return Bodies(
        payload.position - apply(rotation, offset),
        payload.velocity - apply(rotation, cross(payload.rate, offset)),
        payload.attitude,
        payload.rate,
    )
