"""What the gains of controllers mean, each with its unit; docs/control.md has their defaults."""

from __future__ import annotations

from typing import NamedTuple

from skyrig.control.known import CONTROLLERS


class Meaning(NamedTuple):
    """Of a gain."""

    unit: str
    text: str


_FULL = {
    "position": Meaning("rad/s", "bandwidth of the position"),
    "attitude": Meaning("rad/s", "bandwidth of the attitude, the payload's or each vehicle's"),
    "cable": Meaning("rad/s", "bandwidth of the cables' directions"),
    "vehicle": Meaning("rad/s", "bandwidth of the vehicles' roll, pitch, yaw"),
    "follow": Meaning("rad/s", "bandwidth of a vehicle whose cable is slack or cut"),
    "integral": Meaning("rad/s", "rate at which constant disturbances are learnt"),
    "damping": Meaning("1", "damping ratio of all"),
    "reach": Meaning("m", "position errors count up to this"),
    "most_side": Meaning("m/s^2", "most that feedback asks for sideways and downwards"),
    "most_up": Meaning("m/s^2", "most that feedback asks for upwards"),
    "most_turning": Meaning("1", "most that attitude feedback changes a cable's force, in equal shares"),
    "learn": Meaning("m, rad", "errors count in integrals up to this"),
    "most_push": Meaning("m/s^2", "bound of the integral of position errors"),
    "most_turn": Meaning("rad/s^2", "bound of the integral of attitude errors"),
    "least_pull": Meaning("1", "least upward pull of a cable, in equal shares of the weight"),
    "slack": Meaning("m", "a cable this much shorter than its length counts as slack"),
    "cut": Meaning("m", "a cable this much longer than its length counts as cut"),
    "lean": Meaning("rad", "outward lean of cables in hover"),
    "carry": Meaning("1", "share of the load's weight in the integral from the start"),
    "drag": Meaning("1", "share of the drag that still air makes which is fed forward"),
    "observe": Meaning("rad/s", "rate at which forces from outside, such as gusts, are learnt"),
}
_POINT_ROBOT = _FULL | {
    "carry": Meaning("1", "share of the cables' pull that is fed forward"),
    "swing": Meaning("s", "how much vehicles yield to the payload's swing, which damps it"),
    "keep": Meaning("m", "vehicles nearer to each other than this push each other away"),
}
_PUBLISHED = {
    "position": Meaning("1/s^2", "acceleration per position error, K_p"),
    "velocity": Meaning("1/s", "acceleration per velocity error, K_d"),
    "payload_attitude": Meaning("N m/rad", "moment on the payload per attitude error, K_RL"),
    "payload_rate": Meaning("N m s/rad", "moment on the payload per rate error, K_OmegaL"),
    "cable": Meaning("1/s^2", "angular acceleration of a cable per direction error, K_xi"),
    "cable_rate": Meaning("1/s", "angular acceleration of a cable per rate error, K_omega"),
    "attitude": Meaning("N m/rad", "moment of a vehicle per attitude error, K_R"),
    "rate": Meaning("N m s/rad", "moment of a vehicle per rate error, K_Omega"),
    "carry": Meaning("1", "share of the load's weight that is carried from the start"),
}
_LINKS = _PUBLISHED | {
    "attitude": Meaning("1/s^2", "angular acceleration of the rig per attitude error, K_R"),
    "rate": Meaning("1/s", "angular acceleration of the rig per rate error, K_Omega"),
}
_MPC = {
    "position": Meaning("1/m^2", "weight of the vehicles' positions"),
    "velocity": Meaning("s^2/m^2", "weight of the vehicles' velocities"),
    "attitude": Meaning("1/rad^2", "weight of the vehicles' attitudes"),
    "rate": Meaning("s^2/rad^2", "weight of the vehicles' body rates"),
    "load_position": Meaning("1/m^2", "weight of the payload's position"),
    "load_velocity": Meaning("s^2/m^2", "weight of the payload's velocity"),
    "load_attitude": Meaning("1/rad^2", "weight of the payload's attitude"),
    "load_rate": Meaning("s^2/rad^2", "weight of the payload's body rate"),
    "thrust": Meaning("1/N^2", "weight of thrusts other than the reference's"),
    "moment": Meaning("1/(N m)^2", "weight of moments other than the reference's"),
    "tension": Meaning("1/N^2", "weight of tensions other than the reference's"),
    "final": Meaning("1", "how many times more errors count at the end of the horizon"),
    "approach": Meaning("1/s", "rate at which errors should die out there"),
    "brake": Meaning("s", "how far vehicles move against each m/s of the load, to brake its swing"),
    "softness": Meaning("m^2", "a change of a cable's length costs its square over twice this"),
    "apart": Meaning("m", "vehicles keep this distance from each other, half of it from obstacles"),
    "obstacles": Meaning("m", "upright round obstacles that plans keep off: rows of x, y, radius"),
    "shy": Meaning("1/m^2", "weight of coming nearer than that"),
    "learn": Meaning("1/s", "rate at which unplanned pushes are learnt"),
    "least_pull": Meaning("1", "least tension, in equal shares of the weight"),
    "lean": Meaning("rad", "outward lean of cables in hover"),
    "deaf_from": Meaning("s", "since when a vehicle neither hears nor is heard"),
    "deaf_until": Meaning("s", "until when"),
    "step": Meaning("s", "of the horizon, a multiple of the control period"),
    "horizon": Meaning("1", "steps that are looked ahead"),
    "sweeps": Meaning("1", "how often plans are exchanged in a control period"),
    "turns": Meaning("1", "how often each agent improves its plan in a sweep"),
    "delay": Meaning("1", "control periods that a message takes; 0: they are exchanged within a period"),
    "parallel": Meaning("1", "1: the payload plans at the same time as the vehicles, not after them"),
}
_OWN = {
    ("mpc-distributed", "full"): _MPC,
    ("mpc-central", "full"): _MPC,
    ("links", "published"): _LINKS,
    ("yaw-decoupled", "full"): _PUBLISHED,
    ("attitude", "published"): _FULL,
    ("point-robot", "full"): _POINT_ROBOT,
    ("point-robot", "published"): _POINT_ROBOT,
}
"""Where the flavour does not say which."""


def gains(controller: str, flavour: str) -> dict[str, Meaning | None]:
    """The gains that a controller has, and what each means."""
    table = _OWN.get((controller, flavour), _FULL if flavour == "full" else _PUBLISHED)
    return {each: table.get(each) for each in CONTROLLERS[controller].gains.get(flavour, ())}
