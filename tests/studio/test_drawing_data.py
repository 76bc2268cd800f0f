"""What drawings are made of: closed meshes, cables of true length, frames and their history."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyrig.catenary import hanging
from skyrig.flight import meshes
from skyrig.flight.frames import Frames, of_payload
from skyrig.studio.history import History
from skyrig.vehicles import airframe, airframe_names, payload, payload_names


def volume(mesh: meshes.Mesh) -> float:
    a, b, c = (mesh.vertices[mesh.faces[:, k]] for k in range(3))
    return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6)


def edges_match(mesh: meshes.Mesh) -> bool:
    """Whether every edge is passed once each way, as it is on a closed surface."""
    ways = np.concatenate([mesh.faces[:, [0, 1]], mesh.faces[:, [1, 2]], mesh.faces[:, [2, 0]]])
    return {tuple(way) for way in ways.tolist()} == {tuple(way[::-1]) for way in ways.tolist()}


@pytest.mark.parametrize("name", payload_names())
def test_payloads_are_closed_and_as_large_as_their_data(name: str) -> None:
    shape = payload(name).shape
    mesh = meshes.payload(shape)
    assert edges_match(mesh) and volume(mesh) > 0
    if shape.kind != "point":
        np.testing.assert_allclose(mesh.vertices.min(0), shape.corners.min(0), atol=1e-12)
        np.testing.assert_allclose(mesh.vertices.max(0), shape.corners.max(0), atol=1e-12)
        outline = meshes.edges(shape).reshape(-1, 3)
        np.testing.assert_allclose(outline.max(0), shape.corners.max(0), atol=1e-12)
    if shape.kind == "box":
        assert volume(mesh) == pytest.approx(shape.size.prod())


@pytest.mark.parametrize("name", airframe_names())
def test_vehicles_reach_their_rotors_and_point_forward(name: str) -> None:
    frame = airframe(name)
    body, arms, mark = meshes.airframe(frame, (1, 2, 3))
    assert all(edges_match(mesh) and volume(mesh) > 0 for mesh in (body, arms, mark))
    reach = np.linalg.norm(arms.vertices[:, :2], axis=1).max()
    assert frame.arm <= reach <= frame.radius * 1.2
    assert mark.vertices[:, 0].max() > body.vertices[:, 0].max()


@given(st.tuples(*[st.floats(-1, 1)] * 3), st.tuples(*[st.floats(-1, 1)] * 3), st.floats(1.0001, 4.0))
def test_a_slack_cable_is_drawn_with_its_true_length(start, end, ratio: float) -> None:
    a, b = np.array(start), np.array(end)
    apart = float(np.linalg.norm(b - a))
    length = max(apart, 0.05) * ratio
    line = hanging(a, b, length, 400)
    np.testing.assert_allclose(line[0], a, atol=1e-6)
    np.testing.assert_allclose(line[-1], b, atol=1e-5 * (1 + length))
    drawn = np.linalg.norm(np.diff(line, axis=0), axis=1).sum()
    assert drawn == pytest.approx(length, rel=0.02)
    assert line[:, 2].max() <= max(a[2], b[2]) + 1e-6


def test_a_taut_cable_is_straight_and_colours_grow_red() -> None:
    line = hanging(np.zeros(3), np.array([1.0, 0, 0]), 1.0, 5)
    np.testing.assert_allclose(line, np.linspace(0, 1, 5)[:, None] * [1.0, 0, 0])
    low, high = meshes.tension_colour(0.0), meshes.tension_colour(5.0)
    assert low[2] > low[0] and high[0] > high[2]


def frames(times: np.ndarray) -> Frames:
    n = len(times)
    return of_payload(
        times=times,
        payload=(np.stack([times] * 3, axis=1), np.tile([1.0, 0, 0, 0], (n, 1))),
        vehicles=(np.zeros((n, 2, 3)), np.tile([1.0, 0, 0, 0], (n, 2, 1))),
        thrust=np.ones((n, 2)),
        signals={"cable.tension": np.ones((n, 2)), "cable.taut": np.ones((n, 2), bool)},
    )


def test_history_keeps_the_latest_in_fixed_memory() -> None:
    history = History(frames(np.zeros(1)), capacity=50, spacing=0.02)
    size = [part.nbytes for part in history._rows.values()]
    for k in range(300):
        history.append(frames(0.01 * (4 * k + 1 + np.arange(4))))
    assert [part.nbytes for part in history._rows.values()] == size
    begin, end = history.span
    assert end == pytest.approx(12.0) and begin == pytest.approx(12.0 - 0.02 * 49)
    kept = history.frames()
    np.testing.assert_allclose(np.diff(kept.times), 0.02)
    np.testing.assert_allclose(kept.place[:, 0], kept.times)
    thin = history.frames(11.5, 11.9, most=5)
    assert len(thin) <= 5 and thin.times[-1] == pytest.approx(11.9) and thin.times[0] >= 11.5 - 1e-9
    assert len(history.frames(99.0, 99.0)) == 1 and len(history.frames(-5.0, -4.0)) == 1


def test_frames_are_found_by_time() -> None:
    some = frames(np.arange(5) / 10)
    assert some.at(0.25).times[0] == pytest.approx(0.2)
    assert some.at(-1.0).times[0] == 0.0 and some.at(9.0).times[0] == pytest.approx(0.4)
    assert np.isnan(some.error).all()


def test_vectors_told_of_all_bodies_become_arrows() -> None:
    """Three columns a body, whatever they are called; an upright one has its barbs too."""
    still = np.array([[1.0, 0.0, 0.0, 0.0]])
    wind = {
        f"wind.{axis}": np.array([[value, 0.0]]) for axis, value in zip("xyz", (3.0, 0.0, 4.0), strict=True)
    }
    bodies = (np.zeros((1, 3)), still), (np.array([[[0.0, 0.0, 2.0]]]), still[:, None])
    frame = of_payload(np.zeros(1), *bodies, np.zeros((1, 1)), {**wind, "other.x": np.zeros((1, 5))})
    vectors = frame.vectors()
    assert list(vectors) == ["wind"]
    assert vectors["wind"][0].tolist() == [[3.0, 0.0, 4.0], [0.0, 0.0, 0.0]]
    strokes = meshes.arrows(
        np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]]), np.array([[3.0, 0.0, 4.0], [0, 0, 2.0]])
    )
    assert strokes.shape == (6, 2, 3)
    assert strokes[:2].tolist() == [[[0, 0, 0], [3, 0, 4]], [[1, 0, 0], [1, 0, 2]]]
    assert np.all(strokes[2:, 1] == np.tile(strokes[:2, 1], (2, 1)))
    lengths = np.linalg.norm(strokes[2:, 1] - strokes[2:, 0], axis=1)
    np.testing.assert_allclose(lengths, np.hypot(0.25, 0.12) * np.array([5.0, 2.0, 5.0, 2.0]))
