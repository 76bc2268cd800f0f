"""Hover states, winches and precision; and what is refused, with one sentence that names it."""

from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from rigging import box, triangle

from skyrig import (
    Cable,
    Cut,
    FlightDiverged,
    InputError,
    Linked,
    Poke,
    Slung,
    Winch,
    airframe,
    payload,
    rollout,
    trim,
)


def hovers(rig, at, duration=0.5, **options):
    hover = trim(rig, at, **options)
    flight = rollout(rig, hover.state, [0, duration], hover.thrust, hover.moment)
    np.testing.assert_allclose(flight.payload.position[-1], at, atol=1e-9)
    np.testing.assert_allclose(flight.payload.rate[-1], 0, atol=1e-9)
    np.testing.assert_allclose(flight.vehicles.velocity[-1], 0, atol=1e-9)
    if len(hover.tension):
        np.testing.assert_allclose(flight.tension[-1], hover.tension, atol=1e-9)
    return hover


def test_trim_hovers():
    for rig in (triangle(), triangle(hook=(0.02, 0.01, -0.03)), box(4), box(6)):
        assert hovers(rig, [0.3, -0.2, 2.0]).exact
    tilted = [np.cos(0.1), np.sin(0.1), 0, 0]
    assert hovers(triangle(), [0, 0, 2.0], attitude=tilted).exact


def test_two_vehicles_on_one_point_lean_apart():
    rig = Slung.build([airframe("dragonfly")] * 2, payload("point-mass"), [Cable(1.0)] * 2)
    hover = hovers(rig, [0, 0, 2.0])
    apart = np.asarray(hover.state.vehicles.position)
    assert np.linalg.norm(apart[:, 0] - apart[:, 1]) > 0.5


def test_an_impossible_attitude_gives_the_nearest_hang():
    bar = payload("bar")
    points = np.array([[0, -0.19, 0.0097], [0, -0.10, 0.0097]])  # both on one side of the centre of mass
    rig = Slung.build([airframe("dragonfly")] * 2, bar, [Cable(0.5, p) for p in points])
    hover = hovers(rig, [0, 0, 2.0])
    assert not hover.exact and "hangs" in hover.note
    single = Slung.build([airframe("dragonfly")], bar, [Cable(0.5, (0, 0.19, 0.0097))])
    assert not hovers(single, [0, 0, 2.0]).exact


def test_linked_trim():
    load = payload("triangle")
    rig = Linked.build([airframe("dragonfly")] * 3, load, load.attachment_points("rigid", 3), [0, 1, 2])
    assert hovers(rig, [0, 0, 2.0]).exact
    leaning = trim(rig, [0, 0, 2.0], attitude=[np.cos(0.2), np.sin(0.2), 0, 0])
    assert not leaning.exact and "levelled" in leaning.note


def test_linked_states_are_recovered():
    load = payload("bar")
    rig = Linked.build(
        [airframe("dragonfly"), airframe("race")], load, [[0.1, 0.2, 0.0], [0, -0.3, 0.1]], [0.3, 0.9]
    )
    state = rig.state([1, 2, 3.0], payload_velocity=[0.1, 0.2, 0.3], payload_rate=[1, -2, 0.5])
    groups = rig.bodies(state)
    body, crafts = groups["payload"].only(), groups["vehicles"]
    np.testing.assert_allclose(body.position, [1, 2, 3], atol=1e-14)
    np.testing.assert_allclose(body.velocity, [0.1, 0.2, 0.3], atol=1e-14)
    np.testing.assert_allclose(crafts.position[:, 1], [1, 1.7, 3.1], atol=1e-14)
    np.testing.assert_allclose(
        crafts.velocity[:, 0], np.array([0.1, 0.2, 0.3]) + np.cross([1, -2, 0.5], [0.1, 0.2, 0]), atol=1e-14
    )
    np.testing.assert_allclose(2 * np.arccos(crafts.attitude[0]), [0.3, 0.9], atol=1e-12)


def test_a_winch_keeps_its_limits():
    winch = Winch(rate=0.4, acceleration=1.0, shortest=0.3, longest=1.2)
    rig = Slung.build([airframe("dragonfly")], payload("point-mass"), [Cable(1.0, winch=winch)])
    hover = trim(rig, [0, 0, 5.0])
    wanted = np.array([[5.0], [-5.0], [0.0]])
    flight = rollout(rig, hover.state, [0, 1.0, 4.0, 5.0], hover.thrust, winch=wanted)
    length = flight.cable_length[:, 0]
    rate = np.gradient(length, 2e-3)
    assert length.max() <= 1.2 + 1e-12 and length.min() >= 0.3 - 1e-12
    assert length.max() > 1.19 and length.min() < 0.31, "it reached both ends"
    assert np.abs(rate).max() <= 0.4 + 1e-9
    assert np.abs(np.diff(length, 2)).max() / 2e-3**2 <= 1.0 + 1e-6
    distance = np.linalg.norm(flight.payload.position - flight.vehicles.position[:, 0], axis=1)
    taut = flight.taut[:, 0]
    np.testing.assert_allclose(distance[taut], length[taut], atol=1e-9)
    assert np.all(distance <= length + 1e-9)


def test_single_precision_flies_too():
    single = jax.tree.map(
        lambda leaf: leaf.astype(jnp.float32) if leaf.dtype == jnp.float64 else leaf, triangle()
    )
    hover = trim(triangle(), [0, 0, 2.0])
    state = jax.tree.map(
        lambda leaf: leaf.astype(jnp.float32) if leaf.dtype == jnp.float64 else leaf, hover.state
    )
    poke = [Poke(0.1, [0, 0, 0.25], [0.3, 0, 0])]
    rough = rollout(single, state, [0, 0.6], hover.thrust, happenings=poke)
    exact = rollout(triangle(), hover.state, [0, 0.6], hover.thrust, happenings=poke)
    assert rough.payload.position.dtype == np.float32
    np.testing.assert_allclose(rough.payload.position[-1], exact.payload.position[-1], atol=2e-4)
    assert "impact" in {event.kind for event in rough.events}


