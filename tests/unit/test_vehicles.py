"""The bundled airframes are the published ones, can exist, and can fly."""

import math
import pickle
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyrig.constants import GRAVITY
from skyrig.errors import InputError
from skyrig.files import read_bundled
from skyrig.vehicles import Airframe, airframe, airframe_names

RPM = 2 * math.pi / 60

# RotorTM, Table IV: mass (kg), arm (m), Jxx, Jyy, Jzz (kg m^2), greatest and least speed (rpm).
TABLE_IV = {
    "dragonfly": (0.25, 0.1075, 0.601e-3, 0.589e-3, 1.076e-3, 16400, 5500),
    "hummingbird": (0.5, 0.17, 2.64e-3, 2.64e-3, 4.96e-3, 7500, 1500),
    "race": (0.95, 0.10125, 3.0e-3, 3.0e-3, 4.0e-3, 23000, 5500),
}
# Total thrust (N) at least and greatest speed, from the thrust coefficients of the RotorTM code.
TOTAL_THRUST = {
    "dragonfly": (0.47684565720, 4.239749023488),
    "dragonfly-bullnose": (0.79523974167, 7.0706671378368),
    "hummingbird": (0.4995, 12.4875),
    "race": (1.4725958456, 25.7521719776),
}


@pytest.fixture(params=airframe_names())
def frame(request: pytest.FixtureRequest) -> Airframe:
    return airframe(request.param)


def dragonfly(**changes: object) -> dict[str, object]:
    """The fields of the Dragonfly's file, some of them changed; None takes one away."""
    fields = {**read_bundled("vehicles", "dragonfly"), **changes}
    return {key: value for key, value in fields.items() if value is not None}


# The published numbers


@pytest.mark.parametrize("name", TABLE_IV)
def test_table_iv(name: str) -> None:
    mass, arm, jxx, jyy, jzz, fastest, slowest = TABLE_IV[name]
    frame = airframe(name)
    assert frame.mass == mass
    assert frame.arm == pytest.approx(arm, rel=1e-12)
    np.testing.assert_array_equal(frame.inertia, np.diag([jxx, jyy, jzz]))
    assert frame.speed_max / RPM == pytest.approx(fastest, rel=1e-12)
    assert frame.speed_min / RPM == pytest.approx(slowest, rel=1e-12)


@pytest.mark.parametrize("name", TOTAL_THRUST)
def test_thrust_limits_are_those_of_the_published_coefficients(name: str) -> None:
    frame = airframe(name)
    assert (frame.total_thrust_min, frame.total_thrust_max) == pytest.approx(TOTAL_THRUST[name], rel=1e-9)


def test_crazyflie_lifts_what_its_identification_measured() -> None:
    command = 65535
    thrust = 2.130295e-11 * command**2 + 1.032633e-6 * command + 5.484560e-4  # N, Foerster 2015
    assert airframe("crazyflie").thrust_max == pytest.approx(thrust, rel=1e-5)
    assert airframe("crazyflie").torque_to_thrust == pytest.approx(0.005964552, rel=1e-4)


# What a physicist would ask of any vehicle


def test_hover_lies_inside_the_rotor_limits(frame: Airframe) -> None:
    hover = frame.mass * GRAVITY / frame.rotor_count
    assert frame.thrust_min < hover < frame.thrust_max
    assert frame.thrust_to_weight == pytest.approx(frame.total_thrust_max / (frame.mass * GRAVITY))


def test_inertia_is_that_of_some_body_within_the_vehicle(frame: Airframe) -> None:
    moments = np.linalg.eigvalsh(frame.inertia)
    assert moments[0] > 0
    assert moments[2] <= moments[0] + moments[1]
    if frame.name != "soft-drone":  # the paper's moments are too large for its size, as its file says
        # all the mass at the propeller tips would have this much
        assert moments[2] < frame.mass * frame.radius**2


