"""Flights of one kind put side by side: the arrays that `sim.batch_loop` flies, on the host."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import numpy as np

from skyrig.algebra import as_jax
from skyrig.control.interface import Target, targets
from skyrig.flight.limits import FlightLimits
from skyrig.flight.verdict import outlines_of
from skyrig.hulls import Outlines
from skyrig.planning import Reference, Sample
from skyrig.runs.assembly import rig_data
from skyrig.runs.rows import Row, noisy
from skyrig.sim import batch_loop
from skyrig.sim.motors import Motors
from skyrig.sim.pilot import Autopilot, Noise, Surroundings, shake_shape
from skyrig.sim.plant import Plant, PlantState
from skyrig.sim.preparation import plant_of, surroundings
from skyrig.sim.running import ReferencePoint
from skyrig.sim.schedule import Acts, PlanStep, Poke, bucket

Targets = Callable[[Any, Row, Callable[[], Target]], Target]
"""Gives the targets that all flights share, made once for all batches, by what they depend on."""


class Ready(NamedTuple):
    """Flights side by side, as `batch_loop.fly_batch` takes them."""

    batch: batch_loop.Batch
    state: PlantState
    ticks: batch_loop.Ticks
    noise: Callable[[int], Any]


def batch_of(rows: Sequence[Row], lanes: int, base: Row, shared: Targets) -> Ready:
    """A batch of `lanes` flights, the last of `rows` repeated where there are fewer.

    Args:
        rows: Flights of one `kind`.
        lanes: How many fly side by side.
        base: The scenario unchanged: what its controller has in common with all flights is kept once.
        shared: Keeps the targets of flights that have the same.
    """
    rows = [*rows, *[rows[-1]] * (lanes - len(rows))]
    first = rows[0]
    state = _beside([row.trees[1] for row in rows])
    controller, actuators = (_beside([row.trees[part] for row in rows], base.trees[part]) for part in (2, 3))
    counts, steps, fresh, times = _steps(rows)
    payload, vehicles = _samples([row.built.reference for row in rows], first.ticks), _vehicle_samples(rows)
    seen = {_prepared_from(row) for row in rows}
    target = shared(seen.pop(), first, lambda: _targets(first)) if len(seen) == 1 else None
    noises = [
        [getattr(row.built.noise, name) for row in rows]
        for name in ("position", "velocity", "attitude", "rate")
    ]
    plant = _plant(rows, _moved(actuators))
    batch = batch_loop.Batch(
        plant=plant,
        autopilot=Autopilot(
            controller=_moved(controller),
            actuators=_moved(actuators),
            noise=Noise(*(as_jax(np.asarray(each)) for each in noises)),
            period=as_jax(1 / first.built.scenario.spec.loop.control_rate),
            delay=first.built.scenario.spec.loop.delay,
        ),
        around=_around(rows),
        acts=_acts(rows),
        shapes=_shapes(rows),
    )
    ticks = batch_loop.Ticks(
        times=first.ticks,
        payload=None if target is not None else payload,
        vehicles=None if target is not None else vehicles,
        target=target,
        count=counts,
        steps=steps,
        fresh=fresh,
        wanted=_wanted(rows, times),
    )
    return Ready(batch, plant.start(_moved(state)), ticks, _noise(rows))


def _prepared_from(row: Row) -> tuple[Any, ...]:
    """All that a flight's targets depend on."""
    model, names = row.trees[2], row.made.prepares_from
    leaves = jax.tree.leaves(model if names is None else [getattr(model, name) for name in names])
    return id(row.built.scenario.motions), len(row.ticks), *(leaf.tobytes() for leaf in leaves)


def _targets(row: Row) -> Target:
    """The targets of one flight's ticks."""
    built, clock = row.built, row.ticks
    clock = clock if len(clock) > 1 else np.append(clock, clock + 1 / built.scenario.spec.loop.control_rate)
    payload = built.reference.sample(clock) if built.reference is not None else None
    each = built.vehicle_references
    made = targets(row.made, payload, None if each is None else [it.sample(clock) for it in each])
    return jax.tree.map(lambda leaf: np.asarray(leaf)[: len(row.ticks)], made)


def _even(count: int) -> int:
    """`count` rounded up to a power of two."""
    return 1 << (count - 1).bit_length()


def _roomy(leaf: Any, room: int) -> np.ndarray:
    """An array with its last row repeated up to `room` rows, so that few sizes ever occur."""
    array = np.asarray(leaf)
    return array[np.minimum(np.arange(room), len(array) - 1)]


def _moved(tree: Any) -> Any:
    """With JAX's arrays in place of NumPy's."""
    return jax.tree.map(as_jax, tree)