def test_growing_teams():
    ring = 2 * np.pi * np.arange(12) / 12
    points = 0.6 * np.stack([np.cos(ring), np.sin(ring), 0.1 + 0 * ring], axis=1)
    rig = Slung.build([airframe("dragonfly")] * 12, payload("box"), [Cable(0.8, p) for p in points])
    hover = hovers(rig, [0, 0, 3.0], duration=0.2)
    flight = rollout(
        rig, hover.state, [0, 0.2], hover.thrust, happenings=[Poke(0.02, [0, 0, 0.3], points[0])]
    )
    assert {"poke", "slack"} <= {event.kind for event in flight.events}


CRAFT = SimpleNamespace(mass=0.25, inertia=[6e-4, 6e-4, 1e-3])
POINT = SimpleNamespace(mass=0.07, inertia=None)


@pytest.mark.parametrize(
    ("words", "make"),
    [
        (
            "vehicles[0].mass",
            lambda: Slung.build([SimpleNamespace(mass=-1.0, inertia=[1, 1, 1])], POINT, [Cable(1.0)]),
        ),
        (
            "vehicles[0].mass",
            lambda: Slung.build([SimpleNamespace(mass=0.0, inertia=[1, 1, 1])], POINT, [Cable(1.0)]),
        ),
        (
            "vehicles[0].inertia",
            lambda: Slung.build([SimpleNamespace(mass=1, inertia=[1, 1, 9])], POINT, [Cable(1.0)]),
        ),
        (
            "payload.mass",
            lambda: Slung.build([CRAFT], SimpleNamespace(mass=np.nan, inertia=None), [Cable(1.0)]),
        ),
        (
            "payload.inertia",
            lambda: Slung.build([CRAFT], SimpleNamespace(mass=1, inertia=[1, 0, 1]), [Cable(1.0)]),
        ),
        ("2 cables for 1 vehicles", lambda: Slung.build([CRAFT], POINT, [Cable(1.0)] * 2)),
        ("cables[0].length", lambda: Slung.build([CRAFT], POINT, [Cable(0.0)])),
        ("cables[0].attachment", lambda: Slung.build([CRAFT], POINT, [Cable(1.0, (0, 0))])),
        ("point-mass", lambda: Slung.build([CRAFT], POINT, [Cable(1.0, (0.1, 0, 0))])),
        ("winch.rate", lambda: Slung.build([CRAFT], POINT, [Cable(1.0, winch=Winch(0, 1, 0.1, 2))])),
        ("winch holds", lambda: Slung.build([CRAFT], POINT, [Cable(3.0, winch=Winch(1, 1, 0.1, 2))])),
        ("restitution", lambda: Slung.build([CRAFT], POINT, [Cable(1.0)], restitution=1.0)),
        ("attachments", lambda: Linked.build([CRAFT] * 2, payload("bar"), [[0, 0, 0]])),
        ("vehicle_position[0]", lambda: one().state([0, 0, 0], [[0, 0, 1.1]])),
        ("payload_attitude", lambda: one().state([0, 0, 0], [[0, 0, 1.0]], payload_attitude=[1, 1, 0, 0])),
        (
            "vehicle_velocity",
            lambda: one().state([0, 0, 0], [[0, 0, 1.0]], vehicle_velocity=[[0, np.inf, 0]]),
        ),
        ("times", lambda: rollout(one(), start(), [0, 0], [2.0])),
        ("thrust must have shape", lambda: rollout(one(), start(), [0, 1], [2.0, 2.0])),
        ("thrust", lambda: rollout(one(), start(), [0, 1], [np.nan])),
        ("winch", lambda: rollout(one(), start(), [0, 1], [2.0], winch=[1.0])),
        ("cut.cable", lambda: rollout(one(), start(), [0, 1], [2.0], happenings=[Cut(0.5, 1)])),
        ("poke.time", lambda: rollout(one(), start(), [0, 1], [2.0], happenings=[Poke(1.5, [0, 0, 1])])),
        ("at must lie", lambda: rollout(one(), start(), [0, 0.1], [2.0], at=[0.2])),
        ("step", lambda: rollout(one(), start(), [0, 0.1], [2.0], step=0.0)),
        ("lean", lambda: trim(one(), [0, 0, 1.0], lean=2.0)),
    ],
)
def test_bad_input_is_named(words, make):
    with pytest.raises(InputError) as caught:
        make()
    message = str(caught.value)
    assert words in message and "\n" not in message and message.endswith(".")


def one():
    return Slung.build([CRAFT], POINT, [Cable(1.0)])


def start():
    return one().state([0, 0, 5.0], [[0, 0, 6.0]])


def test_a_flight_that_blows_up_says_when_and_which():
    with pytest.raises(FlightDiverged, match=r"(payload|vehicle 0) turned non-finite at t = 0\.502 s"):
        rollout(
            one(),
            start(),
            [0, 0.5, 1.0],
            [2.5],
            moment=np.array([[[0, 0, 0]], [[1e200, 1e200, 0]]], dtype=float),
        )


def test_too_many_events_is_an_error_not_a_silence():
    rig = triangle()
    hover = trim(rig, [0, 0, 2.0])
    poke = [Poke(0.1, [0, 0, 0.3], [0.3, 0, 0])]
    with pytest.raises(FlightDiverged, match="max_events"):
        rollout(rig, hover.state, [0, 1.0], hover.thrust, happenings=poke, max_events=1)
