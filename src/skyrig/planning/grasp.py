"""Grasp an object in flight: the vehicle's way and the tendons' lengths (Fishman and Carlone, IV-D, V)."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from skyrig import checks
from skyrig.checks import Numbers
from skyrig.constants import GRAVITY
from skyrig.errors import InputError
from skyrig.planning.minimum_derivative import waypoints
from skyrig.planning.reference import Reference
from skyrig.planning.registry import TeamMotion
from skyrig.planning.sequence import sequence

LEAST_CLOSING = 0.3
"""Between the end of the approach and the grasp there is at least this (s), if the vehicle waits there."""
LEAST_PASSING = 0.1
"""The same if it passes the object: fingers that close sooner would come down before it."""
SQUEEZING = 0.3
"""How long the fingers take to press on after the grasp (s)."""
VIA = 2 / 3
"""Share of the time to the grasp after which a set-point on the way is passed."""
OPENING = 0.5
"""How long they take to let go (s)."""

Schedule = dict[str, tuple[Numbers, Numbers]]


class Meeting(NamedTuple):
    """Where and when the object is grasped."""

    middle: Numbers
    """Of the object at the grasp (m)."""
    drift: Numbers
    """Its velocity (m/s)."""
    time: float
    """t_g (s)."""
    closing: float
    """Between the end of the approach and t_g there is at least this (s)."""

    def target(self, time: float) -> Numbers:
        """Where the object's middle is (m) at a time (s)."""
        return self.middle - self.drift * (self.time - time)


def grasp(
    parts: Any,
    *,
    start: Any,
    object: Any,
    grasp_time: float = 1.5,
    velocity: Any = None,
    above: float = 0.15,
    over: float | None = None,
    approach: str = "spread",
    squeeze: float = 0.03,
    closing: float | None = None,
    settle: float = 0.0,
    hold: float = 0.3,
    lift: float = 0.4,
    lift_time: float = 1.2,
    carry_to: Any = None,
    carry_time: float = 2.0,
    release: bool = False,
) -> TeamMotion:
    """Fly to an object, grasp it, lift it, and perhaps carry it elsewhere and set it down.

    Every leg is of least snap. The fingers open until the leading ones are above the object (t_a), close
    until the grasp (t_g), and press on.

    Args:
        parts: The rig's parts.
        start: Where the vehicle starts, from rest (m).
        object: Where the object's middle is at the start (m); a belt carries it on from there.
        grasp_time: t_g (s).
        velocity: Of the vehicle at the grasp (m/s), that of the object if left out; at rest it waits there
            for `hold`.
        above: Height of the vehicle above the object's middle at the grasp (m).
        over: Height of a set-point above the object's middle that is passed on the way (m); none if left out.
        approach: How fingers open: 'spread' (C1, eq. 7) or 'surround' (C2, eq. 8).
        squeeze: How much further the inner tendons are pulled after the grasp (m).
        closing: How long the fingers have to close before the grasp, at least (s); 0.3 if left out, but
            0.1 if the vehicle passes the object: leading fingers that close sooner come down before it.
        settle: How long before the grasp the vehicle is there, if at rest (s); not at all in the paper.
        hold: How long to wait at the grasp, if at rest, and where the object is set down (s).
        lift: How far to lift (m).
        lift_time: In how long (s).
        carry_to: Where to, x and y (m); nowhere if left out.
        carry_time: In how long (s).
        release: Whether the object is set down and let go at the end.
    """
    begin = checks.numbers("start", start, (3,))
    standing = checks.numbers("object", object, (3,))
    drift = np.append(parts.said.belt, 0.0)
    speed = drift if velocity is None else checks.numbers("velocity", velocity, (3,))
    checks.choice("approach", approach, ("spread", "surround"))
    if closing is None:
        closing = LEAST_CLOSING if np.allclose(speed, drift) else LEAST_PASSING
    times = {"grasp_time": grasp_time, "closing": closing, "lift_time": lift_time, "carry_time": carry_time}
    for name, value in times.items():
        checks.positive(name, value)
    if grasp_time <= closing:
        raise InputError(f"grasp_time must be above {closing:g} s (closing), not {grasp_time:g}.")
    checks.nonnegative("squeeze", squeeze)
    middle = standing + drift * (grasp_time - _late(drift, parts.said.ground_friction))
    at = middle + [0.0, 0.0, above]
    still = not np.any(speed)
    settle = float(checks.nonnegative("settle", settle)) if still else 0.0
    if grasp_time - settle <= closing:
        raise InputError(f"settle must leave {closing:g} s of grasp_time for the way, not {settle:g} s.")
    via = None if over is None else middle + np.array([0.0, 0.0, float(checks.positive("over", over))])
    legs = [_leg(begin, at, grasp_time - settle, arriving_with=speed, via=via)]
    if settle > 0:
        legs.append(_wait(at, settle))
    if still and hold > 0:
        legs.append(_wait(at, hold))
    high = at + [0.0, 0.0, lift] + speed * [1.0, 1.0, 0.0] * lift_time / 2
    legs.append(_leg(at, high, lift_time, leaving_with=speed))
    opens = None
    if carry_to is not None:
        high, before = np.array([*checks.numbers("carry_to", carry_to, (2,)), high[2]]), high
        legs.append(_leg(before, high, carry_time))
    if release:
        low = np.array([*high[:2], at[2]])
        legs += [_leg(high, low, lift_time), _wait(low, settle + 0.5 * hold)]
        opens = float(sum(float(leg.duration) for leg in legs))
        legs += [_wait(low, OPENING + hold), _leg(low, high, lift_time)]
    way = sequence(parts=legs)
    meeting = Meeting(middle, drift, grasp_time, closing)
    arrive = _arrival(way, meeting, parts.said.radius)
    drives = _schedule(parts, way, meeting, arrive, approach, squeeze, opens)
    level = np.array([[1.0, 0.0, 0.0, 0.0]])
    places = {"vehicles": (begin[None], level), "payload": (standing[None], level)}
    return TeamMotion((way,), way, places, drives)


