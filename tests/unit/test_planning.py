"""Every reference: derivatives are those of its motion, joints are as smooth as it says."""

import subprocess
import sys
import textwrap

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from skyrig import planning
from skyrig.planning import reference as core
from skyrig.planning.table import from_samples

jax.config.update("jax_enable_x64", True)

SLALOM = [[0, 0, 0], [0.5, -0.5, 0.25], [1, 0, 0.5], [1.5, -0.5, 0.75], [2, 0, 1]]
ATTITUDES = [[0, 0, 0], [0.2, -0.1, 0.5], [0, 0.3, 1], [-0.2, 0, 1.5], [0, 0, 2]]


def recorded() -> planning.Table:
    """A smooth motion, sampled."""
    t = np.linspace(0, 6, 25)
    waves = [np.sin(t), np.cos(0.7 * t), 0.1 * t, 0.2 * np.sin(0.5 * t), 0.3 * np.cos(t), 0.4 * t]
    return from_samples(t, np.stack(waves, axis=1))


CATALOGUE = {
    "hover": lambda: planning.hover(start=(1, 2, 3), attitude=(0.1, 0.2, 0.3), duration=5.0),
    "line": lambda: planning.line(end=(3, -1, 2), attitude=0.2, end_attitude=(0.3, -0.4, 1.0), duration=4.0),
    "line published": lambda: planning.line(end=(3, -1, 2), continuity=2),
    "line nonic": lambda: planning.line(end=(0.3, -0.1, 0.2), speed=0.5, continuity=4),
    "takeoff": lambda: planning.takeoff(height=1.5, start=(1, 1, 0), duration=3.0),
    "land": lambda: planning.land(start=(1, 1, 1.5), speed=0.4),
    "land steadily": lambda: planning.land(start=(1, 1, 1.5), speed=0.4, ramp=1.0),
    "circle": lambda: planning.circle(radius=1.3, period=6.0, ramp=4.0, turns=2.5, start=(1, 2, 3)),
    "circle published": lambda: planning.circle(radius=1.0, period=10.0, cruise=6.0, continuity=3),
    "circle facing": lambda: planning.circle(
        radius=0.7, period=-5.0, ramp=3.0, center=(1, 0, 1), angle=1.0, facing=True, attitude=(0.2, 0.3, 0.4)
    ),
    "figure-8": lambda: planning.figure_8(amplitude=(1.0, 0.5), period=5.0),
    "lissajous": lambda: planning.lissajous(
        amplitude=(1, 0.8, 0.3), frequency=(3, 2, 1), shift=(0.3, 0, 1), period=9.0, cruise=4.0, continuity=5
    ),
    "rotation": lambda: planning.rotation(amplitude=(0.3, 0.4, 0.5), period=4.0, shift=(0, 0.5, 1.0)),
    "roll": lambda: planning.rotation(amplitude=(0.3, 0, 0), period=4.0, turns=2),
    "rotation on a circle": lambda: planning.combined(
        path={"type": "circle", "radius": 1.0, "period": 6.0, "ramp": 6.0, "turns": 2},
        rotation={"type": "rotation", "amplitude": [0.2, 0.3, 0.4], "period": 3.0, "turns": 2},
    ),
    "minimum snap": lambda: planning.waypoints(points=SLALOM, attitudes=ATTITUDES),
    "minimum snap published": lambda: planning.waypoints(points=SLALOM, continuity=2, degree=6),
    "minimum snap smooth": lambda: planning.waypoints(points=SLALOM, continuity=6, total=9.0),
    "minimum acceleration": lambda: planning.waypoints(points=SLALOM, derivative=2, total=10.0),
    "minimum sixth": lambda: planning.waypoints(points=SLALOM, derivative=6, durations=[3, 2, 2.5, 4]),
    "free ends": lambda: planning.waypoints(
        points=SLALOM, start_motion="free", end_motion=[[1, 0, 0], [0, 1, 0]], times=[0, 2, 3, 5, 6]
    ),
    "table": recorded,
    "sequence": lambda: planning.sequence(
        parts=[
            {"type": "takeoff", "height": 1.0, "duration": 3.0},
            {"type": "hover", "duration": 1.0},
            {"type": "circle", "radius": 0.5, "period": 4.0, "ramp": 2.0, "turns": 2, "facing": True},
            {"type": "rotation", "amplitude": [0.1, 0.2, 0.3], "period": 3.0, "turns": 1, "ramp": 2.0},
            {"type": "waypoints", "points": SLALOM, "continuity": 6, "offset": True, "total": 12.0},
            {"type": "land", "duration": 4.0, "continuity": 4},
        ]
    ),
}


@pytest.fixture(params=CATALOGUE, scope="module")
def motion(request: pytest.FixtureRequest) -> planning.Reference:
    return CATALOGUE[request.param]()


def between_knots(motion: planning.Reference, margin: float) -> np.ndarray:
    """Random times that keep a distance from every knot and from both ends."""
    times = np.random.default_rng(1).uniform(0, motion.duration, 200)
    edges = np.concatenate([motion.knots, [0.0, motion.duration]])
    return times[np.abs(times[:, None] - edges).min(axis=1) > margin]