def _last(values: Sequence[np.ndarray]) -> np.ndarray:
    """Arrays side by side on a last axis; of extent 1 if all are the same."""
    if all(value is values[0] or np.array_equal(value, values[0]) for value in values):
        return np.asarray(values[0])[..., None]
    return np.stack(values, axis=-1)


def _beside(trees: Sequence[Any], base: Any = None) -> Any:
    """Trees side by side; where all leaves are as in `base`, that leaf alone."""
    leaves = [jax.tree.leaves(tree) for tree in trees]
    alike = jax.tree.structure(base) == jax.tree.structure(trees[0])
    common = jax.tree.leaves(base) if alike else None
    merged = []
    for k, own in enumerate(zip(*leaves, strict=True)):
        if common is not None and all(leaf is common[k] or np.array_equal(leaf, common[k]) for leaf in own):
            merged.append(common[k])
        else:
            merged.append(np.stack(own, axis=-1))
    return jax.tree.unflatten(jax.tree.structure(trees[0]), merged)


def _samples(references: Sequence[Reference | None], clock: np.ndarray) -> Sample | None:
    """References at the ticks, (ticks, batch or 1, ...)."""
    if references[0] is None:
        return None
    different = {id(it): it for it in references}
    seen = {key: it.sample(clock) for key, it in different.items() if it is not None}
    if len(seen) == 1:
        return Sample(*(np.asarray(leaf)[:, None] for leaf in next(iter(seen.values()))))
    return Sample(
        *(np.stack(leaves, axis=1) for leaves in zip(*(seen[id(it)] for it in references), strict=True))
    )


def _vehicle_samples(rows: Sequence[Row]) -> Sample | None:
    if rows[0].built.vehicle_references is None:
        return None
    each = [
        _samples([(row.built.vehicle_references or ())[k] for row in rows], rows[0].ticks)
        for k in range(rows[0].built.rig.count)
    ]
    wide = max(len(sample.position[0]) for sample in each if sample is not None)
    leaves = []
    for name in Sample._fields:
        parts = [np.asarray(getattr(sample, name)) for sample in each]
        leaves.append(np.stack([np.broadcast_to(it, (len(it), wide, *it.shape[2:])) for it in parts], axis=2))
    return Sample(*leaves)


def _steps(rows: Sequence[Row]) -> tuple[np.ndarray, PlanStep, np.ndarray, list[np.ndarray]]:
    """Steps by the tick they follow, (ticks, steps, flights or 1), as `batch_loop.Ticks` has them.

    How many there are after each tick, what they are, whether each is the first after inputs changed; and the
    times at their ends (ticks, steps) for each flight or once for all.
    """
    plans = {id(row.planned): row for row in rows}
    same = len(plans) == 1 and all(np.array_equal(row.around, rows[0].around) for row in rows)
    lanes = rows[:1] if same else rows
    places, counts = [], np.zeros(len(rows[0].ticks), np.int32)
    for row in lanes:
        starts = np.asarray(row.planned.plan.tick)[: len(row.planned.times)] >= 0
        number = np.cumsum(starts) - 1
        places.append((number, np.arange(len(number)) - np.flatnonzero(starts)[number]))
        counts = np.maximum(counts, np.bincount(number, minlength=len(counts)))
    shape = (len(counts), bucket(int(counts.max()), 8), len(lanes))
    ends, time, dt = np.zeros(shape), np.zeros(shape), np.full(shape, -1.0)
    hold, act = np.zeros(shape, np.int32), np.full(shape, -1, np.int32)
    fresh = np.zeros(shape, bool)
    for lane, (row, (number, slot)) in enumerate(zip(lanes, places, strict=True)):
        plan, spot, used = row.planned.plan, (number, slot, lane), slice(0, len(number))
        ends[spot], hold[spot] = row.planned.times, row.around
        time[spot], dt[spot] = np.asarray(plan.time)[used], np.asarray(plan.dt)[used]
        act[spot] = np.asarray(plan.act)[used]
        fresh[spot] = np.diff(np.asarray(plan.hold)[used], prepend=-1) != 0
    return counts, PlanStep(time, dt, hold, act), fresh, [ends[..., lane] for lane in range(len(lanes))]


def _wanted(rows: Sequence[Row], times: list[np.ndarray]) -> ReferencePoint:
    """Where bodies shall be at the end of every slot, (ticks, slots, ..., batch or 1)."""
    first = rows[0].built
    if first.reference is not None:
        found = _at_slots([row.built.reference for row in rows], times)
        position = _last([place for place, _ in found])
        point = rig_data(first.scenario.parts).payload_is_point
        turns = None if point else _last([turn for _, turn in found])
        return ReferencePoint(position, turns, None)
    every = [
        [place for place, _ in _at_slots([(row.built.vehicle_references or ())[k] for row in rows], times)]
        for k in range(first.rig.count)
    ]
    wide = [_last(places) for places in every]
    most = max(it.shape[-1] for it in wide)
    stacked = [np.broadcast_to(it, (*it.shape[:-1], most)) for it in wide]
    return ReferencePoint(None, None, np.stack(stacked, axis=-2))


