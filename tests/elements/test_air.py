"""Every model of the air against its own formula, and the one wind that all bodies feel."""

import math
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import skyrig
from skyrig.elements import Around, Drag, Wind
from skyrig.errors import InputError
from skyrig.jets import jet_pressure
from skyrig.rigs import Bodies

RHO = 1.225
UP = np.array([0.0, 0.0, 1.0])


def built(rig: str = "one-dragonfly-hover", **world: Any) -> Any:
    return skyrig.load(rig).with_overrides({"world": world}).build()


def around(it: Any, thrust: Any = None, t: float = 0.0) -> Around:
    """The world of a built scenario at a time, its rotors at rest unless told."""
    memories = {name: element.start(it.rig.bodies(it.state)) for name, element in it.elements.items()}
    pairs = tuple((element, memories[name]) for name, element in it.elements.items())
    return Around(t, jnp.zeros(it.rig.count) if thrust is None else jnp.asarray(thrust), None, pairs)


def felt(it: Any, name: str, bodies: dict[str, Bodies], **more: Any) -> Any:
    """What one element does to bodies."""
    world, element = around(it, **more), it.elements[name]
    return element.loads(world.t, bodies, element.start(bodies), world)


def moving(places: Any, velocity: Any = (0.0, 0.0, 0.0)) -> Bodies:
    still = Bodies.still(places)
    return Bodies(
        still.position, jnp.array(velocity)[:, None] + 0 * still.velocity, still.attitude, still.rate
    )


def test_wind_is_what_is_said_and_grows_with_the_logarithm_of_height() -> None:
    it = built(wind={"velocity": [4.0, 0.0, 0.0], "shear": {}})
    places = np.array([[0.0, 0.0, 3.0], [5.0, 5.0, 6.096], [0.0, 0.0, 0.01]]).T
    blown = np.asarray(around(it).wind(jnp.asarray(places)))
    assert blown[0] / 4 == pytest.approx([0.855, 1.0, 0.0], abs=5e-4)
    assert blown[0, 0] / 4 == pytest.approx(math.log(3 / 0.04572) / math.log(6.096 / 0.04572))
    assert np.all(blown[1:] == 0)


def test_a_gust_rises_by_one_minus_cosine_stays_and_falls() -> None:
    gust = {"time": 2.0, "rise": 1.0, "hold": 0.5, "velocity": [0.0, 3.0, 0.0]}
    it = built(wind={"velocity": [1.0, 0.0, 0.0], "gusts": [gust]})
    for t, speed in (
        (1.9, 0.0),
        (2.25, 1.5 * (1 - math.cos(math.pi / 4))),
        (3.2, 3.0),
        (4.0, 1.5),
        (4.6, 0.0),
    ):
        blown = np.asarray(around(it, t=t).wind(jnp.zeros((3, 1))))[:, 0]
        assert blown == pytest.approx([1.0, speed, 0.0], abs=1e-12)


def test_drag_is_that_of_the_velocity_against_the_wind() -> None:
    still = built(drag={"bodies": {"vehicles": {"linear": 0.1, "quadratic": [0.005, 0.005, 0.01]}}})
    windy = built(
        wind={"velocity": [3.0, 0.0, 0.0]},
        drag={"bodies": {"vehicles": {"linear": 0.1, "quadratic": [0.005, 0.005, 0.01]}}},
    )
    carried = {"vehicles": moving([0.0, 0.0, 5.0], (3.0, 0.0, 0.0))}
    standing = {"vehicles": moving([0.0, 0.0, 5.0])}
    assert np.asarray(felt(windy, "drag", carried)["vehicles"].force) == pytest.approx(0.0)
    against = np.asarray(felt(windy, "drag", standing)["vehicles"].force)[:, 0]
    assert against == pytest.approx([0.1 * 3 + 0.005 * 9, 0.0, 0.0])
    assert np.asarray(felt(still, "drag", carried)["vehicles"].force)[:, 0] == pytest.approx(-against)