def slope(function, times: np.ndarray, h: float) -> np.ndarray:
    """The time derivative by central differences of eighth order."""
    weights = np.array([1 / 280, -4 / 105, 1 / 5, -4 / 5, 0, 4 / 5, -1 / 5, 4 / 105, -1 / 280])
    return sum(w * function(times + i * h) for i, w in zip(range(-4, 5), weights, strict=True)) / h


def size(values: np.ndarray) -> float:
    """The largest entry, not below rounding."""
    return max(np.abs(values).max(), 1e-12)


H = 0.01


@pytest.mark.parametrize("name", ["position", "euler", "rate"])
def test_each_derivative_is_the_slope_of_the_one_before(motion: planning.Reference, name: str) -> None:
    times = between_knots(motion, 5 * H)
    assert len(times) > 20
    values = getattr(motion.sample(times), name)
    for k in range(1, values.shape[-2]):
        measured = slope(lambda t, k=k: getattr(motion.sample(t), name)[:, k - 1], times, H)
        # Differences lose digits of the lower derivative to the step, and of the higher to truncation.
        tolerance = 1e-9 * size(values[:, k]) + 1e-12 * size(values[:, k - 1]) / H
        np.testing.assert_allclose(measured, values[:, k], rtol=0, atol=tolerance)


def rotation_matrix(q: np.ndarray) -> np.ndarray:
    w, x, y, z = np.moveaxis(q, -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), (0, 1), (-2, -1))


def test_body_rate_turns_the_rotation_matrix(motion: planning.Reference) -> None:
    times = between_knots(motion, 5 * H)
    sample = motion.sample(times)
    R = rotation_matrix(sample.attitude)
    R_dot = slope(lambda t: rotation_matrix(motion.sample(t).attitude), times, H)
    hat = np.swapaxes(R, -1, -2) @ R_dot
    np.testing.assert_allclose(hat + np.swapaxes(hat, -1, -2), 0, atol=1e-9)
    vee = np.stack([hat[:, 2, 1], hat[:, 0, 2], hat[:, 1, 0]], axis=-1)
    np.testing.assert_allclose(vee, sample.rate[:, 0], atol=1e-9 * max(1.0, size(sample.rate[:, 0])))


def test_attitude_is_yaw_pitch_roll_in_turn() -> None:
    roll, pitch, yaw = 0.3, -0.5, 1.1
    (cr, sr), (cp, sp), (cy, sy) = ((np.cos(a), np.sin(a)) for a in (roll, pitch, yaw))
    Rx = np.array([[1, 0, 0], [0, cr, -sr], [0, sr, cr]])
    Ry = np.array([[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]])
    Rz = np.array([[cy, -sy, 0], [sy, cy, 0], [0, 0, 1]])
    ours = rotation_matrix(core.quaternion(np.array([roll, pitch, yaw])))
    np.testing.assert_allclose(ours, Rz @ Ry @ Rx, atol=1e-15)


def jumps(motion: planning.Reference, times: np.ndarray) -> np.ndarray:
    """Largest jump of each derivative of position and angles at `times`, relative to its size."""
    dense = motion.sample(np.linspace(0, motion.duration, 2001))
    before, after = motion.sample(times - 1e-9), motion.sample(times + 1e-9)
    out = np.zeros(7)
    for name in ("position", "euler"):
        jump = np.abs(getattr(after, name) - getattr(before, name)).max(axis=(0, 2), initial=0.0)
        sizes = [size(getattr(dense, name)[:, k]) for k in range(7)]
        out = np.maximum(out, jump / np.maximum(sizes, 1e-6))
    return out


def test_joints_are_continuous_to_the_promised_order(motion: planning.Reference) -> None:
    inner = [t for t in motion.knots if 1e-6 < t < motion.duration - 1e-6]
    assert (jumps(motion, np.array(inner))[: motion.inner_continuity + 1] < 1e-6).all()
    everywhere = np.array([0.0, *inner, motion.duration])
    assert (jumps(motion, everywhere)[: motion.continuity + 1] < 1e-6).all()


@pytest.mark.parametrize(
    ("name", "order"),
    [
        ("line published", 2),
        ("line nonic", 4),
        ("circle published", 3),
        ("lissajous", 5),
        ("minimum acceleration", 1),
        ("minimum snap", 3),
        ("minimum snap published", 2),
        ("minimum sixth", 5),
        ("free ends", 0),
        ("sequence", 4),
    ],
)
def test_the_promise_is_not_understated(name: str, order: int) -> None:
    motion = CATALOGUE[name]()
    assert motion.continuity == order
    assert jumps(motion, np.append(motion.knots, 0.0))[order + 1] > 1e-3