def test_torque_over_thrust_is_a_small_part_of_the_propeller(frame: Airframe) -> None:
    assert frame.rotor_radius is not None
    assert 0.05 < frame.torque_to_thrust / (2 * frame.rotor_radius) < 0.2


def test_equal_thrusts_lift_without_turning(frame: Airframe) -> None:
    wrench = frame.mixing @ np.full(frame.rotor_count, frame.mass * GRAVITY / frame.rotor_count)
    upright = frame.axes[:, 2].mean()  # of tilted rotors only a part lifts
    np.testing.assert_allclose(wrench, [upright * frame.mass * GRAVITY, 0, 0, 0], atol=1e-14)


def test_any_thrust_and_moments_can_be_made(frame: Airframe) -> None:
    wanted = np.array([frame.mass * GRAVITY, 1e-3, -2e-3, 3e-4])
    np.testing.assert_allclose(frame.mixing @ frame.allocation @ wanted, wanted, rtol=1e-9, atol=1e-12)


def test_moments_turn_the_right_way(frame: Airframe) -> None:
    """x forward, y left: rotors on the left roll right (+x), rotors in front pitch up (-y)."""
    left = (frame.rotor_positions[:, 1] > 0).astype(float)
    front = (frame.rotor_positions[:, 0] > 0).astype(float)
    assert (frame.mixing @ left)[1] > 0
    assert (frame.mixing @ front)[2] < 0
    if frame.rotor_axes is None:  # else side forces turn as well, and more
        assert (frame.mixing @ (frame.spin > 0))[3] > 0


def test_mixing_is_the_sum_of_cross_products(frame: Airframe) -> None:
    thrusts = np.arange(1.0, frame.rotor_count + 1)
    forces = thrusts[:, None] * frame.axes
    moment = np.cross(frame.rotor_positions, forces).sum(axis=0)
    moment += (frame.spin * frame.torque_coefficient / frame.thrust_coefficient) @ forces
    np.testing.assert_allclose(frame.mixing @ thrusts, [forces[:, 2].sum(), *moment], atol=1e-12)


