"""What happens when things go wrong: pokes, drops, cuts, lost thrust, wrong masses, reeling cables."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest
from control_loop import fly, linked, slung

from skyrig import Winch, trim
from skyrig.control import Command, Function, build, targets
from skyrig.control.interface import Controller, part
from skyrig.planning import hover

pytestmark = pytest.mark.slow

AT = [0.0, 0.0, 1.0]


def hovering(n, length, load, **options):
    rig, airframes = slung(n, length, load, **options)
    return rig, airframes, build("cables", rig, airframes), trim(rig, AT).state


@pytest.mark.parametrize("std", [0.0, 1e-3])
def test_the_drop_of_fig_16_ends_in_hover(std):
    rig, airframes, controller, _ = hovering(1, 0.5, "point-mass")
    start = rig.state([0.15, 0, 1 - 0.3 * np.cos(np.pi / 6)], [[0, 0, 1.0]])
    flight = fly(rig, airframes, controller, hover(start=(0, 0, 0.5)), 8.0, start, std=std)
    assert not flight.taut[0, 0]
    assert flight.taut[30:].all()  # caught once, and never let go again
    assert flight.error[600:].max() < 0.01
    assert flight.error.max() < 0.3


@pytest.mark.parametrize("std", [0.0, 1e-3])
@pytest.mark.parametrize("impulse", [(0, 0, 0.1), (0, 0, 0.3), (0.3, 0, 0.3)])
def test_a_poke_at_a_corner_slackens_a_cable_and_is_recovered_from(impulse, std):
    """0.3 N s at a corner of the triangle throws it up at 1 m/s, spinning at 15 rad/s."""
    rig, airframes, controller, state = hovering(3, 1.0, "triangle")
    poked = rig.poke(state, "payload", jnp.asarray(impulse, float)[:, None], rig.attachment[:, 1:2])
    flight = fly(rig, airframes, controller, hover(start=AT), 8.0, poked, std=std)
    assert not flight.taut[:, 1].all()
    assert flight.taut[600:].all()
    assert flight.error[-1] < 0.02
    assert np.degrees(flight.angle[-1]) < 0.2


@pytest.mark.parametrize("std", [0.0, 1e-3])
def test_six_keep_the_box_level_after_a_cut(std):
    rig, airframes, controller, state = hovering(6, 0.5, "box")
    cut = rig.switch(state, "cut", jnp.arange(6) == 0)
    flight = fly(rig, airframes, controller, hover(start=AT), 8.0, cut, std=std)
    assert flight.error.max() < 0.02
    assert np.degrees(flight.angle.max()) < 2
    assert flight.error[-1] < 0.002
    assert np.degrees(flight.angle[-1]) < 0.2
    np.testing.assert_array_equal(flight.memory.belief.lost, np.arange(6) == 0)
    # the vehicle that lost its cable waits where it was
    away = flight.craft.position[-1, 0] - flight.craft.position[0, 0]
    assert np.linalg.norm(away) < 0.02


@pytest.mark.parametrize("std", [0.0, 1e-3])
def test_four_hold_the_box_in_place_after_a_cut_and_let_it_tilt(std):
    rig, airframes, controller, state = hovering(4, 0.5, "box")
    cut = rig.switch(state, "cut", jnp.arange(4) == 0)
    flight = fly(rig, airframes, controller, hover(start=AT), 20.0, cut, std=std)
    assert flight.error.max() < 0.08
    assert np.degrees(flight.angle.max()) < 25


def test_a_vehicle_told_to_stay_out_does():
    """The mask of available cables is a leaf: the rest carry what it would have."""
    rig, airframes, controller, state = hovering(6, 0.5, "box")
    resting = eqx.tree_at(lambda c: c.available, controller, jnp.ones(6).at[4].set(0.0))
    flight = fly(rig, airframes, resting, hover(start=AT), 8.0, state)
    np.testing.assert_allclose(flight.thrust[-1, 4], 0.25 * 9.81, rtol=0.02)
    assert flight.error[-1] < 0.005
    assert np.degrees(flight.angle[-1]) < 0.5


@pytest.mark.parametrize(("n", "load"), [(1, "point-mass"), (3, "triangle")])
def test_a_step_of_a_metre(n, load):
    rig, airframes, controller, state = hovering(n, 0.5, load)
    flight = fly(rig, airframes, controller, hover(start=(1.0, 0, 1.3)), 8.0, state)
    assert flight.taut.all()
    assert flight.error[500:].max() < 0.03
    assert flight.load.position[:, 0].max() < 1.1


def test_lost_thrust_is_learnt():
    rig, airframes, controller, state = hovering(3, 1.0, "triangle")
    flight = fly(rig, airframes, controller, hover(start=AT), 20.0, state, efficiency=[0.95, 1.0, 1.0])
    assert flight.error[-1] < 0.005
    assert np.degrees(flight.angle[-1]) < 0.2


@pytest.mark.parametrize("joint", ["cables", "links"])
def test_wrong_masses_are_learnt(joint):
    """The controller believes everything 5% too light."""
    rig, airframes = slung(3, 1.0) if joint == "cables" else linked()
    controller = build(joint, rig, airframes)
    heavy = (lambda c: (c.mass, c.payload_mass)) if joint == "cables" else (lambda c: (c.mass,))
    controller = eqx.tree_at(heavy, controller, tuple(0.95 * leaf for leaf in heavy(controller)))
    flight = fly(rig, airframes, controller, hover(start=AT), 20.0)
    assert flight.error.max() > 0.01
    assert flight.error[-1] < 2e-3


def test_hooks_off_the_centre_of_mass():
    rig, airframes, controller, state = hovering(3, 1.0, "triangle", hook=(0.01, -0.005, -0.03))
    flight = fly(rig, airframes, controller, hover(start=(0.2, 0, 1.0)), 8.0, state)
    assert flight.error[-1] < 0.005
    still = fly(rig, airframes, controller, hover(start=AT), 1.0, state)
    assert still.error.max() < 1e-9


class Reeling(Controller):
    """The cable controller, with cables reeled to a wanted length."""

    inner: Controller = part()
    limits: object = part()
    wanted: jnp.ndarray = part()

    def prepare(self, payload=None, vehicles=None):
        return self.inner.prepare(payload, vehicles)

    def start(self, measurement):
        return self.inner.start(measurement)

    def __call__(self, memory, t, target, measurement):
        memory, command = self.inner(memory, t, target, measurement)
        rate = self.limits.towards(measurement.length, self.wanted, 0.01)
        return memory, Command(command.thrust, command.moment, {"winch": rate})


def test_the_payload_stays_while_cables_are_reeled():
    drum = Winch(rate=0.4, acceleration=1.0, shortest=0.3, longest=1.5)
    rig, airframes, controller, state = hovering(3, 0.5, "triangle", winch=drum)
    wanted = jnp.asarray([1.0, 1.2, 0.4])
    flight = fly(rig, airframes, Reeling(controller, rig.winch, wanted), hover(start=AT), 10.0, state)
    np.testing.assert_allclose(flight.final.length, wanted, atol=1e-6)
    assert flight.taut.all()
    assert flight.error.max() < 0.02
    assert flight.error[-1] < 2e-3


def test_a_stiffer_and_a_softer_team_both_fly():
    """Gains may be wrong by a factor without harm."""
    rig, airframes = slung(3, 1.0)
    state = trim(rig, AT).state
    for factor in (0.6, 1.3):
        gains = build("cables", rig, airframes).gains
        given = {"position": factor * gains.position, "cable": factor * gains.cable}
        controller = build("cables", rig, airframes, gains=given)
        flight = fly(rig, airframes, controller, hover(start=(0.3, 0.2, 1.1)), 8.0, state)
        assert flight.error[-1] < 0.01


def test_nobody_at_the_sticks():
    """A function that asks for nothing lets everything fall: the loop itself adds no control."""
    rig, airframes = slung(1, 0.5, "point-mass")

    def nothing(memory, t, target, seen):
        return memory, Command(0 * seen.length, 0 * seen.vehicles.rate)

    flight = fly(rig, airframes, Function(nothing), hover(start=AT), 0.5, trim(rig, AT).state)
    low = airframes[0].total_thrust_min
    fall = 0.5 * (9.81 - low / 0.32) * 0.49**2
    assert flight.load.position[-1, 2] == pytest.approx(1 - fall, rel=1e-3)
    assert targets(Function(nothing), hover().sample(np.zeros(1))).nominal is None


@pytest.mark.parametrize("lag", [0.02, 0.05])
def test_gains_fit_rotors_that_lag(lag):
    """Rotors that take 50 ms to follow: the gains know, and a step is still answered well."""
    rig, airframes = slung(3, 1.0)
    controller = build("cables", rig, airframes, lag=lag)
    flight = fly(rig, airframes, controller, hover(start=(0.3, 0.2, 1.1)), 15.0, trim(rig, AT).state, lag=lag)
    assert flight.error[-1] < 0.03
    assert float(jnp.abs(flight.final.vehicles.rate).max()) < 0.05


def test_the_integral_pushes_the_right_way_where_cables_are_slower_than_pendulums():
    """Slow gains, short cables: bandwidth^2 times length is below g, and so less than gravity's own pull.

    Vehicles that do not move along with what the integral asks for then lose more than it gives.
    """
    rig, airframes = slung(3, 0.5)
    controller = build("cables", rig, airframes, lag=0.05)
    assert float((controller.gains.cable**2 * rig.length).max()) < 0.5 * float(rig.gravity)
    away = hover(start=(0.03, 0.02, 1.0))
    flight = fly(rig, airframes, controller, away, 15.0, trim(rig, AT).state, lag=0.05)
    assert flight.error[1000:].max() < flight.error[:500].max() / 4
    assert flight.error[-1] < 0.005