def test_ends_are_held_at_rest(motion: planning.Reference) -> None:
    outside = motion.sample(
        np.array([-3.0, -1e-9, motion.duration * (1 + 1e-12) + 1e-9, 2 * motion.duration])
    )
    ends = motion.sample(np.array([0.0, motion.duration]))
    for name in ("position", "euler"):
        values, at = getattr(outside, name), getattr(ends, name)
        np.testing.assert_array_equal(values[:, 0], at[[0, 0, 1, 1], 0])
        assert (values[:, 1:] == 0).all()
    assert (outside.rate == 0).all()


def test_any_shape_of_times_and_numpy_throughout(motion: planning.Reference) -> None:
    times = np.linspace(0, motion.duration, 6)
    flat, square, single = motion.sample(times), motion.sample(times.reshape(2, 3)), motion.sample(times[2])
    for a, b, c in zip(flat, square, single, strict=True):
        assert isinstance(a, np.ndarray)
        np.testing.assert_array_equal(a.reshape(b.shape), b)
        np.testing.assert_array_equal(a[2], c)


def test_quaternions_have_length_one_and_do_not_flip(motion: planning.Reference) -> None:
    q = motion.sample(np.linspace(0, motion.duration, 5001)).attitude
    np.testing.assert_allclose(np.linalg.norm(q, axis=-1), 1, atol=1e-14)
    assert ((q[1:] * q[:-1]).sum(axis=-1) > 0.99).all()


# With JAX


@pytest.mark.parametrize(
    "name",
    ["line", "circle facing", "lissajous", "rotation on a circle", "minimum snap", "table", "sequence"],
)
def test_jax_gives_the_same_numbers(name: str) -> None:
    motion = CATALOGUE[name]()
    times = np.linspace(-0.1, motion.duration + 0.1, 23)
    traced = jax.jit(lambda ref, t: ref.sample(t))(motion, times)
    for ours, theirs in zip(motion.sample(times), traced, strict=True):
        assert isinstance(theirs, jax.Array)
        np.testing.assert_allclose(theirs, ours, rtol=1e-9, atol=1e-10 * size(ours))


def test_circles_of_many_radii_at_once_and_their_derivative() -> None:
    times, radii = np.linspace(0, 20, 5), jnp.array([0.5, 1.0, 2.0])

    @jax.jit
    def fly(radius, period):
        return (
            planning.circle(radius=radius, period=period, center=(0, 0, 1), ramp=3.0).sample(times).position
        )

    batch = jax.vmap(fly, in_axes=(0, None))(radii, 6.0)
    for radius, one in zip(radii, batch, strict=True):
        alone = planning.circle(radius=float(radius), period=6.0, center=(0, 0, 1), ramp=3.0).sample(times)
        np.testing.assert_allclose(one, alone.position, atol=1e-12)
    in_radius, in_period = jax.jit(jax.jacfwd(fly, argnums=(0, 1)))(1.0, 6.0)
    np.testing.assert_allclose(in_radius[..., :2], batch[1][..., :2], atol=1e-12)  # proportional to it
    measured = (fly(1.0, 6.0 + 1e-5) - fly(1.0, 6.0 - 1e-5)) / 2e-5
    np.testing.assert_allclose(in_period, measured, rtol=1e-6, atol=1e-6)


def test_a_reference_is_a_pytree_of_its_parameters() -> None:
    line = planning.line(end=(1, 2, 3), duration=2.0)
    leaves, shape = jax.tree.flatten(line)
    assert len(leaves) == 3
    assert jax.tree.unflatten(shape, leaves).order == 6
    stacked = jax.tree.map(lambda *x: np.stack(x), line, planning.line(end=(0, 0, 1), duration=3.0))
    batch = jax.jit(jax.vmap(lambda ref: ref.sample(jnp.linspace(0, 4, 3))))(stacked)
    np.testing.assert_allclose(batch.position[:, -1, 0], [[1, 2, 3], [0, 0, 1]])
    gradient = jax.jit(jax.grad(lambda ref: ref.sample(5.0).position[0].sum()))(line)
    np.testing.assert_allclose(gradient.position, [[0, 0, 0], [1, 1, 1]], atol=1e-15)


def test_checks_and_samples_never_import_jax(tmp_path) -> None:
    program = """
        import sys
        import numpy as np
        from skyrig import planning

        parts = ["takeoff", {"type": "circle", "radius": 1, "period": 6}, {"type": "land", "height": 0.1}]
        flight = planning.build({"type": "sequence", "parts": parts})
        slalom = planning.build({"type": "waypoints", "points": [[0, 0, 0], [1, 0, 1], [2, 1, 0]]})
        swing = planning.build({"type": "rotation", "amplitude": [0.1, 0, 0], "period": 3})
        for motion in (flight, slalom, swing):
            assert all(type(x) is np.ndarray for x in motion.sample(np.linspace(0, 5, 9)))
        assert "jax" not in sys.modules, "JAX was imported"
        assert "scipy" not in sys.modules, "SciPy was imported"

        import jax  # built before JAX was there, a reference still becomes a pytree

        flight.sample(0.0)
        assert len(jax.tree.leaves(flight)) > 5
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(program)], check=True, cwd=tmp_path)
