"""Each vehicle follows a reference of its own, position and yaw; a load just hangs there.

This is what RotorTM calls QdTraj with QdCtrl. The cable's pull is a disturbance; its steady part, the share
of the payload's weight, is in the integral term from the start if `carry` says so.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, ClassVar

import jax
from jaxtyping import Array, Float

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
from skyrig.control.nominal import motion
from skyrig.control.position_loop import (
    PositionGains,
    PositionMemory,
    PositionNominal,
    hold_course,
    position_nominal,
)
from skyrig.planning import Sample


class Vehicles(Controller):
    """Geometric position and yaw control of every vehicle; build one with `skyrig.control.build`."""

    prepares_from: ClassVar[tuple[str, ...] | None] = ("gravity", "late")

    mass: Float[Array, "n ..."] = axes(1)
    inertia: Float[Array, "3 3 n ..."] = axes(3)
    gravity: Float[Array, " ..."] = axes(0)
    thrust_min: Float[Array, "n ..."] = axes(1)
    thrust_max: Float[Array, "n ..."] = axes(1)
    late: Late = part()
    """What stands between a measurement and the command it leads to."""
    sight: Filter = part()
    """How far measurements are believed."""
    load: Float[Array, "n ..."] = axes(1)
    """Weight that hangs on each vehicle (N), in the integral term from the start."""
    gains: PositionGains = part()
    drag: KnownDrag | None = None
    """Of the air, as far as it is known; None where nobody asks for it."""

    def told_of_noise(self, noise: Noise) -> Vehicles:
        """The same, believing measurements as far as their noise lets them be believed."""
        return dataclasses.replace(self, sight=Filter.of(noise, self.late.period))

    def in_air(self, laws: Sequence[Any]) -> Vehicles:
        """The same, told of drag."""
        return self if self.drag is None else dataclasses.replace(self, drag=self.drag.knowing(laws))

    def prepare(self, payload: Sample | None = None, vehicles: Sample | None = None) -> PositionNominal:
        """Body rates and accelerations that the vehicles' references ask for."""
        vehicles = wanted_of("vehicles", vehicles)
        model = jax.tree.map(concrete, self)
        body = motion(vehicles, model.late.lead, bodies=1)
        return position_nominal(body.position, body.euler[..., 2], model.gravity)

    def start(self, measurement: Measurement) -> PositionMemory:
        """The load's weight in the integral term."""
        it = fitted(self, measurement.length)
        fresh = PositionMemory.start(measurement.vehicles, it.late)
        return PositionMemory(fresh.push.at[2].add(it.load / it.mass), fresh.turn, fresh.estimate)

    def __call__(
        self, memory: PositionMemory, t: Any, target: Target, measurement: Measurement
    ) -> tuple[PositionMemory, Command]:
        """Thrusts and moments from position and yaw errors."""
        it = fitted(self, measurement.length)
        nominal: PositionNominal = fitted_target(target, measurement).nominal
        course = hold_course(it, nominal, measurement.vehicles, memory, it.pushed(nominal, measurement))
        return course.memory, Command(course.thrust, course.moment)

    def pushed(self, nominal: PositionNominal, measurement: Measurement) -> Array | None:
        """Accelerations of the vehicles by known drag, the load's in equal shares (m/s^2); None for none."""
        if self.drag is None or not self.drag.laws:
            return None
        load, craft = measurement.payload, measurement.vehicles
        wanted = nominal.position[1]
        felt = self.drag.felt(
            going(load, wanted.mean(1)),
            going(craft, wanted),
            self.mass * self.gravity + self.load,
        )
        assert felt is not None
        return (felt.craft + felt.load[:, None] / self.mass.shape[0]) / self.mass
