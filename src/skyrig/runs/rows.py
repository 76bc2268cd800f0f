"""From changes of a scenario to what a batch needs of each flight, building again only what changed.

Every part is made by the same code as for a single flight and kept under what it depends on: if only the
noise varies, rigs, starts and controllers are built once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import jax
import msgspec
import numpy as np

from skyrig import control
from skyrig.control.actuators import Actuators
from skyrig.control.known import OPEN_LOOP
from skyrig.flight.rig import rig_data
from skyrig.hulls import hull_size
from skyrig.runs import own
from skyrig.runs.flying import noisy, outside_of, told, untold_controller
from skyrig.scenario.build import Built, assembled, build_elements, make_start, make_teams
from skyrig.scenario.scenario import Scenario
from skyrig.scenario.spec import CutSpec, PokeSpec
from skyrig.sim.preparation import Outside, grid_of
from skyrig.sim.schedule import Schedule, schedule

MOST_KEPT = 256
"""Most things of each kind that are kept."""


@dataclass(frozen=True)
class Row:
    """One flight, ready to be put into a batch."""

    built: Built
    outside: Outside
    planned: Schedule
    ticks: np.ndarray
    around: np.ndarray
    """(steps,) row of `outside` that holds during each step."""
    trees: tuple[Any, Any, Any, Any, Any]
    """Rig, state, controller, actuators and elements, as NumPy's arrays."""
    made: control.Controller
    """The controller as it was built."""

    @property
    def kind(self) -> tuple[Any, ...]:
        """What flights of one batch have in common."""
        leaves, structure = jax.tree.flatten(self.trees)
        shapes = tuple((leaf.shape, leaf.dtype.str) for leaf in leaves)
        loop, built = self.built.scenario.spec.loop, self.built
        held = [sorted(it) for it in (self.outside.forces, self.outside.torques, self.outside.goals)]
        clock = (len(self.ticks), loop.control_rate, loop.rotor_lag > 0, loop.delay, built.duration)
        clock = (*clock, loop.integrator)
        rig = rig_data(built.scenario.parts)
        corners = rig.payload_corners
        wanted = (built.reference is None, built.vehicle_references is None, rig.payload_is_point)
        return structure, shapes, clock, wanted, tuple(map(tuple, held)), noisy(built), hull_size(corners)


class Workshop:
    """Builds the flights of a scenario."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self._kept: dict[str, dict[Any, Any]] = {}

    def row(self, changes: Mapping[str, Any]) -> Row | None:
        """The flight with these changes by path; None if it flies without a controller.

        Raises:
            InputError: If it cannot be flown; one sentence says why.
        """
        known = self.scenario.with_overrides(changes)
        if known.controller.name == OPEN_LOOP:
            return None
        own.need_none(known.controller.own, known.where, known.controller.name)
        spec = known.spec
        rig = msgspec.json.encode((spec.rig, known.controller.model, known.controller.factors))
        floor = None if known.motions.plan is None else spec.elements.get("ground")
        start = msgspec.json.encode((spec.start, spec.reference, known.controller.name, known.lean, floor))
        plan = None if known.motions.plan is None else (spec.reference, floor)
        tuned = (known.gains, known.known_drag)
        flown = msgspec.json.encode((known.controller, tuned, spec.loop, plan))
        heard = rig + flown + msgspec.json.encode(spec.noise)
        teams = self._once("teams", rig, lambda: make_teams(known))
        begin = self._once("start", rig + start, lambda: make_start(known, teams[0]))
        world = rig + msgspec.json.encode(spec.elements)
        elements = self._once("elements", world, lambda: build_elements(spec, known.parts))
        built = assembled(known, teams, begin, elements)
        untold = self._once("controller", rig + flown, lambda: untold_controller(built))
        made = self._once("told", heard, lambda: told(untold, built))
        actuators = self._once(
            "actuators",
            msgspec.json.encode((spec.rig.vehicles, spec.loop.rotor_lag, built.disturbances.failures)),
            lambda: Actuators.build(
                built.team.airframes,
                lag=spec.loop.rotor_lag or None,
                losses=built.disturbances.rotor_losses,
            ),
        )

        def numbers(name: str, key: Any, tree: Any) -> Any:
            return self._once(f"numbers {name}", key, lambda: jax.tree.map(np.asarray, tree))

        trees = (
            numbers("rig", rig, built.rig),
            numbers("state", rig + start, built.state),
            numbers("controller", heard, made),
            numbers("actuators", id(actuators), actuators),
            numbers("elements", world, built.elements),
        )
        outside = outside_of(built)
        ticks, grid = self._once(
            "grid",
            (built.duration, spec.loop.control_rate, spec.loop.step, outside.times.tobytes()),
            lambda: grid_of(built.duration, spec.loop.control_rate, spec.loop.step, outside),
        )
        planned = self._once(
            "plan",
            (
                grid.tobytes(),
                spec.loop.step,
                known.parts.count,
                msgspec.json.encode([it for it in spec.happenings if isinstance(it, PokeSpec | CutSpec)]),
            ),
            lambda: schedule(built.rig, grid, spec.loop.step, built.happenings, ticks=ticks),
        )
        since = np.clip(np.searchsorted(outside.times, grid[:-1] + 1e-9, side="right") - 1, 0, None)
        around = since[np.asarray(planned.plan.hold)[: len(planned.times)]]
        return Row(built, outside, planned, ticks, around, trees, made)

    def _once(self, kind: str, key: Any, make: Callable[[], Any]) -> Any:
        """What `make` makes, made once for each `key` of a `kind` while room lasts."""
        kept = self._kept.setdefault(kind, {})
        if key not in kept:
            if len(kept) >= MOST_KEPT:
                kept.clear()
            kept[key] = make()
        return kept[key]
