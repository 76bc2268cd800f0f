"""Closed-loop flights: a controller in the loop, compiled in or stepped from Python at the control rate.

A flight is flown in chunks of a fixed number of steps, so that flights of any length, with any numbers, run
the same compiled code.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import equinox as eqx
import jax
import numpy as np
import numpy.typing as npt

from skyrig.algebra import as_jax
from skyrig.brief import brief
from skyrig.control.held import HeldCommands
from skyrig.control.interface import Controller, Target
from skyrig.control.stepped import answer, looks
from skyrig.elements import Element
from skyrig.planning import Reference
from skyrig.programs import Program, Shapes
from skyrig.sim.chunks import Cursor, part_of_pilot, part_of_plan
from skyrig.sim.driver import Record, drive_packed, record_packing
from skyrig.sim.events import raise_troubles
from skyrig.sim.log import LOG_FULL, OK, Log
from skyrig.sim.packing import Packed, Packing
from skyrig.sim.pilot import Noise, Pilot, blurred, measure, resumed
from skyrig.sim.plant import Plant, PlantState
from skyrig.sim.preparation import Job, Outside, prepare
from skyrig.sim.recorded import Recorded, Track, events_of, tracks
from skyrig.sim.schedule import STEP, Cut, Plan, Poke
from skyrig.vehicles import Airframe

STEPS, TICKS, INTERVALS = 4096, 1024, 1024
"""Most steps, ticks and intervals in a chunk."""
ROOM = 128
"""Room for events in a chunk; one with more is flown again in halves."""

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True)
class ClosedLoop(Recorded):
    """What came out of a closed-loop flight; a row for every physics step."""

    memory: Any = field(repr=False)
    """The controller's, at the end."""
    ticks: Numbers
    """(K,) since when each interval holds: every tick, and where something outside changes (s)."""
    measured: dict[str, Track]
    """What the controller was told, by group, (K, k, 3)."""
    commanded_thrust: Numbers
    """(K, n) N."""
    commanded_moment: Numbers
    """(K, n, 3) N m."""
    thrust: Numbers
    """(K, n) produced, losses included (N)."""
    moment: Numbers
    """(K, n, 3) produced, losses included (N m)."""
    saturated: Numbers
    """(K, n) share of each vehicle's rotors at a limit (1)."""
    drives: dict[str, Numbers]
    """(K, k) what the rig's own drives were asked for."""
    told: dict[str, Numbers] = field(default_factory=dict)
    """(K, n) each: what the controller says of itself, by name."""

    @property
    def measured_payload(self) -> Track:
        """What the controller was told of the payload, (K, 3)."""
        return self.measured["payload"].one()

    @property
    def measured_vehicles(self) -> Track:
        """The same of the vehicles, (K, n, 3)."""
        return self.measured["vehicles"]

    __repr__ = brief


def closed_loop(
    rig: Any,
    state: Any,
    controller: Controller | HeldCommands | Callable[..., Any],
    airframes: Sequence[Airframe],
    payload: Reference | None = None,
    vehicles: Sequence[Reference] | None = None,
    *,
    duration: float | None = None,
    control_rate: float = 100.0,
    step: float = STEP,
    outside: Outside | None = None,
    elements: Mapping[str, Element] | None = None,
    happenings: Sequence[Poke | Cut] = (),
    noise: Noise | None = None,
    seed: int = 0,
    rotor_lag: float | None = None,
    integrator: str | None = None,
    delay: int = 0,
    progress: Callable[[float], None] | None = None,
) -> ClosedLoop:
    """Fly a rig with a controller in the loop.

    Args:
        rig: A rig: `Slung`, `Linked`, or one of your own.
        state: Where it starts.
        controller: A `skyrig.control` controller, compiled into the loop, or any other callable
            `(t, target, measurement) -> (thrust, moment)`, called from Python at the control rate; or
            `skyrig.control.HeldCommands`, a table.
        airframes: The vehicles' airframes, in order: their rotors' limits hold whoever flies.
        payload: The payload's reference.
        vehicles: A reference for each vehicle.
        duration: Of the flight (s); the reference's if left out.
        control_rate: How often the controller acts (Hz).
        step: Longest physics step (s).
        outside: Wrenches, lost thrust, goals of the rig's own drives.
        elements: What else acts on the rig, by a name of your choice.
        happenings: Pokes and cuts.
        noise: Of the measurements; none if left out.
        seed: Of the noise.
        rotor_lag: Time constant with which rotors follow their commands (s); at once if left out.
        integrator: One of `skyrig.sim.integrators`; the rig's own choice if left out.
        delay: Control periods that pass between a measurement and the command it led to.
        progress: Called now and then with the time flown so far (s).
    """
    job, pilot = prepare(
        rig,
        state,
        controller,
        airframes,
        payload,
        vehicles,
        duration=duration,
        control_rate=control_rate,
        step=step,
        outside=outside,
        elements=elements,
        happenings=happenings,
        noise=noise,
        seed=seed,
        rotor_lag=rotor_lag,
        integrator=integrator,
        delay=delay,
    )
    asked = None if isinstance(controller, Controller | HeldCommands) else controller
    pieces, logs, final, memory = _flown(job, pilot, asked, progress)
    return _gathered(job, pieces, logs, state, final.rig, memory)


