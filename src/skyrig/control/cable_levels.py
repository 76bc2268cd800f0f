"""The levels of the full cable controller: payload, cable directions, thrust vectors.

Derivatives of the feedback are taken along the motion as it is, to first order in the errors: E_0 and E_1 are
the measured errors of the payload's pose and their rates, E_2 and up follow from the forces that the cables
make as they hang, and any derivative of the feedback is the same law on errors of a higher order.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from skyrig.algebra import apply, cross, dot, normalised, rotation_matrix
from skyrig.control.attitude import WantedFrame, turning
from skyrig.control.cable_geometry import Carried, Spans, Twofold
from skyrig.control.cable_nominal import CableNominal
from skyrig.control.feedback import Pid, ease, limited, pid
from skyrig.rigs.bodies import Bodies

KEEP = 3.0
"""A vehicle that is kept out comes so many margins of slack closer to the payload than its cable is long."""
GOOD_PULL = 1.4
"""Where cables are missing, the payload gives way until all others pull so many times `least_pull`."""


class PoseLaw(NamedTuple):
    """PID on the payload's pose; where its answer was cut, so are its derivatives."""

    moves: Pid
    turns: Pid
    left: Twofold
    """Share that was left after cutting, by component."""

    def __call__(self, error: Twofold, rate: Twofold, integral: Twofold) -> Twofold:
        """The wanted acceleration, or a derivative, from errors of any order and its neighbours."""
        moves, turns = self.moves, self.turns
        return Twofold(
            self.left.linear * (moves.p * error.linear + moves.d * rate.linear + moves.i * integral.linear),
            self.left.angular
            * (turns.p * error.angular + turns.d * rate.angular + turns.i * integral.angular),
        )


class AskedMotion(NamedTuple):
    """What is asked of the payload."""

    law: PoseLaw
    error: Twofold
    """E_0: pose errors (m, rad)."""
    rate: Twofold
    """E_1: their rates."""
    feed: Twofold
    """Accelerations of the reference (m/s^2, rad/s^2)."""
    learnt: Twofold
    """Integral part, which makes up for something that is not in the model."""
    gust: Float[Array, "3 ..."]
    """What else accelerates the payload, as far as is known (m/s^2)."""
    pull: Float[Array, "3 n ..."]
    """Wanted cable forces on the payload (N, world frame)."""
    short: Float[Array, "3 ..."]
    """Angle by which the payload would have to give way for every cable to pull as it should (rad)."""
    cut_short: Bool[Array, " ..."]
    """Whether the moment that is asked for cannot be had from cables that only pull."""


def asked_of_payload(
    it: Any,
    carried: Carried,
    nominal: CableNominal,
    load: Bodies,
    memory: Twofold,
    tilt: Array,
    gust: Array,
) -> AskedMotion:
    """Wanted accelerations of the payload (eq. 69) and the cable forces that make them (eq. 71).

    Args:
        it: The controller.
        carried: The payload.
        nominal: Where it should be.
        load: Where it is.
        memory: Integral parts.
        tilt: How far the wanted attitude gives way (rad, payload frame).
        gust: What else accelerates it (m/s^2).
    """
    gains = it.gains
    leaning = rotation_matrix(normalised(jnp.concatenate([jnp.ones_like(tilt[:1]), tilt / 2])))
    wanted = jnp.stack([apply(nominal.rotation, leaning[:, k]) for k in range(3)], axis=1)
    way = turning(carried.rotation, load.rate, WantedFrame(wanted, nominal.rate[0]), nominal.rate[1])
    error = Twofold(limited(nominal.position[0] - load.position, gains.reach), way.error)
    rate = Twofold(nominal.position[1] - load.velocity, way.rate_error)
    feed = Twofold(nominal.position[2], way.spin)
    law = PoseLaw(
        pid(gains.position, gains.damping, gains.integral),
        pid(gains.attitude, gains.damping, gains.integral),
        Twofold(jnp.ones_like(error.linear), jnp.ones_like(error.angular)),
    )
    push = law(error, rate, Twofold(0 * error.linear, 0 * error.angular))
    share = it.payload_mass * it.gravity / it.mass.shape[0]
    turning_pull = carried.forces(it, Twofold(0 * push.linear, push.angular))
    strongest = jnp.sqrt(jnp.maximum(dot(turning_pull, turning_pull).max(0), 1e-18))
    left = Twofold(
        ease(push.linear, gains.most_side, gains.most_up),
        jnp.minimum(1.0, gains.most_turning * share / strongest) + 0 * push.angular,
    )
    push = Twofold(
        left.linear * push.linear + memory.linear,
        left.angular * push.angular + memory.angular,
    )
    inner = carried.carrying * it.internal
    opposed = carried.accelerations(it, apply(carried.rotation[:, :, None], inner))
    total = Twofold(
        feed.linear + push.linear + (carried.up - gust) - opposed.linear,
        feed.angular + push.angular + apply(it.payload_inverse_inertia, carried.gyration) - opposed.angular,
    )
    free = carried.forces(it, total) + apply(carried.rotation[:, :, None], inner)
    good = _upward(free, GOOD_PULL * gains.least_pull * share, carried.team.share)
    pull = _upward(free, gains.least_pull * share, carried.team.share)
    held = carried.team.share > 0
    short = carried.accelerations(it, held * (good - free)).angular / law.turns.p
    cut_short = jnp.any(held & (jnp.abs(pull - free).max(0) > 1e-9), axis=0)
    return AskedMotion(law._replace(left=left), error, rate, feed, memory, gust, pull, short, cut_short)


