"""Attitude control on SO(3), and from a wanted thrust vector to a wanted attitude.

Errors are e_R = (R^T R_d - R_d^T R)^v / 2 and e_Omega = R^T R_d Omega_d - Omega, wanted minus actual, as in
RotorTM's eq. 67; gains therefore stand with a plus sign everywhere.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from skyrig.algebra import apply, cross, dot, rotation_matrix
from skyrig.control.interface import (
    Command,
    Controller,
    Measurement,
    Target,
    axes,
    fitted,
    fitted_target,
    wanted_of,
)


class WantedFrame(NamedTuple):
    """A wanted attitude and how it turns."""

    rotation: Float[Array, "3 3 ..."]
    """Body to world; entry [:, j] is the body's axis j."""
    rate: Float[Array, "3 ..."]
    """Body rate (rad/s)."""


def least_turn(thrust: Float[Array, "3 ..."], thrust_rate: Float[Array, "3 ..."]) -> WantedFrame:
    """The frame reached from level by the least turn that points z along `thrust`, and its body rate.

    Smooth except upside down; the hover of `skyrig.rigs.equilibrium` leans its vehicles in the same way.
    """
    z, z_rate = _direction(thrust, thrust_rate)
    x, y, up = z
    factor = 1 / jnp.maximum(1 + up, 1e-6)
    first = jnp.stack([1 - x * x * factor, -x * y * factor, -x])
    second = jnp.stack([-x * y * factor, 1 - y * y * factor, -y])
    twist = (y * z_rate[0] - x * z_rate[1]) * factor
    rate = jnp.stack([-dot(second, z_rate), dot(first, z_rate), twist])
    return WantedFrame(jnp.stack([first, second, z], axis=1), rate)


def heading_frame(
    thrust: Float[Array, "3 ..."],
    thrust_rate: Float[Array, "3 ..."],
    heading: Float[Array, "3 ..."],
    yaw_rate: Float[Array, " ..."],
) -> WantedFrame:
    """The frame with z along `thrust` whose yaw (of yaw, pitch, roll) is that of `heading`, and how it turns.

    Args:
        thrust: Wanted thrust vector, world frame (N).
        thrust_rate: Its time derivative (N/s).
        heading: (cos yaw, sin yaw, 0).
        yaw_rate: Rate of the yaw (rad/s).
    """
    z, z_rate = _direction(thrust, thrust_rate)
    left = jnp.stack([-heading[1], heading[0], jnp.zeros_like(heading[2])])
    ahead = cross(left, z)
    size = jnp.sqrt(jnp.maximum(dot(ahead, ahead), 1e-12))
    first = ahead / size
    second = cross(z, first)
    ahead_rate = cross(left, z_rate) - cross(yaw_rate * heading, z)
    rate = jnp.stack([-dot(second, z_rate), dot(first, z_rate), dot(second, ahead_rate) / size])
    return WantedFrame(jnp.stack([first, second, z], axis=1), rate)


def projected_frame(thrust: Float[Array, "3 ..."], heading: Float[Array, "3 ..."]) -> Float[Array, "3 3 ..."]:
    """The rotation with z along `thrust` and x as near to `heading` as can be (multilift eq. 29).

    Its yaw differs from that of yaw, pitch, roll by about the product of roll and pitch.
    """
    z, _ = _direction(thrust, 0 * thrust)
    aside = cross(z, heading)
    second = aside / jnp.sqrt(jnp.maximum(dot(aside, aside), 1e-12))
    return jnp.stack([cross(second, z), second, z], axis=1)


def _direction(vector: Array, rate: Array) -> tuple[Array, Array]:
    """A vector's direction and how it changes."""
    size = jnp.sqrt(jnp.maximum(dot(vector, vector), 1e-12))
    unit = vector / size
    return unit, (rate - unit * dot(unit, rate)) / size


def relative_rotation(
    rotation: Float[Array, "3 3 ..."], wanted: Float[Array, "3 3 ..."]
) -> Float[Array, "3 3 ..."]:
    """R^T R_d: takes vectors from the wanted body frame into the actual one."""
    # written out: XLA hands a sum of products this large to a library, which no loop in one kernel can hold
    first, second, third = (row[:, None] * other[None] for row, other in zip(rotation, wanted, strict=True))
    return first + second + third