def test_nothing_blows_where_nothing_is_said() -> None:
    it = built(drag={"bodies": {"vehicles": {"linear": 0.1}}})
    assert around(it).wind(jnp.zeros((3, 1))) is None
    assert isinstance(it.elements["drag"], Drag) and list(it.elements) == ["drag"]


def test_a_box_shows_its_faces_and_a_ball_is_round() -> None:
    box = built("four-dragonflies-box", payload_drag={})
    face = np.asarray(felt(box, "payload_drag", {"payload": moving(UP, (5.0, 0.0, 0.0))})["payload"].force)
    assert face[:, 0] == pytest.approx([-4.48, 0.0, 0.0], abs=0.005)
    assert face[0, 0] == pytest.approx(-RHO / 2 * 1.05 * 0.6096 * 0.4572 * 25)
    skew = np.asarray(felt(box, "payload_drag", {"payload": moving(UP, (3.0, 4.0, 0.0))})["payload"].force)
    area = 0.6096 * 0.4572 * (3 + 4) / 5
    assert np.linalg.norm(skew) == pytest.approx(RHO / 2 * 1.05 * area * 25)
    assert skew[:, 0] / np.linalg.norm(skew) == pytest.approx([-0.6, -0.8, 0.0])
    ball = built(payload_drag={})
    radius = ball.team.payload.shape.radius
    push = np.asarray(felt(ball, "payload_drag", {"payload": moving(UP, (0.0, 5.0, 0.0))})["payload"].force)
    assert push[:, 0] == pytest.approx([0.0, -RHO / 2 * 0.47 * np.pi * radius**2 * 25, 0.0])


@pytest.mark.parametrize(
    ("vehicle", "coefficient", "rate"), [("hummingbird", 1.19e-4, 0.447), ("crazyflie", 1.025e-6, 0.244)]
)
def test_rotors_in_hover_slow_a_vehicle_at_the_published_rate(
    vehicle: str, coefficient: float, rate: float
) -> None:
    """The coefficients of RotorPy's vehicles, with the hover speeds of ours."""
    frame = skyrig.airframe(vehicle)
    it = (
        skyrig.load("one-dragonfly-hover")
        .with_overrides(
            {
                "rig.vehicles": vehicle,
                "rig.payload.mass": 0.001,
                "world.rotor_drag": {"coefficient": coefficient},
            }
        )
        .build()
    )
    hover = frame.mass * 9.81
    push = felt(it, "rotor_drag", {"vehicles": moving(UP, (1.0, 0.0, 2.0))}, thrust=[hover])["vehicles"]
    speed = math.sqrt(hover / frame.rotor_count / frame.thrust_coefficient)
    force = np.asarray(push.force)[:, 0]
    assert force == pytest.approx([-coefficient * frame.rotor_count * speed, 0.0, 0.0], abs=1e-12)
    assert -force[0] / frame.mass == pytest.approx(rate, rel=0.35)  # other propellers than RotorPy's


