"""Numbers that can be are handed back as they are; those that cannot be are named in one sentence."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from skyrig import checks
from skyrig.errors import InputError

LENGTHS = st.floats(1e-3, 1e3)
SEEDS = st.integers(0, 2**32 - 1)


@given(masses=st.lists(LENGTHS, min_size=4, max_size=9), seed=SEEDS)
def test_every_cloud_of_point_masses_has_a_possible_inertia(masses: list[float], seed: int) -> None:
    places = np.random.default_rng(seed).normal(size=(len(masses), 3))
    inertia = sum(m * (p @ p * np.eye(3) - np.outer(p, p)) for m, p in zip(masses, places, strict=True))
    np.testing.assert_allclose(checks.inertia("J", inertia), inertia, rtol=1e-12)


@given(extra=st.floats(1e-6, 10), seed=SEEDS)
def test_no_frame_hides_an_impossible_inertia(extra: float, seed: int) -> None:
    turn = Rotation.random(rng=np.random.default_rng(seed)).as_matrix()
    impossible = turn @ np.diag([1.0, 2.0, 3.0 + extra]) @ turn.T
    with pytest.raises(InputError, match="J is of no possible body"):
        checks.inertia("J", impossible)


def test_a_flat_plate_is_just_possible() -> None:
    np.testing.assert_array_equal(checks.inertia("J", [1, 2, 3]), np.diag([1.0, 2.0, 3.0]))


@given(seed=SEEDS, scale=st.floats(1 - 9e-7, 1 + 9e-7))
def test_quaternions_come_back_at_length_one(seed: int, scale: float) -> None:
    quaternions = scale * Rotation.random(5, rng=np.random.default_rng(seed)).as_quat(scalar_first=True)
    length = np.linalg.norm(checks.unit_quaternion("q", quaternions), axis=-1)
    np.testing.assert_allclose(length, 1, rtol=1e-15)


@pytest.mark.parametrize(
    "check, value, sentence",
    [
        (checks.numbers, None, "x must be numbers, not None."),
        (checks.numbers, "1", "x must be numbers, not '1'."),
        (checks.numbers, True, "x must be numbers, not True."),
        (checks.numbers, 1j, "x must be numbers, not 1j."),
        (checks.numbers, np.inf, "x must be finite, but it holds inf."),
        (checks.numbers, [[1, 2], [3]], "x must be numbers, not [[1, 2], [3]]."),
        (checks.numbers, [1.5], "x must be a single number, not 1.5."),
        (checks.positive, 0, "x must be above zero, not 0."),
        (checks.nonnegative, -0.5, "x must not be below zero, but it is -0.5."),
        (checks.unit_quaternion, [1, 0, 0], "x must have shape 4, not shape 3."),
        (checks.unit_quaternion, 1, "x must have shape 4, not the single number 1."),
        (checks.unit_quaternion, "up", "x must be numbers, not 'up'."),
        (checks.unit_quaternion, [1, 1, 0, 0], "but [1, 1, 0, 0] has length 1.41421."),
        (checks.inertia, [1, 1], "x must have shape 3 x 3, not shape 2."),
        (checks.text, 3, "x must be text, not 3."),
        (checks.mapping, [], "x must be a mapping of names to values, not []."),
    ],
)
def test_what_cannot_be_is_named(check: object, value: object, sentence: str) -> None:
    assert callable(check)
    with pytest.raises(InputError) as refusal:
        check("x", value)
    assert sentence in str(refusal.value)
