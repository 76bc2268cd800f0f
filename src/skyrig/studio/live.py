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
from skyrig.control.stepped import Told
from skyrig.flight.closed import make_controller
from skyrig.flight.flight import FlightEvent
from skyrig.flight.frames import Frames
from skyrig.programs import Program, Shapes
from skyrig.scenario.controllers import OPEN_LOOP
from skyrig.sim.events import events, raise_troubles
from skyrig.sim.openloop import xyz_last
from skyrig.sim.packing import Layout
from skyrig.sim.pilot import Crew, Noise, Pilot, Surroundings, resumed
from skyrig.sim.plan import Cut, Plan, Poke
from skyrig.sim.preparation import of_arrays
from skyrig.sim.stepping import LOG_FULL, OK, Log
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
            # held inputs are held, as by `skyrig.rollout`: nothing lags
            Actuators.build(built.team.airframes, lag=None if self.open_loop else lag or None),
            Noise.of(*noise),
            as_jax(1 / self.rate),
            delay=0 if self.open_loop else built.scenario.spec.loop.delay,
        )
        self._random = np.random.default_rng(built.seed)
        self._state = built.state
        self._memory: Any = None
        self._blank = Log.ready(built.rig, built.state, ROOM)
        happening = [act.time for act in built.happenings]
        self._marks = np.concatenate([built.disturbances.edges, happening])

    @property
    def time(self) -> float:
        """How long it has flown (s)."""
        return self.tick / self.rate

    def start(self) -> Frames:
        """One frame of where it begins, and what is true there."""
        load, craft = self.built.rig.bodies(self.built.state)
        length, taut = self.built.rig.cable_state(self.built.state)
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
        plan = plan_of(times, marks, happen, self.built.rig.count, self.room)
        given = {
            "target": self._aims.targets(self.tick, count, hands.pose),
            "times": (self.tick + np.arange(TICKS)) / self.rate,
            "shake": self._random.standard_normal((TICKS, 4, 3, 1 + self.built.rig.count)),
        }
        around = self._around(_padded(times[:-1], self.room), hands)
        if self._memory is None:
            shapes = _memory_shapes(self.built.rig, self._state, self._crew, given, around)
            self._memory = jax.tree.map(lambda leaf: np.zeros(leaf.shape, leaf.dtype), shapes)
        first = np.asarray(self.tick == 0)
        state, memory, log, rows = _fly(
            self.built.rig, self._state, self._crew, given, around, self._memory, first, plan, self._blank
        )
        log = jax.tree.map(np.asarray, log)
        row = Layout.of(_row_shapes(self.built.rig, self._state, self._crew, given, around), rows.dtype)
        record = row.unpack(np.asarray(rows)[: len(times) - 1])[1]  # what pads a chunk is not flown
        if int(log.trouble) == LOG_FULL and count > 1:
            return self.advance(1, acts, hands)
        found = self._events(log, times, happen)
        ends = np.append(marks[1:], len(times) - 1) - 1
        self._check(log, times, record)
        frames = self._frames(record, times, ends, count, hands)
        self._state, self._memory = state, memory
        self.tick += count
        return frames, found

    def _steps(self, count: int) -> tuple[Any, Any]:
        return step_times((self.tick + np.arange(count + 1)) / self.rate, self.built.step, self._marks)

    def _around(self, since: Numbers, hands: Hands) -> dict[str, Any]:
        """What acts on the rig from each of `since` on: the scenario's doing and that of hands."""
        n, acting = self.built.rig.count, self.built.disturbances
        still = np.zeros((len(since), 3))
        load = acting.payload_wrench(since) or (still, still)
        craft = acting.vehicle_wrench(since) or (np.zeros((len(since), n, 3)),) * 2
        share = acting.thrust_share(since) * (1.0 if hands.share is None else hands.share)
        reels = getattr(self.built.rig, "winch", None) is not None
        return {
            "share": share.T,
            "payload_force": (load[0] + (0.0 if hands.force is None else hands.force)).T,
            "payload_torque": (load[1] + (0.0 if hands.torque is None else hands.torque)).T,
            "vehicle_force": craft[0].T,
            "vehicle_torque": craft[1].T,
            "length": acting.cable_target(since).T if reels else None,
        }

    def _frames(self, record: Any, times: Numbers, ends: Any, count: int, hands: Hands) -> Frames:
        """Frames at the steps `ends`."""
        made = record.pilot[3]
        wanted = self._aims.wanted(self.tick + 1, count)
        share = np.asarray(hands.share if hands.share is not None else 1.0)
        return Frames(
            times=times[ends + 1],
            payload_position=record.payload.position[ends],
            payload_attitude=record.payload.attitude[ends],
            vehicle_position=record.vehicles.position[ends].swapaxes(1, 2),
            vehicle_attitude=record.vehicles.attitude[ends].swapaxes(1, 2),
            tension=record.tension[ends],
            taut=record.taut[ends],
            length=record.length[ends],
            thrust=made.thrust[ends] * share,
            wanted_position=None if wanted is None else wanted[0],
            wanted_attitude=None if wanted is None else wanted[1],
        )

    def _events(self, log: Any, times: Numbers, happen: Sequence[Poke | Cut]) -> list[FlightEvent]:
        # events() counts a step of no length at a flight's start, which a chunk does not have
        clock = np.concatenate([times, np.full(self.room + 1 - len(times), times[-1])])
        counted = eqx.tree_at(lambda it: it.step, log, log.step + 1)
        taut = np.asarray(self.built.rig.cable_state(self.built.state)[1])
        found = events(counted, clock, taut if self.tick == 0 else np.zeros_like(taut), happen)
        return [FlightEvent(it.time, it.kind, it.cable, it.impulse) for it in found]

    def _check(self, log: Any, times: Numbers, record: Any) -> None:
        if int(log.trouble) == OK and np.isfinite(record.payload.position).all():
            return
        raise_troubles(log, times[1:], xyz_last(record.payload), xyz_last(record.vehicles))


