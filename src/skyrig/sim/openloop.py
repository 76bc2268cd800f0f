"""Open-loop roll-out from arrays: a rig, a state, held inputs in; motion, signals and events out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt
from jaxtyping import Array

from skyrig import checks
from skyrig.algebra import as_jax, traced
from skyrig.brief import brief
from skyrig.elements import Element, Pushes
from skyrig.errors import InputError
from skyrig.programs import Program
from skyrig.rigs.protocol import Wrench
from skyrig.sim.derivative import fly_plan
from skyrig.sim.driver import (
    HeldEfforts,
    StateRecord,
    drive_packed,
    happened,
    record_of,
    record_packing,
    row_of,
)
from skyrig.sim.events import Event, events, raise_troubles
from skyrig.sim.log import Log
from skyrig.sim.plant import Effort, Plant, PlantState
from skyrig.sim.recorded import Reals, Recorded
from skyrig.sim.schedule import STEP, Cut, Poke, StepPlan, bucket, schedule
from skyrig.sim.stepping import choose
from skyrig.sim.stepping import step as one_step


@dataclass(frozen=True)
class Rollout(Recorded):
    """What came out of a roll-out."""

    event_times: Reals = field(repr=False)
    """(rows,) times of the log's resets (s); those of impacts differentiate."""

    __repr__ = brief


def rollout(
    rig: Any,
    state: Any,
    times: npt.ArrayLike,
    thrust: npt.ArrayLike,
    moment: npt.ArrayLike | None = None,
    *,
    payload_force: npt.ArrayLike | None = None,
    payload_torque: npt.ArrayLike | None = None,
    vehicle_force: npt.ArrayLike | None = None,
    vehicle_torque: npt.ArrayLike | None = None,
    winch: npt.ArrayLike | None = None,
    elements: Mapping[str, Element] | None = None,
    integrator: str | None = None,
    happenings: Sequence[Poke | Cut] = (),
    at: npt.ArrayLike | None = None,
    step: float = STEP,
    max_events: int = 256,
) -> Rollout:
    """Fly a rig open loop with inputs held over the intervals of a time grid.

    With K + 1 times there are K intervals; inputs have K rows, or no row axis if they stay the same.
    Compiled once for each kind of rig, team size and rough length; other numbers never compile again.
    Differentiable by JAX with respect to rig, state and inputs (see `skyrig.sim.driver`).

    Args:
        rig: A rig: `Slung`, `Linked`, or one of your own.
        state: Where it starts, from `rig.state(...)`, `trim(...)` or another roll-out's `final`.
        times: (K + 1,) when inputs change, first and last being start and end (s).
        thrust: (K, n) or (n,) thrust of each vehicle along its z axis (N).
        moment: (K, n, 3) or (n, 3) rotor moment of each vehicle, its body frame (N m).
        payload_force: (K, 3) or (3,) external force on the payload, world frame (N).
        payload_torque: (K, 3) or (3,) external torque on the payload, world frame (N m).
        vehicle_force: (K, n, 3) or (n, 3) external forces on the vehicles, world frame (N).
        vehicle_torque: (K, n, 3) or (n, 3) external torques on the vehicles, world frame (N m).
        winch: (K, n) or (n,) wanted reel-out rates (m/s).
        elements: What else acts on the rig, by a name of your choice.
        integrator: One of `skyrig.sim.integrators`; the rig's own choice if left out.
        happenings: Pokes and cuts.
        at: Times to report (s); every step where left out. Reporting never changes the flight.
        step: Physics step (s).
        max_events: Room for events; more are an error.
    """
    grid = checks.numbers("times", times, (None,))
    if len(grid) < 2 or np.any(np.diff(grid) <= 0):
        raise InputError("times must be at least two, each later than the one before.")
    dtype = rig.like(state).dtype
    count = len(grid) - 1
    n = rig.count
    held = {
        "thrust": _rows("thrust", thrust, (n,), count, dtype),
        "moment": _rows("moment", np.zeros((n, 3)) if moment is None else moment, (n, 3), count, dtype),
        "drives": {},
    }
    if winch is not None:
        drive = rig.layout.drive("winch")
        if drive is None:
            raise InputError("winch gives reel-out rates, but no cable of this rig has a winch.")
        held["drives"] = {"winch": _rows("winch", winch, (drive.count,), count, dtype)}
    given = {
        "payload": (payload_force, payload_torque, ("payload_force", "payload_torque"), (3,)),
        "vehicles": (vehicle_force, vehicle_torque, ("vehicle_force", "vehicle_torque"), (n, 3)),
    }
    pushes = _pushes(grid[:-1], given, dtype)
    plant = Plant(
        rig,
        {**({} if pushes is None else {"pushes": pushes}), **(elements or {})},
        integrator=integrator or rig.integrator,
    )
    begin = plant.start(state)
    planned = schedule(rig, grid, step, happenings, dtype)
    pilot = HeldEfforts(Effort(**held))
    states, kept, log, shift = _flown(plant, begin, pilot, planned.plan, max_events)
    unknown = traced(*jax.tree.leaves((kept, log)))
    count = len(planned.times)
    asked = planned.times if at is None else checks.numbers("at", at, (None,))
    record = _reported(plant, pilot, planned.plan, states, kept, planned.times, asked)
    final = jax.tree.map(lambda leaf: as_jax(leaf[count - 1]), states.rig)
    found: list[Event] = []
    if not unknown:
        whole = {group: it.track.at(slice(count)) for group, it in kept.bodies.items()}
        raise_troubles(log, planned.times, whole)
        found = events(rig, state, log, planned.times, planned.happenings, whole)
    starts = np.concatenate([planned.times[:1], planned.times[:-1]])
    number = jnp.maximum(log.step, 0) if unknown else np.maximum(log.step, 0)
    moments = (as_jax(starts) if unknown else starts)[number] + log.offset + shift
    return Rollout(
        asked,
        {group: it.track for group, it in record.bodies.items()},
        record.signals,
        found,
        final,
        log,
        moments,
    )


