"""Lifts from the floor to the floor, and formations that know their downwash."""

import numpy as np
import pytest

import skyrig
from skyrig.errors import InputError
from skyrig.scenario.formation import _pressed, best_lean, formation
from skyrig.turns import euler_angles, turn

SHORT = {
    "reference.carry": {"type": "hover", "duration": 1.0},
    "reference.height": 0.6,
    "reference.landing_floor": -0.03,
    "noise": {"position": 0.005, "velocity": 0.02},
    "loop.rotor_lag": 0.03,
}
LIGHT = {
    "name": "light-box",
    "mass": 0.25,
    "shape": {"kind": "box", "size": [0.4, 0.4, 0.2]},
    "attachments": {
        "cable-3": [[0.2, 0.0, 0.1], [-0.1, 0.17320508075688773, 0.1], [-0.1, -0.17320508075688773, 0.1]]
    },
}
WASHED = {"rig.payload": LIGHT, "rig.cables.length": 1.0, "world.downwash": {}}


@pytest.fixture(scope="module")
def lift():
    scenario = skyrig.load("takeoff-circle-land").with_overrides(SHORT)
    return scenario, skyrig.fly(scenario)


@pytest.mark.slow
def test_from_the_floor_to_the_floor(lift):
    """With noise, rotor lag and a floor 3 cm higher than was thought: gently up and gently down."""
    scenario, flight = lift
    plan, times = scenario.motions.plan, flight.times
    assert flight.verdict.flew, flight.verdict.reason
    assert not flight.cables.taut[0].any() and not flight.cables.taut[-1].any()
    assert np.abs(flight.signals["ground.gap"][0]).max() < 2e-4  # all stand, at first
    assert np.abs(flight.signals["ground.gap"][-1]).max() < 2e-4  # and at last
    assert flight.carried.position[:, 2].max() > 0.59
    tension = np.asarray(flight.cables.tension)
    up = (times > plan.lift + 2) & (times < plan.creep)
    weight = scenario.parts.payload.mass * 9.81
    assert tension[up].sum(axis=1).mean() == pytest.approx(weight, rel=0.02)
    assert (tension.max(axis=0) / tension[up].mean(axis=0)).max() < 1.3
    impacts = [it.value for it in flight.events if it.kind == "impact"]
    assert 0 < max(impacts) < 5e-3
    touches = [it for it in flight.events if it.kind == "touch"]
    assert {it.owner.split()[0].split("[")[0] for it in touches} >= {"payload", "vehicles"}
    assert max(it.value for it in touches) < 0.15
    assert np.abs(flight.vehicles.velocity[-1]).max() < 1e-6
    assert np.abs(euler_angles(flight.vehicles.attitude[-1])[:, :2]).max() < 0.01
    standing = np.asarray(flight.signals["standing"])
    assert standing[0].all() and standing[-1].all()
    assert not standing[np.searchsorted(flight.inputs.times, float(plan.creep))].any()


@pytest.mark.slow
def test_a_batch_lifts():
    """Loads of different weight side by side, each in a way of its own."""
    scenario = skyrig.load("takeoff-circle-land").with_overrides({**SHORT, "loop.rotor_lag": 0.0})
    many = skyrig.fly_many(scenario, 2, {"rig.payload.mass": "choice(0.278, 0.3)"})
    assert many.success.all(), many.verdicts
    assert max(many.metrics[f"impulse_max.{k}"].max() for k in range(3)) < 5e-3


def test_what_a_lift_cannot_be():
    scenario = skyrig.load("takeoff-circle-land")
    for changes, said in (
        ({"rig.cables.length": 0.2}, "cable 0 of"),
        ({"reference.height": 0.1}, "reference.height must be above"),
        ({"reference.heigth": 1.0}, "did you mean 'height'"),
        ({"rig.mechanism": "links"}, "rig"),
    ):
        with pytest.raises(InputError, match=said):
            scenario.with_overrides(changes)
    with pytest.raises(InputError, match="controller.name must be a controller that can follow"):
        skyrig.fly(scenario.with_overrides({"controller": {"flavour": "published"}}))


def test_a_formation_is_pressed_as_the_element_presses():
    """The download that formations are chosen by is that of the element, in the same hover."""
    scenario = skyrig.load("three-dragonflies-circle").with_overrides({**WASHED, "start.lean": 0.3})
    built = scenario.build()
    assert built.hover is not None
    bodies = built.rig.bodies(built.state)
    memory = built.elements["downwash"].start(bodies)
    force, _ = memory["payload"]
    craft = bodies["vehicles"]
    places = np.asarray(craft.position).T - np.asarray(bodies["payload"].position).T
    axes = turn(np.asarray(craft.attitude).T, np.array([0.0, 0.0, 1.0]))
    assert _pressed(scenario.parts, places, axes) == pytest.approx(-np.asarray(force)[2, 0], rel=1e-9)
    # the hover's thrusts do not know of the download yet: with it they grow, and it with them
    pressed = -(np.asarray(force)[2, 0] * built.hover.thrust).sum()
    assert pressed < formation(scenario.parts, 0.3).download < 1.5 * pressed


def test_straight_cables_cannot_lift_through_their_wash():
    scenario = skyrig.load("takeoff-circle-land").with_overrides(WASHED)
    straight, best = formation(scenario.parts, 0.0), best_lean(scenario.parts)
    assert straight.used > 1.2 and straight.download > 2 * 0.25 * 9.81
    assert best.used < 0.85 and best.gap > 0.05
    assert scenario.lean == best.lean and not scenario.remarks
    leans = [formation(scenario.parts, it).download for it in (0.0, 0.17, 0.26, 0.35, 0.52)]
    assert leans == sorted(leans, reverse=True)
    said = scenario.with_overrides({"controller.gains": {"lean": 0.0}})
    assert said.lean is None
    assert any("cannot lift through its own wash" in it for it in said.remarks)
    # without downwash nothing is chosen, and nobody warns
    assert skyrig.load("three-dragonflies-circle").lean is None
