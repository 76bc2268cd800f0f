"""The verdict on flights made up by hand, and the same contacts seen by NumPy and by JAX."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from made_up import flight, replace, rig, tracks

from skyrig import InputError, load
from skyrig.contacts import NONE, named, touching
from skyrig.flight import Flight, FlightEvent
from skyrig.flight.limits import FlightLimits
from skyrig.flight.metrics import metrics
from skyrig.flight.verdict import Verdict, outlines_of, verdict
from skyrig.hulls import Outlines, convex_hull

TIMES = np.linspace(0, 10, 11)
BOX = np.array([[x, y, z] for x in (-0.3, 0.3) for y in (-0.2, 0.2) for z in (-0.1, 0.1)])


def aloft(count: int = 2) -> Flight:
    """A box three metres up, its vehicles two metres above it, on cables from its upper corners."""
    flown = flight(TIMES, count)
    up = np.array([0.0, 0.0, 3.0])
    box = rig(count, payload_corners=BOX, attachments=BOX[[1, 7, 3, 5]][:count])
    assert flown.reference is not None
    return replace(
        flown,
        payload=tracks(flown.payload.position + up),
        vehicles=tracks(flown.vehicles.position + up),
        reference=replace(flown.reference, position=flown.reference.position + up),
        rig=box,
    )


def moved(flown: Flight, body: int | None, row: int, place: list[float]) -> Flight:
    """A flight with a vehicle, or the payload, elsewhere at one instant."""
    if body is None:
        position = flown.payload.position.copy()
        position[row] = place
        return replace(flown, payload=tracks(position))
    position = flown.vehicles.position.copy()
    position[row, body] = place
    return replace(flown, vehicles=tracks(position))


def test_a_flight_in_which_nothing_happens_flew() -> None:
    assert verdict(aloft()) == Verdict("flew") and verdict(aloft()).line == "flew as asked."
    assert aloft().verdict.flew
    assert metrics(aloft())["verdict"] == {"word": "flew", "reason": "", "time": None}


@pytest.mark.parametrize(
    ("body", "place", "line", "near"),
    [
        (None, [0, 0, 0.09], "crashed: The payload touches the ground", "(0.00, 0.00, 0.09)"),
        (1, [0, 0, -0.01], "crashed: Vehicle 1 touches the ground", "(0.00, 0.00, -0.01)"),
        (1, [-0.5, 0.3, 5.2], "collided: Vehicle 0 touches vehicle 1", "(-0.50, 0.00, 5.00)"),
        (1, [0.4, 0.3, 3.0], "collided: The payload touches vehicle 1", "(0.00, 0.00, 3.00)"),
        (1, [-0.4, 0.0, 4.0], "collided: Cable 0 touches vehicle 1", "(-0.40, 0.00, 4.00)"),
        (0, [0.9, 0.6, 2.4], "collided: Cable 0 runs through the payload", "(0.00, 0.00, 3.00)"),
    ],
)
def test_contacts_say_what_when_and_where(body: int | None, place: list[float], line: str, near: str) -> None:
    assert verdict(moved(aloft(), body, 4, place)).line == f"{line} at t = 4 s, near {near} m."


def test_near_misses_are_none() -> None:
    """A level disc may be close above the ground, a corner's ball beside the corner, a load on the ground."""
    for body, place in ((1, [0, 2, 0.01]), (1, [0.45, 0.35, 3.0]), (None, [0, 0, 0.1]), (1, [0.6, 0.4, 3.0])):
        flown = moved(aloft(), body, 4, place)
        slack = flown.cables.taut.copy()
        slack[4] = False  # so that no cable is in the way
        assert verdict(replace(flown, cables=replace(flown.cables, taut=slack))).flew, place


def test_what_goes_wrong_first_counts() -> None:
    both = moved(moved(aloft(), None, 7, [0, 0, 0.0]), 1, 6, [-0.5, 0.3, 5.2])
    assert verdict(both).word == "collided" and verdict(both).time == 6.0
    assert verdict(moved(both, 0, 2, [0, 0, -0.1])).word == "crashed"


def test_the_ground_and_the_arena_are_the_scenarios() -> None:
    low = moved(aloft(), 1, 4, [0, 3, -2.0])
    assert verdict(low, FlightLimits(ground=-3.0)).flew and verdict(low, FlightLimits(ground="none")).flew
    box = FlightLimits(ground="none", arena=((-2.0, -2.0, -3.0), (2.0, 2.0, 6.0)))
    assert verdict(low, box).line.startswith("left arena: Vehicle 1 leaves the arena at t = 4 s")
    said = replace(low, scenario="verdict: {ground: -3.0, position: 0.2}")
    assert verdict(said).flew and metrics(said)["verdict"]["word"] == "flew"
    with pytest.raises(InputError, match=r"verdict.arena must give its lowest corner first.*along y"):
        load("drop-recover").with_overrides({"verdict.arena": [[-1, 1, 0], [1, -1, 2]]})
    with pytest.raises(InputError, match=r"verdict.ground must be"):
        load("drop-recover").with_overrides({"verdict.ground": "noone"})


