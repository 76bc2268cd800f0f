"""A flight that is flown a few control ticks at a time, for as long as anybody likes.

The physics and the controller are those of `skyrig.sim.loop`; only the chunks are shorter, so that whoever
watches can poke, cut and steer in between. A chunk's arrays have the same shapes whatever the numbers, so
nothing is compiled twice for one kind of rig.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt

from skyrig.algebra import as_jax
from skyrig.control.actuators import Actuators
from skyrig.control.known import OPEN_LOOP
from skyrig.control.stepped import Told
from skyrig.elements import Pushes
from skyrig.flight.flight import FlightEvent
from skyrig.flight.frames import Frames, Poses
from skyrig.programs import Program, Shapes
from skyrig.rigs.layout import carried
from skyrig.runs.assembly import flight_events
from skyrig.runs.closed import make_controller
from skyrig.sim.driver import drive_packed, first_row
from skyrig.sim.events import raise_troubles
from skyrig.sim.log import LOG_FULL, OK, Log
from skyrig.sim.packing import Packing
from skyrig.sim.pilot import Autopilot, Noise, Pilot, Surroundings, resumed
from skyrig.sim.plant import Plant, PlantState
from skyrig.sim.preparation import Outside, of_arrays, plant_of
from skyrig.sim.recorded import Track, events_of, tracks
from skyrig.sim.schedule import Cut, Plan, Poke
from skyrig.studio.aims import Aims
from skyrig.studio.chunks import plan_of, step_times
from skyrig.studio.hands import Hands
from skyrig.vehicles.rotor_loss import alive, told

if TYPE_CHECKING:
    from skyrig.scenario.build import Built

Numbers = npt.NDArray[np.float64]

TICKS = 4
"""Most control ticks in a chunk."""
ROOM = 64
"""Room for events in a chunk."""


class Live:
    """A scenario in flight: `advance` flies on, `frames` come out.

    Args:
        built: What is flown. Everything in it happens at its time, then the rig flies on: past its end a
            reference holds its last pose.
    """

    def __init__(self, built: Built) -> None:
        self.built = built
        self.hands: Hands = Hands()
        self.tick = 0
        """How many control ticks have been flown."""
        self.rate = float(built.scenario.spec.loop.control_rate)
        self._carried = carried(it.name for it in built.rig.layout.groups)
        self._units = {kind.name: kind.unit for kind in built.signal_kinds}
        self.open_loop = built.controller.name == OPEN_LOOP
        per_tick = int(np.ceil(1 / self.rate / built.step - 1e-6))
        self.room = 8 * -(-(max(per_tick, min(TICKS * per_tick, 56)) + 8) // 8)
        """Steps in a chunk."""
        lag = built.scenario.spec.loop.rotor_lag
        controller = Told() if self.open_loop else of_arrays(make_controller(built))
        self._aims = Aims(built, controller, TICKS)
        noise = (built.noise.position, built.noise.velocity, built.noise.attitude, built.noise.rate)
        self._autopilot = Autopilot(
            controller,
            Actuators.build(built.team.airframes, lag=lag or None, losses=built.disturbances.rotor_losses),
            Noise.of(*noise),
            as_jax(1 / self.rate),
            delay=0 if self.open_loop else built.scenario.spec.loop.delay,
        )
        self._random = np.random.default_rng(built.seed)
        chosen = built.scenario.spec.loop.integrator
        self._plant = plant_of(
            built.rig,
            self._autopilot.actuators,
            self._pushes(np.zeros(1), self.hands),
            built.elements,
            chosen,
        )
        self._state = self._plant.start(built.state)
        self._memory: Any = None
        self._blank = Log.ready(self._plant, self._state, ROOM)
        happening = [act.time for act in built.happenings]
        self._marks = np.concatenate([built.disturbances.edges, happening])

    @property
    def time(self) -> float:
        """How long it has flown (s)."""
        return self.tick / self.rate

    def saved(self) -> tuple[Any, ...]:
        """All of it as it is now, for `restore`."""
        flying = jax.tree.map(np.array, (self._state, self._memory))
        dice = self._random.bit_generator.state
        return self.tick, flying, dice, self._aims.gliding, self.hands

    def restore(self, saved: tuple[Any, ...]) -> None:
        """Go back to what `saved` gave."""
        self.tick, (self._state, self._memory), dice, self._aims.gliding, self.hands = saved
        self._random.bit_generator.state = dice

    def twin(self) -> Live:
        """Another flight of the same scenario, as this one is now: whoever flies this one may go on."""
        other = copy.copy(self)
        other._random, other._aims = np.random.default_rng(), copy.copy(self._aims)
        other.restore(self.saved())
        return other

    def start(self) -> Frames:
        """One frame of where it begins, and what is true there."""
        built = self.built
        rig, hover_at = built.rig, built.hover
        owners = {kind.name: kind.owner for kind in rig.layout.events}
        standing = {f"{owners[kind]}.{kind}": who for kind, who in rig.standing(built.state).items()}
        known = rig.readings(built.state) | standing
        if hover_at is not None:
            known |= hover_at.signals
        signals = {}
        for kind in built.signal_kinds:
            # away from hover nobody knows before something is commanded
            blank = np.full(kind.count, np.nan) if kind.unit else np.zeros(kind.count, bool)
            signals[kind.name] = np.asarray(known.get(kind.name, blank))[None]
        return Frames(
            times=np.zeros(1),
            bodies={
                group: Poses(np.asarray(it.position).T[None], np.asarray(it.attitude).T[None])
                for group, it in rig.bodies(built.state).items()
            },
            thrust=np.zeros((1, rig.count)) if hover_at is None else hover_at.thrust[None],
            signals=signals,
            wanted=self._wanted(0, 1),
            units=self._units,
        )

    def advance(
        self, ticks: int = TICKS, acts: Sequence[Poke | Cut] = (), hands: Hands | None = None
    ) -> tuple[Frames, list[FlightEvent]]:
        """Fly on.

        Args:
            ticks: How many control ticks, `TICKS` at most.
            acts: Pokes and cuts to do at once, whatever their `time` says.
            hands: What is done to the rig; `self.hands` if left out.

        Returns:
            One frame for every tick flown, at its end, and what happened meanwhile. Fewer ticks than asked
            for may be flown.

        Raises:
            FlightDiverged: If the flight stops making sense; it cannot be flown on.
        """
        hands = hands or self.hands  # once: another thread may change them
        count = min(ticks, TICKS)
        times, marks = self._steps(count)
        while len(times) - 1 > self.room and count > 1:
            count -= 1
            times, marks = self._steps(count)
        happen = [replace(act, time=self.time) for act in acts]
        happen += [act for act in self.built.happenings if times[0] - 1e-9 <= act.time < times[-1] - 1e-9]
        plan = plan_of(times, marks, happen, self.built.rig, self.room)
        given = {
            "target": self._aims.targets(self.tick, count, hands.pose),
            "times": (self.tick + np.arange(TICKS)) / self.rate,
            "shake": self._random.standard_normal((TICKS, 4, 3, self.built.rig.layout.bodies)),
        }
        since = _padded(times[:-1], self.room)
        around = self._around(since, hands)
        plant = eqx.tree_at(lambda it: it.elements["pushes"], self._plant, self._pushes(since, hands))
        if self._memory is None:
            shapes = _memory_shapes(plant, self._state, self._autopilot, given, around)
            self._memory = jax.tree.map(lambda leaf: np.zeros(leaf.shape, leaf.dtype), shapes)
        first = np.asarray(self.tick == 0)
        state, memory, log, rows = _fly(
            plant, self._state, self._autopilot, given, around, self._memory, first, plan, self._blank
        )
        log = jax.tree.map(np.asarray, log)
        row = Packing.of(_row_shapes(plant, self._state, self._autopilot, given, around), rows.dtype)
        record = row.unpack(np.asarray(rows)[: len(times) - 1])[1]  # what pads a chunk is not flown
        if int(log.trouble) == LOG_FULL and count > 1:
            return self.advance(1, acts, hands)
        moved = tracks(record.bodies)
        found = self._events(log, times, happen, moved)
        ends = np.append(marks[1:], len(times) - 1) - 1
        self._check(log, times, moved)
        frames = self._frames(record, moved, times, ends, count)
        self._state, self._memory = state, memory
        self.tick += count
        return frames, found

    def _steps(self, count: int) -> tuple[Any, Any]:
        return step_times((self.tick + np.arange(count + 1)) / self.rate, self.built.step, self._marks)

    def _around(self, since: Numbers, hands: Hands) -> Surroundings:
        """What is done to the actuators from each of `since` on."""
        acting = self.built.disturbances
        share = acting.thrust_share(since) * (1.0 if hands.share is None else hands.share)
        rest = {name: np.tile(it, (len(since), 1)) for name, it in self.built.rig.rest_goals().items()}
        goals = {name: as_jax(it.T) for name, it in (rest | acting.goals(since)).items()}
        losses, counts = acting.rotor_losses, self._autopilot.actuators.counts
        if not losses:
            return Surroundings(as_jax(share.T), goals)
        turning = alive(losses, since, max(counts), len(counts))
        return Surroundings(as_jax(share.T), goals, as_jax(turning), as_jax(told(losses, since, len(counts))))

    def _pushes(self, since: Numbers, hands: Hands) -> Pushes:
        """What pushes the rig from each of `since` on: the scenario and hands."""
        group = self._carried or "vehicles"
        forces, torques = self.built.disturbances.pushes(since)
        still = {it.name: np.zeros((len(since), it.count, 3)) for it in self.built.rig.layout.groups}
        forces, torques = {**still, **forces}, {**still, **torques}
        forces[group] = forces[group] + (0.0 if hands.force is None else hands.force)
        torques[group] = torques[group] + (0.0 if hands.torque is None else hands.torque)
        made = Outside(since, forces=forces, torques=torques).pushes(self.room)
        assert made is not None
        return made

    def _frames(self, record: Any, moved: dict[str, Track], times: Numbers, ends: Any, count: int) -> Frames:
        """Frames at the steps `ends`."""
        return Frames(
            times=times[ends + 1],
            bodies={
                group: Poses(np.asarray(it.position)[ends], np.asarray(it.attitude)[ends])
                for group, it in moved.items()
            },
            thrust=record.thrust[ends],
            signals={name: np.asarray(it)[ends] for name, it in record.signals.items()},
            wanted=self._wanted(self.tick + 1, count),
            units=self._units,
        )

    def _wanted(self, first: int, count: int) -> dict[str, Poses]:
        """Where what is carried shall be at ticks from `first` on."""
        pose, group = self._aims.wanted(first, count), self._carried
        return {} if pose is None or group is None else {group: Poses(pose[0][:, None], pose[1][:, None])}

    def _events(
        self, log: Any, times: Numbers, happen: Sequence[Poke | Cut], moved: dict[str, Track]
    ) -> list[FlightEvent]:
        # events_of() counts a step of no length at a flight's start, which a chunk does not have
        counted = eqx.tree_at(lambda it: it.step, log, log.step + 1)
        before = self._plant.bodies(self._state)
        whole = {
            group: Track(
                *(
                    np.concatenate([np.asarray(first).T[None], rest])
                    for first, rest in _leaves(before[group], it)
                )
            )
            for group, it in moved.items()
        }
        start = self.built.state if self.tick == 0 else None
        found = events_of(self.built.rig, start, counted, times, happen, whole)
        return flight_events(self.built.rig.layout, found)

    def _check(self, log: Any, times: Numbers, moved: dict[str, Track]) -> None:
        if int(log.trouble) == OK and all(np.isfinite(it.position).all() for it in moved.values()):
            return
        raise_troubles(log, times[1:], moved)


def _leaves(bodies: Any, track: Track) -> list[tuple[Any, Any]]:
    names = ("position", "velocity", "attitude", "rate")
    return [(getattr(bodies, name), getattr(track, name)) for name in names]


def _pilot(autopilot: Autopilot, ticks: dict[str, Any], around: Surroundings) -> Pilot:
    return Pilot(
        controller=autopilot.controller,
        actuators=autopilot.actuators,
        target=ticks["target"],
        times=ticks["times"],
        around=around,
        noise=autopilot.noise,
        shake=ticks["shake"],
        period=autopilot.period,
        delay=autopilot.delay,
    )


def _fresh(
    plant: Plant, state: PlantState, autopilot: Autopilot, ticks: dict[str, Any], around: Surroundings
) -> Any:
    return _pilot(autopilot, ticks, around).fresh(plant, state)


def _fly_chunk(
    plant: Plant,
    state: PlantState,
    autopilot: Autopilot,
    ticks: dict[str, Any],
    around: Surroundings,
    memory: Any,
    first: Any,
    plan: dict[str, Any],
    blank: Log,
):
    """One chunk. The arrays are put together here, where it costs nothing."""
    pilot = resumed(first, memory, _pilot(autopilot, ticks, around), plant, state)
    # every step has a column of the surroundings to itself
    steps = Plan(hold=jnp.arange(plan["dt"].shape[0], dtype=jnp.int32), **plan)
    final, memory, log, kept = drive_packed(plant, state, pilot, steps, blank)
    return final, memory, log, kept.rows


def _row(
    plant: Plant, state: PlantState, autopilot: Autopilot, ticks: dict[str, Any], around: Surroundings
) -> Any:
    return first_row(plant, state, _pilot(autopilot, ticks, around))


_fly = Program(_fly_chunk, lambda *given: (given[1], given[5], given[8], 0))
_memory_shapes, _row_shapes = Shapes(_fresh), Shapes(_row)


def _padded(times: Numbers, room: int) -> Numbers:
    return np.concatenate([times, np.full(room - len(times), times[-1])])
