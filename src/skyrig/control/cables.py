"""A payload on n cables, flown exactly: the full flavour of RotorTM's eqs. 61-73, any n from one on.

Payload errors ask for a wrench, the wrench for cable forces, these for cable directions, those for thrust
vectors and these for attitudes. Each level is told not only where the next should be but how that moves: the
nominal part of every derivative comes from the reference (`cable_nominal`), the feedback's part from the
accelerations the rig has at this moment, which follow from the measured cable directions and attitudes. So
each level keeps the poles it was given, and the levels need not be far apart. (Taking the feedback's
derivatives as if the errors already obeyed their ideal dynamics instead makes the loop unstable.)

A command is held for a period, so everything is wanted, and the measured state advanced, to the middle of
the hold. One cable and a point mass (eqs. 61-68) are the case n = 1: all formulas agree.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from skyrig import algebra
from skyrig.algebra import apply, apply_transposed, computed_once, cross, dot
from skyrig.control.attitude import least_turn, turning, turning_moment, turning_spin, within_reach
from skyrig.control.cable_belief import CableBelief, Margins
from skyrig.control.cable_geometry import Carried, Twofold, spans
from skyrig.control.cable_levels import (
    asked_of_payload,
    believed_motion,
    free_thrust,
    free_thrust_rate,
    swing_cables,
    taut_thrust,
    taut_thrust_rate,
)
from skyrig.control.cable_nominal import PARAMETERS, CableNominal, cable_nominal
from skyrig.control.estimate import Estimate, Filter, Late
from skyrig.control.feedback import accumulated, ahead, limited, untwisted
from skyrig.control.interface import (
    Command,
    Controller,
    Measurement,
    Noise,
    Target,
    axes,
    concrete,
    fitted,
    fitted_target,
    part,
    wanted_of,
)
from skyrig.control.known_drag import KnownDrag, going
from skyrig.control.lift import LiftMemory, Phases, supervise, yawed
from skyrig.control.sharing import uncontrolled_axis
from skyrig.control.thrust_loss import ThrustLoss
from skyrig.planning import Sample
from skyrig.rigs.bodies import Bodies

GIVE, RISE = 1.0, 0.1
"""Rates at which the wanted attitude gives way to what cables can hold, and tries to rise again (1/s)."""
MOST_TILT = 0.6
"""Most that it gives way (rad)."""


class CableGains(eqx.Module):
    """Gains and limits of the full cable controller."""

    position: Float[Array, "3 ..."] = axes(1)
    """Bandwidth of the payload's position along x, y, z (rad/s)."""
    attitude: Float[Array, "3 ..."] = axes(1)
    """Bandwidth of the payload's attitude about its x, y, z (rad/s)."""
    integral: Float[Array, " ..."] = axes(0)
    """Rate at which the payload's constant disturbances are learnt (rad/s)."""
    cable: Float[Array, "n ..."] = axes(1)
    """Bandwidth of each cable's direction (rad/s)."""
    vehicle: Float[Array, "3 n ..."] = axes(2)
    """Bandwidth of each vehicle's roll, pitch, yaw (rad/s)."""
    follow: Float[Array, "n ..."] = axes(1)
    """Bandwidth of the position of a vehicle whose cable is slack or cut (rad/s)."""
    damping: Float[Array, " ..."] = axes(0)
    """Damping ratio of all of them (1)."""
    reach: Float[Array, " ..."] = axes(0)
    """Position errors count up to this length (m)."""
    most_side: Float[Array, " ..."] = axes(0)
    """Most sideways acceleration feedback asks of the payload, or of a vehicle across its cable (m/s^2)."""
    most_up: Float[Array, " ..."] = axes(0)
    """Most upward acceleration that feedback asks of the payload (m/s^2); downward, as much as sideways."""
    most_turning: Float[Array, " ..."] = axes(0)
    """Most that attitude feedback changes a cable's force, in equal shares of the payload's weight (1)."""
    least_pull: Float[Array, " ..."] = axes(0)
    """Least upward pull of a cable, in equal shares of the payload's weight (1)."""
    observe: Float[Array, " ..."] = axes(0)
    """Rate at which forces that nobody told of are learnt from how bodies accelerate (rad/s)."""
    learn: Float[Array, " ..."] = axes(0)
    """Errors count in the integral up to this (m, rad)."""
    most_push: Float[Array, " ..."] = axes(0)
    """Bound of the integral part, linear (m/s^2)."""
    most_turn: Float[Array, " ..."] = axes(0)
    """Bound of the integral part, angular (rad/s^2)."""
    slack: Float[Array, " ..."] = axes(0)
    """Least margin of a cable that is believed slack (m)."""
    cut: Float[Array, " ..."] = axes(0)
    """Least margin of one that is believed cut (m)."""


