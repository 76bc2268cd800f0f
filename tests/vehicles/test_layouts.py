"""Airframes of any layout: what their rotors do, how commands are shared, and that they fly."""

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import skyrig
from skyrig.cli.vehicles import drawing
from skyrig.control.actuators import Actuators
from skyrig.control.interface import Command
from skyrig.errors import InputError
from skyrig.files import read_bundled
from skyrig.vehicles import Airframe, airframe, airframe_names
from skyrig.vehicles.authority import hover
from skyrig.vehicles.rotor_loss import RotorLoss


def made(**changes: Any) -> Airframe:
    """A Firefly with some fields changed."""
    fields = {**read_bundled("vehicles", "firefly"), **changes}
    return Airframe.from_dict(fields)


FRAMES = {name: airframe(name) for name in ("firefly", "octorotor", "tilted", "coaxial")}


@pytest.mark.parametrize("name", FRAMES)
def test_a_command_that_fits_is_met_exactly_and_sideways_nothing_goes(name: str) -> None:
    frame = FRAMES[name]
    weight = frame.mass * 9.81
    wanted = np.array([1.1 * weight, 0.03 * weight * frame.arm, -0.02 * weight * frame.arm, 0.01])
    team = Actuators.build([frame])
    rotors, saturated = team.rotor_thrusts(Command(jnp.asarray(wanted[:1]), jnp.asarray(wanted[1:, None])))
    assert not np.asarray(saturated).any()
    force = frame.wrenches @ np.asarray(rotors)[:, 0]
    assert force == pytest.approx([0.0, 0.0, *wanted], abs=1e-9)


def test_every_rotor_gives_its_force_its_lever_and_its_reaction() -> None:
    frame = airframe("tilted")
    for k in range(6):
        axis, hub = frame.axes[k], frame.rotor_positions[k]
        assert np.linalg.norm(axis) == pytest.approx(1.0)
        moment = np.cross(hub, axis) + frame.spin[k] * frame.torque_to_thrust * axis
        assert frame.wrenches[:, k] == pytest.approx([*axis, *moment])
    assert np.linalg.matrix_rank(frame.wrenches, tol=1e-3) == 6
    assert frame.mixing == pytest.approx(frame.wrenches[2:])


def test_plain_airframes_are_mixed_as_ever() -> None:
    for frame in filter(lambda it: it.rotor_axes is None, map(airframe, airframe_names())):
        x, y, _ = frame.rotor_positions.T
        assert np.array_equal(frame.mixing[1], y) and np.array_equal(frame.mixing[2], -x)
        assert np.array_equal(frame.allocation, np.linalg.pinv(frame.mixing))


def most_asked(frame: Airframe, yaw: float) -> tuple[np.ndarray, np.ndarray]:
    """What rotors make of nearly all their thrust, a roll moment, and a yaw moment."""
    asked = np.array([0.9 * frame.total_thrust_max, 0.05 * hover(frame).moments[0], 0.0, yaw])
    team = Actuators.build([frame])
    rotors, _ = team.rotor_thrusts(Command(jnp.asarray(asked[:1]), jnp.asarray(asked[1:, None])))
    rotors = np.asarray(rotors)[:, 0]
    assert (
        rotors.min() >= frame.thrust_min * 0.99999
        and (rotors <= frame.thrust_max * frame.shares * 1.00001).all()
    )
    return asked, frame.mixing @ rotors


def test_thrust_is_given_up_before_yaw_where_the_airframe_says_so() -> None:
    yaw = 0.1
    asked, kept = most_asked(made(), yaw)
    assert kept[1:] == pytest.approx(asked[1:], abs=1e-9) and kept[0] < 0.99 * asked[0]
    asked, lost = most_asked(made(gives_up="yaw"), yaw)
    assert lost[:3] == pytest.approx(asked[:3], abs=1e-9) and lost[3] < 0.9 * yaw


def test_too_much_yaw_leaves_roll_and_pitch_alone() -> None:
    asked, made_of_it = most_asked(made(), 50.0)
    assert made_of_it[1:3] == pytest.approx(asked[1:3], abs=1e-9)
    assert 0.1 < made_of_it[3] < 5.0


def test_a_team_may_hold_vehicles_of_both_kinds() -> None:
    frames = [airframe("dragonfly"), made()]
    both = Actuators.build(frames)
    command = Command(jnp.asarray([3.9, 33.0]), jnp.asarray([[0.02, 0.3], [0.0, 0.1], [0.01, 0.1]]))
    rotors, _ = both.rotor_thrusts(command)
    for k, frame in enumerate(frames):
        alone, _ = Actuators.build([frame]).rotor_thrusts(
            Command(command.thrust[k : k + 1], command.moment[:, k : k + 1])
        )
        assert np.asarray(rotors)[: frame.rotor_count, k] == pytest.approx(np.asarray(alone)[:, 0], rel=1e-12)


def test_what_may_be_lost_in_hover_is_what_physics_allows() -> None:
    """An octorotor hovers without any one rotor; a quadrotor without none."""
    octo, quad = airframe("octorotor"), airframe("dragonfly")
    for k in range(8):
        left = hover(octo, (k,))
        assert left.possible and left.thrusts[k] == 0
        assert octo.mixing @ left.thrusts == pytest.approx([octo.mass * 9.81, 0, 0, 0], abs=1e-9)
    assert not any(hover(quad, (k,)).possible for k in range(4))
    assert hover(quad).thrusts == pytest.approx([quad.mass * 9.81 / 4] * 4)
    assert not hover(quad, carried=1.0).possible


