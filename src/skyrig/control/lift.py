"""Who carries when: the supervisor of a lift, from everything standing on the floor to everything standing.

Vehicles climb from beside the load, gather where cables are nearly taut, and draw them taut slowly: what a
cable that comes taut does is its speed times the masses it joins, so slowness is all. `hand` goes from zero
to one meanwhile, and with it the weight from the floor to the cables. At the end the load creeps down until
its falling is slower than it should be; there is the floor. Then vehicles stay, let go within `LET_GO`, sink
so that cables go slack, fly aside and creep down themselves until they stay above their path: they stand.
"""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from skyrig.algebra import as_jax, rotation_matrix
from skyrig.control.attitude import WantedFrame
from skyrig.control.cable_belief import SLACK, CableBelief
from skyrig.control.cable_geometry import Twofold
from skyrig.control.cable_levels import Moved
from skyrig.control.cable_nominal import CableNominal, cable_nominal
from skyrig.control.estimate import Late
from skyrig.control.interface import axes
from skyrig.control.lift_steps import crept, step, still
from skyrig.planning import LiftPlan, Sample
from skyrig.planning.lift import ABOVE, BELOW, CLEAR, DEPTH
from skyrig.rigs.bodies import Bodies
from skyrig.turns import turn

FELT, WHILE = 0.5, 0.8
"""A load that has fallen less than it should, by this share and as long as this counts (s), touches."""
SURE, LEAST = 0.01, 0.015
"""It must be this much (m), and the load must be falling faster than this (m/s)."""
BEHIND = 0.015
"""A load that stays behind its vehicles by this much, cables slack, touches as well (m)."""
LET_GO, BRAKE = 0.3, 0.2
"""Times in which vehicles let go and come to rest, when the load touched (s)."""
SINKING, SINK = 1.5, 0.06
"""Time (s) in which they then sink by this (m) so that cables are slack."""
NEARLY, BEYOND = 0.03, 0.01
"""Vehicles gather this much short of taut cables, and draw them taut to this much beyond (m)."""
STANDS = 0.08
"""A vehicle that stays this much above its path where it lands stands (m)."""
FLOWN = 0.03
"""A vehicle this high above where it stood flies (m)."""


class Phases(eqx.Module):
    """A `LiftPlan` with the ways of the vehicles; times in s."""

    since: Float[Array, "legs ..."] = axes(1)
    """When each leg of the vehicles' ways begins."""
    until: Float[Array, "legs ..."] = axes(1)
    """When it ends."""
    points: Float[Array, "legs 3 n ..."] = axes(3)
    """From where to where the cables' upper ends go in each leg: the steps (m)."""
    first: Float[Array, "3 n ..."] = axes(2)
    """Where they are at first (m)."""
    hook: Float[Array, "n ..."] = axes(1)
    """Height of a level vehicle's hook above its centre of mass (m)."""
    rise: Float[Array, " ..."] = axes(0)
    take: Float[Array, " ..."] = axes(0)
    taut: Float[Array, " ..."] = axes(0)
    lift: Float[Array, " ..."] = axes(0)
    creep: Float[Array, " ..."] = axes(0)
    down: Float[Array, " ..."] = axes(0)
    part: Float[Array, " ..."] = axes(0)
    touch: Float[Array, " ..."] = axes(0)
    facing: Float[Array, " ..."] = axes(0)
    bottom: Float[Array, " ..."] = axes(0)
    """Height at which the load is expected to stand in the end (m)."""

    @staticmethod
    def of(plan: LiftPlan, model: Any) -> Phases:
        """The phases of a rig's `model`, which has what `cable_nominal` needs, and perhaps hooks."""
        hook = np.zeros((len(plan.stand), 3)) if model.hook is None else np.asarray(model.hook).T
        length = np.asarray(model.length)
        ends = []
        for pose in (plan.begin, plan.end):
            place, attitude = pose[:3], pose[3:]
            points = place + turn(attitude, np.asarray(model.attachment).T)
            up = -_hover_directions(model, pose)
            stand = place + turn(attitude, plan.stand) + hook
            aside = np.linalg.norm((stand - points)[:, :2], axis=1)
            tall = np.sqrt(np.maximum((length - 2 * CLEAR) ** 2 - aside**2, 0.0))
            above = stand.copy()
            above[:, 2] = np.maximum(
                points[:, 2] + np.minimum(tall, (length - CLEAR) * up[:, 2]), stand[:, 2]
            )
            ends.append((stand, above, points, up))
        (stand, above, points, up), (stand_1, above_1, points_1, up_1) = ends
        near, taut = (points + (length + more)[:, None] * up for more in (-NEARLY, BEYOND))
        last = points_1 + length[:, None] * up_1
        sunk = last - [0.0, 0.0, SINK]
        low = stand_1 + [0.0, 0.0, ABOVE]
        floor = stand_1 - [0.0, 0.0, BELOW]
        stops = np.stack([stand, above, near, taut, sunk, above_1, low, floor])
        moments = np.array(
            [
                (plan.rise, plan.gather),
                (plan.gather, plan.close),
                (plan.close, plan.take),
                (plan.lift, plan.creep),
                (plan.part, plan.land),
                (plan.land, plan.touch),
                (plan.touch, plan.landed),
            ],
            dtype=float,
        )
        steps = np.moveaxis(np.diff(stops, axis=0), -1, 1)
        names = ("rise", "take", "taut", "lift", "creep", "down", "part", "touch", "facing")
        arrays = {name: np.asarray(getattr(plan, name)) for name in names}
        arrays |= {"since": moments[:, 0], "until": moments[:, 1], "points": steps, "first": stand.T}
        arrays |= {"hook": hook[:, 2], "bottom": plan.end[2]}
        return Phases(**{name: as_jax(np.array(it)) for name, it in arrays.items()})