class CableMemory(eqx.Module):
    """What the controller remembers from tick to tick."""

    push: Float[Array, "3 ..."]
    """Integral part of the payload's wanted acceleration (m/s^2)."""
    turn: Float[Array, "3 ..."]
    """Integral part of its wanted angular acceleration (rad/s^2)."""
    gust: Float[Array, "3 ..."]
    """What pushes the payload besides what is known, as its acceleration shows (m/s^2)."""
    drift: Float[Array, "3 n ..."]
    """The same of the vehicles, across their cables (m/s^2)."""
    tilt: Float[Array, "3 ..."]
    """How far the wanted attitude gives way where the cables that are left cannot hold it (rad)."""
    belief: CableBelief
    """Of the cables."""
    loss: ThrustLoss
    """Of the vehicles, as seen while they hung on nothing."""
    load: Estimate
    craft: Estimate
    lift: LiftMemory | None = None
    """Of a lift from the floor."""


class Cables(Controller):
    """Full geometric control of a payload on cables; build one with `skyrig.control.build`."""

    signal_units: ClassVar[Mapping[str, str]] = {"missing_thrust": "N"}
    prepares_from: ClassVar[tuple[str, ...] | None] = (*PARAMETERS, "late")

    mass: Float[Array, "n ..."] = axes(1)
    inertia: Float[Array, "3 3 n ..."] = axes(3)
    payload_mass: Float[Array, " ..."] = axes(0)
    payload_inertia: Float[Array, "3 3 ..."] = axes(2)
    payload_inverse_inertia: Float[Array, "3 3 ..."] = axes(2)
    attachment: Float[Array, "3 n ..."] = axes(2)
    hook: Float[Array, "3 n ..."] | None = axes(2)
    length: Float[Array, "n ..."] = axes(1)
    """Of the cables, for what is computed ahead; in the loop the measured length counts (m)."""
    gravity: Float[Array, " ..."] = axes(0)
    thrust_min: Float[Array, "n ..."] = axes(1)
    thrust_max: Float[Array, "n ..."] = axes(1)
    late: Late = part()
    """What stands between a measurement and the command it leads to."""
    sight: Filter = part()
    """How far measurements of vehicles are believed."""
    load_sight: Filter = part()
    """How far measurements of the payload are believed."""
    margins: Margins = part()
    """How far cables must be from their lengths to be believed slack or cut."""
    available: Float[Array, "n ..."] = axes(1)
    """One for every cable that may carry, zero for one to leave out."""
    turnable: Float[Array, "3 3 ..."] = axes(2)
    """Projection that takes out what lies along the axis nobody controls, payload frame."""
    internal: Float[Array, "3 n ..."] = axes(2)
    """Forces that the cables make against each other to spread out, payload frame (N)."""
    gains: CableGains = part()
    drag: KnownDrag = part()
    """Of the air, as far as it is known."""
    phases: Phases | None = None
    """Of a lift from the floor and back to it; None where there is none."""

    @property
    def uncontrolled_axis(self) -> np.ndarray | None:
        """Unit vector, payload frame, about which this team cannot turn the payload; None if there is none.

        Two vehicles cannot turn their payload about the line through their attachments. There it hangs as a
        pendulum, and its attitude about that axis is left out of the control.
        """
        if not np.any(np.asarray(self.payload_inertia)):
            return None
        return uncontrolled_axis(np.asarray(self.attachment).T)

    def planned(self, plan: Any) -> Cables:
        """The same, to take off and land by a `LiftPlan`."""
        if plan is None:
            return self
        return dataclasses.replace(self, phases=Phases.of(plan, jax.tree.map(concrete, self)))

    def told_of_noise(self, noise: Noise) -> Cables:
        """The same, believing measurements, and what they say of cables, as far as noise lets them be."""
        sight = Filter.of(noise, self.late.period)
        margins = Margins.of(self.gains.slack, self.gains.cut, sight, sight, self.attachment, noise)
        return dataclasses.replace(self, sight=sight, load_sight=sight, margins=margins)

    def in_air(self, laws: Sequence[Any]) -> Cables:
        """The same, told of drag."""
        return dataclasses.replace(self, drag=self.drag.knowing(laws))

    def prepare(self, payload: Sample | None = None, vehicles: Sample | None = None) -> CableNominal:
        """The rig's exact motion on the payload's reference."""
        payload = wanted_of("payload", payload)
        model = jax.tree.map(concrete, self)
        return cable_nominal(model, payload, model.late.lead)

    def signals(self, memory: CableMemory) -> dict[str, Array]:
        """What is believed of each cable (0 taut, 1 slack, 2 cut), and of thrust that is missing (N).

        In a lift also which vehicles stand (1).
        """
        found = {"cable_belief": memory.belief.state, "missing_thrust": memory.loss.missing}
        if memory.lift is not None:
            found["standing"] = memory.lift.standing.astype(memory.loss.missing.dtype)
        return found

    def start(self, measurement: Measurement) -> CableMemory:
        """No integral, no cable lost, nothing measured."""
        zero = jnp.zeros_like(measurement.payload.position)
        it = fitted(self, measurement.length)
        weight = it.mass * it.gravity + jnp.zeros_like(measurement.length)
        return CableMemory(
            zero,
            zero,
            zero,
            jnp.zeros_like(measurement.vehicles.position),
            zero,
            CableBelief.start(it.length, measurement.length),
            ThrustLoss.none(weight, self.late),
            Estimate.start(measurement.payload, self.late.delay),
            Estimate.start(measurement.vehicles, self.late.delay),
            None if self.phases is None else LiftMemory.start(measurement.vehicles),
        )

    def __call__(
        self, memory: CableMemory, t: Any, target: Target, measurement: Measurement
    ) -> tuple[CableMemory, Command]:
        """Thrusts and moments from payload errors."""
        it = fitted(self, measurement.length)
        nominal: CableNominal = fitted_target(target, measurement).nominal
        gains = it.gains
        half = it.late.period / 2
        load_seen = computed_once(memory.load.measured(it.load_sight, it.late, measurement.payload))
        craft_seen = computed_once(memory.craft.measured(it.sight, it.late, measurement.vehicles))
        lift, tended = memory.lift, None
        if it.phases is not None and lift is not None:
            seen = (load_seen.bodies, craft_seen.bodies)
            lift, tended = computed_once(supervise(it.phases, it.late, lift, t, nominal, *seen))
            nominal = tended.nominal
        load = ahead(load_seen.due(it.late), half, nominal.position[2], nominal.rate[1])
        craft = ahead(craft_seen.due(it.late), half, nominal.vehicle[2], nominal.vehicle_spin)
        load, craft = computed_once((load, craft))
        rotation = computed_once(algebra.rotation_matrix(craft.attitude))
        load_rotation = computed_once(algebra.rotation_matrix(load.attitude))
        span = spans(it, load, load_rotation, craft, rotation)

        now = spans(
            it,
            load_seen.bodies,
            algebra.rotation_matrix(load_seen.bodies.attitude),
            craft_seen.bodies,
            algebra.rotation_matrix(craft_seen.bodies.attitude),
        )
        span, now = computed_once((span, now))
        belief = computed_once(memory.belief.seen(it, now, measurement.length))
        if tended is not None:
            belief = computed_once(tended.believed(memory.belief, belief))
        length = belief.length
        gap = length - now.distance
        hanging = it.available * ~(memory.loss.out | belief.lost)
        alike = it.payload_mass * memory.push[2] / jnp.maximum(hanging.sum(0), 1.0)
        margins = it.margins.after(belief.ticks)
        free = (gap > margins.free) | belief.lost
        if tended is not None:
            free = free & tended.flown
        loss = memory.loss.seen(it, craft_seen.bodies.velocity[2], free, alike)
        able = it.available * ~loss.out
        carrying = able * jnp.where(belief.lost, 0.0, jnp.clip(2 - gap / margins.slack, 0.0, 1.0))
        counting = carrying
        if tended is not None:  # what a slack cable leaves is the floor's, as long as there is one
            counting = jnp.where(tended.lifted, carrying, able * ~belief.lost)
            carrying = carrying * tended.hand
        loss, carrying, counting = computed_once((loss, carrying, counting))
        carried = computed_once(Carried.by(it, load, load_rotation, carrying, counting))
        spare = Twofold(memory.push, memory.turn)
        gust, drift, twist = it.pushed(memory, nominal, load, craft)
        asked = asked_of_payload(it, carried, nominal, load, spare, memory.tilt, gust)
        asked = computed_once(asked)
        swing = computed_once(swing_cables(it, carried, asked, span, nominal))
        taut = computed_once(taut_thrust(it, carried, swing, span, load, length))
        free, free_push, behind = computed_once(free_thrust(it, nominal, craft, rotation, span, length, able))
        free = free.at[2].add(loss.missing)
        wanted = carrying * taut + (1 - carrying) * free - it.mass * drift
        wanted, cut = computed_once(within_reach(wanted, it.thrust_min, 0.95 * it.thrust_max))

        thrust = dot(wanted, rotation[:, 2])
        missing = thrust * rotation[:, 2] - wanted
        taut_rate = taut_thrust_rate(it, carried, asked, swing, span, missing, length)
        free_rate = free_thrust_rate(it, behind, free_push, missing)
        rate = computed_once(
            it.mass * nominal.vehicle[3]
            + carrying * (taut_rate + nominal.pull_rate)
            + (1 - carrying) * free_rate
        )
        frame, bend = computed_once(least_turn(wanted, rate)), nominal.vehicle_spin
        if tended is not None:
            frame, bend = yawed(frame, tended.hand * bend, nominal, tended.facing)
        tilt = turning(rotation, craft.rate, frame, bend)
        spin = turning_spin(tilt, gains.vehicle, gains.damping)
        moment = turning_moment(it.inertia, craft.rate, spin)
        if twist is not None:
            moment = moment - twist
        if it.hook is not None:
            moment = moment + cross(it.hook, apply_transposed(rotation, swing.held))

        if tended is not None:  # rotors of what stands idle
            thrust = jnp.where(tended.standing, it.thrust_min, thrust)
            moment, spin = (jnp.where(tended.standing, 0.0, it) for it in (moment, spin))
        given = (thrust * rotation[:, 2]).at[2].add((carrying - 1) * loss.missing)
        moved = believed_motion(it, carried, asked, swing, given + it.mass * drift)
        slack = jnp.min(carrying, axis=0, where=(able > 0) & ~belief.lost, initial=1.0) < 1
        if tended is not None:
            moved, slack = tended.moved(moved), slack | ~tended.lifted
        calm = jnp.where(slack | (cut.max(0) > 0), 0.0, it.late.period)
        level = jnp.where(asked.cut_short, 0.0, calm)
        fewer = jnp.any((able == 0) | belief.lost, axis=0)
        giving = jnp.where(fewer, GIVE * asked.short - RISE * memory.tilt, -GIVE * memory.tilt)
        learnt = Twofold(limited(asked.error.linear, gains.learn), limited(asked.error.angular, gains.learn))
        turned = apply(it.turnable, asked.law.turns.i * learnt.angular)
        strange = load_seen.strange(memory.load, it.late) - spare.linear
        learnt_gust = memory.gust + calm * gains.observe * limited(strange, gains.most_side)
        strange = craft_seen.strange(memory.craft, it.late) - carrying * spare.linear[:, None]
        strange = limited(strange, gains.most_side)
        strange = strange - carrying * span.direction * dot(span.direction, strange)
        strange = strange.at[2].multiply(carrying)  # what a free vehicle misses of its thrust is `loss`
        strange = untwisted(strange, apply(load_rotation[:, :, None], it.attachment))
        if tended is not None:
            strange = strange * tended.flown
        learnt_drift = memory.drift + it.late.period * gains.observe * strange
        memory = CableMemory(
            accumulated(memory.push, asked.law.moves.i * learnt.linear, calm, gains.most_push),
            accumulated(memory.turn, turned, level, gains.most_turn),
            learnt_gust,
            learnt_drift,
            limited(
                memory.tilt + it.late.period * apply(it.turnable, giving), jnp.full_like(calm, MOST_TILT)
            ),
            belief,
            loss.commanded(thrust * rotation[2, 2]),
            load_seen.commanded(*moved.load),
            craft_seen.commanded(moved.craft, spin),
            lift,
        )
        return memory, Command(thrust, moment)

    def pushed(
        self, memory: CableMemory, nominal: CableNominal, load: Bodies, craft: Bodies
    ) -> tuple[Array, Array, Array | None]:
        """Accelerations (m/s^2) of payload and vehicles by what is learnt and known besides their own forces.

        And the moments on vehicles (N m, body frames), None where none are known.
        """
        n = self.mass.shape[0]
        thrust = (self.mass + self.payload_mass / n) * self.gravity + 0 * craft.position[0]
        felt = self.drag.felt(
            going(load, nominal.position[1], nominal.rate[0]),
            going(craft, nominal.vehicle[1]),
            thrust,
        )
        if felt is None:
            return memory.gust, memory.drift, None
        gust, drift = felt.load / self.payload_mass, felt.craft / self.mass
        return computed_once((memory.gust + gust, memory.drift + drift, felt.moment))
