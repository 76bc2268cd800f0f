"""The loop in a user's hands: sense, decide, step; see `Session`."""

from __future__ import annotations

import copy
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import jax
import numpy as np
import numpy.typing as npt

from skyrig import checks
from skyrig.algebra import as_jax
from skyrig.control.held import HeldCommands
from skyrig.control.interface import Controller
from skyrig.control.stepped import HANDED, Given, Seen, Wanted, answer, command_of, looks
from skyrig.errors import InputError
from skyrig.flight.flight import Flight
from skyrig.flight.metrics import metrics
from skyrig.flight.records import FlightEvent
from skyrig.runs.assembly import flight_events
from skyrig.runs.flying import as_flight, loop_arguments, remembering, who_flies
from skyrig.runs.sensed import first_truth, latest_truth
from skyrig.scenario import Scenario
from skyrig.sensing.sensor import Reading, Sensors, Truth
from skyrig.sim.chunked import Chunks
from skyrig.sim.loop import events_since, flown_so_far
from skyrig.sim.preparation import prepare
from skyrig.sim.stepper import Stepper

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Saved:
    """A session at an instant, to come back to; it can be pickled."""

    scenario: str
    """What is flown, as YAML."""
    legs: tuple[tuple[bool, int, Any, Any], ...]
    """Of every leg whether commands came from outside, its first tick, its first state, and all else."""
    sensors: tuple[Sensors, Truth | None]
    """As they were, and what they were shown last."""