def _hover_directions(model: Any, pose: np.ndarray) -> np.ndarray:
    """(n, 3) along the cables from vehicles to the payload that hovers at a pose."""
    still = np.zeros((2, 7, 3))
    still[:, 0] = pose[:3]
    none = np.zeros((2, 6, 3))
    angles = np.zeros((2, 7, 3))
    w, x, y, z = pose[3:]
    angles[:, 0, 2] = np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))
    sample = Sample(still, np.tile(pose[3:], (2, 1)), none, angles)
    return np.asarray(cable_nominal(model, sample, 0.0).direction)[0, 0].T


class LiftMemory(eqx.Module):
    """What the supervisor remembers."""

    felt: Float[Array, " ..."]
    """How much less than it should the load has fallen lately (m)."""
    since: Float[Array, " ..."]
    """Time since it touched; zero if it has not (s)."""
    held: Float[Array, "3 n ..."]
    """Where the vehicles were then (m)."""
    fell: Float[Array, " ..."]
    """How fast it should have fallen then (m/s)."""
    higher: Float[Array, " ..."]
    """How much higher than expected the floor was (m)."""
    standing: Bool[Array, "n ..."]
    """Which vehicles stand."""
    flown: Bool[Array, "n ..."]
    """Which have left the floor."""

    @staticmethod
    def start(craft: Bodies) -> LiftMemory:
        """Everything stands."""
        none = jnp.zeros_like(craft.position[0])
        zero = jnp.zeros_like(none[0])
        return LiftMemory(zero, zero, craft.position, zero, zero, none == 0, none > 0)


class Tended(NamedTuple):
    """What the supervisor decides at a tick."""

    nominal: CableNominal
    """Where everything should be."""
    hand: Float[Array, " ..."]
    """Share of the carrying that cables do."""
    lifted: Bool[Array, " ..."]
    """Whether the load is surely off the floor."""
    standing: Bool[Array, "n ..."]
    flown: Bool[Array, "n ..."]
    facing: Float[Array, " ..."]
    """One if vehicles yaw with the load."""

    def moved(self, moved: Moved) -> Moved:
        """How bodies are believed to accelerate: what stands does not."""
        still = (jnp.where(self.lifted, it, 0.0) for it in moved.load)
        return Moved(Twofold(*still), jnp.where(self.flown | (self.hand > 0), moved.craft, 0.0))

    def believed(self, old: CableBelief, new: CableBelief) -> CableBelief:
        """What is believed of cables: nothing is learnt of those that are let hang."""
        kept = dataclasses.replace(
            old, measured=new.measured, rate=new.rate, ticks=new.ticks, state=SLACK + 0 * old.state
        )
        taken = self.hand > 0.5
        return jax.tree.map(lambda one, other: jnp.where(taken, one, other), new, kept)