class Swing(NamedTuple):
    """How the cables hang and are to swing."""

    tension: Float[Array, "n ..."]
    held: Float[Array, "3 n ..."]
    """Cable forces on the payload as the cables hang (N, world frame)."""
    actual: Twofold
    """The payload's accelerations under them."""
    aimed: Float[Array, "3 n ..."]
    """Wanted directions."""
    size: Float[Array, "n ..."]
    """Length of the wanted cable forces (N)."""
    rate_error: Float[Array, "3 n ..."]
    """Rate of the direction, actual minus wanted (1/s)."""
    held_1: Float[Array, "3 n ..."]
    """How feedback and errors change the forces (N/s), beyond the nominal."""
    pull_2: Float[Array, "3 n ..."]
    """Second derivative of the feedback's part of the wanted forces (N/s^2)."""
    error_2: Twofold
    error_3: Twofold
    restoring: Float[Array, "3 n ..."]
    """Feedback on the direction (1/s^2)."""
    bend: Float[Array, "3 n ..."]
    """Second derivative that the direction shall have (1/s^2)."""


def swing_cables(it: Any, carried: Carried, asked: AskedMotion, span: Spans, nominal: CableNominal) -> Swing:
    """Wanted cable directions (eq. 72), their derivatives, and the feedback on them (eq. 73)."""
    gains, law = it.gains, asked.law
    size = jnp.sqrt(dot(asked.pull, asked.pull))
    aimed = -asked.pull / size
    tension = jnp.maximum(-dot(span.direction, asked.pull), 0.0) * (carried.carrying > 0)
    held = -tension * span.direction
    actual = carried.accelerations(it, held)
    actual = Twofold(
        actual.linear - (carried.up - asked.gust),
        actual.angular - apply(it.payload_inverse_inertia, carried.gyration),
    )
    error_2 = Twofold(asked.feed.linear - actual.linear, asked.feed.angular - actual.angular)
    pull_1 = carried.forces(it, law(asked.rate, error_2, asked.error))
    rate_error = _across(span.turn - nominal.direction[1] + _across(pull_1, aimed) / size, span.direction)
    held_1 = pull_1 - tension * rate_error
    jolt = carried.accelerations(it, held_1)
    error_3 = Twofold(-jolt.linear, -jolt.angular)
    pull_2 = carried.forces(it, law(error_2, error_3, asked.rate))
    restoring = gains.cable**2 * _across(aimed, span.direction) - 2 * gains.damping * gains.cable * rate_error
    restoring = limited(restoring, gains.most_side / span.distance)
    bend = (
        _across(nominal.direction[2] - _across(pull_2, aimed) / size, span.direction)
        + restoring
        - span.direction * dot(span.turn, span.turn)
    )
    return Swing(
        tension, held, actual, aimed, size, rate_error, held_1, pull_2, error_2, error_3, restoring, bend
    )


def taut_thrust(it: Any, carried: Carried, swing: Swing, span: Spans, load: Bodies, length: Array) -> Array:
    """Thrust vectors (N, world frame) that hold the tensions and swing the cables as wanted (eq. 73)."""
    spin, rate = swing.actual.angular[:, None], load.rate[:, None]
    local = cross(spin, it.attachment) + cross(rate, cross(rate, it.attachment))
    end = swing.actual.linear[:, None] + apply(carried.rotation[:, :, None], local)
    along = length * swing.bend + 2 * span.rate * span.turn
    return it.mass * (end + carried.up[:, None] - along) + swing.held


class Moved(NamedTuple):
    """How bodies are believed to accelerate, what integrals ask for being taken up by something else."""

    load: Twofold
    """The payload (m/s^2; rad/s^2, payload frame)."""
    craft: Float[Array, "3 n ..."]
    """The vehicles (m/s^2)."""


