"""Closed-loop flights: a controller in the loop, compiled in or stepped from Python at the control rate."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import equinox as eqx
import jax
import numpy as np
import numpy.typing as npt

from skyrig.brief import brief
from skyrig.control.held import HeldCommands
from skyrig.control.interface import Controller
from skyrig.control.stepped import answer, looks
from skyrig.elements import Element
from skyrig.planning import Reference
from skyrig.sim.chunked import Chunks
from skyrig.sim.driver import StateRecord
from skyrig.sim.events import Event, events, raise_troubles
from skyrig.sim.log import Log
from skyrig.sim.pilot import Noise
from skyrig.sim.preparation import Outside, prepare
from skyrig.sim.recorded import Recorded, Track
from skyrig.sim.schedule import STEP, Cut, Poke
from skyrig.sim.stepper import Stepper
from skyrig.vehicles import Airframe

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
    made: tuple[Numbers, Numbers] = (np.zeros((0, 0)), np.zeros((0, 0, 3)))
    """Thrust (T, n) in N and moment (T, n, 3) in N m that rotors made at the end of every step."""
    controller_signals: dict[str, Numbers] = field(default_factory=dict)
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
    report = progress or (lambda time: None)
    if isinstance(controller, Controller | HeldCommands):
        chunks = Chunks(job, pilot)
        while not (chunks.done or chunks.trouble):
            chunks.fly()
            report(chunks.time)
        return flown_so_far(chunks)
    stepper = Stepper(job, pilot)
    while not (stepper.done or stepper.trouble):
        tick = stepper.tick
        wanted = looks(pilot.target, tick)
        stepper.give(answer(controller, float(job.ticks[tick]), wanted, stepper.seen))
        report(stepper.time)
    return flown_so_far(stepper)


def flown_so_far(*legs: Chunks | Stepper) -> ClosedLoop:
    """What came out of a flight, as far as it is flown; several legs where one took over from another.

    Raises:
        FlightDiverged: If it stopped making sense.
    """
    job, last, record = legs[0].job, legs[-1], _record_of(legs)
    bodies = {group: it.track for group, it in record.bodies.items()}
    count = len(next(iter(bodies.values())).position)
    times = job.planned.times[:count]
    log = _joined([log for leg in legs for log in leg.logs])
    if any(leg.trouble for leg in legs):
        raise_troubles(log, times, bodies)
    start = job.state.rig if legs[0].fresh else None
    found = events(job.plant.rig, start, log, times, job.planned.happenings, bodies)
    hold = np.asarray(job.planned.plan.hold)[:count]
    _, first = np.unique(hold, return_index=True)
    # row 0 has no length and comes before the first step; both see the same command
    seen, command, made, own = jax.tree.map(lambda leaf: leaf[first], record.pilot)
    present = np.asarray(made.rotors).shape[1]
    return ClosedLoop(
        times=times,
        bodies=bodies,
        signals=record.signals,
        events=found,
        final=last.state.rig,
        log=log,
        memory=last.memory.controller,
        ticks=np.concatenate([[0.0], times])[first] if len(first) else times[:0],
        measured={group: it.track for group, it in seen.items()},
        commanded_thrust=command.thrust,
        commanded_moment=command.moment.swapaxes(1, 2),
        thrust=np.asarray(record.thrust)[first],
        moment=np.asarray(record.moment)[first].swapaxes(1, 2),
        saturated=made.saturated.sum(1) / present,
        drives=command.drives,
        made=(np.asarray(record.thrust), np.asarray(record.moment).swapaxes(1, 2)),
        controller_signals={name: np.asarray(value) for name, value in own.items()},
    )


def events_since(told: float, *legs: Chunks | Stepper) -> list[Event]:
    """Resets, pokes and cuts after `told` (s) of a flight under way; all of them if that is negative."""
    if not legs:
        return []
    job, now = legs[0].job, legs[-1].time
    times = job.planned.times
    starts = np.concatenate([times[:1], times[:-1]])
    acts = [it for it in job.planned.happenings if told < it.time <= now]
    new = [it for leg in legs for it in leg.logs if starts[it[0]] >= told - 1e-9]
    if not new and not acts:
        return []
    log = _joined(new or legs[-1].logs[-1:])
    start = job.state.rig if told < 0 and legs[0].fresh else None
    return [it for it in events(job.plant.rig, start, log, times, acts, {}) if told < it.time <= now]


def _record_of(legs: Sequence[Chunks | Stepper]) -> StateRecord:
    """The record of all legs; what a controller says of itself is not known where another flew."""
    records = [leg.record() for leg in legs]
    if len(records) == 1:
        return records[0]
    known = {name: value for it in records for name, value in it.pilot[-1].items()}

    def completed(record: StateRecord) -> StateRecord:
        rows = len(record.thrust)
        missing = {
            name: np.full((rows, *value.shape[1:]), False if value.dtype == bool else np.nan)
            for name, value in known.items()
        }
        return eqx.tree_at(lambda it: it.pilot[-1], record, {**missing, **record.pilot[-1]})

    return jax.tree.map(lambda *parts: np.concatenate(parts), *map(completed, records))


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
    return jax.tree.unflatten(jax.tree.structure(logs[-1][1]), jax.tree.leaves(columns))