def supervise(
    phases: Phases, late: Late, memory: LiftMemory, t: Any, nominal: CableNominal, load: Bodies, craft: Bodies
) -> tuple[LiftMemory, Tended]:
    """One tick of the supervisor.

    Args:
        phases: Of the lift.
        late: The clock.
        memory: From the last tick.
        t: Now (s).
        nominal: Of the rig on the load's reference, in the middle of the coming hold.
        load: Where the load is.
        craft: Where vehicles are.
    """
    then = t + late.lead
    sunk = -DEPTH * crept(then, phases.creep, phases.down)
    slower = load.velocity[2] - nominal.position[1, 2] - sunk[1]
    felt = memory.felt + (WHILE * slower - memory.felt) * (1 - jnp.exp(-late.period / WHILE))
    falls = -(nominal.position[1, 2] + sunk[1])
    looking = (t > phases.creep) & (falls > LEAST)
    ends = craft.position.at[2].add(phases.hook)
    behind = (nominal.vehicle[0, 2] - ends[2]).mean(0) - (nominal.position[0, 2] - load.position[2])
    found = looking & ((felt > jnp.maximum(FELT * WHILE * falls, SURE)) | (behind > BEHIND))
    now = (memory.since == 0) & (found | (t > phases.down))
    since = jnp.where(now | (memory.since > 0), memory.since + late.period, 0.0)
    touched = since > 0
    held = jnp.where(now, ends, memory.held)
    fell = jnp.where(now, falls, memory.fell)
    higher = jnp.where(now, load.position[2] - phases.bottom, memory.higher)
    gone = step(since, 0.0, LET_GO)[0]
    hand = step(t, phases.take, phases.taut)[0] * jnp.where(touched, 1 - gone, 1.0)

    way = _way(phases, then, higher)
    away = still(held).at[:, 2].add(-_sinking(since, fell)[:, None])
    back = step(then, phases.part - 1.0, phases.part)[0]
    way = jnp.where(touched, (1 - back) * away + back * way, way)
    flying = nominal.vehicle.at[:, 2].add(sunk[:, None])
    path = jnp.where(touched, way, hand * flying + (1 - hand) * way)
    waits = still(load.position)[:3]
    place = nominal.position.at[:, 2].add(sunk[:3])
    lies = jnp.where(touched, rotation_matrix(load.attitude), nominal.rotation)
    place = jnp.where(touched, waits, place)
    nominal = dataclasses.replace(nominal, position=place, rotation=lies, vehicle=path)

    low = craft.position[2] + phases.hook - path[0, 2] > STANDS
    lands = (t > phases.touch) & low
    standing = jnp.where(t < phases.rise, True, memory.standing & (t > phases.touch) | lands)
    risen = craft.position[2] + phases.hook > phases.first[2] + FLOWN
    flown = (memory.flown | risen) & ~standing
    lifted = (t > phases.lift) & (t < phases.creep)
    new = LiftMemory(felt, since, held, fell, higher, standing, flown)
    return new, Tended(nominal, hand, lifted, standing, flown, phases.facing)


def yawed(frame: WantedFrame, spin: Array, nominal: CableNominal, share: Array) -> tuple[WantedFrame, Array]:
    """A wanted frame and its angular acceleration, turned by a `share` (0 or 1) of the load's wanted yaw."""
    first, rate = nominal.rotation[:, 0], share * nominal.rate[:, 2]
    size = jnp.sqrt(first[0] ** 2 + first[1] ** 2)
    cos, sin = 1 + share * (first[0] / size - 1), share * first[1] / size
    x, y, z = frame.rotation[:, 0], frame.rotation[:, 1], frame.rotation[:, 2]
    rotation = jnp.stack([cos * x + sin * y, cos * y - sin * x, z], axis=1)

    def about(v: Array) -> Array:
        return jnp.stack([cos * v[0] + sin * v[1], cos * v[1] - sin * v[0], v[2]])

    turned, bent = about(frame.rate), about(spin)
    bent = jnp.stack([bent[0] + rate[0] * turned[1], bent[1] - rate[0] * turned[0], bent[2] + rate[1]])
    return WantedFrame(rotation, turned.at[2].add(rate[0])), bent


def _sinking(since: Array, speed: Array) -> Float[Array, "4 ..."]:
    """How far vehicles sink after a touch at a speed, and three derivatives: they brake, then make slack."""
    left = speed * jnp.exp(-since / BRAKE)
    braked = jnp.stack([BRAKE * (speed - left), left, -left / BRAKE, left / BRAKE**2])
    return braked + SINK * step(since, 0.0, SINKING)


def _way(phases: Phases, t: Any, higher: Array) -> Float[Array, "4 3 n ..."]:
    """Where the cables' upper ends should be and how they should move: all legs together."""
    legs = phases.since.shape[0]
    way = still(phases.first + 0 * phases.points[0])
    for k in range(legs):
        apart = phases.points[k]
        if k == 3:  # the floor where the load lies now is higher than was thought
            apart = apart + jnp.stack([0 * higher, 0 * higher, higher])[:, None]
        way = way + step(t, phases.since[k], phases.until[k])[:, None, None] * apart
    return way
