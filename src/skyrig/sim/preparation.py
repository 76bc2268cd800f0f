"""What a closed-loop flight is made of, put together once: its steps, its targets, what acts from outside."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import jax
import numpy as np
import numpy.typing as npt
from jaxtyping import Array

from skyrig import checks
from skyrig.algebra import as_jax, traced
from skyrig.control.actuators import Actuators
from skyrig.control.held import HeldCommands
from skyrig.control.interface import Controller, target_tables
from skyrig.control.stepped import PassedOn
from skyrig.elements import Element, Pushes
from skyrig.errors import InputError
from skyrig.planning import Reference
from skyrig.rigs.protocol import Wrench
from skyrig.sim.motors import Motors
from skyrig.sim.pilot import Noise, Pilot, Surroundings
from skyrig.sim.plant import Plant, PlantState
from skyrig.sim.schedule import STEP, Cut, Poke, Schedule, bucket, schedule
from skyrig.vehicles import Airframe
from skyrig.vehicles.rotor_loss import RotorLoss, alive, noticed

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Outside:
    """What is done to a rig from outside; row k holds from `times[k]` to the next."""

    times: Numbers
    """(K,) since when, the first being the flight's start (s)."""
    thrust_share: Numbers | None = None
    """(K, n) share of its thrust that each vehicle's rotors give."""
    forces: Mapping[str, Numbers] = field(default_factory=dict)
    """By group, (K, k, 3) on each of its bodies, world frame (N)."""
    torques: Mapping[str, Numbers] = field(default_factory=dict)
    """By group, (K, k, 3), world frame (N m)."""
    goals: Mapping[str, Numbers] = field(default_factory=dict)
    """Where the rig's own drives shall go unless the controller drives them: {'winch': (K, n) in m}."""
    rotor_losses: Sequence[RotorLoss] = ()
    """Rotors that stop; their times, and when mixers learn of it, are among `times`."""

    def pushes(self, rows: int | None = None) -> Pushes | None:
        """Forces and torques as an element, its last row repeated up to `rows`; None for none."""
        if not self.forces and not self.torques:
            return None
        count = len(self.times)
        room = rows or bucket(count)

        def table(value: Numbers | None) -> Array | None:
            if value is None:
                return None
            padded = np.concatenate([value, np.repeat(value[-1:], room - count, axis=0)])
            return as_jax(np.swapaxes(padded, 1, 2))

        wrenches = {}
        for group in {**self.forces, **self.torques}:
            force, torque = table(self.forces.get(group)), table(self.torques.get(group))
            if force is None:
                assert torque is not None
                force = as_jax(np.zeros(torque.shape))
            wrenches[group] = Wrench(force, torque)
        return Pushes(as_jax(np.concatenate([self.times, np.full(room - count, np.inf)])), wrenches)


@dataclass(frozen=True)
class Job:
    """A flight that is ready to be flown, but for its pilot."""

    plant: Plant
    state: PlantState
    """Where it starts."""
    planned: Schedule
    ticks: Numbers
    """When the controller acts (s)."""
    around: Surroundings


