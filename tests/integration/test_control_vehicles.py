"""Vehicles that follow references of their own while a load hangs on them."""

import numpy as np
import pytest
from control_loop import fly, slung
from scipy.spatial.transform import Rotation

from skyrig import trim
from skyrig.control import build
from skyrig.planning import circle, hover

pytestmark = pytest.mark.slow


def around(rig, state, radius, period, **options):
    """Every vehicle goes round a circle of its own from where it is."""
    places = np.array(rig.bodies(state)["vehicles"].position).T
    return [circle(radius=radius, period=period, start=place, **options) for place in places]


def errors(flight, references):
    """Distances of the vehicles from their references (m), (ticks, n)."""
    ticks = len(flight.thrust)
    wanted = np.stack([each.sample(np.arange(ticks) * 0.01).position[:, 0] for each in references], axis=1)
    return np.linalg.norm(flight.craft.position - wanted, axis=-1)


@pytest.mark.parametrize("name", ["vehicle", "yaw-decoupled"])
def test_a_team_carries_its_load_around_by_flying_in_formation(name):
    """The multilift paper's flight: 5 m at 0.2 rad/s, facing along; it stays within 3 cm and 1 degree."""
    rig, airframes = slung(3, 1.0)
    start = trim(rig, [0.0, 0.0, 1.0]).state
    controller = build(name, rig, airframes)
    each = around(rig, start, 5.0, 2 * np.pi / 0.2, ramp=10.0, cruise=10.0, attitude=0.0, facing=True)
    flight = fly(
        rig, airframes, controller, hover(start=[0, 0, 1.0]), float(each[0].duration), start, each=each
    )
    away = errors(flight, each)
    assert away.max() < 0.03
    assert flight.taut.all()
    heading = Rotation.from_quat(flight.craft.attitude[:, 0], scalar_first=True).as_euler("ZYX")[:, 0]
    wanted = each[0].sample(np.arange(len(heading)) * 0.01).euler[:, 0, 2]
    slip = np.degrees(np.abs((heading - wanted + np.pi) % (2 * np.pi) - np.pi))
    assert slip.max() < 1


def test_the_full_one_is_the_closer_one():
    """The load swings: only an integral and true derivatives keep up with it."""
    rig, airframes = slung(1, 0.5, "point-mass")
    start = trim(rig, [0.0, 0.0, 1.0]).state
    each = around(rig, start, 1.0, 6.0)
    found = {}
    for name, flavour in (("vehicle", "full"), ("vehicle", "published"), ("yaw-decoupled", "full")):
        controller = build(name, rig, airframes, flavour=flavour)
        flight = fly(
            rig, airframes, controller, hover(start=[0, 0, 1.0]), float(each[0].duration), start, each=each
        )
        found[name, flavour] = float(np.sqrt((errors(flight, each) ** 2).mean()))
    assert found["vehicle", "full"] < 0.03
    assert found["vehicle", "full"] < min(found["vehicle", "published"], found["yaw-decoupled", "full"])


def test_without_the_load_in_the_integral_it_sags_and_recovers():
    rig, airframes = slung(1, 0.5, "point-mass")
    start = trim(rig, [0.0, 0.0, 1.0]).state
    place = [0.0, 0.0, 1.5]
    controller = build("vehicle", rig, airframes, gains={"carry": 0.0})
    flight = fly(rig, airframes, controller, hover(start=[0, 0, 1.0]), 30.0, start, each=[hover(start=place)])
    height = flight.craft.position[:, 0, 2]
    assert height.min() < 1.45
    assert abs(height[-1] - 1.5) < 0.01


def test_an_attitude_is_held():
    """Pitched nose down, the team accelerates forwards; nothing holds its place."""
    rig, airframes = slung(1, 0.5, "point-mass")
    start = trim(rig, [0.0, 0.0, 1.0]).state
    controller = build("attitude", rig, airframes)
    leaning = hover(start=[0, 0, 1.5], attitude=[0.0, 0.1, 0.3])
    flight = fly(rig, airframes, controller, hover(start=[0, 0, 1.0]), 3.0, start, each=[leaning])
    euler = Rotation.from_quat(flight.craft.attitude[-1, 0], scalar_first=True).as_euler("ZYX")
    np.testing.assert_allclose(euler, [0.3, 0.1, 0.0], atol=5e-3)
    assert flight.craft.position[-1, 0, 0] > 1.0
