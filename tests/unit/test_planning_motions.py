"""What each reference does: where it goes, how fast, and where it ends."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyrig import planning
from skyrig.errors import InputError


def test_hover_goes_on_for_ever() -> None:
    still = planning.hover(start=(1, 2, 3), attitude=0.5)
    assert np.isinf(still.duration)
    sample = still.sample(np.array([0.0, 1e6]))
    np.testing.assert_array_equal(sample.position[:, 0], [[1, 2, 3]] * 2)
    np.testing.assert_array_equal(sample.euler[:, 0], [[0, 0, 0.5]] * 2)
    np.testing.assert_array_equal(still.end.position[0], [1, 2, 3])


def test_step_jumps_at_its_time_and_says_so() -> None:
    jump = planning.step(start=(0, 0, 1), end=(1, 0, 1), end_attitude=0.3, time=2.0, duration=10.0)
    sample = jump.sample(np.array([1.999, 2.0]))
    np.testing.assert_array_equal(sample.position[:, 0], [[0, 0, 1], [1, 0, 1]])
    np.testing.assert_array_equal(sample.euler[:, 0, 2], [0, 0.3])
    assert (sample.position[:, 1:] == 0).all()
    assert jump.continuity == -1


@pytest.mark.parametrize(("distance", "seconds"), [(0.5, 2.5), (1.0, 5.0), (4.0, 20.0)])
def test_line_takes_the_published_time(distance: float, seconds: float) -> None:
    assert planning.line(end=(0, distance, 0)).duration == pytest.approx(seconds)


def test_line_keeps_its_speed() -> None:
    fast = planning.line(start=(1, 1, 1), end=(4, 5, 1), speed=2.0, continuity=2)
    speeds = np.linalg.norm(fast.sample(np.linspace(0, fast.duration, 1001)).position[:, 1], axis=-1)
    assert speeds.max() == pytest.approx(2.0, rel=1e-9)
    assert fast.duration == pytest.approx(15 / 8 * 5 / 2)  # the quintic peaks at 15/8 of its mean


def test_line_with_a_ramp_keeps_its_speed_between_its_ramps() -> None:
    slow = planning.land(height=0.2, start=(1, 1, 0.6), speed=0.1, ramp=1.0)
    assert slow.duration == pytest.approx(0.4 / 0.1 + 1.0)
    speed = slow.sample(np.linspace(1.0, float(slow.duration) - 1.0, 101)).position[:, 1]
    np.testing.assert_allclose(speed, [[0, 0, -0.1]] * 101, atol=1e-12)
    np.testing.assert_allclose(slow.end.position[0], [1, 1, 0.2], atol=1e-12)
    with pytest.raises(InputError, match="ramp must be at most half of the 5 s"):
        planning.land(height=0.2, start=(1, 1, 0.6), duration=5.0, ramp=2.6)


@pytest.mark.parametrize("period", [6.0, 10.0, -6.0])
@pytest.mark.parametrize("continuity", [3, 6])
def test_circle_stays_on_the_circle_and_cruises_at_its_rate(period: float, continuity: int) -> None:
    r, center = 1.0, np.array([1.0, -2.0, 1.0])
    loop = planning.circle(radius=r, period=period, center=center, cruise=6.0, continuity=continuity)
    ramp = 80 / abs(period)  # RotorTM: omega / (pi/40)
    assert loop.duration == pytest.approx(2 * ramp + 6)
    times = np.linspace(0, loop.duration, 4001)
    x = loop.sample(times).position
    out = x[:, 0] - center
    np.testing.assert_allclose(np.linalg.norm(out[:, :2], axis=-1), r, atol=1e-14)
    np.testing.assert_array_equal(out[:, 2], 0)

    omega = 2 * np.pi / period
    rate = (out[:, 0] * x[:, 1, 1] - out[:, 1] * x[:, 1, 0]) / r**2
    cruising = (times >= ramp) & (times <= ramp + 6)
    np.testing.assert_allclose(rate[cruising], omega, rtol=1e-12)
    # Eq. 58 while cruising: the angle grows from the half turn-on share that the ramp sweeps.
    angle = np.unwrap(np.arctan2(out[:, 1], out[:, 0]))
    np.testing.assert_allclose(angle[cruising], omega * (times[cruising] - ramp / 2), rtol=1e-12)
    assert angle[-1] == pytest.approx(omega * (ramp + 6))
    # Slowing down mirrors speeding up: the rate falls again, the way it rose.
    np.testing.assert_allclose(rate, rate[::-1], atol=1e-12)
    assert (np.diff(np.abs(rate[times > ramp + 6])) <= 1e-12).all()


def test_published_ramp_is_the_quintic() -> None:
    loop = planning.circle(radius=2.0, period=6.0, continuity=3)
    s = np.linspace(0, 1, 11)
    x = loop.sample(s * 80 / 6).position
    speed = np.linalg.norm(x[:, 1], axis=-1)
    np.testing.assert_allclose(speed, 2 * (2 * np.pi / 6) * (10 * s**3 - 15 * s**4 + 6 * s**5), atol=1e-13)


def test_whole_turns_end_where_they_began() -> None:
    loop = planning.circle(radius=1.0, period=5.0, ramp=3.0, turns=2, start=(1, 2, 3))
    np.testing.assert_allclose(loop.start.position[0], [1, 2, 3], atol=1e-15)
    np.testing.assert_allclose(loop.end.position[0], [1, 2, 3], atol=1e-14)


def test_facing_keeps_the_same_side_to_the_centre() -> None:
    loop = planning.circle(radius=1.5, period=8.0, center=(0, 0, 0), facing=True)
    sample = loop.sample(np.linspace(0, loop.duration, 101))
    yaw = 2 * np.arctan2(sample.attitude[:, 3], sample.attitude[:, 0])
    outward = np.stack([np.cos(yaw), np.sin(yaw), 0 * yaw], axis=-1)
    np.testing.assert_allclose(1.5 * outward, sample.position[:, 0], atol=1e-13)


def test_figure_8_crosses_in_its_centre() -> None:
    eight = planning.figure_8(amplitude=(1.0, 0.4), period=4.0, ramp=4.0, turns=3, center=(1, 1, 1))
    quarter = 4.0 + np.array([2.0, 2.5, 3.0, 4.0])  # the ramp makes half a turn
    x = eight.sample(quarter).position[:, 0] - [1, 1, 1]
    np.testing.assert_allclose(x, [[0, 0, 0], [0.70710678, 0.4, 0], [1, 0, 0], [0, 0, 0]], atol=1e-8)
    np.testing.assert_allclose(eight.end.position[0], [1, 1, 1], atol=1e-14)


@pytest.mark.parametrize("axis", range(3))
def test_rotation_about_one_axis_alone(axis: int) -> None:
    amplitude = np.zeros(3)
    amplitude[axis] = 0.4
    swing = planning.rotation(amplitude=amplitude, period=5.0, ramp=2.0, turns=3, start=(0, 0, 2))
    sample = swing.sample(np.linspace(0, swing.duration, 501))
    others = [i for i in range(3) if i != axis]
    assert (sample.euler[..., others] == 0).all()
    assert (sample.rate[..., others] == 0).all()  # about one axis, rates are the angle's derivatives
    np.testing.assert_allclose(sample.rate[..., axis], sample.euler[:, 1:, axis], rtol=1e-13, atol=1e-13)
    assert sample.euler[:, 0, axis].max() == pytest.approx(0.4, rel=1e-3)
    np.testing.assert_allclose(swing.end.euler[0], 0, atol=1e-14)


def test_rotation_on_a_circle_takes_from_each_its_part() -> None:
    circle = planning.circle(radius=1.0, period=6.0, ramp=6.0, turns=2)
    swing = planning.rotation(amplitude=(0.2, 0.3, 0.4), period=3.0, turns=2)
    both = planning.combined(path=circle, rotation=swing)
    t = np.linspace(0, both.duration, 50)
    np.testing.assert_array_equal(both.sample(t).position, circle.sample(t).position)
    np.testing.assert_array_equal(both.sample(t).rate, swing.sample(t).rate)
    assert both.duration == circle.duration > swing.duration


@given(st.floats(0.1, 5), st.floats(1, 20), st.floats(0.5, 10), st.floats(0, 30), st.integers(1, 6))
def test_phases_start_and_stop_whatever_the_numbers(
    radius: float, period: float, ramp: float, cruise: float, continuity: int
) -> None:
    loop = planning.circle(radius=radius, period=period, ramp=ramp, cruise=cruise, continuity=continuity)
    for end in (loop.start, loop.end):
        scale = radius * (2 * np.pi / period + 1 / ramp) ** np.arange(1, 7)
        np.testing.assert_allclose(end.position[1 : continuity + 1].T / scale[:continuity], 0, atol=1e-9)
    assert np.isfinite(np.concatenate([x.ravel() for x in loop.sample(np.linspace(-1, 60, 31))])).all()