def test_drag_of_tilted_rotors_on_a_turning_vehicle_is_the_sum_over_its_hubs() -> None:
    """Each hub by itself, in the world's frame: -k omega times what of its velocity is across its axis."""
    frame, k = skyrig.airframe("tilted"), 1e-4
    it = built("one-tilted-circle", rotor_drag={"coefficient": k}, rolling_moment={"coefficient": 1e-6})
    still = moving([0.0, 0.0, 5.0], (3.0, -1.0, 0.5))
    turn, rate = np.array([0.9, 0.2, -0.3, 0.1]), np.array([1.0, -2.0, 3.0])
    turn /= np.linalg.norm(turn)
    craft = Bodies(still.position, still.velocity, jnp.asarray(turn)[:, None], jnp.asarray(rate)[:, None])
    speeds = np.array([400.0, 500.0, 600.0, 450.0, 550.0, 650.0])
    world = Around(0.0, jnp.zeros(1), None, speeds=jnp.asarray(speeds)[:, None])
    matrix = Rotation.from_quat(turn, scalar_first=True).as_matrix()
    force, torque, rolling = np.zeros(3), np.zeros(3), np.zeros(3)
    for hub, axis, speed in zip(frame.rotor_positions @ matrix.T, frame.axes @ matrix.T, speeds, strict=True):
        velocity = np.array([3.0, -1.0, 0.5]) + np.cross(matrix @ rate, hub)
        across = velocity - velocity @ axis * axis
        force += -k * speed * across
        torque += np.cross(hub, -k * speed * across)
        rolling += -1e-6 * speed * across
    dragged = it.elements["rotor_drag"].loads(0.0, {"vehicles": craft}, None, world)["vehicles"]
    rolled = it.elements["rolling_moment"].loads(0.0, {"vehicles": craft}, None, world)["vehicles"]
    assert np.asarray(dragged.force)[:, 0] == pytest.approx(force)
    assert np.asarray(dragged.torque)[:, 0] == pytest.approx(torque)
    assert np.asarray(rolled.torque)[:, 0] == pytest.approx(rolling)


def test_air_across_rotors_makes_the_moment_of_the_multilift_report() -> None:
    it = built(rolling_moment={"coefficient": 1e-6})
    frame = skyrig.airframe("dragonfly")
    thrust = frame.rotor_count * frame.thrust_coefficient * 800.0**2
    wrench = felt(it, "rolling_moment", {"vehicles": moving(UP, (5.0, 0.0, 0.0))}, thrust=[thrust])[
        "vehicles"
    ]
    assert np.asarray(wrench.torque)[:, 0] / frame.rotor_count == pytest.approx([-0.004, 0.0, 0.0])
    assert np.all(np.asarray(wrench.force) == 0)


def test_a_cable_is_dragged_as_the_integral_along_it_says() -> None:
    it = built(cable_drag={"diameter": 0.002})
    load, craft = np.array([0.2, 0.1, 1.0]), np.array([0.0, 0.0, 1.4])
    speeds = {"payload": (0.4, -0.3, 0.2), "vehicles": (1.5, 0.5, -0.2)}
    found = felt(
        it,
        "cable_drag",
        {"payload": moving(load, speeds["payload"]), "vehicles": moving(craft, speeds["vehicles"])},
    )
    span = load - craft
    length, along = np.linalg.norm(span), span / np.linalg.norm(span)
    s = (np.arange(2000) + 0.5)[:, None] / 2000
    v = (1 - s) * np.array(speeds["vehicles"]) + s * np.array(speeds["payload"])
    v = v - np.outer(v @ along, along)
    pull = -RHO / 2 * 1.2 * 0.002 * length * np.linalg.norm(v, axis=1, keepdims=True) * v
    for group, share in (("vehicles", 1 - s), ("payload", s)):
        wanted = (share * pull).mean(0)
        assert np.asarray(found[group].force)[:, 0] == pytest.approx(wanted, rel=2e-3, abs=1e-7)


@pytest.mark.parametrize(("model", "gain"), [("single", 1.067), ("multirotor", 1.147)])
def test_rotors_one_radius_above_the_ground_lift_more(model: str, gain: float) -> None:
    it = built(ground_effect={"model": model, "ground": 0.2})
    radius = skyrig.airframe("dragonfly").rotor_radius
    near, far = ({"vehicles": moving([0.0, 0.0, 0.2 + z])} for z in (radius, 50.0))
    force = np.asarray(felt(it, "ground_effect", near, thrust=[2.0])["vehicles"].force)[:, 0]
    assert 1 + force / 2 == pytest.approx([1.0, 1.0, gain], abs=5e-4)
    assert np.asarray(felt(it, "ground_effect", far, thrust=[2.0])["vehicles"].force) == pytest.approx(
        0.0, abs=1e-5
    )
    inside = {"vehicles": moving([0.0, 0.0, 0.0])}
    assert np.isfinite(np.asarray(felt(it, "ground_effect", inside, thrust=[2.0])["vehicles"].force)).all()


