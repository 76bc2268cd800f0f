"""Gymnasium's own checkers, and its own vector environment as the measure of ours."""

import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from skyrig import InputError
from skyrig.envs import build
from skyrig.envs.gym import IDS, SlungHover, SlungHoverVector
from skyrig.envs.single import RigEnv
from skyrig.envs.vector import RigVectorEnv


@pytest.fixture(scope="module")
def short():
    return build("hover", seconds=0.1)


@pytest.mark.parametrize("name", [*IDS[:-1], pytest.param(IDS[-1], marks=pytest.mark.slow)])
def test_the_checker_is_content(name: str) -> None:
    env = gymnasium.make(name)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*Box observation space.*infinity")
        check_env(env.unwrapped)
    assert env.unwrapped.observation_space is env.unwrapped.observation_space
    many = gymnasium.make_vec(name, num_envs=3)
    assert many.metadata["autoreset_mode"] == AutoresetMode.NEXT_STEP
    assert many.single_observation_space == env.observation_space
    assert many.observation_space is many.observation_space and many.action_space.shape[0] == 3
    assert "**Observation**" in (env.unwrapped.__doc__ or "")


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_flights_of_a_vector_are_single_flights_with_the_same_seeds(short, mode) -> None:
    ours = RigVectorEnv(3, short, autoreset_mode=mode)
    theirs = SyncVectorEnv([lambda: RigEnv(short)] * 3, autoreset_mode=mode)
    seen, expected = ours.reset(seed=7)[0], theirs.reset(seed=7)[0]
    np.testing.assert_allclose(seen, expected, rtol=1e-6, atol=1e-7)
    rng = np.random.default_rng(0)
    ended = 0
    for _ in range(14):
        action = rng.uniform(-0.5, 0.5, (3, 4)).astype(np.float32)
        mine, other = ours.step(action), theirs.step(action)
        np.testing.assert_allclose(mine[0], other[0], rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(mine[1], other[1], rtol=1e-4, atol=1e-5)
        assert np.array_equal(mine[2], other[2]) and np.array_equal(mine[3], other[3])
        assert ("final_obs" in mine[4]) == ("final_obs" in other[4])
        if "final_obs" in other[4]:
            ended += 1
            assert np.array_equal(mine[4]["_final_obs"], other[4]["_final_obs"])
            for a, b in zip(mine[4]["final_obs"], other[4]["final_obs"], strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)
            np.testing.assert_allclose(
                mine[4]["final_info"]["load_error"], other[4]["final_info"]["load_error"], rtol=1e-6
            )
        if "_load_error" in other[4]:
            assert np.array_equal(mine[4]["_load_error"], other[4]["_load_error"])
    assert ended == (2 if mode == AutoresetMode.SAME_STEP else 0)
    ours.close()


def test_seeds_decide_and_chances_go_on(short) -> None:
    env = RigEnv(short)
    first = env.reset(seed=3)[0]
    second = env.reset()[0]
    assert not np.array_equal(first, second)
    assert np.array_equal(env.reset(seed=3)[0], first) and np.array_equal(env.reset()[0], second)
    many = RigVectorEnv(3, short)
    rows = many.reset(seed=[3, None, 4])[0]
    np.testing.assert_allclose(rows[0], first, rtol=1e-6, atol=1e-7)
    with pytest.raises(InputError, match="seed must be one number or 3"):
        many.reset(seed=[1, 2])


@pytest.mark.parametrize("kind", ["numpy", "jax", "torch"])
def test_arrays_come_as_asked_for(short, kind: str) -> None:
    if kind == "torch":
        pytest.importorskip("torch", reason="torch is missing: the extra rl brings it")
    env = RigVectorEnv(3, short, array_type=kind)
    plain = RigVectorEnv(3, short)
    seen, expected = env.reset(seed=1)[0], plain.reset(seed=1)[0]
    assert type(seen).__module__.split(".")[0] == {"numpy": "numpy", "jax": "jaxlib", "torch": "torch"}[kind]
    action = plain.action_space.sample()
    if kind == "torch":
        import torch

        action = torch.from_numpy(action)
    elif kind == "jax":
        import jax

        action = jax.device_put(action)
    out, other = env.step(action), plain.step(np.asarray(action))
    for mine, theirs in zip(out[:4], other[:4], strict=True):
        assert isinstance(mine, type(seen))
        assert np.array_equal(np.asarray(mine), theirs)
    assert seen.shape == expected.shape


def test_options_reach_the_environment() -> None:
    env = SlungHover(action="acceleration", vary={"rig.cables.length": "uniform(0.4, 0.6)"}, pool=3)
    assert env.action_space.shape == (3,) and env.environment.plants.size == 3
    with pytest.raises(InputError, match="action must have shape 3, not 4"):
        env.reset(seed=0)
        env.step(np.zeros(4, np.float32))
    with pytest.raises(InputError, match="reset must be called"):
        SlungHover().step(np.zeros(4, np.float32))
    with pytest.raises(InputError, match="NEXT_STEP or SAME_STEP"):
        SlungHoverVector(2, autoreset_mode=AutoresetMode.DISABLED)


def test_flights_are_rendered_as_pictures(short) -> None:
    env = RigEnv(short, render_mode="rgb_array")
    with pytest.raises(InputError, match="^reset must be called before render.$"):
        env.render()
    env.reset(seed=0)
    first = env.render()
    env.step(np.ones(4, np.float32))
    second = env.render()
    assert first.shape == (480, 480, 3) and first.dtype == np.uint8 and first.std() > 5
    assert (first != second).any(), "it moves"
    assert env.metadata["render_fps"] == 50 and RigEnv(short).render() is None
    with pytest.raises(InputError, match="render_mode must be rgb_array, or None, not 'human'"):
        RigEnv(short, render_mode="human")
    many = RigVectorEnv(3, short, render_mode="rgb_array")
    many.reset(seed=0)
    pictures = many.render()
    assert pictures is not None and len(pictures) == 3 and np.array_equal(pictures[0], first)
    assert (pictures[1] != first).any()


def test_a_gate_stands_in_its_picture() -> None:
    from skyrig.envs.courses import Passage

    task = build("gate").task
    frame = task.drawn(Passage(np.array([0.0, 0.3, -0.1])))
    middle = frame.mean((0, 1)) - np.asarray(task.place)
    assert frame.shape == (4, 2, 3) and np.allclose(middle, [0.0, 0.3, -0.1])
    assert np.allclose(np.ptp(frame.reshape(-1, 3), axis=0), [0.0, 1.0, 1.2]), "1 m wide and 1.2 m high"
