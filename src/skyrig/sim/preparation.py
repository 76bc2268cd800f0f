"""What a closed-loop flight is made of, put together once: its steps, its targets, what acts from outside."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
import numpy.typing as npt

from skyrig import checks
from skyrig.algebra import as_jax
from skyrig.control.actuators import Actuators
from skyrig.control.interface import Controller, targets
from skyrig.control.stepped import Told
from skyrig.errors import InputError
from skyrig.planning import Reference
from skyrig.sim.pilot import Noise, Pilot, Surroundings
from skyrig.sim.plan import STEP, Cut, Poke, Schedule, schedule
from skyrig.vehicles import Airframe

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Outside:
    """What acts on a rig besides its rotors' commands; row k holds from `times[k]` to the next."""

    times: Numbers
    """(K,) since when, the first being the flight's start (s)."""
    thrust_share: Numbers | None = None
    """(K, n) share of its thrust that each vehicle's rotors give."""
    payload_force: Numbers | None = None
    """(K, 3) N, world frame."""
    payload_torque: Numbers | None = None
    """(K, 3) N m, world frame."""
    vehicle_force: Numbers | None = None
    """(K, n, 3) N, world frame."""
    vehicle_torque: Numbers | None = None
    """(K, n, 3) N m, world frame."""
    cable_length: Numbers | None = None
    """(K, n) free lengths to which winches reel, unless the controller reels by itself (m)."""


@dataclass(frozen=True)
class Job:
    """A flight that is ready to be flown, but for its pilot."""

    rig: Any
    planned: Schedule
    ticks: Numbers
    """When the controller acts (s)."""
    around: Surroundings


def prepare(
    rig: Any,
    state: Any,
    controller: Controller | Callable[..., Any],
    airframes: Sequence[Airframe],
    payload: Reference | None = None,
    vehicles: Sequence[Reference] | None = None,
    *,
    duration: float | None = None,
    control_rate: float = 100.0,
    step: float = STEP,
    outside: Outside | None = None,
    happenings: Sequence[Poke | Cut] = (),
    noise: Noise | None = None,
    seed: int = 0,
    rotor_lag: float | None = None,
    delay: int = 0,
) -> tuple[Job, Pilot]:
    """What `closed_loop` flies, for those who fly it in another way: its steps and its pilot."""
    known = [it for it in (payload, *(vehicles or ())) if it is not None]
    if not known:
        raise InputError("payload or vehicles must have a reference, but both are None.")
    duration = float(max(float(it.duration) for it in known) if duration is None else duration)
    checks.positive("duration", duration)
    checks.positive("control_rate", control_rate)
    around = outside or Outside(np.zeros(1))
    ticks, grid = grid_of(duration, control_rate, step, around)
    planned = schedule(rig, grid, step, happenings, state.side.dtype, ticks)
    job = Job(rig, planned, ticks, _surroundings(rig, around, grid[:-1]))
    told = not isinstance(controller, Controller)
    clock = ticks if len(ticks) > 1 else np.append(ticks, ticks + 1 / control_rate)
    wanted = payload.sample(clock) if payload is not None else None
    each = [it.sample(clock) for it in vehicles] if vehicles is not None else None
    target = targets(Controller() if told else controller, wanted, each)
    pilot = Pilot(
        controller=Told() if told else of_arrays(controller),
        actuators=Actuators.build(airframes, lag=rotor_lag or None),
        target=target,
        times=as_jax(ticks),
        around=job.around,
        noise=noise or Noise.of(),
        shake=as_jax(np.random.default_rng(seed).standard_normal((len(ticks), 4, 3, 1 + rig.count))),
        period=as_jax(1 / control_rate),
        delay=delay,
    )
    return job, pilot


def grid_of(duration: float, control_rate: float, step: float, outside: Outside) -> tuple[Numbers, Numbers]:
    """When the controller acts, and when inputs may change, the flight's end last (s)."""
    ticks = np.arange(max(int(np.ceil(duration * control_rate - 1e-6)), 1)) / control_rate
    inside = outside.times[(outside.times > 0) & (outside.times < duration)]
    return ticks, _unique(np.concatenate([ticks, inside, [duration]]), 1e-6 * step)


def _surroundings(rig: Any, outside: Outside, since: Numbers) -> Surroundings:
    """The rows of `outside` for intervals that begin at `since`, components first, intervals last."""
    n = rig.count
    row = np.clip(np.searchsorted(outside.times, since + 1e-9, side="right") - 1, 0, None)

    def columns(name: str, shape: tuple[int, ...]) -> Any:
        value = getattr(outside, name)
        if value is None:
            return None
        return as_jax(checks.numbers(f"outside.{name}", value, (len(outside.times), *shape))[row].T)

    share = columns("thrust_share", (n,))
    length = columns("cable_length", (n,))
    if getattr(rig, "winch", None) is None:
        length = None
    elif length is None:
        length = as_jax(np.repeat(np.asarray(rig.length)[:, None], len(since), axis=1))
    return Surroundings(
        share=as_jax(np.ones((n, len(since)))) if share is None else share,
        payload_force=columns("payload_force", (3,)),
        payload_torque=columns("payload_torque", (3,)),
        vehicle_force=columns("vehicle_force", (n, 3)),
        vehicle_torque=columns("vehicle_torque", (n, 3)),
        length=length,
    )


def of_arrays(controller: Controller) -> Controller:
    """A controller whose plain numbers are arrays, so that changing one compiles nothing."""
    return jax.tree.map(lambda leaf: np.asarray(leaf) if isinstance(leaf, (int, float)) else leaf, controller)


def _unique(times: Numbers, near: float) -> Numbers:
    """Sorted times without near-doubles."""
    ordered = np.sort(times)
    return ordered[np.concatenate([[True], np.diff(ordered) > near])]
