"""References by name, in sequence and from files: built right, or refused in one clear sentence."""

import inspect
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyrig import planning
from skyrig.errors import InputError
from skyrig.planning import REFERENCES, build
from skyrig.planning.table import from_samples

jax.config.update("jax_enable_x64", True)

CIRCLE = {"type": "circle", "radius": 1.0, "period": 6.0, "ramp": 3.0, "turns": 2}

# By name


@pytest.mark.parametrize("name", REFERENCES)
def test_every_parameter_is_a_keyword_and_documented(name: str) -> None:
    builder = REFERENCES[name]
    assert all(p.kind is p.KEYWORD_ONLY for p in inspect.signature(builder).parameters.values())
    text = inspect.getdoc(builder) or ""
    if "options are those of `line`" not in text:
        assert all(f"{parameter}:" in text for parameter in inspect.signature(builder).parameters)


def test_a_name_alone_will_do_and_a_reference_passes_through() -> None:
    still = build("hover")
    assert isinstance(still, planning.Hover)
    assert build(still) is still


def test_context_fills_in_what_is_left_open() -> None:
    loop = build(CIRCLE, start=(1, 2, 3), attitude=(0, 0, 0.5), directory="unused")
    np.testing.assert_allclose(loop.start.position[0], [1, 2, 3])
    np.testing.assert_allclose(loop.start.euler[0], [0, 0, 0.5])
    centred = build({**CIRCLE, "center": [0, 0, 1]}, start=(9, 9, 9))
    np.testing.assert_allclose(centred.start.position[0], [1, 0, 1])