def test_a_drawing_shows_every_rotor() -> None:
    text = drawing(airframe("octorotor"))
    assert all(f"{k}c" in text for k in range(8))
    assert "0cw/4ccw" in drawing(airframe("coaxial"))


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"rotor_axes": [[0, 0, 1]] * 5}, "rotor_axes has 5 entries for 6 rotor_positions"),
        ({"rotor_axes": [[0, 0, -1]] * 6}, "rotor_axes must all point upwards"),
        ({"thrust_shares": [1, 1, 1, 1, 1, 0]}, "thrust_shares must be above zero"),
        ({"gives_up": "lift"}, "gives_up is 'lift'; choose from"),
    ],
)
def test_layouts_that_cannot_be_are_refused(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        made(**changes)


def test_six_rotors_may_stay_without_one_and_four_may_not() -> None:
    """Opposite rotors of a hexarotor with alternating spins cannot balance a lost one's yaw."""
    for name in ("firefly", "octorotor", "coaxial"):
        left = [hover(airframe(name), (k,)) for k in range(airframe(name).rotor_count)]
        assert all(it.stays for it in left)
        assert all(it.possible == (name != "firefly") for it in left)
    assert not any(hover(airframe("dragonfly"), (k,)).stays for k in range(4))


@pytest.mark.parametrize(("name", "yaw"), [("firefly", False), ("octorotor", True), ("coaxial", True)])
def test_a_mixer_that_knows_of_a_lost_rotor_makes_thrust_roll_and_pitch_with_the_rest(
    name: str, yaw: bool
) -> None:
    frame = airframe(name)
    weight = frame.mass * 9.81
    asked = np.array([weight, 0.03 * weight * frame.arm, -0.02 * weight * frame.arm, 0.0])
    command = Command(jnp.asarray(asked[:1]), jnp.asarray(asked[1:, None]))
    for lost in range(frame.rotor_count):
        team = Actuators.build([frame], losses=[RotorLoss(1.0, 0, lost, 1.1)])
        whole = np.asarray(Actuators.build([frame]).rotor_thrusts(command)[0])
        before = np.asarray(team.rotor_thrusts(command, jnp.zeros(1))[0])
        assert np.array_equal(before, whole)
        after = np.asarray(team.rotor_thrusts(command, jnp.ones(1))[0])[:, 0]
        made_of_it = frame.mixing @ after
        assert after[lost] == 0
        assert made_of_it[:3] == pytest.approx(asked[:3], abs=1e-9 * weight)
        if yaw:
            assert made_of_it[3] == pytest.approx(0.0, abs=1e-9 * weight)
            # the least thrusts that do all four
            rest = np.delete(np.arange(frame.rotor_count), lost)
            assert after[rest] == pytest.approx(np.linalg.pinv(frame.mixing[:, rest]) @ asked)
        else:
            assert 0 < abs(made_of_it[3]) < 0.2 * frame.torque_to_thrust * weight


@pytest.mark.slow
@pytest.mark.parametrize("name", FRAMES)
def test_every_layout_flies_the_circle(name: str) -> None:
    """RotorTM's Table III circle, with a payload of a third of the vehicle's mass."""
    frame = FRAMES[name]
    fields = {
        field: value.tolist() if isinstance(value, np.ndarray) else value
        for field, value in vars(frame).items()
        if value is not None and field not in ("ours", "source", "notes")
    }
    fields["spin"] = [int(it) for it in frame.spin]
    scenario = skyrig.load("one-firefly-circle").with_overrides({"rig.vehicles": fields})
    flight = skyrig.fly(scenario)
    assert flight.verdict.flew
    assert flight.metrics["tracking"]["whole"]["position_peak"] < 1e-4


LOST = {
    "reference": {"type": "hover", "start": [0.0, 0.0, 1.0]},
    "duration": 8.0,
    "happenings": [{"type": "rotor-failure", "time": 2.0, "rotor": 0}],
}


@pytest.mark.slow
@pytest.mark.parametrize("lag", [0.0, 0.03])
def test_one_rotor_lost_in_hover_is_held_by_eight_and_by_six(lag: float) -> None:
    """With rotors that lag too. Six of alternating spin let yaw go and keep their place."""
    lost = {**LOST, "loop.rotor_lag": lag}
    octo = skyrig.fly(skyrig.load("one-octorotor-circle").with_overrides(lost))
    six = skyrig.fly(skyrig.load("one-firefly-circle").with_overrides(lost))
    for held, most in ((octo, 0.05), (six, 0.2)):
        assert held.verdict.flew
        assert held.metrics["tracking"]["whole"]["position_peak"] < most
        assert np.abs(held.payload.position[-1] - [0, 0, 1]).max() < 0.03
    assert np.abs(octo.vehicles.rate[-1]).max() < 1e-3 < 0.1 < abs(six.vehicles.rate[-1, 0, 2])


def test_what_a_lost_rotor_leaves_is_said_beforehand() -> None:
    said = {
        name: skyrig.load(f"one-{name}-circle").with_overrides(LOST).remarks
        for name in ("octorotor", "firefly", "dragonfly")
    }
    assert not any("rotor 0" in it for it in said["octorotor"])
    assert any("can stay in its place, but not hold its yaw" in it for it in said["firefly"])
    assert any("cannot stay in the air" in it for it in said["dragonfly"])


@pytest.mark.slow
def test_four_rotors_fall_without_one() -> None:
    fallen = skyrig.fly(skyrig.load("one-dragonfly-circle").with_overrides({**LOST, "duration": 4.0}))
    assert not fallen.verdict.flew