def believed_motion(it: Any, carried: Carried, asked: AskedMotion, swing: Swing, thrust: Array) -> Moved:
    """Accelerations under the `thrust` vectors that vehicles give as they stand (N, world frame)."""
    spare = asked.learnt
    load = Twofold(swing.actual.linear - spare.linear, swing.actual.angular - spare.angular)
    local = cross(spare.angular[:, None], it.attachment)
    end = spare.linear[:, None] + apply(carried.rotation[:, :, None], local)
    craft = (thrust - carried.carrying * swing.held) / it.mass - carried.up[:, None] - carried.carrying * end
    return Moved(load, craft)


def taut_thrust_rate(
    it: Any, carried: Carried, asked: AskedMotion, swing: Swing, span: Spans, missing: Array, length: Array
) -> Array:
    """How feedback and errors turn those thrust vectors (N/s), beyond the nominal.

    Args:
        it: The controller.
        carried: The payload.
        asked: What is asked of it.
        swing: How the cables hang and are to swing.
        span: The cables.
        missing: What the vehicles' attitudes leave of the wanted thrust vectors, actual minus wanted (N).
        length: Of the cables (m).
    """
    gains = it.gains
    rate_error_1 = swing.restoring - _across(missing, span.direction) / (it.mass * length)
    jolt = carried.accelerations(it, swing.pull_2 - swing.tension * rate_error_1)
    error_4 = Twofold(-jolt.linear, -jolt.angular)
    pull_3 = carried.forces(it, asked.law(swing.error_3, error_4, swing.error_2))
    bend_1 = (
        -_across(pull_3, swing.aimed) / swing.size
        - gains.cable**2 * swing.rate_error
        - 2 * gains.damping * gains.cable * rate_error_1
    )
    local = cross(-swing.error_3.angular[:, None], it.attachment)
    end_1 = -swing.error_3.linear[:, None] + apply(carried.rotation[:, :, None], local)
    return it.mass * (end_1 - length * bend_1) + swing.held_1


def free_thrust(
    it: Any, nominal: CableNominal, craft: Bodies, rotation: Array, span: Spans, length: Array, able: Array
) -> tuple[Array, Array, Array]:
    """Thrust vectors (N) of vehicles that carry nothing; the feedback in them (m/s^2), velocity errors (m/s).

    They fly to their nominal places, where they find the payload again. One that shall stay out of it (`able`
    is zero) stays by the payload wherever that is, close enough for its cable to be slack.
    """
    gains = it.gains
    place = nominal.vehicle[0] + (it.length - length) * nominal.direction[0]
    if it.hook is not None:
        place = place - apply(rotation, it.hook)
    near = length - KEEP * it.margins.slack
    away = able * (place - craft.position)
    away = away + (1 - able) * (span.distance * span.direction - near * nominal.direction[0])
    parting = span.rate * span.direction + span.distance * span.turn - near * nominal.direction[1]
    behind = able * (nominal.vehicle[1] - craft.velocity) + (1 - able) * parting
    law = pid(gains.follow, gains.damping, 0.0)
    push = law.p * limited(away, gains.reach) + law.d * behind
    push = push * ease(push, gains.most_side, gains.most_up)
    up = jnp.stack([0 * it.gravity, 0 * it.gravity, it.gravity])
    return it.mass * (nominal.vehicle[2] + up[:, None] + push), push, behind


def free_thrust_rate(it: Any, behind: Array, push: Array, missing: Array) -> Array:
    """How that feedback turns those thrust vectors (N/s), by velocity errors and by what is missing (N)."""
    law = pid(it.gains.follow, it.gains.damping, 0.0)
    return it.mass * law.p * behind - law.d * (it.mass * push + missing)


def _across(vector: Array, direction: Array) -> Array:
    return vector - direction * dot(direction, vector)


def _upward(pull: Float[Array, "3 n ..."], least: Array, share: Array) -> Float[Array, "3 n ..."]:
    """Cable forces that all pull up by at least `least` (N) and lean no more than 60 degrees or so.

    What this adds to some cables is taken from the others, so that the force on the payload stays; its moment
    changes, and the payload tilts a little.
    """
    height = jnp.maximum(pull[2], least)
    square = pull[0] ** 2 + pull[1] ** 2
    most = 1.7 * height
    steep = square > most**2
    scale = jnp.where(steep, most / jnp.sqrt(jnp.where(steep, square, 1.0)), 1.0)
    lifted = jnp.stack([pull[0] * scale, pull[1] * scale, height])
    rest = share * ~(steep | (pull[2] < least))
    whole = rest.sum(0)
    excess = ((lifted - pull) * (share > 0)).sum(1) / jnp.where(whole > 0, whole, 1.0)
    return lifted - rest * excess[:, None]