@pytest.mark.parametrize(
    ("description", "sentence"),
    [
        (3, "reference must name its type, one of hover, .*; not 3"),
        ({"radius": 1}, "reference must name its type"),
        ("crcle", r"reference.type must be one of .*\(did you mean 'circle'\?\), not 'crcle'"),
        ({**CIRCLE, "radios": 1}, "reference.radios is not a parameter of circle: .*did you mean 'radius'"),
        ({"type": "circle", "period": 6}, "reference.radius must be given for a circle"),
        ({**CIRCLE, "radius": -1}, "reference.radius must be above zero, not -1"),
        ({**CIRCLE, "radius": "big"}, "reference.radius must be numbers, not 'big'"),
        ({**CIRCLE, "period": 0}, "reference.period must not be zero"),
        ({**CIRCLE, "turns": 0.4}, "reference.turns must be at least 0.5: its two ramps of 3 s"),
        ({**CIRCLE, "cruise": 2}, "reference.turns or cruise must be given, and not both"),
        ({**CIRCLE, "turns": None, "cruise": -2}, "reference.cruise must not be negative, not -2 s"),
        ({**CIRCLE, "continuity": 7}, "reference.continuity must be a whole number from 1 to 6, not 7"),
        ({**CIRCLE, "start": [0, 0, 0], "center": [0, 0, 0]}, "reference.start and center cannot both"),
        ({"type": "line", "end": [0, 0]}, "reference.end must have shape 3"),
        ({"type": "line", "end": [0, 0, 0]}, "reference.duration must be given when start and end are"),
        ({"type": "line", "end": [0, 0, 1], "duration": 0}, "reference.duration must be above zero, not 0"),
        (
            {"type": "line", "end": [1, 0, 0], "duration": 1, "speed": 1},
            "reference.duration and speed cannot",
        ),
        ({"type": "line", "end": [1, 0, 0], "continuity": 0}, "reference.continuity must be a whole number"),
        ({"type": "step", "end": [1, 0, 0], "time": -1}, "reference.time must not be negative, not -1 s"),
        ({"type": "hover", "start": [0, 0, float("nan")]}, "reference.start must be finite"),
        ({"type": "sequence", "parts": []}, "reference.parts must be a list of at least one reference"),
        ({"type": "sequence", "parts": "hover"}, "reference.parts must be a list of at least one"),
        (
            {"type": "sequence", "parts": ["takeoff", {**CIRCLE, "radius": -1}]},
            r"reference.parts\[1\].radius",
        ),
        (
            {"type": "sequence", "parts": ["hover", "land"]},
            r"parts\[0\].duration must be given: only the last",
        ),
        ({"type": "combined", "path": {**CIRCLE, "period": 0}, "rotation": "hover"}, "reference.path.period"),
        ({"type": "table", "file": "x.csv", "ends": "loose"}, "reference.ends must be free or rest"),
    ],
)
def test_refused_in_one_sentence(description: object, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        build(description)


# In sequence


def test_each_part_begins_where_the_last_one_ended() -> None:
    parts = [{"type": "takeoff", "height": 1.5, "duration": 3.0}, CIRCLE, {"type": "land", "duration": 4.0}]
    flight = build({"type": "sequence", "parts": parts, "start": [1, 2, 0], "attitude": [0, 0, 0.3]})
    assert isinstance(flight, planning.Sequence)
    assert flight.duration == pytest.approx(3 + 15 + 4)
    assert flight.joints == (6, 6)
    assert flight.continuity == 6
    np.testing.assert_allclose(flight.start.position[0], [1, 2, 0])
    np.testing.assert_allclose(flight.sample(3.0).position[0], [1, 2, 1.5])
    np.testing.assert_allclose(flight.end.position[0], [1, 2, 0], atol=1e-14)
    np.testing.assert_allclose(flight.end.euler[0], [0, 0, 0.3])
    alone = planning.circle(radius=1.0, period=6.0, ramp=3.0, turns=2, start=(1, 2, 1.5), attitude=0.3)
    times = np.linspace(0.01, 14.99, 40)
    np.testing.assert_allclose(flight.sample(3 + times).position, alone.sample(times).position, atol=1e-9)


def test_a_part_that_begins_elsewhere_is_refused_or_moved() -> None:
    parts = ["takeoff", {"type": "line", "start": [5, 0, 0], "end": [6, 0, 0], "attitude": 0.5}]
    with pytest.raises(InputError, match=r"parts\[1\] begins at \(5, 0, 0\) m, .* but parts\[0\] ends at"):
        build({"type": "sequence", "parts": parts})
    for moved in (
        build({"type": "sequence", "parts": parts, "offset": True}),
        build({"type": "sequence", "parts": [parts[0], {**parts[1], "offset": True}]}),
    ):
        np.testing.assert_allclose(moved.end.position[0], [1, 0, 1])
        np.testing.assert_allclose(moved.end.euler[0], 0)
        assert moved.continuity == 6


def test_a_jump_in_velocity_is_refused_unless_allowed() -> None:
    moving = planning.waypoints(points=[[0, 0, 0], [1, 0, 0], [2, 0, 1], [3, 1, 1]], end_motion="free")
    with pytest.raises(InputError, match="begins with another velocity than .*set joint_continuity to 0"):
        planning.sequence(parts=[moving, "hover"])
    assert planning.sequence(parts=[moving, "hover"], joint_continuity=0).continuity == 0


def test_moving_parts_join_as_smoothly_as_they_agree() -> None:
    first = planning.waypoints(points=[[0, 0, 0], [1, 0, 0], [2, 0, 1], [3, 1, 1]], end_motion="free")
    last = first.end.position
    second = planning.waypoints(points=[last[0], [5, 1, 0]], start_motion=last[1:4])
    both = planning.sequence(parts=[first, second])
    assert both.joints == (3,)
    assert both.inner_continuity == 3
    times = np.array([0.0, 1e-4, 1.0])
    np.testing.assert_allclose(
        both.sample(first.duration + times).position, second.sample(times).position, atol=1e-9
    )


def test_sequences_nest_and_the_last_part_may_go_on_for_ever() -> None:
    inner = planning.sequence(parts=["takeoff", CIRCLE])
    outer = planning.sequence(parts=[inner, {"type": "sequence", "parts": ["land", "hover"]}])
    assert np.isinf(outer.duration)
    np.testing.assert_allclose(outer.sample(1e4).position[0], [0, 0, 0], atol=1e-14)
    assert outer.continuity == 6


def test_a_sequence_can_be_differentiated() -> None:
    @jax.jit
    @jax.grad
    def height_when_circling(height):
        parts = [{"type": "takeoff", "height": height, "duration": 3.0}, CIRCLE]
        return planning.sequence(parts=parts).sample(8.0).position[0, 2]

    assert height_when_circling(2.0) == pytest.approx(1.0)


@given(st.floats(0.2, 3), st.floats(1, 10), st.floats(0, 10), st.integers(1, 6))
def test_joined_motions_hold_still_at_their_joints(
    height: float, period: float, cruise: float, order: int
) -> None:
    loop = {"type": "circle", "radius": 0.5, "period": period, "cruise": cruise, "continuity": order}
    parts = [{"type": "takeoff", "height": height}, {**loop, "ramp": 2.0}, "land"]
    flight = planning.sequence(parts=parts)
    assert flight.continuity >= order
    at = flight.sample(np.array([float(t) for t in flight.starts[1:]])).position
    np.testing.assert_allclose(at[:, 1 : order + 1], 0, atol=1e-8 * (2 * np.pi / period + 1) ** order)


# From files


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def smooth(t: np.ndarray) -> np.ndarray:
    columns = [np.sin(t), np.cos(0.7 * t), 0.1 * t**2, 0.1 * np.sin(t), 0.2 * np.cos(t), 0.3 * t]
    return np.stack(columns, axis=-1)


def test_a_table_reproduces_a_smooth_motion_to_the_sixth_derivative(tmp_path: Path) -> None:
    t = np.linspace(0, 8, 161)
    rows = np.column_stack([t + 5, smooth(t)])  # clocks may begin anywhere
    text = "t,x,y,z,roll,pitch,yaw\n" + "\n".join(",".join(map(repr, map(float, row))) for row in rows)
    motion = build(
        {"type": "table", "file": "flown.csv"}, directory=str(write(tmp_path / "flown.csv", text).parent)
    )
    assert motion.duration == pytest.approx(8)
    assert motion.inner_continuity == 6
    times = np.linspace(0.5, 7.5, 77)
    sample = motion.sample(times)
    sines = [np.sin(times + k * np.pi / 2) for k in range(7)]
    # An interpolating spline of degree 7 errs by h^(8-k) in the k-th derivative; here h = 0.05.
    for k, tolerance in enumerate([1e-13, 1e-12, 1e-10, 1e-8, 1e-7, 1e-5, 5e-4]):
        np.testing.assert_allclose(sample.position[:, k, 0], sines[k], atol=tolerance)
        np.testing.assert_allclose(sample.euler[:, k, 0], 0.1 * sines[k], atol=tolerance)
    np.testing.assert_allclose(motion.sample(t).position[:, 0], smooth(t)[:, :3], atol=1e-13)


def test_a_table_at_rest_begins_and_ends_at_rest() -> None:
    t = np.linspace(0, 4, 9)
    motion = from_samples(t, smooth(t), ends="rest")
    for end in (motion.start, motion.end):
        np.testing.assert_allclose(end.position[1:4], 0, atol=1e-9)
    np.testing.assert_allclose(motion.sample(t).position[:, 0], smooth(t)[:, :3], atol=1e-12)
    assert motion.continuity == 3


def test_a_table_takes_columns_in_any_order_and_blank_lines(tmp_path: Path) -> None:
    t = np.arange(9.0)
    text = "z, y, x, t\n" + "\n\n".join(f"{3 * v}, {2 * v}, {v}, {v}" for v in t) + "\n"
    motion = planning.table(file=write(tmp_path / "a.csv", text))
    np.testing.assert_allclose(motion.sample(4.5).position[0], [4.5, 9, 13.5])


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "line 1 must name the columns t, x, y, z; t is missing"),
        ("t,x,y\n", "line 1 must name the columns t, x, y, z; z is missing"),
        ("t,x,y,z,yaw\n", "line 1 must name the columns .*; roll is missing"),
        ("t,x,y,z,w\n", "line 1, column 'w' must be one of t, x, y, z, roll, pitch, yaw"),
        ("t,x,y,z,z\n", "line 1 must name column z only once"),
        ("t,x,y,z\n0,0,0,0\n1,0,oops,0\n", "line 3, column y must be a finite number, not 'oops'"),
        ("t,x,y,z\n0,0,0,nan\n", "line 2, column z must be a finite number, not 'nan'"),
        ("t,x,y,z\n0,0,0\n", "line 2 must have 4 columns, not 3"),
        ("t,x,y,z\n1,0,0,0\n\n1,0,0,0\n", "line 4, column t must grow: 1 s follows 1 s"),
        ("t,x,y,z\n0,0,0,0\n1,0,0,0\n", "must hold at least 8 samples with ends free, not 2"),
    ],
)
def test_a_bad_table_is_refused_by_line_and_column(tmp_path: Path, text: str, sentence: str) -> None:
    path = write(tmp_path / "bad.csv", text)
    with pytest.raises(InputError, match=rf"reference.file .*bad.csv.*{sentence}"):
        build({"type": "table", "file": str(path)})