def _at_slots(references: Sequence[Any], times: list[np.ndarray]) -> list[tuple[np.ndarray, np.ndarray]]:
    """Position (ticks, slots, 3) and attitude (ticks, slots, 4) of each flight's reference at its times."""
    # all times of all flights at once: flights differ by few of them
    moments, index = np.unique(np.stack(times), return_inverse=True)
    index = index.reshape(len(times), *times[0].shape)
    seen: dict[int, tuple[np.ndarray, np.ndarray]] = {}
    for it in references:
        if id(it) not in seen:
            sample = it.sample(moments if len(moments) > 1 else np.append(moments, moments + 1.0))
            seen[id(it)] = np.asarray(sample.position)[:, 0], np.asarray(sample.attitude)
    if len(seen) == 1 and len(times) == 1:
        references = references[:1]
    lanes = [index[0 if len(times) == 1 else k] for k in range(len(references))]
    found = []
    for it, lane in zip(references, lanes, strict=True):
        position, attitude = seen[id(it)]
        found.append((position[lane], attitude[lane]))
    return found


def _noise(rows: Sequence[Row]) -> Callable[[int], Any]:
    """Gives the noise of ticks to come, each flight's from its own seed."""
    if not noisy(rows[0].built):
        return lambda count: None
    bodies = rows[0].built.rig.layout.bodies
    drawn = [np.random.default_rng(row.built.seed) for row in rows]

    def following(count: int) -> Any:
        table = np.zeros((len(rows), batch_loop.STRETCH, *shake_shape(bodies)))
        for lane, generator in enumerate(drawn):
            generator.standard_normal(out=table[lane, :count])
        return table

    return following


def _plant(rows: Sequence[Row], actuators: Any) -> Plant:
    """The plants of all flights as one."""
    rig = _moved(_beside([row.trees[0] for row in rows]))
    most = _even(max(len(row.outside.times) for row in rows))
    pushes = [row.outside.pushes(most) for row in rows]
    together = None if pushes[0] is None else jax.tree.map(lambda *each: as_jax(_last(each)), *pushes)
    elements = jax.tree.map(lambda *each: as_jax(_last(each)), *(row.trees[4] for row in rows))
    chosen = rows[0].built.scenario.spec.loop.integrator
    plant = plant_of(rig, actuators, together, elements, chosen)
    if plant.motors is None:
        return plant
    # every array of a plant carries the batch, if only of extent 1
    wide = jax.tree.map(lambda *each: as_jax(_last(each)), *(row.trees[3] for row in rows))
    return eqx.tree_at(lambda it: it.motors, plant, Motors.of(wide))


def _around(rows: Sequence[Row]) -> Surroundings:
    """What is done to the actuators in each row of `Outside`, (rows, ..., batch or 1)."""
    most = _even(max(len(row.outside.times) for row in rows))
    made = [
        surroundings(row.built.rig, row.trees[3], row.outside, _roomy(row.outside.times, most))
        for row in rows
    ]
    return jax.tree.map(
        lambda *each: as_jax(_last([np.moveaxis(np.asarray(it), -1, 0) for it in each])), *made
    )


def _shapes(rows: Sequence[Row]) -> Outlines:
    """What bodies look like and where they may be, by flight or once for all."""
    seen: dict[tuple[int, FlightLimits], Outlines] = {}
    every = []
    for row in rows:
        known = row.built.scenario
        key = id(known.parts), known.spec.verdict
        if key not in seen:
            seen[key] = outlines_of(rig_data(known.parts), known.spec.verdict)
        every.append(seen[key])
    return Outlines(*(as_jax(_last(parts)) for parts in zip(*every, strict=True)))


def _acts(rows: Sequence[Row]) -> Acts:
    """Pokes and cuts, row by row of each flight's plan."""
    most = _even(max(1, *(int(np.asarray(row.planned.plan.act).max()) + 1 for row in rows)))
    groups = {it.group for row in rows for it in row.built.happenings if isinstance(it, Poke)}
    tables = []
    for row in rows:
        own = Acts.blank(row.built.rig, most, sorted(groups))
        act = np.asarray(row.planned.plan.act)
        for it in row.built.happenings:
            # the row of the step that begins where it happens
            own.put(int(act[1 + int(np.argmin(np.abs(row.planned.times - it.time)))]), it, row.built.rig)
        tables.append(own)
    return jax.tree.map(lambda *each: as_jax(_last(each)), *tables)