def test_a_load_is_lost_when_no_cable_holds_it_any_more() -> None:
    flown = aloft()
    taut = flown.cables.taut.copy()
    taut[6:] = False
    lost = replace(flown, cables=replace(flown.cables, taut=taut))
    assert verdict(lost).line == "lost load: No cable holds the payload from t = 5 s on."
    fallen = moved(lost, None, 10, [0, 0, -4.0])
    assert verdict(fallen).word == "lost load", "it was lost before it hit the ground"
    taut = taut.copy()
    taut[10, 1] = True
    assert verdict(replace(flown, cables=replace(flown.cables, taut=taut))).flew, "one cable holds it again"
    dropped = replace(
        fallen, events=(FlightEvent(5.0, "cut", "cable", 0), FlightEvent(4.0, "cut", "cable", 1))
    )
    assert verdict(dropped).flew, "the scenario itself let it go"
    assert verdict(replace(dropped, events=dropped.events[:1])).word == "lost load"


def test_ending_far_from_the_reference_is_told() -> None:
    far = moved(aloft(), None, 10, [0.0, 0.6, 3.0])
    assert verdict(far).line == "off reference: The payload ends 0.6 m from its reference, more than 0.5 m."
    assert verdict(far, FlightLimits(position=0.7)).flew
    turned = aloft()
    turned.payload.attitude[-1] = [np.cos(0.6), 0, 0, np.sin(0.6)]
    assert "ends 1.2 rad from its reference, more than 1 rad" in verdict(turned).reason
    own = aloft()
    assert own.reference is not None
    both = replace(own.reference, position=own.vehicles.position + [[0, 0, 0], [0, 0.7, 0]])
    assert verdict(replace(own, reference=None, vehicle_references=both)).reason.startswith("Vehicle 1 ends")


def test_links_hold_vehicles_apart_for_good() -> None:
    flown = flight(TIMES, 2, "links")
    near = flown.vehicles.position + [0, 0, 1.0]
    near[:, 1] = near[:, 0] + [0.1, 0, 0]
    assert verdict(replace(flown, vehicles=tracks(near))).flew
    low = replace(flown, vehicles=tracks(near - [0, 0, 3.2]))
    assert verdict(low).word == "crashed", "the ground is there for them too"
    away = FlightLimits(ground="none", arena=((-2.0, -2.0, -3.0), (2.0, 2.0, 2.5)))
    assert verdict(replace(flown, vehicles=tracks(near)), away).line.startswith("left arena: Vehicle 0")


def test_batches_see_the_same_contacts() -> None:
    """The arithmetic inside compiled loops is that of recorded flights: random poses of four vehicles."""
    rng = np.random.default_rng(0)
    shape = Outlines(*(part[..., None] for part in outlines_of(aloft(4).rig, FlightLimits())))
    many = 2000
    attitudes = rng.normal(size=(4, 5, many))
    attitudes /= np.linalg.norm(attitudes, axis=0)
    load_place = np.array([0, 0, 1.0])[:, None] + 0.3 * rng.normal(size=(3, many))
    places = load_place[:, None] + rng.normal(size=(3, 4, many)) + np.array([0, 0, 1.0])[:, None, None]
    given = (load_place, attitudes[:, 0]), (places, attitudes[:, 1:])
    taut, gone = rng.random((4, many)) < 0.7, rng.random(many) < 0.1
    found = touching(shape, *given, taut, gone)
    kinds = {named(4)[k].kind for k in found if k != NONE}
    assert (found == NONE).any() and len(kinds) == 5
    inside = [tuple(jnp.asarray(leaf) for leaf in pair) for pair in given]
    again = jax.jit(touching)(Outlines(*shape), *inside, taut, gone)
    np.testing.assert_array_equal(found, np.asarray(again))


def test_a_hull_has_the_outermost_corners_only() -> None:
    square = [[0, 0], [1, 0], [1, 1], [0, 1]]
    inner = [[0.5, 0.5], [0.5, 0.0], [1.0, 0.3], [0, 0]]
    assert convex_hull(np.array([*inner, *square])).tolist() == square
    assert convex_hull(np.zeros((1, 3))[:, :2]).tolist() == [[0, 0]]
