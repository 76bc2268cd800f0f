"""Controllers by name, gains by name, and what is said when either is wrong."""

from dataclasses import fields

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest
from control_loop import linked, slung

import skyrig
from skyrig import InputError
from skyrig.control import CONTROLLERS, build
from skyrig.control.cables import Cables
from skyrig.control.interface import Noise
from skyrig.control.links import Links
from skyrig.control.published import PublishedCables, PublishedLinks


def test_every_name_builds():
    hand = skyrig.load("soft-grasp").parts
    rigs = {"links": linked(), "geometric": linked(), "gripper": (hand.build(), hand.airframes)}
    for name in [name for name, it in CONTROLLERS.items() if isinstance(it.build, str)] + ["geometric"]:
        for flavour in CONTROLLERS[name].gains or ("full", "published"):
            rig, airframes = rigs.get(name) or slung(3, 1.0)
            build(name, rig, airframes, flavour=flavour)


def test_geometric_is_whatever_holds_the_payload():
    for rig, kinds in ((slung(3, 1.0), (Cables, PublishedCables)), (linked(), (Links, PublishedLinks))):
        for flavour, kind in zip(("full", "published"), kinds, strict=True):
            assert type(build("geometric", *rig, flavour=flavour)) is kind


@pytest.mark.parametrize("name", ["cables", "links", "vehicle", "point-robot"])
def test_noise_is_told_as_often_as_one_likes_and_changes_nothing_else(name):
    rig, airframes = linked() if name == "links" else slung(3, 1.0)
    noise = Noise.of(0.01, 0.05, 0.02, 0.1)
    quiet = build(name, rig, airframes)
    told = build(name, rig, airframes, noise=noise)
    again = quiet.told_of_noise(noise)
    assert eqx.tree_equal(told, again) and not eqx.tree_equal(told, quiet)
    heard = {it.name for it in fields(quiet) if not same(getattr(quiet, it.name), getattr(told, it.name))}
    assert heard <= {"sight", "load_sight", "margins", "slack"}
    assert eqx.tree_equal(quiet.told_of_noise(Noise.of()), quiet)
    louder = told.told_of_noise(Noise.of(0.1, 0.5, 0.2, 1.0))
    assert eqx.tree_equal(louder.told_of_noise(noise), told) and not eqx.tree_equal(louder, told)


def same(one, other):
    return bool(eqx.tree_equal(one, other))


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"name": "cable"}, r"controller is 'cable' \(did you mean 'cables'\?\)"),
        ({"flavour": "ful"}, r"flavour is 'ful' \(did you mean 'full'\?\)"),
        ({"gains": {"posision": 2}}, r"gains: there is no field 'posision' \(did you mean 'position'\?\)"),
        ({"gains": {"position": -2}}, "gains.position must be above zero, not -2"),
        ({"gains": {"integral": -2}}, "gains.integral must not be below zero"),
        ({"gains": {"position": [1, 2]}}, "gains.position must have shape one number or 3, not 2"),
        ({"gains": {"vehicle": np.ones((3, 2))}}, "gains.vehicle must have shape one number or 3 or 3 x 3"),
        ({"gains": {"cable": "stiff"}}, "gains.cable must"),
        ({"period": 0.0}, "period must be above zero"),
        ({"name": "links"}, r"controller must be one that flies cables \(.*\), not 'links'"),
    ],
)
def test_what_cannot_be_is_named(arguments, sentence):
    rig, airframes = slung(3, 1.0)
    with pytest.raises(InputError, match=sentence):
        build(**({"name": "cables", "rig": rig, "airframes": airframes} | arguments))


def test_airframes_must_match_the_rig():
    rig, airframes = slung(3, 1.0)
    with pytest.raises(InputError, match="one for each of 3 vehicles, not 2"):
        build("cables", rig, airframes[:2])
    rig, airframes = linked()
    with pytest.raises(InputError, match="controller must be one that flies links"):
        build("vehicle", rig, airframes)