class Session:
    """A scenario flown tick by tick.

        session = skyrig.Session("one-dragonfly-hover")
        while not session.done:
            seen = session.sense()
            session.step((thrust, moment))
        session.flight.save("mine.npz")

    A tick is a control period of the scenario (`loop.control_rate`); physics steps, events, noise, happenings
    and all else in it are those of `skyrig.fly`, bit by bit.

    Args:
        scenario: A scenario, a bundled one's name, or a YAML file.
        controller: For `step()` without a command: as in `skyrig.fly`; the scenario's own if left out.
        keep: Whether steps are kept for `flight`. Without, a session needs the same memory however long.
        pace: Seconds of flight in a second of real time, for `step` to wait; None to fly as fast as it goes.
    """

    def __init__(
        self,
        scenario: Scenario | str | Path,
        *,
        controller: Any = None,
        keep: bool = True,
        pace: float | None = None,
    ) -> None:
        known = scenario if isinstance(scenario, Scenario) else Scenario.load(scenario)
        self._given = controller
        self.scenario = remembering(known, controller)
        self.built = self.scenario.build()
        self.keep = keep
        self._count = self.built.rig.count
        self.pace = None if pace is None else float(checks.positive("pace", pace))
        self._began: float | None = None
        self._legs: list[Stepper | Chunks] = []
        """Parts of the flight, each flown by its controller or by commands from outside; the last goes on."""
        self._steered: list[bool] = []
        """Of every leg, whether commands come from outside."""
        self._told = -1.0
        """Up to when events were told of (s)."""
        self._own: Any = None
        """The controller, once it is asked for."""
        self._sensors = self.built.sensors()
        self._shown: Truth | None = None
        if self._sensors:
            if not keep:
                raise InputError(f"{self.scenario.where}: sensors need a session that keeps its steps.")
            self._shown = first_truth(self.built)
            self._sensors.show(self._shown)

    @property
    def time(self) -> float:
        """Flown so far (s)."""
        return self._legs[-1].time if self._legs else 0.0

    @property
    def tick(self) -> int:
        """Control periods flown so far."""
        return self._legs[-1].tick if self._legs else 0

    @property
    def done(self) -> bool:
        """Whether the scenario's duration is flown."""
        return self._ready().done

    @property
    def state(self) -> Any:
        """The rig's state, as `rig.bodies` and `rig.signals` take it."""
        return self._ready().state.rig

    @property
    def target(self) -> Wanted:
        """What the scenario's references want at this tick."""
        stepper = self._ready()
        return looks(stepper.pilot.target, min(stepper.tick, len(stepper.job.ticks) - 1))

    def sense(self) -> Seen:
        """What is measured now, with the scenario's noise: the same however often it is asked for."""
        return self._ready().seen

    @property
    def sensors(self) -> dict[str, Reading]:
        """What the scenario's sensors read at this tick, by name."""
        return self._sensors.readings

    @property
    def truth(self) -> Truth:
        """What the sensors were shown at this tick.

        Raises:
            InputError: If the scenario has no sensors.
        """
        if self._shown is None:
            raise InputError(f"{self.scenario.where}: sensors are not there, so nothing was shown to any.")
        return self._shown

    def step(
        self,
        command: Any = None,
        *,
        thrust: npt.ArrayLike | None = None,
        rates: npt.ArrayLike | None = None,
        rotors: npt.ArrayLike | None = None,
        ticks: int = 1,
    ) -> None:
        """Fly a control period, or several; without a command the scenario's controller decides.

        Commands and the controller may take turns. A controller that takes over begins anew with what is
        measured then.

        Args:
            command: Thrusts (n,) in N and moments (n, 3) in N m, and reel-out rates of winches (n,) in m/s if
                you like; held.
            thrust: With `rates`: (n,) N.
            rates: (n, 3) body rates that each vehicle shall have (rad/s); a loop at the control rate makes
                moments of what is sensed.
            rotors: (n, r) thrust of every rotor (N), in the airframe's order.
            ticks: How many control periods.

        Raises:
            InputError: If the command is none, or the flight is over.
            FlightDiverged: If the flight stops making sense.
        """
        if rates is None and thrust is not None:
            raise InputError("thrust goes with rates; thrusts and moments are one command: (thrust, moment).")
        if (command is not None) + (rates is not None) + (rotors is not None) > 1:
            raise InputError("a step takes one of command, rates and rotors, not several.")
        outside = command is not None or rates is not None or rotors is not None
        self._need_time()
        stepper = self._ready(outside)
        fixed = None
        if command is not None:
            fixed = command_of(command, self._count, stepper.time, HANDED)
        elif rotors is not None:
            fixed = self._of_rotors(stepper, rotors)
        for _ in range(ticks):
            self._need_time()
            if self._began is None:
                self._began = time.perf_counter() - stepper.time / (self.pace or 1.0)
            if isinstance(stepper, Chunks):
                stepper.fly(1)
            elif outside:
                stepper.give(self._of_rates(stepper, thrust, rates) if fixed is None else fixed)
            else:
                now = float(stepper.job.ticks[stepper.tick])
                stepper.give(answer(self._own, now, self.target, stepper.seen))
            if stepper.trouble:
                flown_so_far(*self._legs)  # it raises what happened
            if self._sensors:
                self._shown = latest_truth(stepper.latest, stepper.time)
                self._sensors.show(self._shown)
            if self.pace is not None:
                time.sleep(max(0.0, self._began + stepper.time / self.pace - time.perf_counter()))

    def happened(self) -> list[FlightEvent]:
        """Resets, pokes and cuts since it was last asked; events read off motions are the flight's."""
        found, self._told = events_since(self._told, *self._legs), self.time or -1.0
        return flight_events(self.built.rig.layout, found)

    def clock_anew(self) -> None:
        """Let `pace` count from now on, after a pause."""
        self._began = None

    def save(self) -> Saved:
        """The session as it is now."""
        self._ready()
        legs = zip(self._steered, self._legs, strict=True)
        parts = ((how, it.since, jax.tree.map(np.asarray, it.job.state), it.saved()) for how, it in legs)
        return Saved(self.scenario.to_yaml(), tuple(parts), (copy.deepcopy(self._sensors), self._shown))

    def restore(self, saved: Saved) -> None:
        """Come back to what `save` gave, here or in another session of the same scenario."""
        if saved.scenario != self.scenario.to_yaml():
            raise InputError(f"saved must be of the same scenario as this session, {self.scenario.name!r}.")
        self._legs, self._steered, self._began = [], [], None
        self._sensors, self._shown = copy.deepcopy(saved.sensors)
        for steered, since, state, content in saved.legs:
            self._begin(steered, since, jax.tree.map(as_jax, state))
            self._legs[-1].restore(content)
        self._told = self.time or -1.0

    @property
    def flight(self) -> Flight:
        """The flight so far, its metrics worked out."""
        stepper = self._ready()
        if not self.keep:
            raise InputError("this session keeps no steps (keep=False), so there is no flight to give.")
        if stepper.tick == 0:
            raise InputError("nothing is flown yet, so there is no flight to give.")
        flown = as_flight(self.built, self._own or _nobody, flown_so_far(*self._legs))
        return replace(flown, metrics=metrics(flown, limits=self.scenario.spec.verdict))

    def _ready(self, steered: bool | None = None) -> Stepper | Chunks:
        """The leg that goes on, for commands from outside or for a controller; a new one if it must be."""
        if not self._legs:
            self._begin(steered is not False)
        elif steered is not None and steered != self._steered[-1]:
            last = self._legs[-1]
            self._begin(steered, last.tick, last.state if last.tick else None)
            if last.tick == last.since:  # nothing was flown by it
                self._legs.remove(last)
                del self._steered[-2]
        return self._legs[-1]

    def _begin(self, steered: bool, tick: int = 0, state: Any = None) -> None:
        """A leg that begins at a tick, with another leg's last state."""
        if not steered and self._own is None:
            self._own = who_flies(self.built, self._given)
        flying = _nobody if steered else self._own
        job, pilot = prepare(**loop_arguments(self.built, flying))
        if self._legs and not np.array_equal(job.ticks, self._legs[0].job.ticks):
            raise InputError(
                f"{self.scenario.where}: thrusts that are held by a table cannot take turns with commands."
            )
        if state is not None:
            job = replace(job, state=state)
        kind = Chunks if isinstance(flying, Controller | HeldCommands) else Stepper
        self._legs.append(kind(job, pilot, self.keep, tick))
        self._steered.append(steered)

    def _need_time(self) -> None:
        """Refuse to fly beyond the scenario's duration."""
        if self._legs and self._legs[-1].done:
            raise InputError(
                f"{self.scenario.where}: duration is over after {self.time:g} s; set a longer one."
            )

    def _of_rotors(self, stepper: Stepper | Chunks, rotors: npt.ArrayLike) -> Given:
        if stepper.pilot.delay:
            raise InputError(f"{self.scenario.where}: loop.delay must be 0 where rotors are commanded.")
        n, count = self._count, np.shape(stepper.pilot.actuators.low)[0]
        asked = checks.numbers("rotors", rotors, (n, count))
        return Given(np.zeros(n), np.zeros((3, n)), rotors=asked.T.copy())

    def _of_rates(self, stepper: Stepper | Chunks, thrust: Any, rates: Any) -> Given:
        """Moments that bring the body rates asked for, from those sensed."""
        n = self._count
        pushes = checks.numbers("thrust", thrust, (n,))
        wanted = checks.numbers("rates", rates, (n, 3))
        rate = stepper.seen.vehicles.rate
        inertia = np.stack([frame.inertia for frame in self.built.team.airframes])
        spin = (wanted - rate) / max(0.04, 2 / self.scenario.spec.loop.control_rate)
        turning = np.einsum("nij,nj->ni", inertia, rate)
        moment = np.einsum("nij,nj->ni", inertia, spin) + np.cross(rate, turning)
        return Given(pushes, moment.T.copy())


def _nobody(t: float, target: Wanted, measurement: Seen) -> None:
    """In place of a controller where commands come from outside."""