def prepare(
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
) -> tuple[Job, Pilot]:
    """What `closed_loop` flies, for those who fly it in another way: its steps and its pilot."""
    held = controller if isinstance(controller, HeldCommands) else None
    known = [it for it in (payload, *(vehicles or ())) if it is not None]
    if not known and held is None:
        raise InputError("payload or vehicles must have a reference, but both are None.")
    if not known and duration is None:
        raise InputError("duration must be given where there is no reference (s).")
    duration = float(max(float(it.duration) for it in known) if duration is None else duration)
    checks.positive("duration", duration)
    checks.positive("control_rate", control_rate)
    around = outside or Outside(np.zeros(1))
    ticks, grid = grid_of(duration, control_rate, step, around, None if held is None else held.times)
    real = jax.tree.leaves(state.motion)[0].dtype
    planned = schedule(rig, grid, step, happenings, real, ticks)
    actuators = Actuators.build(airframes, lag=rotor_lag or None, losses=around.rotor_losses)
    plant = plant_of(rig, actuators, around.pushes(), elements, integrator)
    job = Job(plant, plant.start(state), planned, ticks, surroundings(rig, actuators, around, grid[:-1]))
    if held is not None:
        target = held.target
    else:
        clock = ticks if len(ticks) > 1 else np.append(ticks, ticks + 1 / control_rate)
        wanted = payload.sample(clock) if payload is not None else None
        each = [it.sample(clock) for it in vehicles] if vehicles is not None else None
        target = target_tables(
            controller if isinstance(controller, Controller) else Controller(), wanted, each
        )
    pilot = Pilot(
        controller=of_arrays(controller) if isinstance(controller, Controller) else PassedOn(),
        actuators=actuators,
        target=target,
        times=ticks,
        around=job.around,
        noise=noise or Noise.of(),
        shake=_shake(seed, (len(ticks), 4, 3, rig.layout.bodies), noise),
        period=as_jax(1 / control_rate),
        delay=delay,
    )
    return job, pilot


def _shake(seed: int, shape: tuple[int, ...], noise: Noise | None) -> Any:
    """Standard normal numbers for the noise of every tick; zeros, which come to the same, for no noise."""
    sizes = () if noise is None else jax.tree.leaves(noise)
    if not traced(*sizes) and not any(float(size) for size in sizes):
        return np.zeros(shape)
    return np.random.default_rng(seed).standard_normal(shape)


def grid_of(
    duration: float, control_rate: float, step: float, outside: Outside, held: Numbers | None = None
) -> tuple[Numbers, Numbers]:
    """When the controller acts (at `held`, if given), and when inputs may change, the end last (s)."""
    ticks = np.arange(max(int(np.ceil(duration * control_rate - 1e-6)), 1)) / control_rate
    ticks = ticks if held is None else held[held < duration]
    inside = outside.times[(outside.times > 0) & (outside.times < duration)]
    return ticks, _unique(np.concatenate([ticks, inside, [duration]]), 1e-6 * step)


def plant_of(
    rig: Any,
    actuators: Actuators,
    pushes: Pushes | None = None,
    elements: Mapping[str, Element] | None = None,
    integrator: str | None = None,
) -> Plant:
    """A rig with its rotors and all that acts on it."""
    acting: dict[str, Element] = dict(elements or {})
    if pushes is not None:
        acting["pushes"] = pushes
    return Plant(rig, acting, Motors.of(actuators), integrator or rig.integrator)


def surroundings(rig: Any, actuators: Actuators, outside: Outside, since: Numbers) -> Surroundings:
    """The rows of `outside` for intervals that begin at `since`, components first, intervals last."""
    n = rig.count
    row = np.clip(np.searchsorted(outside.times, since + 1e-9, side="right") - 1, 0, None)

    def columns(name: str, value: Numbers, count: int) -> Any:
        return checks.numbers(f"outside.{name}", value, (len(outside.times), count))[row].T

    share, losses = outside.thrust_share, outside.rotor_losses
    goals = {**rig.rest_goals(), **outside.goals}
    return Surroundings(
        share=np.ones((n, len(since))) if share is None else columns("thrust_share", share, n),
        drives={
            it.name: columns(
                f"goals[{it.name}]", np.broadcast_to(goals[it.name], (len(outside.times), it.count)), it.count
            )
            for it in rig.layout.drives
        },
        alive=as_jax(alive(losses, since, max(actuators.counts), n)) if losses else None,
        noticed=as_jax(noticed(losses, since, n)) if losses else None,
    )


def of_arrays(controller: Controller) -> Controller:
    """A controller whose plain numbers are arrays, so that changing one compiles nothing."""
    return jax.tree.map(lambda leaf: np.asarray(leaf) if isinstance(leaf, (int, float)) else leaf, controller)


def _unique(times: Numbers, near: float) -> Numbers:
    """Sorted times without near-doubles."""
    ordered = np.sort(times)
    return ordered[np.concatenate([[True], np.diff(ordered) > near])]