def _flown(
    job: Job, pilot: Pilot, asked: Callable[..., Any] | None, progress: Callable | None
) -> tuple[list[Record], list[tuple[int, Log]], PlantState, Any]:
    """All chunks, one after the other, until the end or the first trouble."""
    plant, state = job.plant, job.state
    memory: Packed | None = None
    packing: Packing | None = None
    room = Log.ready(plant, state, ROOM, sides=True)
    pieces, logs = [], []
    most = (STEPS, TICKS, INTERVALS) if asked is None else (32, 1, 32)
    cursor = Cursor(job.planned)
    start, limit = 0, most[0]
    while start < cursor.count:
        rows, ticks, intervals = cursor.chunk(start, limit, *most[1:])
        plan = part_of_plan(job.planned.plan, rows, ticks.start, intervals.start, most[0])
        part = part_of_pilot(pilot, ticks, intervals, most[1], most[2])
        if asked is not None:
            index = np.asarray(ticks.start if ticks.stop > ticks.start else ticks.start - 1)
            seen = jax.tree.map(np.asarray, _seen(plant, state, pilot.noise, pilot.shake[index]))
            command = answer(asked, float(job.ticks[index]), looks(pilot.target, int(index)), seen)
            told = jax.tree.map(lambda leaf: leaf[None], command)
            part = eqx.tree_at(lambda it: it.target, part, Target(None, None, told))
        if memory is None:
            shapes = _memory_shapes(part, plant, state)
            memory = jax.tree.map(lambda leaf: np.zeros(leaf.shape, leaf.dtype), shapes)
        assert memory is not None
        if packing is None:
            packing = record_packing(plant, state, part)
        fresh = np.asarray(start == 0)
        after, remembered, log, kept = _fly(plant, state, part, memory, fresh, plan, room)
        count = rows.stop - rows.start
        if int(log.trouble) == LOG_FULL and count > 1:
            limit = count // 2
            continue
        state, memory, limit = after, remembered, most[0]
        pieces.append(packing.unpack(np.asarray(kept)[:count])[1])
        logs.append((rows.start, jax.tree.map(np.asarray, log)))
        start = rows.stop
        if progress is not None:
            progress(float(job.planned.times[start - 1]))
        if int(log.trouble) != OK or not _finite(pieces[-1]):
            break
    assert memory is not None
    return pieces, logs, state, memory.layout.unpack(np.asarray(memory.rows)).controller


_memory_shapes = Shapes(Pilot.fresh)


def _fly_chunk(
    plant: Plant, state: PlantState, pilot: Pilot, memory: Packed, fresh: Any, plan: Plan, room: Log
):
    pilot = resumed(fresh, memory, pilot, plant, state)
    final, memory, log, kept = drive_packed(plant, state, pilot, plan, room)
    return final, memory, log, kept.rows


_fly = Program(_fly_chunk, lambda plant, state, pilot, memory, fresh, plan, room: (state, memory, room, 0))


@eqx.filter_jit
def _seen(plant: Plant, state: PlantState, noise: Noise, shake: Any):
    return blurred(measure(plant.rig, state.rig), noise, shake)


def _gathered(
    job: Job, pieces: list[Record], logs: list[tuple[int, Log]], begin: Any, final: Any, memory: Any
) -> ClosedLoop:
    record = jax.tree.map(lambda *parts: np.concatenate(parts), *pieces)
    bodies = tracks(record.bodies)
    count = len(next(iter(bodies.values())).position)
    times = job.planned.times[:count]
    log = _joined(logs)
    raise_troubles(log, times, bodies)
    found = events_of(job.plant.rig, begin, log, times, job.planned.happenings, bodies)
    hold = np.asarray(job.planned.plan.hold)[:count]
    _, first = np.unique(hold, return_index=True)
    # row 0 has no length and comes before the first step; both see the same command
    seen, command, made, told = jax.tree.map(lambda leaf: leaf[first], record.pilot)
    present = np.asarray(made.rotors).shape[1]
    return ClosedLoop(
        times=times,
        bodies=bodies,
        signals=record.signals,
        events=found,
        final=final,
        log=log,
        memory=memory,
        ticks=np.concatenate([[0.0], times])[first] if len(first) else times[:0],
        measured=tracks(seen),
        commanded_thrust=command.thrust,
        commanded_moment=command.moment.swapaxes(1, 2),
        thrust=record.thrust[first],
        moment=record.moment[first].swapaxes(1, 2),
        saturated=made.saturated.sum(1) / present,
        drives=command.drives,
        told={name: np.asarray(value) for name, value in told.items()},
    )


def _joined(logs: list[tuple[int, Log]]) -> Log:
    """One log out of those of all chunks, steps counted from the flight's start."""
    parts = []
    for start, log in logs:
        used = slice(0, int(log.count))
        rows = (log.step[used] + start, log.offset[used], log.located[used])
        parts.append((*rows, jax.tree.map(lambda leaf, used=used: leaf[used], (log.reset, log.sides))))
    step, offset, located, (reset, sides) = jax.tree.map(lambda *each: np.concatenate(each), *parts)
    count = np.asarray(len(step), np.int32)
    columns = (step, offset, located, reset, sides, count, logs[-1][1].trouble)
    return Log(*jax.tree.map(as_jax, columns))


def _finite(record: Record) -> bool:
    return all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(record.bodies))
