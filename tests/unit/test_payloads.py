"""The bundled payloads are the published ones, can exist, and can be held."""

import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from skyrig.errors import InputError
from skyrig.files import read_bundled
from skyrig.vehicles import Box, Payload, Polyhedron, Prism, payload, payload_names


@pytest.fixture(params=payload_names())
def load(request: pytest.FixtureRequest) -> Payload:
    return payload(request.param)


def test_payload_inertia_is_possible(load: Payload) -> None:
    if load.is_point:
        return
    assert load.inertia is not None
    moments = np.linalg.eigvalsh(load.inertia)
    assert 0 < moments[0] <= moments[2] <= moments[0] + moments[1]


@pytest.mark.parametrize("name", ["box", "bar"])
def test_cuboids_have_the_inertia_of_cuboids(name: str) -> None:
    load = payload(name)
    assert isinstance(load.shape, Box)
    x, y, z = load.shape.size**2
    uniform = load.mass / 12 * np.diag([y + z, x + z, x + y])
    np.testing.assert_allclose(load.inertia, uniform, rtol=2e-3, atol=1e-12)


def test_box_is_24_by_24_by_18_inches() -> None:
    shape = payload("box").shape
    assert isinstance(shape, Box)
    np.testing.assert_allclose(shape.size, np.array([24, 24, 18]) * 0.0254, rtol=1e-12)


def test_cables_take_hold_on_the_payload(load: Payload) -> None:
    corners = load.shape.corners
    for name, points in load.attachments.items():
        if name in {"cable-3-figures", "rigid-3", "rigid-5"}:
            continue  # published 6 cm further forward than the plate's corners
        assert np.all(points >= corners.min(axis=0) - 1e-9), name
        assert np.all(points <= corners.max(axis=0) + 1e-9), name


def test_attachments_follow_the_size_of_the_team(load: Payload) -> None:
    for name in load.attachments:
        joint, count, *other = name.split("-")
        if not other:
            assert load.attachment_points(joint, int(count)).shape == (int(count), 3)


def test_any_team_may_hold_a_point() -> None:
    np.testing.assert_array_equal(payload("point-mass").attachment_points("cable", 5), np.zeros((5, 3)))


def test_triangle_is_centred_on_its_mass() -> None:
    shape = payload("triangle").shape
    assert isinstance(shape, Prism)
    np.testing.assert_allclose(shape.outline.mean(axis=0), 0, atol=2e-4)
    np.testing.assert_allclose(shape.corners.mean(axis=0), 0, atol=2e-4)


def test_every_file_says_where_its_numbers_come_from(load: Payload) -> None:
    assert len(load.source) > 40


def test_box_inertia_is_marked_as_ours() -> None:
    assert "inertia" in payload("box").ours


def test_documentation_tells_the_numbers_of_the_files(load: Payload) -> None:
    page = (Path(__file__).parents[2] / "docs" / "vehicles.md").read_text(encoding="utf-8")
    moments = "none"
    if load.inertia is not None:
        moments = ", ".join(f"{1e6 * moment:.5g}" for moment in np.diag(load.inertia))
    sets = ", ".join(f"`{name}`" for name in load.attachments)
    assert f"| `{load.name}` | {1000 * load.mass:g} | {moments} | {sets} |" in page


@pytest.mark.parametrize(
    "changes, sentence",
    [
        (
            {"shape": {"kind": "sphere"}},
            "shape: kind is 'sphere'; choose from: box, cylinder, hull, point, prism.",
        ),
        ({"shape": {"kind": "box"}}, "shape: the field 'size' is missing."),
        ({"shape": {"kind": "box", "size": [1, 1, -1]}}, "shape: size must be above zero"),
        ({"shape": {"kind": "prism", "height": 1, "outline": [[0, 0]]}}, "at least three vertices"),
        ({"shape": {"kind": "point", "radius": 1}}, "is a point mass and has no inertia"),
        ({"attachments": {"cable-2": [0, 0, 1]}}, "attachments: cable-2 must have shape n x 3"),
        ({"attachments": [0, 0, 1]}, "attachments must be a mapping"),
        ({"mass": -1}, "mass must be above zero, not -1."),
        ({"weight": 1}, "there is no field 'weight'"),
    ],
)
def test_payloads_that_cannot_be_are_refused(changes: dict[str, object], sentence: str) -> None:
    with pytest.raises(InputError) as refusal:
        Payload.from_dict({**read_bundled("payloads", "box"), **changes}, where="mine.yaml")
    assert str(refusal.value).startswith("mine.yaml: ")
    assert sentence in str(refusal.value)