@pytest.mark.parametrize("vehicle", ["dragonfly", "hummingbird", "crazyflie"])
def test_a_jet_carries_the_momentum_that_its_thrust_gave_it(vehicle: str) -> None:
    """A jet of all air below merged rotors holds 0.7 to 1.1 of the thrust, the same at every distance."""
    it = (
        skyrig.load("one-dragonfly-hover")
        .with_overrides({"rig.vehicles": vehicle, "rig.payload.mass": 0.001, "world.downwash": {}})
        .build()
    )
    jet: Any = it.elements["downwash"]
    shares = []
    for spans in (2.5, 5.0, 12.0):
        r = np.linspace(0, 20 * spans * float(jet.span[0]), 200_001)
        pressure = np.asarray(
            jet_pressure(spans * jet.span[0], jnp.asarray(r**2), jet.span[0], 1 / jet.discs[0])
        )
        shares.append(np.sum(pressure * 2 * np.pi * r) * (r[1] - r[0]))
    assert shares == pytest.approx([shares[0]] * 3, rel=1e-3)
    frame = skyrig.airframe(vehicle)
    theory = 0.06045 * (2 * frame.arm / frame.rotor_radius) ** 2 * 4 / frame.rotor_count
    assert shares[0] == pytest.approx(theory, rel=2e-3)
    assert 0.65 < shares[0] < 1.1


def test_jets_press_what_is_below_and_leave_alone_what_is_beside() -> None:
    it = built("four-dragonflies-box", downwash={})
    load = moving([0.0, 0.0, 1.0])
    corners = np.array([[0.2, 0.2, 2.5], [-0.2, 0.2, 2.5], [-0.2, -0.2, 2.5], [0.2, -0.2, 2.5]])
    above = felt(it, "downwash", {"payload": load, "vehicles": moving(corners)}, thrust=[3.0] * 4)
    beside = felt(
        it, "downwash", {"payload": load, "vehicles": moving(corners + [9.0, 0, 0])}, thrust=[3.0] * 4
    )
    push = np.asarray(above["payload"].force)[:, 0]
    assert -12.0 < push[2] < -3.0 and push[:2] == pytest.approx([0.0, 0.0], abs=1e-12)
    assert np.asarray(above["payload"].torque) == pytest.approx(0.0, abs=1e-12)
    assert np.asarray(beside["payload"].force) == pytest.approx(0.0, abs=1e-6)
    assert np.asarray(above["vehicles"].force) == pytest.approx(0.0)  # nobody flies below another


def test_a_field_of_wind_is_straight_between_the_points_of_its_file(tmp_path: Path) -> None:
    grid = [(x, y, z) for x in (-1.0, 0.0, 1.0) for y in (0.0, 2.0) for z in (0.0, 1.5, 3.0)]
    lines = ["x,y,z,u,v,w", *(f"{x},{y},{z},{x + 2 * z},{y * z},{-x}" for x, y, z in grid)]
    (tmp_path / "hall.csv").write_text("\n".join(lines) + "\n")
    text = skyrig.scenario.bundled_text("one-dragonfly-hover") + "\nworld: {wind_field: {file: hall.csv}}\n"
    it = skyrig.scenario.Scenario.from_text(text, directory=tmp_path).build()
    places = np.array([[-0.7, 0.4, 1.1], [0.9, 1.9, 2.9], [5.0, -1.0, 9.0]])
    blown = np.asarray(around(it).wind(jnp.asarray(places.T))).T
    held = np.clip(places, [-1, 0, 0], [1, 2, 3])
    wanted = np.stack([held[:, 0] + 2 * held[:, 2], held[:, 1] * held[:, 2], -held[:, 0]], axis=1)
    assert blown == pytest.approx(wanted)
    (tmp_path / "hall.csv").write_text("\n".join(lines[:-1]) + "\n")
    with pytest.raises(
        InputError, match=r"world.wind_field.file must hold a grid of winds: hall.csv must hold every"
    ):
        skyrig.scenario.Scenario.from_text(text, directory=tmp_path)