@given(rotors=st.sampled_from([4, 6, 8]), layout=st.sampled_from(["x", "plus"]), arm=st.floats(0.01, 10))
def test_layouts_are_balanced_at_arm_length(rotors: int, layout: str, arm: float) -> None:
    fields = dragonfly(layout=layout, arm=arm, spin=[1, -1] * (rotors // 2))
    frame = Airframe.from_dict(fields)
    np.testing.assert_allclose(frame.rotor_positions.sum(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(frame.rotor_positions, axis=1), arm)
    assert np.linalg.matrix_rank(frame.mixing) == 4
    first = [1, 0, 0] if layout == "plus" else [math.cos(math.pi / rotors), math.sin(math.pi / rotors), 0]
    np.testing.assert_allclose(frame.rotor_positions[0], arm * np.array(first), atol=1e-12)


def test_rotors_may_be_placed_one_by_one() -> None:
    places = [[0.1, 0.2, 0.03], [-0.1, 0.2, 0], [-0.1, -0.2, 0], [0.1, -0.2, 0]]
    frame = Airframe.from_dict(dragonfly(layout=None, arm=None, rotor_positions=places))
    np.testing.assert_array_equal(frame.rotor_positions, places)
    assert frame.arm == pytest.approx(math.hypot(0.1, 0.2))


# What the files must say


def test_every_file_says_where_its_numbers_come_from(frame: Airframe) -> None:
    assert len(frame.source) > 40
    assert frame.ours and len(frame.notes) > 40, "nobody publishes everything"
    if frame.rotor_count == 4:
        assert "torque_coefficient" in frame.ours


def test_documentation_tells_the_numbers_of_the_files(frame: Airframe) -> None:
    page = (Path(__file__).parents[2] / "docs" / "vehicles.md").read_text(encoding="utf-8")
    moments = ", ".join(f"{1e6 * moment:.{4 if moment < 0.01 else 5}g}" for moment in np.diag(frame.inertia))
    thrusts = f"{frame.total_thrust_min:.2f} to {frame.total_thrust_max:.2f} | {frame.thrust_to_weight:.2f}"
    assert (
        f"| `{frame.name}` | {1000 * frame.mass:g} | {moments} | {1000 * frame.arm:.5g} | {thrusts} |" in page
    )


# What must be refused, and how

REFUSED = {
    "impossible inertia": ({"inertia": [1e-3, 1e-3, 3e-3]}, "inertia is of no possible body"),
    "negative inertia": ({"inertia": [1e-3, 1e-3, -1e-3]}, "inertia must have positive principal moments"),
    "lopsided inertia": (
        {"inertia": [[1, 1, 0], [0, 1, 0], [0, 0, 1]]},
        "inertia must be a symmetric matrix",
    ),
    "no mass": ({"mass": 0.0}, "mass must be above zero, not 0."),
    "mass in words": ({"mass": "0.25"}, "mass must be numbers, not '0.25'."),
    "mass not a number": ({"mass": math.nan}, "mass must be finite"),
    "two masses": ({"mass": [1, 2]}, "mass must be a single number, not [1, 2]."),
    "misspelt field": ({"mas": 1.0}, "there is no field 'mas' (did you mean 'mass'?)."),
    "missing field": ({"spin": None}, "the field 'spin' is missing."),
    "speeds swapped": ({"speed_min": 2000.0}, "speed_min must be below speed_max"),
    "spin of two": ({"spin": [1, -1, 2, -1]}, "spin must be +1 or -1"),
    "all one way": ({"spin": [1, 1, 1, 1]}, "cannot make thrust and all three moments"),
    "three rotors": ({"spin": [1, -1, 1]}, "cannot make thrust and all three moments"),
    "unknown layout": ({"layout": "pluss"}, "layout is 'pluss' (did you mean 'plus'?)"),
    "places twice": ({"rotor_positions": [[1, 0, 0]] * 4}, "either rotor_positions, or layout and arm"),
    "no places": ({"layout": None}, "rotor_positions are missing"),
    "no name": ({"name": ""}, "name must be text, not ''."),
    "unknown estimate": ({"ours": ["luck"]}, "ours is 'luck'"),
}


@pytest.mark.parametrize("changes, sentence", REFUSED.values(), ids=REFUSED)
def test_airframes_that_cannot_be_are_refused(changes: dict[str, object], sentence: str) -> None:
    with pytest.raises(InputError) as refusal:
        Airframe.from_dict(dragonfly(**changes), where="mine.yaml")
    message = str(refusal.value)
    assert message.startswith("mine.yaml: ")
    assert sentence in message
    assert message.endswith(".") and "\n" not in message


def test_published_inertia_of_no_possible_body_stays_refused() -> None:
    with pytest.raises(InputError, match="of no possible body"):
        replace(airframe("crazyflie"), inertia=np.diag([1.43e-5, 1.43e-5, 2.89e-5]))


def test_unknown_names_name_the_nearest() -> None:
    with pytest.raises(InputError, match=r"did you mean 'dragonfly'\?"):
        airframe("dragonfyl")


# As objects


def test_bundled_numbers_cannot_be_written_over(frame: Airframe) -> None:
    for array in (frame.inertia, frame.rotor_positions, frame.spin):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


def test_a_copy_with_other_numbers_is_checked_too() -> None:
    assert replace(airframe("race"), mass=1.0).mass == 1.0
    with pytest.raises(InputError, match="airframe 'race': mass must be above zero"):
        replace(airframe("race"), mass=-1.0)


def test_it_travels_between_processes(frame: Airframe) -> None:
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(frame)).mixing, frame.mixing)


def test_loading_needs_no_jax() -> None:
    program = "import sys, skyrig.vehicles as v; v.airframe('race'); sys.exit('jax' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program]).returncode == 0
