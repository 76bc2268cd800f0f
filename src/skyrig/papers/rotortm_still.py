"""The published cable controller told that nothing is to turn: wanted angles without their rates."""

from __future__ import annotations

from typing import Any

import equinox as eqx

from skyrig.control import Command, Controller, Measurement, Target, build


class StillRates(Controller):
    """A controller whose target has the reference's attitude but a body rate of zero."""

    own: Controller

    def __call__(self, memory: Any, t: Any, target: Target, measurement: Measurement) -> tuple[Any, Command]:
        """What the controller answers to the target without its rates."""
        aim = target.payload
        if aim is not None:
            aim = eqx.tree_at(lambda it: it.rate, aim, 0 * aim.rate)
        return self.own(memory, t, Target(aim, target.vehicles, target.nominal), measurement)


class still_rates:
    """Makes the published controller of a scenario and takes the rates away."""

    def __new__(cls, built: Any) -> Any:
        """A `StillRates` for a built scenario."""
        team, rate = built.believed, built.scenario.spec.loop.control_rate
        return StillRates(build("geometric", team.rig, team.airframes, {}, "published", 1 / rate))