def _pilot(crew: Crew, ticks: dict[str, Any], around: dict[str, Any]) -> Pilot:
    return Pilot(
        controller=crew.controller,
        actuators=crew.actuators,
        target=ticks["target"],
        times=ticks["times"],
        around=Surroundings(**around),
        noise=crew.noise,
        shake=ticks["shake"],
        period=crew.period,
        delay=crew.delay,
    )


def _fresh(rig: Any, state: Any, crew: Crew, ticks: dict[str, Any], around: dict[str, Any]) -> Any:
    return _pilot(crew, ticks, around).fresh(rig, state)


def _fly_chunk(
    rig: Any,
    state: Any,
    crew: Crew,
    ticks: dict[str, Any],
    around: dict[str, Any],
    memory: Any,
    first: Any,
    plan: dict[str, Any],
    blank: Log,
):
    """One chunk. The arrays are put together here, where it costs nothing."""
    pilot = resumed(first, memory, _pilot(crew, ticks, around), rig, state)
    # every step has a column of the surroundings to itself
    steps = Plan(hold=jnp.arange(plan["dt"].shape[0], dtype=jnp.int32), **plan)
    final, memory, log, kept = walk_packed(rig, state, pilot, steps, blank)
    return final, memory, log, kept.rows


def _row(rig: Any, state: Any, crew: Crew, ticks: dict[str, Any], around: dict[str, Any]) -> Any:
    return first_row(rig, state, _pilot(crew, ticks, around))


_fly = Program(_fly_chunk, lambda *given: (given[1], given[5], given[8], 0))
_memory_shapes, _row_shapes = Shapes(_fresh), Shapes(_row)


def _padded(times: Numbers, room: int) -> Numbers:
    return np.concatenate([times, np.full(room - len(times), times[-1])])
