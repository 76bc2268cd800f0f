"""Many flights at once: chunks and threads change nothing, and what ends starts again as said."""

import jax
import numpy as np
import pytest

from skyrig import InputError
from skyrig.envs import Many, build
from skyrig.envs.vectorised import split


@pytest.fixture(scope="module")
def short():
    return build("hover", seconds=0.1)


def keys(count: int) -> np.ndarray:
    return np.asarray(jax.random.split(jax.random.PRNGKey(0), count))


@pytest.mark.parametrize("count", [1, 2, 63, 64, 65, 100, 128, 1000, 1024])
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_every_flight_has_its_place(count: int, threads: int) -> None:
    parts, chunks, size = split(count, threads)
    assert count <= parts * chunks * size < count + parts * chunks
    assert size <= 64 and parts <= threads


def test_chunks_and_threads_change_nothing(short) -> None:
    together, apart = (Many(short, 5, "same", threads, chunk=3) for threads in (1, 2))
    np.testing.assert_allclose(together.reset(keys(5)), apart.reset(keys(5)), rtol=1e-6, atol=1e-7)
    rng = np.random.default_rng(0)
    for _ in range(7):
        action = rng.normal(size=(5, 4)).astype(np.float32)
        one, other = together.step(action), apart.step(action)
        for name in ("observation", "reward", "final"):
            np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=1e-4, atol=1e-5)
        assert np.array_equal(one.started, other.started)
    apart.close()


def test_the_same_key_and_actions_give_the_same_bits(short) -> None:
    runs = []
    for _ in range(2):
        many = Many(short, 3, "next", threads=1)
        seen = [np.asarray(many.reset(keys(3)))]
        seen += [np.asarray(many.step(np.full((3, 4), 0.1, np.float32)).observation) for _ in range(8)]
        runs.append(np.stack(seen))
    assert np.array_equal(*runs)


def test_the_same_step_gives_the_last_and_the_first_observation(short) -> None:
    many, never = Many(short, 3, "same", threads=1), Many(short, 3, "never", threads=1)
    many.reset(keys(3))
    never.reset(keys(3))
    action = np.zeros((3, 4), np.float32)
    for tick in range(1, 6):
        out, reference = many.step(action), never.step(action)
        assert np.all(out.truncated == (tick == 5)) and np.all(out.started == (tick == 5))
        np.testing.assert_array_equal(out.final, reference.observation)
        np.testing.assert_array_equal(out.reward, reference.reward)
    np.testing.assert_array_equal(out.observation, never.restart())


def test_the_next_step_ignores_the_action_and_rewards_nothing(short) -> None:
    many, never = Many(short, 3, "next", threads=1), Many(short, 3, "never", threads=1)
    many.reset(keys(3))
    never.reset(keys(3))
    action = np.zeros((3, 4), np.float32)
    for _ in range(5):
        out, reference = many.step(action), never.step(action)
    np.testing.assert_array_equal(out.observation, reference.observation)
    assert np.all(out.truncated)
    out = many.step(np.ones((3, 4), np.float32))
    np.testing.assert_array_equal(out.observation, never.restart())
    assert np.all(out.started) and np.all(out.reward == 0) and not np.any(out.truncated | out.terminated)
    np.testing.assert_array_equal(many.step(action).observation, never.step(action).observation)


def test_what_is_asked_wrongly_is_said(short) -> None:
    with pytest.raises(InputError, match="reset must be called"):
        Many(short, 2).step(np.zeros((2, 4)))
    with pytest.raises(InputError, match="count must be at least 1"):
        Many(short, 0)
    with pytest.raises(InputError, match="mode is"):
        Many(short, 1, "later")