def test_an_attitude_needs_an_inertia() -> None:
    fields = dict(read_bundled("payloads", "triangle"))
    del fields["inertia"]
    with pytest.raises(InputError, match="needs an inertia"):
        Payload.from_dict(fields)


def test_a_box_or_cylinder_without_inertia_is_uniform() -> None:
    fields = dict(read_bundled("payloads", "box"))
    given = fields.pop("inertia")
    np.testing.assert_allclose(np.diag(Payload.from_dict(fields).inertia), given, rtol=1e-6)
    drum = Payload.from_dict(
        {"name": "drum", "mass": 2.0, "shape": {"kind": "cylinder", "radius": 0.3, "height": 0.4}}
    )
    np.testing.assert_allclose(
        np.diag(drum.inertia), [2 * (0.09 / 4 + 0.16 / 12)] * 2 + [2 * 0.09 / 2], rtol=1e-12
    )
    assert not drum.is_point and drum.shape.corners[:, 2].max() == 0.2
    np.testing.assert_allclose(np.linalg.norm(drum.shape.corners[:, :2], axis=1), 0.3, rtol=1e-12)


def test_a_prism_turns_as_its_outline_says() -> None:
    box = Box(np.array([0.5, 0.2, 0.1]))
    turn = np.array([[np.cos(0.4), -np.sin(0.4)], [np.sin(0.4), np.cos(0.4)]])
    rim = np.array([[0.25, -0.1], [0.25, 0.1], [-0.25, 0.1], [-0.25, -0.1]])
    both = np.eye(3)
    both[:2, :2] = turn
    for outline in (rim, rim[::-1]):
        prism = Prism(outline @ turn.T + [0.3, -1.0], 0.1)  # turned and moved, either way round
        np.testing.assert_allclose(prism.inertia(3.0), both @ box.inertia(3.0) @ both.T, atol=1e-12)
    triangle = Prism(np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 1.0]]), 1e-9)
    np.testing.assert_allclose(triangle.inertia(18.0)[:2, :2], [[1.0, 1.5], [1.5, 9.0]], atol=1e-9)


def test_a_point_is_held_at_its_point() -> None:
    with pytest.raises(InputError, match="must all be at its origin"):
        replace(payload("point-mass"), attachments={"cable-1": np.ones((1, 3))})


def test_published_inertia_of_no_possible_body_stays_refused() -> None:
    with pytest.raises(InputError, match="payload 'box': inertia is of no possible body"):
        replace(payload("box"), inertia=np.diag([0.000601, 0.000589, 0.01076]))


def test_a_team_without_attachments_hears_which_there_are() -> None:
    with pytest.raises(InputError, match="it has: cable-4, cable-6"):
        payload("box").attachment_points("cable", 5)
    with pytest.raises(InputError, match=r"did you mean 'cable'\?"):
        payload("box").attachment_points("cabel", 4)


def test_bundled_numbers_cannot_be_written_over(load: Payload) -> None:
    for array in load.attachments.values():
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


def test_it_travels_between_processes(load: Payload) -> None:
    copy = pickle.loads(pickle.dumps(load))
    np.testing.assert_array_equal(copy.shape.corners, load.shape.corners)
    assert list(copy.attachments) == list(load.attachments)


def test_a_hull_of_a_boxs_corners_is_that_box_wherever_it_was_drawn() -> None:
    box = Box(size=np.array([0.1, 0.2, 0.3]))
    inside = np.zeros((3, 3))
    points = np.concatenate([inside, box.corners]) + [5.0, -2.0, 1.0]
    load = Payload.from_dict(
        {"name": "crate", "mass": 2.0, "shape": {"kind": "hull", "points": points.tolist()}}
    )
    assert isinstance(load.shape, Polyhedron) and load.inertia is not None
    np.testing.assert_allclose(load.inertia, box.inertia(2.0), atol=1e-12)
    np.testing.assert_allclose(np.sort(load.shape.corners, axis=0), np.sort(box.corners, axis=0), atol=1e-12)
    assert len(load.shape.edges) == 12 and len(load.shape.outline) == 4


def test_points_in_a_plane_are_no_hull() -> None:
    flat = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]
    with pytest.raises(InputError, match="points must be four or more that do not lie in one plane"):
        Payload.from_dict({"name": "sheet", "mass": 1.0, "shape": {"kind": "hull", "points": flat}})