def test_gains_for_all_for_each_axis_and_for_each_vehicle():
    rig, airframes = slung(2, 0.5, "bar")
    given = {
        "position": 1.5,
        "attitude": [3.0, 2.0, 1.0],
        "cable": [5.0, 6.0],
        "vehicle": [[1, 2, 3], [4, 5, 6]],
    }
    gains = build("cables", rig, airframes, gains=given).gains
    np.testing.assert_array_equal(gains.position, [1.5] * 3)
    np.testing.assert_array_equal(gains.attitude, [3, 2, 1])
    np.testing.assert_array_equal(gains.cable, [5, 6])
    np.testing.assert_array_equal(gains.vehicle, [[1, 4], [2, 5], [3, 6]])
    gains = build("cables", rig, airframes, gains={"vehicle": jnp.asarray([7.0, 8.0, 9.0])}).gains
    np.testing.assert_array_equal(gains.vehicle, [[7, 7], [8, 8], [9, 9]])


def test_defaults_follow_from_what_vehicles_can_do():
    """Slower for slower sampling and for weaker vehicles, level by level."""
    fast, slow = (build("cables", *slung(3, 1.0), period=period).gains for period in (0.01, 0.02))
    assert np.all(fast.vehicle[:2] == 20.0)
    assert np.all(slow.vehicle[:2] == 10.0)
    assert np.all(slow.position < fast.position)
    assert np.all(slow.cable < fast.cable)
    lagging = build("cables", *slung(3, 1.0), lag=0.05).gains
    assert np.all(lagging.vehicle[:2] < 8)
    small = build("cables", *slung(1, 0.5, "point-mass", "hummingbird")).gains
    assert np.all(small.position[:2] < small.cable) and np.all(small.cable < small.vehicle[:2])


def test_published_gains_are_the_published_ones():
    """RotorTM's parameter files; what they say is in docs/control.md too."""
    gains = build("cables", *slung(3, 1.0), flavour="published").gains
    np.testing.assert_allclose(gains.position, [3.08, 3.08, 6.25])
    np.testing.assert_allclose(gains.velocity, [2.15, 2.15, 3.42])
    np.testing.assert_allclose(gains.payload_attitude, [0.55, 0.5, 0.16])
    np.testing.assert_allclose(gains.payload_rate, [0.162, 0.162, 0.068])
    np.testing.assert_allclose(gains.cable, np.full((3, 3), 16.0))
    np.testing.assert_allclose(gains.cable_rate.T, [[6.7, 6.7, 3.1]] * 3)
    np.testing.assert_allclose(gains.attitude.T, [[0.25, 0.25, 0.08]] * 3)
    np.testing.assert_allclose(gains.rate.T, [[0.025, 0.025, 0.005]] * 3)
    bar = build("cables", *slung(2, 0.5, "bar"), flavour="published").gains
    np.testing.assert_allclose(bar.payload_attitude, [0.55, 0.5, 0.05])
    one = build("cables", *slung(1, 0.5, "point-mass"), flavour="published").gains
    np.testing.assert_allclose(one.velocity, [3.7, 3.2, 2.5])
    team = slung(3, 1.0, craft=("dragonfly", "race", "hummingbird"))
    np.testing.assert_allclose(
        build("cables", *team, flavour="published").gains.attitude.T,
        [[0.25, 0.25, 0.08], [1.5, 1.5, 1.0], [1.5, 1.5, 1.0]],
    )
    links = build("links", *linked(), flavour="published").gains
    np.testing.assert_allclose(links.attitude, [20.5, 20.5, 10.0])
    alone = build("vehicle", *slung(1, 0.5, "point-mass"), flavour="published").gains
    np.testing.assert_allclose(alone.position, [6.0, 6.0, 10.0])


def test_two_vehicles_name_the_axis_they_do_not_control():
    bar, triangle = (build("cables", *slung(n, 0.5, load)) for n, load in ((2, "bar"), (3, "triangle")))
    np.testing.assert_allclose(bar.uncontrolled_axis, [0, 1, 0])
    assert triangle.uncontrolled_axis is None
    assert build("cables", *slung(1, 0.5, "point-mass")).uncontrolled_axis is None
    np.testing.assert_allclose(
        build("cables", *slung(2, 0.5, "bar"), flavour="published").uncontrolled_axis, [0, 1, 0]
    )


def test_leaning_cables_pull_against_each_other_only():
    for n, load in ((3, "triangle"), (6, "box"), (4, "point-mass")):
        rig, airframes = slung(n, 0.5, load)
        internal = np.asarray(build("cables", rig, airframes, gains={"lean": 0.3}).internal)
        assert np.abs(internal).max() > 0.05
        np.testing.assert_allclose(internal.sum(axis=1), 0, atol=1e-12)
        np.testing.assert_allclose(np.cross(rig.attachment, internal, axis=0).sum(axis=1), 0, atol=1e-9)