@pytest.mark.parametrize(
    ("world", "sentence"),
    [
        ({"wind": {"velocity": [500.0, 0.0, 0.0]}}, "world.wind.velocity must be at most 100 m/s"),
        ({"wind": {"shear": {"height": 0.01}}}, "world.wind.shear.height must be above its roughness"),
        ({"turbulence": {"speed": -1}}, "world.turbulence.speed must be"),
        ({"wind_field": {"file": "nowhere.csv"}}, "world.wind_field.file must hold a grid of winds"),
        ({"rotor_drag": {}}, "world.rotor_drag.coefficient is missing"),
    ],
)
def test_bad_air_is_refused_in_one_sentence(world: Any, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        skyrig.load("one-dragonfly-hover").with_overrides({"world": world})


def test_cables_are_needed_for_their_drag() -> None:
    with pytest.raises(InputError, match="world.cable_drag needs cables"):
        skyrig.load("three-dragonflies-links").with_overrides({"world.cable_drag": {"diameter": 0.01}})


def test_wind_is_an_element_among_others() -> None:
    assert Wind(jnp.ones((3, 1))).loads(0.0, {}, None, Around(0.0, jnp.zeros(1), None)) == {}


def test_turning_rotors_hold_their_vehicle_back_like_gyroscopes() -> None:
    """Rotors of both spins cancel; what is left of uneven ones turns at right angles to the body's rate."""
    it = built(gyroscopic={"rotor_inertia": 1e-4})
    frame = skyrig.airframe("dragonfly")
    still = moving(UP)
    turning = Bodies(still.position, still.velocity, still.attitude, jnp.array([[2.0], [0.0], [0.0]]))
    even = felt(it, "gyroscopic", {"vehicles": turning}, thrust=[2.0])["vehicles"]
    assert np.asarray(even.torque) == pytest.approx(0.0, abs=1e-12)
    speeds = np.array([1000.0, 800.0, 1000.0, 800.0])
    rotors = jnp.asarray(frame.thrust_coefficient * speeds**2)[:, None]
    world = Around(0.0, jnp.asarray([2.0]), rotors)
    torque = np.asarray(
        it.elements["gyroscopic"].loads(0.0, {"vehicles": turning}, None, world)["vehicles"].torque
    )
    momentum = -1e-4 * (frame.spin * speeds).sum()
    assert torque[:, 0] == pytest.approx(-np.cross([2.0, 0.0, 0.0], [0.0, 0.0, momentum]))


def test_rotors_that_speed_up_turn_their_vehicle_the_other_way() -> None:
    """Propellers of spin +1 turn clockwise seen from above: what speeds them up pushes the body about +z."""
    it = built(gyroscopic={"rotor_inertia": 1e-4})
    speeds = jnp.full((4, 1), 900.0)
    faster = jnp.asarray([[50.0], [0.0], [30.0], [-10.0]])
    world = Around(0.0, jnp.asarray([2.0]), None, speeds=speeds, spin_up=faster)
    torque = it.elements["gyroscopic"].loads(0.0, {"vehicles": moving(UP)}, None, world)["vehicles"].torque
    assert np.asarray(torque)[:, 0] == pytest.approx([0.0, 0.0, 1e-4 * (50 + 30 + 10)])


def test_a_rotor_that_is_not_there_cannot_stop() -> None:
    failure = {"type": "rotor-failure", "time": 1.0, "rotor": 4}
    with pytest.raises(InputError, match=r"happenings\[0\].rotor"):
        skyrig.load("one-dragonfly-hover").with_overrides({"happenings": [failure]})