def test_a_missing_table_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="file .*none.csv cannot be read: No such file or directory"):
        planning.table(file="none.csv", directory=str(tmp_path))


def test_jax_parameters_of_the_wrong_shape_are_refused_too() -> None:
    with pytest.raises(InputError, match="end must have shape 3, not shape 2"):
        planning.line(end=jnp.zeros(2))


def recorded_circle(noise: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Times (s), true and noisy samples of a turn from rest to rest at 100 Hz."""
    t = np.linspace(0, 6, 601)
    s = t / 6
    angle = 2 * np.pi * s**4 * (35 - 84 * s + 70 * s**2 - 20 * s**3)
    true = np.stack([np.cos(angle), np.sin(angle), 1 + 0 * t, 0 * t, 0 * t, angle], axis=1)
    return t, true, true + noise * np.random.default_rng(1).standard_normal(true.shape)


@pytest.mark.parametrize("ends", ["free", "rest"])
def test_a_smoothed_table_goes_between_noisy_samples(ends: str) -> None:
    t, true, noisy = recorded_circle(1e-3)
    smooth, rough = (from_samples(t, noisy, ends=ends, smooth=each) for each in (0.5, None))
    motion, shaken = smooth.sample(t), rough.sample(t)
    assert np.abs(motion.position[:, 0] - true[:, :3]).max() < 2e-3
    assert np.abs(motion.euler[:, 0] - true[:, 3:]).max() < 2e-3
    exact = from_samples(t, true).sample(t)
    for order, gain in ((1, 5), (2, 50)):
        near, far = (np.abs(it.position - exact.position)[:, order].max() for it in (motion, shaken))
        assert gain * near < far
    assert smooth.misfit == pytest.approx(1e-3 * np.sqrt(3), rel=0.05) and rough.misfit == 0
    if ends == "rest":
        edges = smooth.sample(np.array([0.0, 6.0]))
        assert np.abs(edges.position[:, 1:4]).max() < 1e-6 and smooth.rest_orders == (3, 3)


def test_smoothing_leaves_a_smooth_motion_alone_also_across_gaps() -> None:
    t, true, _ = recorded_circle(0.0)
    kept = (t < 2) | (t > 2.8)
    motion = from_samples(t[kept], true[kept], ends="rest", smooth=0.2)
    assert motion.misfit < 1e-4
    assert np.abs(motion.sample(t).position[:, 0] - true[:, :3]).max() < 5e-3, "0.8 s are missing"
    with pytest.raises(InputError, match="must hold at least 8 samples"):
        from_samples(t[:7], true[:7], smooth=0.01)
    with pytest.raises(InputError, match="reference.smooth must be above zero, not -1"):
        build({"type": "table", "file": "x.csv", "smooth": -1})