def rotation_error(relative: Float[Array, "3 3 ..."]) -> Float[Array, "3 ..."]:
    """e_R of R^T R_d: the sine of the angle to turn, along the axis to turn about, body frame."""
    return 0.5 * jnp.stack(
        [relative[2, 1] - relative[1, 2], relative[0, 2] - relative[2, 0], relative[1, 0] - relative[0, 1]]
    )


class Turning(NamedTuple):
    """How far a body is from its wanted attitude, all in its own frame."""

    error: Float[Array, "3 ..."]
    """e_R (rad, for small errors)."""
    rate_error: Float[Array, "3 ..."]
    """e_Omega (rad/s)."""
    spin: Float[Array, "3 ..."]
    """Angular acceleration of the wanted frame as the body sees it (rad/s^2)."""


def turning(
    rotation: Float[Array, "3 3 ..."],
    rate: Float[Array, "3 ..."],
    wanted: WantedFrame,
    wanted_spin: Float[Array, "3 ..."],
) -> Turning:
    """Errors and feed-forward of a body against a wanted frame that turns (RotorTM eqs. 66, 67).

    Args:
        rotation: The body's, to world.
        rate: Its body rate (rad/s).
        wanted: The wanted frame and body rate.
        wanted_spin: Time derivative of the wanted body rate, in the wanted frame (rad/s^2).
    """
    relative = relative_rotation(rotation, wanted.rotation)
    aimed = apply(relative, wanted.rate)
    return Turning(rotation_error(relative), aimed - rate, apply(relative, wanted_spin) - cross(rate, aimed))


def turning_spin(
    way: Turning, bandwidth: Float[Array, "3 ..."], damping: Float[Array, " ..."]
) -> Float[Array, "3 ..."]:
    """Angular acceleration (rad/s^2) that lets errors die away with a bandwidth (rad/s) and a damping."""
    return way.spin + bandwidth**2 * way.error + 2 * damping * bandwidth * way.rate_error


def turning_moment(
    inertia: Float[Array, "3 3 ..."], rate: Float[Array, "3 ..."], spin: Float[Array, "3 ..."]
) -> Float[Array, "3 ..."]:
    """The moment (N m) that accelerates a body's turning by `spin` (rad/s^2), whatever its rate (rad/s)."""
    return apply(inertia, spin) + cross(rate, apply(inertia, rate))


def within_reach(
    thrust: Float[Array, "3 ..."], least: Float[Array, " ..."], most: Float[Array, " ..."]
) -> tuple[Float[Array, "3 ..."], Float[Array, " ..."]]:
    """A wanted thrust vector cut to what rotors give, height before sideways motion; one where it was cut.

    The vertical part is kept between `least` and `most` (N), the horizontal part then to what is left.
    """
    x, y, z = thrust
    height = jnp.clip(z, least, most)
    square = x * x + y * y
    room = jnp.maximum(most**2 - height**2, (0.05 * most) ** 2)
    over = square > room
    scale = jnp.where(over, jnp.sqrt(room / jnp.where(over, square, 1.0)), 1.0)
    cut = (over | (z > most) | (z < least)).astype(z.dtype)
    return jnp.stack([x * scale, y * scale, height]), cut


class Attitude(Controller):
    """Each vehicle holds the attitude of its own reference, at a thrust that carries it."""

    inertia: Float[Array, "3 3 n ..."] = axes(3)
    weight: Float[Array, "n ..."] = axes(1)
    """What the thrust holds up (N): each vehicle's weight and its share of the payload's."""
    bandwidth: Float[Array, "3 n ..."] = axes(2)
    """Of each vehicle's roll, pitch and yaw (rad/s)."""
    damping: Float[Array, " ..."] = axes(0)

    def __call__(self, memory: Any, t: Any, target: Target, measurement: Measurement) -> tuple[Any, Command]:
        """Attitude from the vehicles' reference; thrust from the weight and the tilt."""
        it = fitted(self, measurement.length)
        aim = wanted_of("vehicles", fitted_target(target, measurement).vehicles)
        craft = measurement.vehicles
        rotation = rotation_matrix(craft.attitude)
        wanted = WantedFrame(rotation_matrix(aim.attitude), aim.rate[0])
        way = turning(rotation, craft.rate, wanted, aim.rate[1])
        moment = turning_moment(it.inertia, craft.rate, turning_spin(way, it.bandwidth, it.damping))
        thrust = it.weight / jnp.maximum(rotation[2, 2], 0.5)
        return memory, Command(thrust, moment)
