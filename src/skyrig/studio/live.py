"""A flight that is flown a few control ticks at a time, for as long as anybody likes.

The physics and the controller are those of `skyrig.sim.loop`; only the chunks are shorter, so that whoever
watches can poke, cut and steer in between. A chunk's arrays have the same shapes whatever the numbers, so
nothing is compiled twice for one kind of rig.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
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
from skyrig.flight.closed import make_controller
from skyrig.flight.flight import FlightEvent
from skyrig.flight.frames import Frames
from skyrig.programs import Program, Shapes
from skyrig.sim.events import raise_troubles
from skyrig.sim.log import LOG_FULL, OK, Log
from skyrig.sim.packing import Packing
from skyrig.sim.pilot import Crew, Noise, Pilot, Surroundings, resumed
from skyrig.sim.plan import Cut, Plan, Poke
from skyrig.sim.plant import Plant, PlantState
from skyrig.sim.preparation import Outside, of_arrays, plant_of
from skyrig.sim.recorded import Track, events_of, tracks
from skyrig.sim.walk import first_row, walk_packed
from skyrig.studio.aims import Aims
from skyrig.studio.chunks import plan_of, step_times

if TYPE_CHECKING:
    from skyrig.scenario.build import Built

Numbers = npt.NDArray[np.float64]

TICKS = 4
"""Most control ticks in a chunk."""
ROOM = 64
"""Room for events in a chunk."""


@dataclass(frozen=True)
class Hands:
    """What somebody does to the rig until they do something else; nothing at all by default."""

    pose: tuple[Numbers, Numbers] | None = None
    """Where the payload shall hover instead of following its reference: position (m) and roll, pitch, yaw."""
    share: Numbers | None = None
    """(n,) share of its thrust that each vehicle's rotors are left with."""
    force: Numbers | None = None
    """(3,) on the payload, world frame (N)."""
    torque: Numbers | None = None
    """(3,) on the payload, world frame (N m)."""

    @property
    def idle(self) -> bool:
        """Whether nothing is done."""
        return self.pose is self.share is self.force is self.torque is None


