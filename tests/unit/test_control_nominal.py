"""The motion computed from a reference alone, put into the rig's own equations of motion."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from control_loop import linked, slung
from scipy.spatial.transform import Rotation

from skyrig.control import build
from skyrig.control.attitude import heading_frame, least_turn
from skyrig.control.nominal import motion, shifted
from skyrig.planning import combined, lissajous, rotation
from skyrig.rigs import Loads

TUMBLE = combined(
    path=lissajous(amplitude=[0.8, 0.5, 0.3], period=6.0, frequency=[1, 1.3, 0.7]),
    rotation=rotation(amplitude=[0.2, 0.15, 0.5], period=6.0),
)
TIMES = np.array([4.7, 6.9, 9.4])


def at_ticks(controller):
    """The same controller, looking at the tick itself and not at the middle of the hold."""
    return eqx.tree_at(lambda c: c.late.period, controller, jnp.asarray(0.0))


def quaternion(matrix):
    return Rotation.from_matrix(np.array(matrix)).as_quat(scalar_first=True)


@pytest.mark.parametrize(
    ("n", "length", "load", "craft"),
    [
        (1, 0.5, "point-mass", "dragonfly"),
        (3, 1.0, "triangle", "dragonfly"),
        (3, (1.2, 0.8, 1.0), "triangle", ("dragonfly", "race", "hummingbird")),
        (6, 0.5, "box", "dragonfly"),
    ],
)
def test_a_cable_rig_on_its_reference_obeys_its_dynamics(n, length, load, craft):
    rig, airframes = slung(n, length, load, craft)
    controller = at_ticks(build("cables", rig, airframes, gains={"lean": 0.2 if n > 1 else 0.0}))
    wanted = TUMBLE.sample(TIMES)
    nominal = controller.prepare(wanted)
    for k in range(len(TIMES)):
        now = jax.tree.map(lambda leaf, k=k: leaf[k], nominal)
        pull, pull_rate = _pulls(rig, controller, wanted, k), now.pull_rate
        thrust = rig.mass * (now.vehicle[2] + jnp.asarray([0, 0, 9.81])[:, None]) + pull
        thrust_rate = rig.mass * now.vehicle[3] + pull_rate
        frame = least_turn(thrust, thrust_rate)
        moment = jnp.einsum("ijk,jk->ik", rig.inertia, now.vehicle_spin) + jnp.cross(
            frame.rate, jnp.einsum("ijk,jk->ik", rig.inertia, frame.rate), axis=0
        )
        state = rig.state(
            now.position[0],
            now.vehicle[0].T,
            payload_velocity=now.position[1],
            payload_attitude=quaternion(now.rotation) if load != "point-mass" else None,
            payload_rate=now.rate[0] if load != "point-mass" else None,
            vehicle_velocity=now.vehicle[1].T,
            vehicle_attitude=np.stack([quaternion(frame.rotation[..., i]) for i in range(n)]),
            vehicle_rate=frame.rate.T,
        )
        assert bool(state.taut.all())
        inputs = Loads(jnp.linalg.norm(thrust, axis=0), moment)
        rate = rig.derivative(0.0, state, inputs)
        np.testing.assert_allclose(rate.payload.velocity, now.position[2], atol=1e-9)
        np.testing.assert_allclose(rate.vehicles.velocity, now.vehicle[2], atol=1e-9)
        np.testing.assert_allclose(rate.vehicles.rate, now.vehicle_spin, atol=1e-9)
        np.testing.assert_allclose(rig.tension(state, inputs), np.linalg.norm(pull, axis=0), atol=1e-9)
        if load != "point-mass":
            np.testing.assert_allclose(rate.payload.rate, now.rate[1], atol=1e-8)


def _pulls(rig, controller, wanted, k):
    """Cable forces by the pseudo-inverse of eq. 71, world frame, from the reference at one time."""
    turn = Rotation.from_quat(wanted.attitude[k], scalar_first=True).as_matrix()
    rate, spin = wanted.rate[k, 0], wanted.rate[k, 1]
    force = float(rig.payload_mass) * (wanted.position[k, 2] + [0, 0, 9.81])
    inertia = np.asarray(rig.payload_inertia)
    moment = inertia @ spin + np.cross(rate, inertia @ rate)
    points = np.asarray(rig.attachment).T
    hats = [np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]]) for x, y, z in points]
    matrix = np.concatenate([np.tile(np.eye(3), len(points)), np.concatenate(hats, axis=1)])
    local = np.linalg.pinv(matrix) @ np.concatenate([turn.T @ force, moment])
    return jnp.asarray(turn @ (local.reshape(-1, 3).T + np.asarray(controller.internal)))


def test_time_derivatives_are_those_of_the_motion():
    """Rows of the nominal against differences between neighbouring times."""
    rig, airframes = slung(3, 1.0)
    controller = at_ticks(build("cables", rig, airframes))
    h = 1e-4
    nominal = controller.prepare(TUMBLE.sample(6.9 + h * np.array([-1, 0, 1])))
    for rows in (nominal.position, nominal.vehicle, nominal.direction, nominal.rate):
        slope = (rows[2, :-1] - rows[0, :-1]) / (2 * h)
        np.testing.assert_allclose(rows[1, 1:], slope, atol=2e-6)


def test_a_linked_rig_on_its_reference_obeys_its_dynamics():
    rig, airframes = linked(yaw=[0.3, 0.0, -0.5])
    controller = at_ticks(build("links", rig, airframes))
    gentle = combined(path=TUMBLE.place, rotation=rotation(amplitude=[0, 0, 0.1], period=6.0))
    wanted = gentle.sample(TIMES)
    nominal = jax.tree.map(jnp.asarray, controller.prepare(wanted))
    for k in range(len(TIMES)):
        position, heading, yaw_rate, rates = (
            leaf[k] for leaf in (nominal.position, nominal.heading, nominal.yaw_rate, nominal.rate)
        )
        lift = position[2] + jnp.asarray([0, 0, 9.81])[:, None]
        frame = heading_frame(lift, position[3], heading, yaw_rate)
        np.testing.assert_allclose(frame.rate, rates[0], atol=1e-12)
        euler = Rotation.from_matrix(np.array(frame.rotation[..., 0])).as_euler("ZYX")
        assert euler[0] == pytest.approx(wanted.euler[k, 0, 2])
        spin = rates[1][:, 0]
        moment = rig.inertia @ spin + jnp.cross(rates[0][:, 0], rig.inertia @ rates[0][:, 0])
        command = controller.rotors.command(rig.mass * jnp.linalg.norm(lift), moment)
        attitude = quaternion(frame.rotation[..., 0])
        turn = np.array(frame.rotation[..., 0])
        place = np.asarray(position[0][:, 0]) + turn @ np.asarray(rig.payload_offset)
        # the payload is on its reference but for the one round of substitution
        np.testing.assert_allclose(place, wanted.position[k, 0], atol=2e-4)
        state = rig.state(place, payload_attitude=attitude, payload_rate=np.array(rates[0][:, 0]))
        rate = rig.derivative(0.0, state, Loads(command.thrust, command.moment))
        np.testing.assert_allclose(rate.velocity, position[2][:, 0], atol=1e-9)
        np.testing.assert_allclose(rate.rate, spin, atol=1e-8)


def test_shifting_a_series_is_looking_later():
    coefficients = np.array([0.3, -1.0, 2.0, 0.5])
    later = shifted(coefficients, 0.2)
    for order in range(4):
        exact = (
            np.polynomial.Polynomial(coefficients).deriv(order)(0.2)
            if order
            else np.polyval(coefficients[::-1], 0.2)
        )
        assert later[order] == pytest.approx(exact / [1, 1, 2, 6][order])
    moved = motion(TUMBLE.sample(np.array([6.9])), 5e-3)
    np.testing.assert_allclose(moved.position[0], TUMBLE.sample(np.array([6.905])).position[:, 0], atol=1e-13)