def _rows(field: str, value: Any, shape: tuple[int, ...], count: int, dtype: Any) -> Array:
    """A value for each of `count` intervals, or one for all, checked: components first, intervals last."""
    room = bucket(count)
    if not traced(value):
        value = np.asarray(value, dtype=np.float64) if np.ndim(value) else np.asarray(value)
    have = np.shape(value)
    if have == shape:
        value = jnp.broadcast_to(as_jax(value), (count, *shape))
    elif have != (count, *shape):
        wanted = " or ".join("x".join(map(str, s)) for s in (shape, (count, *shape)))
        given = "x".join(map(str, have)) or "a single number"
        raise InputError(f"{field} must have shape {wanted}, not {given}.")
    if not traced(value):
        checks.numbers(field, np.asarray(value), have if have != shape else (count, *shape))
    value = as_jax(value, dtype)
    value = jnp.concatenate([value, jnp.zeros((room - count, *shape), dtype)])
    return value.T


def _pushes(
    since: np.ndarray, given: Mapping[str, tuple[Any, Any, tuple[str, str], tuple[int, ...]]], dtype: Any
) -> Pushes | None:
    """Wrenches on groups of bodies from what was given for each interval; None if nothing was."""
    count = len(since)

    def table(name: str, value: Any, shape: tuple[int, ...]) -> Array | None:
        if value is None:
            return None
        rows = jnp.moveaxis(_rows(name, value, shape, count, dtype), -1, 0)
        return rows if rows.ndim == 3 else rows[:, :, None]

    wrenches = {}
    for group, (force, torque, names, shape) in given.items():
        if force is None and torque is None:
            continue
        pushing, turning = table(names[0], force, shape), table(names[1], torque, shape)
        if pushing is None:
            assert turning is not None
            pushing = jnp.zeros_like(turning)
        wrenches[group] = Wrench(pushing, turning)
    if not wrenches:
        return None
    late = np.full(bucket(count) - count, np.inf)
    return Pushes(as_jax(np.concatenate([since, late]).astype(dtype)), wrenches)


