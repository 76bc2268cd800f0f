"""What a batch of flights adds up to while it flies: the numbers of `flight.metrics`, step by step.

Nothing grows with a flight's length. Means are over time by the trapezoidal rule, as recorded flights have
them; times without tension begin and end with the events inside steps.
"""

from __future__ import annotations

import functools

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array

from skyrig.contacts import NONE, may_touch, touching, vehicles_apart
from skyrig.elements.pushes import picked
from skyrig.hulls import Outlines
from skyrig.rigs.bodies import Bodies
from skyrig.rigs.layout import carried
from skyrig.sim.events import REARM
from skyrig.sim.log import OK, Log
from skyrig.sim.plant import Plant, PlantState
from skyrig.sim.running import ReferencePoint, Running, angle, distance, least_apart, total_of
from skyrig.sim.stepping import choose, when


class Statistics(eqx.Module):
    """Running sums of a batch of flights."""

    alive: Array
    """Flights that go on."""
    trouble: Array
    """What ended the others: see `skyrig.sim.stepping`; -1 for a state that turned non-finite."""
    time: Array
    """How far each came (s)."""
    position: Running | None
    """Payload's distance from its reference (m)."""
    attitude: Running | None
    """Payload's angle from its reference (rad)."""
    vehicles: Running | None
    """Each vehicle's distance from its reference (m)."""
    tension: Running
    """Of each cable (N)."""
    tension_least: Array
    taut: Array
    since: Array
    """When each cable went slack last (s)."""
    slack: Array
    """How long each was slack (s)."""
    impacts: Array
    impulse: Array
    """Largest at an impact (N s)."""
    counts: Array
    """(4, batch): impacts, cables gone taut, gone slack, passings of the ground."""
    busy: Array
    """Vehicles with a rotor at a limit in the present interval."""
    busy_time: Array
    """How long each vehicle had (s)."""
    any_time: Array
    """How long any had (s)."""
    closest: Array
    """Least distance between two vehicles' surfaces (m)."""
    side: Array
    """Which side of z = 0 the payload is on (+1, -1); 0 just after passing it."""
    contact: Array
    """Number of the first contact: see `skyrig.contacts.named`; -1 for none."""
    contact_time: Array
    """When it was (s)."""
    places: Array
    """(3, 1 + n, batch) where payload and vehicles were then (m)."""
    held: Array
    """When a cable last was taut (s); minus infinity for never."""
    severed: Array
    """Cables that were cut."""

    @staticmethod
    def empty(plant: Plant, state: PlantState, wanted: ReferencePoint) -> Statistics:
        """Before the first step."""
        zero = jnp.zeros_like(plant.like(state))
        taut = plant.rig.standing(state.rig).get("taut", jnp.zeros((0, *zero.shape), bool))
        cables = jnp.zeros(taut.shape, zero.dtype)
        each = jnp.zeros((plant.rig.count, *zero.shape), zero.dtype)
        height = _height(plant.bodies(state))
        none = jnp.zeros(zero.shape, jnp.int32)
        return Statistics(
            alive=zero == 0,
            trouble=none,
            time=zero,
            position=None if wanted.position is None else Running.empty(zero),
            attitude=None if wanted.attitude is None else Running.empty(zero),
            vehicles=None if wanted.vehicles is None else Running.empty(each),
            tension=Running.empty(cables),
            tension_least=cables + jnp.inf,
            taut=taut,
            since=cables,
            slack=cables,
            impacts=jnp.zeros(taut.shape, jnp.int32),
            impulse=cables,
            counts=jnp.zeros((4, *zero.shape), jnp.int32),
            busy=each > 0,
            busy_time=each,
            any_time=zero,
            closest=zero + jnp.inf,
            side=zero if height is None else jnp.sign(height),
            contact=none + NONE,
            contact_time=zero,
            places=jnp.zeros((3, 1 + plant.rig.count, *zero.shape), zero.dtype),
            held=zero - jnp.inf,
            severed=taut & False,
        )

    def stepped(
        self,
        bodies: dict[str, Bodies],
        signals: dict[str, Array],
        wanted: ReferencePoint,
        shapes: Outlines,
        dt: Array,
        time: Array,
        saturated: Array,
        fresh: Array,
        trouble: Array,
    ) -> Statistics:
        """With one more step.

        Args:
            bodies: Where they are after the step, by group.
            signals: The rig's, after the step.
            wanted: Where it should be.
            shapes: What its bodies look like and where they may be.
            dt: How long the step was (s), negative where there was none.
            time: At its end (s).
            saturated: (r, n, *batch) rotors at a limit.
            fresh: Whether the step is the first with these inputs.
            trouble: What the events' log complains of.
        """
        vehicles, load = bodies["vehicles"], bodies.get(carried(bodies) or "")
        payload = vehicles.only() if load is None else load.only()
        flown = self.alive & (dt >= 0)
        pull = signals.get("cable.tension", self.tension.last)
        busy = jnp.where(fresh, saturated.any(0), self.busy)
        finite = jnp.isfinite(functools.reduce(jnp.add, [total_of(it).sum(0) for it in bodies.values()]))
        bad = jnp.where(finite, trouble, -1)
        still = jnp.maximum(dt, 0.0)
        taut = signals.get("cable.taut", self.taut)
        apart = vehicles_apart(vehicles.position, shapes.radius)
        at = (payload.position, payload.attitude), (vehicles.position, vehicles.attitude)
        # what is not there does not touch anything
        gone = self.severed.all(0) if self.severed.shape[0] else self.alive & (load is None)

        def looked(touch: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
            contact, when_first, where = touch
            found = touching(shapes, *at, taut, gone).astype(jnp.int32)
            first = flown & (contact == NONE) & (found != NONE)
            places = jnp.concatenate([payload.position[:, None], vehicles.position], axis=1)
            return choose(first, (found, time + 0 * when_first, places), touch)

        near = flown & (self.contact == NONE) & may_touch(shapes, *at, apart)
        contact, contact_time, places = when(
            jnp.any(near), looked, (self.contact, self.contact_time, self.places)
        )

        height = _height(bodies)
        side, passed = self.side, jnp.zeros_like(self.alive)
        if height is not None:
            passed = side * height < 0
            side = jnp.where((side == 0) & (jnp.abs(height) > REARM), jnp.sign(height), side)

        def tracked(track: Running | None, value: Array, squared: bool = True) -> Running | None:
            return None if track is None else track.then(value, still, time, squared)

        new = Statistics(
            alive=self.alive & (bad == OK),
            trouble=bad,
            time=time + jnp.zeros_like(self.time),
            position=None
            if wanted.position is None
            else tracked(self.position, distance(payload.position, wanted.position)),
            attitude=None
            if wanted.attitude is None
            else tracked(self.attitude, angle(wanted.attitude, payload.attitude)),
            vehicles=None
            if wanted.vehicles is None
            else tracked(self.vehicles, distance(vehicles.position, wanted.vehicles)),
            tension=self.tension.then(pull, still, time, False),
            tension_least=jnp.minimum(self.tension_least, pull),
            taut=self.taut,
            since=self.since,
            slack=self.slack,
            impacts=self.impacts,
            impulse=self.impulse,
            counts=self.counts.at[3].add(passed.astype(jnp.int32)),
            side=jnp.where(passed, 0.0, side),
            busy=busy,
            busy_time=self.busy_time + still * busy,
            any_time=self.any_time + still * busy.any(0),
            closest=jnp.minimum(self.closest, least_apart(apart)),
            contact=contact,
            contact_time=contact_time,
            places=places,
            held=jnp.where(taut.any(0), time, self.held) if taut.shape[0] else self.held,
            severed=self.severed,
        )
        return choose(flown, new, self)

    def begun(self, signals: dict[str, Array]) -> Statistics:
        """With the cables as they are after the first instant: what happened in it ends no span of time."""
        taut = signals.get("cable.taut", self.taut)
        return eqx.tree_at(
            lambda it: (it.taut, it.since, it.slack), self, (taut, 0 * self.since, 0 * self.slack)
        )

    def noted(
        self, log: Log, start: Array, later: Array, cut: tuple[Array, Array, Array] | None = None
    ) -> tuple[Statistics, Log]:
        """With what was cut at a step's start and what the log of it says, and the log empty again.

        Args:
            log: Events of the step.
            start: When the step began (s).
            later: False for the flight's first instant, in which a taut cable is no event.
            cut: Tables (rows, cables, batch or 1) of cables that are cut, the row of each flight, and the
                flights to which it happens.
        """

        def one(row: Array, statistics: Statistics) -> Statistics:
            found = jax.tree.map(
                lambda leaf: jax.lax.dynamic_index_in_dim(leaf, row, keepdims=False), log.reset.events
            )
            here = row < log.count
            arrived, tightened, loosened = (found[kind].who & here for kind in ("impact", "taut", "slack"))
            statistics = statistics.turned(arrived | tightened, loosened, start + log.offset[row])
            kinds = [
                arrived.sum(0),
                jnp.where(later, tightened.sum(0), 0),
                loosened.sum(0),
                jnp.zeros_like(here),
            ]
            return eqx.tree_at(
                lambda it: (it.impacts, it.impulse, it.counts),
                statistics,
                (
                    statistics.impacts + arrived,
                    jnp.maximum(statistics.impulse, jnp.where(arrived, found["impact"].value, 0.0)),
                    statistics.counts + jnp.stack([kind.astype(jnp.int32) for kind in kinds]),
                ),
            )

        def all_rows(pair: tuple[Statistics, Log]) -> tuple[Statistics, Log]:
            statistics, log = pair
            if cut is not None:
                table, row, due = cut
                statistics = statistics.cut(picked(table, jnp.maximum(row, 0)) & due, start)
            if log.reset is not None:
                statistics = jax.lax.fori_loop(0, log.count.max(), one, statistics)
            return statistics, eqx.tree_at(lambda it: it.count, log, jnp.zeros_like(log.count))

        if log.reset is None and cut is None:
            return self, log
        some = jnp.any(log.count > 0)
        return when(some if cut is None else some | jnp.any(cut[2]), all_rows, (self, log))

    def turned(self, tight: Array, loose: Array, time: Array) -> Statistics:
        """With cables gone taut (first) and slack (then) at `time` (s)."""
        closing = tight & ~self.taut
        slack = self.slack + jnp.where(closing, time - self.since, 0.0)
        taut = self.taut | tight
        opening = loose & taut
        since = jnp.where(opening, time, self.since)
        return eqx.tree_at(lambda it: (it.taut, it.since, it.slack), self, (taut & ~loose, since, slack))

    def cut(self, cables: Array, time: Array) -> Statistics:
        """With cables cut at `time` (s)."""
        gone = self.turned(jnp.zeros_like(self.taut), cables, time)
        return eqx.tree_at(lambda it: it.severed, gone, self.severed | cables)


def _height(bodies: dict[str, Bodies]) -> Array | None:
    """Of the payload (m)."""
    return bodies["payload"].position[2, 0] if "payload" in bodies else None
