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
import numpy as np
import numpy.typing as npt

from skyrig.algebra import as_jax
from skyrig.control.actuators import Actuators
from skyrig.control.known import OPEN_LOOP
from skyrig.control.stepped import PassedOn
from skyrig.elements import Pushes
from skyrig.flight.flight import Flight, FlightEvent
from skyrig.flight.frames import Frames, Poses
from skyrig.rigs.layout import carried
from skyrig.runs.assembly import flight_events
from skyrig.runs.flying import make_controller
from skyrig.sim.chunked import Chunks
from skyrig.sim.loop import flown_so_far
from skyrig.sim.pilot import Autopilot, Noise, Pilot, Surroundings, shake_shape
from skyrig.sim.preparation import Job, Outside, of_arrays, plant_of
from skyrig.sim.schedule import Cut, Poke, schedule
from skyrig.studio.aims import Aims
from skyrig.studio.hands import Hands, moving
from skyrig.studio.tape import flight_of, piece
from skyrig.vehicles.rotor_loss import alive, noticed

if TYPE_CHECKING:
    from skyrig.scenario.build import Built

Numbers = npt.NDArray[np.float64]

TICKS = 12
"""Most control ticks in a chunk."""
HELD = 4
"""The same while somebody steers or pulls: where to and how hard is looked at once a chunk."""


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
        self.piece: Any = None
        """What a file keeps of the latest chunk; None before there is one."""
        self.rate = float(built.scenario.spec.loop.control_rate)
        self._carried = carried(it.name for it in built.rig.layout.groups)
        self._units = {kind.name: kind.unit for kind in built.signal_kinds}
        self.open_loop = built.controller.name == OPEN_LOOP
        per_tick = int(np.ceil(1 / self.rate / built.step - 1e-6))
        self.room = 8 * -(-(max(per_tick, min(TICKS * per_tick, 56)) + 8) // 8)
        """Steps in a chunk."""
        lag = built.scenario.spec.loop.rotor_lag
        controller = PassedOn() if self.open_loop else of_arrays(make_controller(built))
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
        self._start = self._plant.start(built.state)
        self._rest = {name: np.asarray(it) for name, it in built.rig.rest_goals().items()}
        # in NumPy, in which chunks are put together without calls to JAX
        self._plant, self._autopilot = jax.tree.map(np.asarray, (self._plant, self._autopilot))
        self._carried_on: Any = None
        """What the next chunk goes on from."""
        self._motion = {group: moving(it) for group, it in built.rig.bodies(built.state).items()}
        """How bodies move now, by group."""
        happening = [act.time for act in built.happenings]
        self._marks = np.concatenate([built.disturbances.edges, happening])

    @property
    def time(self) -> float:
        """How long it has flown (s)."""
        return self.tick / self.rate

    def saved(self) -> tuple[Any, ...]:
        """All of it as it is now, for `restore`."""
        dice = self._random.bit_generator.state
        return self.tick, self._carried_on, dice, self._aims.gliding, self._motion, self.hands

    def restore(self, saved: tuple[Any, ...]) -> None:
        """Go back to what `saved` gave."""
        self.tick, self._carried_on, dice, self._aims.gliding, self._motion, self.hands = saved
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
        count = min(ticks, HELD if hands.pose is not None or hands.pull is not None else TICKS)
        times, marks = self._steps(count)
        while len(times) - 1 > self.room and count > 1:
            count -= 1
            times, marks = self._steps(count)
        begin, end = times[0], times[-1]
        happen = [replace(act, time=self.time) for act in acts]
        happen += [
            replace(act, time=max(act.time, begin))
            for act in self.built.happenings
            if begin - 1e-9 <= act.time < end - 1e-9
        ]
        chunk = self._chunk(count, times, marks, happen, hands)
        chunk.fly()
        while not (chunk.done or chunk.trouble):
            chunk.fly()
        flown, thrust = flown_so_far(chunk), chunk.record().thrust
        found = flight_events(self.built.rig.layout, flown.events)
        ends = np.append(marks[1:], len(times) - 1)
        frames = Frames(
            times=times[ends],
            bodies={
                group: Poses(np.asarray(it.position)[ends], np.asarray(it.attitude)[ends])
                for group, it in flown.bodies.items()
            },
            thrust=np.asarray(thrust)[ends],
            signals={name: np.asarray(it)[ends] for name, it in flown.signals.items()},
            wanted=self._wanted(self.tick + 1, count),
            units=self._units,
        )
        begun = self.tick + np.arange(count)
        rows = ends if self.tick else np.concatenate([[0], ends])
        self.piece = piece(flown, rows, begun / self.rate)
        self._carried_on = chunk.carried
        self._motion = {group: it.at(-1) for group, it in self.piece.bodies.items()}
        self.tick += count
        return frames, found

    def flight(self, pieces: Sequence[Any]) -> Flight:
        """What `pieces` of it, one after the other, make as a flight."""
        return flight_of(self.built, pieces)

    def _chunk(
        self, count: int, times: Numbers, marks: Any, happen: Sequence[Poke | Cut], hands: Hands
    ) -> Chunks:
        """The steps between `times` (s), of which `marks` begin with a tick, ready to be flown."""
        clock = (self.tick + np.arange(TICKS)) / self.rate
        since = np.concatenate([times[:-1], np.full(self.room + 1 - len(times), times[-2])])
        plant = self._plant
        if self.built.disturbances.wrenches or hands.pushing:  # it was made without
            plant = eqx.tree_at(lambda it: it.elements["pushes"], plant, self._pushes(since, hands))
        around = self._around(since, hands)
        # steps are given one by one, each with a column of the surroundings to itself
        planned = schedule(self.built.rig, times, times[-1] - times[0], happen, ticks=times[marks])
        pilot = Pilot(
            *(getattr(self._autopilot, it) for it in ("controller", "actuators", "noise", "period")),
            delay=self._autopilot.delay,
            target=self._aims.targets(self.tick, count, hands.pose),
            times=clock,
            around=around,
            shake=self._random.standard_normal((TICKS, *shake_shape(self.built.rig.layout.bodies))),
        )
        return Chunks(Job(plant, self._start, planned, clock, around), pilot, after=self._carried_on)

    def _steps(self, count: int) -> tuple[Any, Any]:
        return _step_times((self.tick + np.arange(count + 1)) / self.rate, self.built.step, self._marks)

    def _around(self, since: Numbers, hands: Hands) -> Surroundings:
        """What is done to the actuators from each of `since` on."""
        acting = self.built.disturbances
        share = acting.thrust_share(since) * (1.0 if hands.share is None else hands.share)
        rest = {name: np.tile(it, (len(since), 1)) for name, it in self._rest.items()}
        goals = {name: np.asarray(it).T for name, it in (rest | acting.goals(since)).items()}
        losses, counts = acting.rotor_losses, self._autopilot.actuators.counts
        if not losses:
            return Surroundings(share.T, goals)
        turning = alive(losses, since, max(counts), len(counts))
        return Surroundings(share.T, goals, as_jax(turning), as_jax(noticed(losses, since, len(counts))))

    def _pushes(self, since: Numbers, hands: Hands) -> Pushes:
        """What pushes the rig from each of `since` on: the scenario and hands."""
        group = self._carried or "vehicles"
        forces, torques = self.built.disturbances.pushes(since)
        still = {it.name: np.zeros((len(since), it.count, 3)) for it in self.built.rig.layout.groups}
        forces, torques = {**still, **forces}, {**still, **torques}
        forces[group] = forces[group] + (0.0 if hands.force is None else hands.force)
        torques[group] = torques[group] + (0.0 if hands.torque is None else hands.torque)
        if (pull := hands.pull) is not None and pull.group in forces:
            force, torque = pull.wrench(self._motion[pull.group])
            forces[pull.group][:, pull.index] += force
            torques[pull.group][:, pull.index] += torque
        made = Outside(since, forces=forces, torques=torques).pushes(self.room)
        assert made is not None
        return made

    def _wanted(self, first: int, count: int) -> dict[str, Poses]:
        """Where what is carried shall be at ticks from `first` on."""
        pose, group = self._aims.wanted(first, count), self._carried
        return {} if pose is None or group is None else {group: Poses(pose[0][:, None], pose[1][:, None])}


def _step_times(ticks: Numbers, step: float, marks: Numbers) -> tuple[Any, Any]:
    """Times at which steps begin and the last one ends (s), and which of them are ticks.

    Args:
        ticks: (K + 1,) when the controller acts, and when the chunk ends (s).
        step: Longest step (s); steps lie on its multiples.
        marks: Other times at which a step must begin, in the chunk or not (s).
    """
    near = 1e-6 * step
    first, last = int(np.floor(ticks[0] / step)), int(np.ceil(ticks[-1] / step))
    fixed = np.concatenate([ticks, marks])
    fixed = np.sort(fixed[(fixed >= ticks[0] - near) & (fixed <= ticks[-1] + near)])
    fixed = fixed[np.concatenate([[True], np.diff(fixed) > near])]
    grid = step * np.arange(first, last + 1)
    grid = grid[(grid > ticks[0]) & (grid < ticks[-1])]
    after = np.searchsorted(fixed, grid)
    nearest = np.minimum(np.abs(grid - fixed[after - 1]), np.abs(fixed[after] - grid))
    times = np.sort(np.concatenate([fixed, grid[nearest > near]]))
    return times, np.searchsorted(times, ticks[:-1] - near)