def _leg(
    begin: Numbers,
    end: Numbers,
    lasts: float,
    leaving_with: Numbers | None = None,
    arriving_with: Numbers | None = None,
    via: Numbers | None = None,
) -> Reference:
    """From place to place; ends that move have a velocity (m/s), but no acceleration and no jerk.

    A place on the way, `via`, is passed when two thirds of the time are over.
    """

    def motion(velocity: Numbers | None) -> Any:
        if velocity is None or not np.any(velocity):
            return "rest"
        return [velocity.tolist(), [0.0] * 3, [0.0] * 3]

    points = [begin, end] if via is None else [begin, via, end]
    return waypoints(
        points=np.stack(points),
        times=[0.0, float(lasts)] if via is None else [0.0, VIA * lasts, float(lasts)],
        start_motion=motion(leaving_with),
        end_motion=motion(arriving_with),
    )


def _wait(place: Numbers, lasts: float) -> Reference:
    return waypoints(points=np.stack([place, place]), times=[0.0, float(lasts)])


def _late(drift: Numbers, friction: float) -> float:
    """How far an object that stands still at first is behind its belt (s): friction takes it along."""
    return float(np.linalg.norm(drift)) / (2 * max(friction, 1e-3) * GRAVITY)


def _arrival(way: Reference, meeting: Meeting, radius: float) -> float:
    """t_a: when the bases of the leading fingers are above the target (s); half of t_g if they always are."""
    grasp_time = meeting.time
    times = np.linspace(0.0, grasp_time, 401)
    target = np.stack([meeting.target(float(time)) for time in times])
    far = np.linalg.norm(way.sample(times).position[:, 0, :2] - target[:, :2], axis=1)
    near = np.flatnonzero(far > radius)
    found = times[near[-1] + 1] if len(near) and near[-1] + 1 < len(times) else 0.5 * grasp_time
    return float(min(max(found, 0.25 * grasp_time), grasp_time - meeting.closing))


def _schedule(
    parts: Any,
    way: Reference,
    meeting: Meeting,
    arrive: float,
    approach: str,
    squeeze: float,
    opens: float | None,
) -> Callable[[], Schedule]:
    """The tendons' lengths and paces from knot to knot, worked out when they are asked for."""

    @cache
    def made() -> Schedule:
        from skyrig import soft

        ring, grasp_time, target = parts.gripper(), meeting.time, meeting.middle
        at_arrival, at_grasp = (way.sample(time).position[0] for time in (arrive, grasp_time))
        spread = np.asarray(soft.lengths_for(ring, approach, meeting.target(arrive), at_arrival).lengths)
        closed = np.asarray(soft.lengths_for(ring, "grasp", target, at_grasp).lengths)
        pressed = closed - [squeeze, 0.0]
        straight = np.asarray(ring.straight)
        knots = [0.0, arrive, grasp_time, grasp_time + SQUEEZING]
        lengths = [straight, spread, closed, pressed]
        if opens is not None:
            opened = np.asarray(soft.lengths_for(ring, "spread", target, at_grasp).lengths)
            knots += [opens, opens + OPENING]
            lengths += [pressed, opened]
        goals = np.stack([*lengths[1:], lengths[-1]]).reshape(len(knots), -1)
        rows = np.stack(lengths).reshape(len(knots), -1)
        spans = np.diff(knots)[:, None]
        paces = np.concatenate([np.abs(np.diff(rows, axis=0)) / spans, np.zeros_like(rows[:1])])
        times = np.array(knots)
        return {"tendon": (times, goals), "tendon_pace": (times, paces)}

    return made
