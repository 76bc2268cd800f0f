"""What can be flown but deserves a second look: told with number and likely cause, never without need."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from skyrig.constants import GRAVITY
from skyrig.scenario import Scenario, load, names
from skyrig.scenario.rotor_demand import hover_thrusts, rotor_thrusts, rotors_of, yaw_acceleration

CIRCLE = "three-dragonflies-circle"
LINKS = "three-dragonflies-links"


def remarks(name: str, **changes: Any) -> tuple[str, ...]:
    return load(name).with_overrides({key.replace("__", "."): it for key, it in changes.items()}).remarks


@pytest.mark.parametrize("name", names())
def test_bundled_scenarios_give_no_warning(name: str) -> None:
    assert load(name).remarks == ()


@pytest.mark.parametrize(
    "name, changes, sentence",
    [
        (CIRCLE, {"rig__cables__length": 800}, "Cables 0, 1 and 2 are 800 m long: were millimetres or"),
        (CIRCLE, {"rig__cables__length": [0.5, 80, 0.5]}, "Cable 1 is 80 m long: were millimetres or"),
        (
            CIRCLE,
            {"rig__cables__length": 0.05},
            "0.05 m long, less than the 0.158 m that the vehicle",
        ),
        (CIRCLE, {"reference__start": [1, 0, -1]}, "goes down to z = -1 m at 0 s, below the ground"),
        (CIRCLE, {"reference__start": [1, 0, 0]}, "the payload, which reaches 0.0112 m below its origin"),
        (
            "one-dragonfly-hover",
            {"start__payload__position": [0, 0, -0.2]},
            "The payload starts at z = -0.2 m, in the ground",
        ),
        (
            CIRCLE,
            {"verdict__ground": 2.0},
            "goes down to z = 1.5 m at 0 s, below the ground at z = 2",
        ),
        (
            "one-dragonfly-hover",
            {"verdict__ground": 9.0, "start__payload__position": [0, 0, 1.0]},
            "The payload starts at z = 1 m, in the ground at z = 9 m",
        ),
        (
            "two-dragonflies-links",
            {"reference": {"type": "rotation", "amplitude": [0, 0, 1.5], "period": 2, "start": [0, 0, 1]}},
            "rad/s^2 of yaw",
        ),
        (CIRCLE, {"reference__radius": 10}, "asks for 15.13 N of thrust at"),
        (CIRCLE, {"reference__radius": 10}, "the team gives 12.72 N at most: it accelerates by 11 m/s^2"),
        (CIRCLE, {"reference__radius": 1000}, "moves at 1050 m/s"),
        (LINKS, {"reference__period": 2.0}, "asks the rig to tilt by 45.2 degrees at"),
        (LINKS, {"reference__period": 2.0}, "N but gives 1.06 N at most: it accelerates by 9.87 m/s^2"),
        (
            LINKS,
            {"rig__attachments": [[-0.3, -0.267, 0], [-0.3, 0.267, 0], [-0.1, 0, 0]]},
            "even hovering takes more, so the load is too heavy for where it is held",
        ),
        (
            LINKS,
            {"reference": {"type": "rotation", "amplitude": [0.2, 0, 0], "period": 5, "start": [0, 0, 1]}},
            "tilts the payload by 11.5 degrees at 6.27 s, which is ignored",
        ),
        (
            "payload-rotation",
            {"reference__amplitude": [15, 15, 40]},
            "more than cables can well hold",
        ),
        ("payload-rotation", {"reference__amplitude": [0, 0, 40]}, "rad/s at"),
        (
            CIRCLE,
            {
                "rig__vehicles": {"type": "race", "count": 3},
                "reference": {"type": "line", "start": [0, 0, 2.5], "end": [0, 0, 0.5], "duration": 1.5},
            },
            "faster than anything falls by itself",
        ),
        (
            "two-vehicles-own-paths",
            {"reference__vehicles[1]__period": 1.2},
            "The reference of vehicle 1 asks vehicle 1 for 5.0",
        ),
        (
            CIRCLE,
            {"rig__payload": {"type": "triangle", "inertia": [6.25, 6.25, 12.4]}},
            "rig.payload.inertia is 6.25 kg m^2 about y, 1890 times the 0.00331 of a uniform body",
        ),
        (
            CIRCLE,
            {"rig__payload": {"type": "triangle", "inertia": [6.25e-6, 6.25e-6, 1.24e-5]}},
            "1/533 of the 0.0066 of a uniform body",
        ),
        (
            "two-dragonflies-bar",
            {"rig__payload": {"type": "bar", "inertia": [0.004053, 0.0072, 0.004053]}},
            "rig.payload.inertia is 0.0072 kg m^2 about y, 545 times",
        ),
        (
            CIRCLE,
            {"rig__vehicles": ["race", {"type": "dragonfly", "inertia": [0.6, 0.6, 1.0]}, "dragonfly"]},
            "rig.vehicles[1].inertia is 0.6 kg m^2 about x, 1040 times",
        ),
        (CIRCLE, {"rig__payload__mass": 0.5}, "The team lifts only 1.04 times the rig's weight."),
        (
            "five-dragonflies-links",
            {"rig__attachments": "rigid-5"},
            "Vehicles 0 and 3 start with their propellers overlapping by 0.0497 m.",
        ),
    ],
)
def test_what_is_odd_is_told(name: str, changes: dict[str, Any], sentence: str) -> None:
    found = remarks(name, **changes)
    assert any(sentence in remark for remark in found), found
    assert all(remark.endswith((".", "?")) and "\n" not in remark for remark in found)


def test_a_vehicle_may_be_too_weak_for_its_share_though_the_team_is_not() -> None:
    points = [[0.3, 0, 0], [-0.05, 0.2, 0], [-0.05, -0.2, 0]]
    cables = [{"length": 0.5, "attachment": point} for point in points]
    found = remarks(CIRCLE, rig__cables=cables, rig__payload__mass=0.45)
    assert any("asks vehicle 1 for 4.37" in it and "even hovering takes more" in it for it in found)


def test_rotors_of_linked_rigs_run_out_of_thrust_where_flights_do() -> None:
    """Flown, a circle of 3.0 s a turn saturates no rotor; one of 2.8 s does for 0.3 of the time."""
    circle = {"type": "circle", "radius": 1.0, "ramp": 8.0, "turns": 12, "start": [1, 0, 2.0]}
    assert remarks(LINKS, reference=circle | {"period": 3.0}) == ()
    (short,) = remarks(LINKS, reference=circle | {"period": 2.8})
    assert "needs 1.07 N but gives 1.06 N at most" in short


def test_rotor_thrusts_are_those_of_a_flight() -> None:
    """In hover and along a circle, rotors carry the rig: thrust m |a + g|, no moment but what turns it."""
    scenario = load("three-mixed-links")
    rotors, mass = rotors_of(scenario.parts), scenario.parts.mass
    hover = hover_thrusts(rotors, mass)
    assert np.allclose(rotors.effect @ hover, [mass * GRAVITY, 0, 0, 0])
    rig = scenario.build().rig
    assert np.allclose(rotors.inertia, rig.inertia) and mass == pytest.approx(float(rig.mass))
    motion = scenario.motions.payload.sample(np.linspace(0, scenario.duration, 2001))
    wrench = rotor_thrusts(rotors, mass, motion) @ rotors.effect.T
    lift = motion.position[:, 2] + [0, 0, GRAVITY]
    assert np.allclose(wrench[:, 0], mass * np.linalg.norm(lift, axis=1))
    # with yaw at rest, roll and pitch angles are small here and their second derivatives the accelerations
    step = scenario.duration / 2000
    angles = np.stack([-np.arctan2(lift[:, 1], lift[:, 2]), np.arctan2(lift[:, 0], lift[:, 2])], axis=1)
    turning = np.gradient(np.gradient(angles, step, axis=0), step, axis=0)
    wanted = turning @ rotors.inertia[:2, :2]
    assert np.abs(wrench[:, 1:3] - wanted)[5:-5].max() < 0.02 * np.abs(wanted).max()


def test_only_motions_that_somebody_follows_are_measured() -> None:
    fast = {"vehicles": [{"type": "circle", "radius": 0.5, "period": 1.2, "start": [0, 0, 2]}] * 2}
    changed = {"reference": fast, "controller": "attitude", "duration": 4.0}
    assert load("two-vehicles-own-paths").with_overrides(changed).remarks == ()


def circling(tmp_path: Path, noise: float, ramp: bool) -> str:
    """A table of two turns in 12 s at 100 Hz: at full speed all along, or from rest to rest."""
    t = np.linspace(0, 12, 1201)
    s = t / 12
    angle = 4 * np.pi * (s**4 * (35 - 84 * s + 70 * s**2 - 20 * s**3) if ramp else s)
    rows = np.stack([t, np.cos(angle), np.sin(angle), np.full(1201, 1.5)], axis=1)
    rows[:, 1:] += noise * np.random.default_rng(0).standard_normal((1201, 3))
    np.savetxt(tmp_path / "flown.csv", rows, delimiter=",", header="t,x,y,z", comments="")
    return str(tmp_path / "flown.csv")


@pytest.mark.parametrize("inside", [False, True])
def test_a_table_that_moves_at_once_cannot_begin_at_rest(tmp_path: Path, inside: bool) -> None:
    moving = {"type": "table", "file": circling(tmp_path, 0.0, ramp=False), "ends": "rest"}
    found = remarks(CIRCLE, reference={"type": "sequence", "parts": [moving]} if inside else moving)
    assert any("whose samples begin at 1.05 m/s" in it for it in found)
    assert any("whose samples end at 1.05 m/s" in it for it in found)
    free = remarks(CIRCLE, reference=moving | {"ends": "free"})
    assert len(free) == 1 and "begins at 1.05 m/s, but the rig hovers then" in free[0]
    resting = moving | {"file": circling(tmp_path, 0.0, ramp=True)}
    assert not any("samples" in it for it in remarks(CIRCLE, reference=resting, rig__payload__mass=0.1))


def test_noise_in_a_table_is_told_apart_and_smoothing_cures_it(tmp_path: Path) -> None:
    noisy = {"type": "table", "file": circling(tmp_path, 1e-3, ramp=True), "ends": "rest"}
    strong = {"rig__vehicles": {"type": "race", "count": 3}}
    found = remarks(CIRCLE, reference=noisy, **strong)
    assert len(found) == 1 and "N at most: it accelerates by" in found[0] and "'smooth' may help" in found[0]
    assert remarks(CIRCLE, reference=noisy | {"smooth": 0.5}, **strong) == ()


def test_a_new_shape_brings_its_own_inertia() -> None:
    values = load("four-dragonflies-box").values
    shape = {"kind": "box", "size": [0.6, 0.6, 0.1]}
    own = Scenario.from_dict(values | {"rig": values["rig"] | {"payload": {"type": "box", "shape": shape}}})
    assert np.allclose(np.diag(own.parts.payload.inertia), 0.25 / 12 * np.array([0.37, 0.37, 0.72]))
    assert own.remarks == ()


@pytest.mark.parametrize("ground", [-3.0, "none"])
def test_the_ground_is_where_the_scenario_says(ground: object) -> None:
    assert remarks(CIRCLE, reference__start=[1, 0, -1]) != ()
    assert remarks(CIRCLE, reference__start=[1, 0, -1], verdict__ground=ground) == ()


def test_rotors_turn_a_linked_rig_by_their_drag_alone() -> None:
    parts = load("two-dragonflies-links").parts
    rotors, frame = rotors_of(parts), parts.airframes[0]
    most = yaw_acceleration(rotors, parts)
    # all rotors of one sense as fast as they go or as slowly as they do, the others holding the rig
    hover = hover_thrusts(rotors, parts.mass)
    room = min(frame.thrust_max - hover.max(), hover.min() - frame.thrust_min)
    drag = np.abs(frame.mixing[3]).sum() * parts.count * room
    assert most == pytest.approx(drag / rotors.inertia[2, 2], rel=1e-6)
    slow = {"type": "rotation", "amplitude": [0, 0, 0.3], "period": 12, "start": [0, 0, 1]}
    assert remarks("two-dragonflies-links", reference=slow) == ()