class Live:
    """A scenario in flight: `advance` flies on, `frames` come out.

    Args:
        built: What is flown. Everything in it happens at its time, then the rig flies on: past its end a
            reference holds its last pose.
    """

    def __init__(self, built: Built) -> None:
        self.built = built
        self.hands = Hands()
        self.tick = 0
        """How many control ticks have been flown."""
        self.rate = float(built.scenario.spec.loop.control_rate)
        self.open_loop = built.controller.name == OPEN_LOOP
        per_tick = int(np.ceil(1 / self.rate / built.step - 1e-6))
        self.room = 8 * -(-(max(per_tick, min(TICKS * per_tick, 56)) + 8) // 8)
        """Steps in a chunk."""
        lag = built.scenario.spec.loop.rotor_lag
        controller = Told() if self.open_loop else of_arrays(make_controller(built))
        self._aims = Aims(built, controller, TICKS)
        noise = (built.noise.position, built.noise.velocity, built.noise.attitude, built.noise.rate)
        self._crew = Crew(
            controller,
            Actuators.build(built.team.airframes, lag=lag or None),
            Noise.of(*noise),
            as_jax(1 / self.rate),
            delay=0 if self.open_loop else built.scenario.spec.loop.delay,
        )
        self._random = np.random.default_rng(built.seed)
        chosen = built.scenario.spec.loop.integrator
        self._plant = plant_of(
            built.rig, self._crew.actuators, self._pushes(np.zeros(1)), built.elements, chosen
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

    def start(self) -> Frames:
        """One frame of where it begins, and what is true there."""
        groups = self.built.rig.bodies(self.built.state)
        load, craft = groups["payload"].only(), groups["vehicles"]
        length = np.asarray(self.built.rig.readings(self.built.state).get("cable.length", np.zeros(0)))
        taut = self.built.rig.standing(self.built.state).get("taut", np.zeros(0, bool))
        n, hover_at = self.built.rig.count, self.built.hover
        wanted = self._aims.wanted(0, 1)
        return Frames(
            times=np.zeros(1),
            payload_position=np.asarray(load.position)[None],
            payload_attitude=np.asarray(load.attitude)[None],
            vehicle_position=np.asarray(craft.position).T[None],
            vehicle_attitude=np.asarray(craft.attitude).T[None],
            # away from hover nobody knows before something is commanded
            tension=np.full((1, len(length)), np.nan) if hover_at is None else hover_at.tension[None],
            taut=np.asarray(taut)[None],
            length=np.asarray(length)[None],
            thrust=np.zeros((1, n)) if hover_at is None else hover_at.thrust[None],
            wanted_position=None if wanted is None else wanted[0],
            wanted_attitude=None if wanted is None else wanted[1],
        )

    def advance(
        self, ticks: int = TICKS, acts: Sequence[Poke | Cut] = ()
    ) -> tuple[Frames, list[FlightEvent]]:
        """Fly on.

        Args:
            ticks: How many control ticks, `TICKS` at most.
            acts: Pokes and cuts to do at once, whatever their `time` says.

        Returns:
            One frame for every tick flown, at its end, and what happened meanwhile. Fewer ticks than asked
            for may be flown.

        Raises:
            FlightDiverged: If the flight stops making sense; it cannot be flown on.
        """
        count = min(ticks, TICKS)
        times, marks = self._steps(count)
        while len(times) - 1 > self.room and count > 1:
            count -= 1
            times, marks = self._steps(count)
        happen = [replace(act, time=self.time) for act in acts]
        happen += [act for act in self.built.happenings if times[0] - 1e-9 <= act.time < times[-1] - 1e-9]
        plan = plan_of(times, marks, happen, self.built.rig, self.room)
        given = {
            "target": self._aims.targets(self.tick, count, self.hands.pose),
            "times": (self.tick + np.arange(TICKS)) / self.rate,
            "shake": self._random.standard_normal((TICKS, 4, 3, self.built.rig.layout.bodies)),
        }
        since = _padded(times[:-1], self.room)
        around = self._around(since)
        plant = eqx.tree_at(lambda it: it.elements["pushes"], self._plant, self._pushes(since))
        if self._memory is None:
            shapes = _memory_shapes(plant, self._state, self._crew, given, around)
            self._memory = jax.tree.map(lambda leaf: np.zeros(leaf.shape, leaf.dtype), shapes)
        first = np.asarray(self.tick == 0)
        state, memory, log, rows = _fly(
            plant, self._state, self._crew, given, around, self._memory, first, plan, self._blank
        )
        log = jax.tree.map(np.asarray, log)
        row = Packing.of(_row_shapes(plant, self._state, self._crew, given, around), rows.dtype)
        record = row.unpack(np.asarray(rows)[: len(times) - 1])[1]  # what pads a chunk is not flown
        if int(log.trouble) == LOG_FULL and count > 1:
            return self.advance(1, acts)
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

    def _around(self, since: Numbers) -> Surroundings:
        """What is done to the actuators from each of `since` on."""
        acting, hands = self.built.disturbances, self.hands
        share = acting.thrust_share(since) * (1.0 if hands.share is None else hands.share)
        rest = {name: np.tile(it, (len(since), 1)) for name, it in self.built.rig.rest_goals().items()}
        goals = {name: as_jax(it.T) for name, it in (rest | acting.goals(since)).items()}
        return Surroundings(as_jax(share.T), goals)

    def _pushes(self, since: Numbers) -> Pushes:
        """What pushes the rig from each of `since` on: the scenario and hands."""
        n, hands = self.built.rig.count, self.hands
        forces, torques = self.built.disturbances.pushes(since)
        still = {"payload": np.zeros((len(since), 1, 3)), "vehicles": np.zeros((len(since), n, 3))}
        forces, torques = {**still, **forces}, {**still, **torques}
        forces["payload"] = forces["payload"] + (0.0 if hands.force is None else hands.force)
        torques["payload"] = torques["payload"] + (0.0 if hands.torque is None else hands.torque)
        made = Outside(since, forces=forces, torques=torques).pushes(self.room)
        assert made is not None
        return made

    def _frames(self, record: Any, moved: dict[str, Track], times: Numbers, ends: Any, count: int) -> Frames:
        """Frames at the steps `ends`."""
        load: Any = moved["payload"].one()
        craft: Any = moved["vehicles"]
        wanted = self._aims.wanted(self.tick + 1, count)
        none = np.zeros((len(ends), 0))
        return Frames(
            times=times[ends + 1],
            payload_position=load.position[ends],
            payload_attitude=load.attitude[ends],
            vehicle_position=craft.position[ends],
            vehicle_attitude=craft.attitude[ends],
            tension=record.signals["cable.tension"][ends] if "cable.tension" in record.signals else none,
            taut=record.signals["cable.taut"][ends] if "cable.taut" in record.signals else none > 0,
            length=record.signals["cable.length"][ends] if "cable.length" in record.signals else none,
            thrust=record.thrust[ends],
            wanted_position=None if wanted is None else wanted[0],
            wanted_attitude=None if wanted is None else wanted[1],
        )

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
        return [FlightEvent(it.time, it.kind, it.cable, it.impulse) for it in found]

    def _check(self, log: Any, times: Numbers, moved: dict[str, Track]) -> None:
        if int(log.trouble) == OK and all(np.isfinite(it.position).all() for it in moved.values()):
            return
        raise_troubles(log, times[1:], moved)


def _leaves(bodies: Any, track: Track) -> list[tuple[Any, Any]]:
    names = ("position", "velocity", "attitude", "rate")
    return [(getattr(bodies, name), getattr(track, name)) for name in names]


def _pilot(crew: Crew, ticks: dict[str, Any], around: Surroundings) -> Pilot:
    return Pilot(
        controller=crew.controller,
        actuators=crew.actuators,
        target=ticks["target"],
        times=ticks["times"],
        around=around,
        noise=crew.noise,
        shake=ticks["shake"],
        period=crew.period,
        delay=crew.delay,
    )


def _fresh(plant: Plant, state: PlantState, crew: Crew, ticks: dict[str, Any], around: Surroundings) -> Any:
    return _pilot(crew, ticks, around).fresh(plant, state)


def _fly_chunk(
    plant: Plant,
    state: PlantState,
    crew: Crew,
    ticks: dict[str, Any],
    around: Surroundings,
    memory: Any,
    first: Any,
    plan: dict[str, Any],
    blank: Log,
):
    """One chunk. The arrays are put together here, where it costs nothing."""
    pilot = resumed(first, memory, _pilot(crew, ticks, around), plant, state)
    # every step has a column of the surroundings to itself
    steps = Plan(hold=jnp.arange(plan["dt"].shape[0], dtype=jnp.int32), **plan)
    final, memory, log, kept = walk_packed(plant, state, pilot, steps, blank)
    return final, memory, log, kept.rows


def _row(plant: Plant, state: PlantState, crew: Crew, ticks: dict[str, Any], around: Surroundings) -> Any:
    return first_row(plant, state, _pilot(crew, ticks, around))


_fly = Program(_fly_chunk, lambda *given: (given[1], given[5], given[8], 0))
_memory_shapes, _row_shapes = Shapes(_fresh), Shapes(_row)


def _padded(times: Numbers, room: int) -> Numbers:
    return np.concatenate([times, np.full(room - len(times), times[-1])])
