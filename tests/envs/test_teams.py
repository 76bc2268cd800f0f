"""One agent for each vehicle: PettingZoo's own tests, and who sees what."""

import numpy as np
import pytest
from pettingzoo.test import parallel_api_test, parallel_seed_test

from skyrig import InputError
from skyrig.envs import build
from skyrig.envs.single import RigEnv
from skyrig.envs.teams import CarryTeam


@pytest.fixture(scope="module")
def carry():
    return build("carry", teams=True, seconds=0.4)


def test_pettingzoo_is_content(carry) -> None:
    parallel_api_test(CarryTeam(carry), num_cycles=60)
    parallel_seed_test(lambda: CarryTeam(carry), num_cycles=25)


def test_agents_fly_what_one_agent_for_all_flies(carry) -> None:
    team, alone = CarryTeam(carry), RigEnv(build("carry", seconds=0.4))
    seen, _ = team.reset(seed=5)
    whole, _ = alone.reset(seed=5)
    rng = np.random.default_rng(0)
    while team.agents:
        for k, agent in enumerate(team.agents):
            own = seen[agent]
            assert own.shape == team.observation_space(agent).shape == (45,)
            np.testing.assert_allclose(own[:18], whole[:18], rtol=1e-5, atol=1e-6)
            np.testing.assert_allclose(own[18:36], whole[18 + 18 * k : 36 + 18 * k], rtol=1e-5, atol=1e-6)
        assert team.state().size == 3 * 45
        action = rng.uniform(-0.2, 0.2, (3, 4)).astype(np.float32)
        seen, rewards, ended, stopped, infos = team.step(dict(zip(team.agents, action, strict=True)))
        whole, reward, terminated, truncated, info = alone.step(action.ravel())
        assert set(ended.values()) == {terminated} and set(stopped.values()) == {truncated}
        assert len(set(rewards.values())) == 1
        assert rewards["vehicle_0"] == pytest.approx(reward, rel=1e-5)
        assert infos["vehicle_2"]["load_error"] == pytest.approx(info["load_error"], rel=1e-6)
    assert truncated


def test_others_are_told_round_the_team(carry) -> None:
    team = CarryTeam(carry)
    seen, _ = team.reset(seed=1)
    for k in range(3):
        mine, following = seen[f"vehicle_{k}"], seen[f"vehicle_{(k + 1) % 3}"]
        np.testing.assert_array_equal(mine[42:45], following[39:42])


def test_a_missing_action_is_said(carry) -> None:
    team = CarryTeam(carry)
    team.reset(seed=0)
    with pytest.raises(InputError, match="actions must hold one for vehicle_1"):
        team.step({"vehicle_0": np.zeros(4, np.float32)})
    with pytest.raises(InputError, match="teams=True"):
        CarryTeam(build("carry"))


def test_a_team_is_rendered_as_a_picture(carry) -> None:
    team = CarryTeam(carry, render_mode="rgb_array")
    with pytest.raises(InputError, match="^reset must be called before render.$"):
        team.render()
    team.reset(seed=0)
    first = team.render()
    assert first.shape == (480, 480, 3) and first.dtype == np.uint8 and np.ptp(first) > 100
    for _ in range(5):
        team.step(dict.fromkeys(team.agents, np.full(4, 0.5, np.float32)))
    assert (team.render() != first).any() and CarryTeam(carry).render() is None
    assert team.metadata["render_modes"] == ["rgb_array"] and team.metadata["render_fps"] == 50
    with pytest.raises(InputError, match="render_mode must be rgb_array, or None, not 'human'"):
        CarryTeam(carry, render_mode="human")