def _fly_plan(plant: Plant, state: PlantState, pilot: HeldEfforts, plan: StepPlan, room: Log):
    _, _, log, kept = drive_packed(plant, state, pilot, plan, room)
    return log, kept.rows


_fly = Program(_fly_plan, lambda plant, state, pilot, plan, room: (room, 0))


@eqx.filter_jit
def _fly_traced(plant: Plant, state: PlantState, pilot: HeldEfforts, plan: StepPlan, room: Log):
    flown = fly_plan(plant, state, pilot, plan, room)
    return flown.states, flown.record, flown.log, flown.times_shift


def _flown(
    plant: Plant, state: PlantState, pilot: HeldEfforts, plan: StepPlan, max_events: int
) -> tuple[Any, StateRecord, Log, Any]:
    """States and record of every step, log, and shifts of the impacts' times: in NumPy where all is known."""
    if traced(*jax.tree.leaves((plant, state, pilot, plan))):
        return _fly_traced(plant, state, pilot, plan, Log.empty(plant, state, max_events))
    room = Log.ready(plant, state, max_events, sides=True)
    log, rows = jax.tree.map(np.asarray, _fly(plant, state, pilot, plan, room))
    states, record = record_packing(plant, state, pilot).unpack(rows)
    return states, record, log, np.zeros_like(log.offset)


def _reported(
    plant: Plant,
    pilot: HeldEfforts,
    plan: StepPlan,
    states: Any,
    record: StateRecord,
    ends: np.ndarray,
    asked: np.ndarray,
) -> StateRecord:
    """The record at the asked times: at step ends as flown, in between by a side step from the last end."""
    near = 1e-9
    if np.any(asked < ends[0] - near) or np.any(asked > ends[-1] + near):
        raise InputError(f"at must lie between {ends[0]:g} and {ends[-1]:g} s, the flight's start and end.")
    index = np.clip(np.searchsorted(ends, asked + near, side="right") - 1, 0, len(ends) - 1)
    beyond = asked - ends[index]
    chosen = jax.tree.map(lambda leaf: leaf[index], record)
    between = np.flatnonzero(beyond > near)
    if len(between) == 0:
        return chosen
    room = bucket(len(between))
    first, late = np.resize(index[between], room), np.resize(beyond[between], room)
    side = _side_steps(plant, states, pilot, plan, as_jax(first), as_jax(late))

    def put(whole: Any, part: Any) -> Any:
        if traced(whole, part):
            return as_jax(whole).at[between].set(part[: len(between)])
        whole = np.array(whole)
        whole[between] = np.asarray(part)[: len(between)]
        return whole

    return jax.tree.map(put, chosen, side)


@eqx.filter_jit
def _side_steps(
    plant: Plant, states: Any, pilot: HeldEfforts, plan: StepPlan, index: Array, dt: Array
) -> StateRecord:
    """Records a little after the ends of the steps `index`, each flown apart."""
    pilot = pilot.ready(plan.dt.dtype)

    def one(index, dt):
        following = index + 1
        state = row_of(states, index)
        act, t = plan.act[following], plan.time[following]
        state = choose(act >= 0, happened(plant, state, plan.acts, jnp.maximum(act, 0)), state)
        effort = pilot.held(None, plan.hold[following])
        state, _ = one_step(plant, t, state, effort, dt, Log.empty(plant, state, 8), following)
        return record_of(plant, t + dt, state, effort)

    return jax.lax.map(lambda pair: one(*pair), (index, dt.astype(plan.dt.dtype)))
