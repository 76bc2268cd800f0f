"""A hand in a learning environment: it closes at its pace, and elements are asked as rods are."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from skyrig.envs import build
from skyrig.scenario import load

INNER = 18
"""Where an observation has the mean length of the inner tendons (dm)."""


@pytest.mark.slow
def test_a_hand_closes_and_opens_at_its_pace() -> None:
    env = build("grasp", seconds=0.4)
    state, seen = eqx.filter_jit(lambda env, key: env.reset(key))(env, jax.random.PRNGKey(0))
    step = eqx.filter_jit(lambda state, action: env.step(state, action))
    assert seen[INNER] == pytest.approx(1.8, abs=1e-3)
    lengths = []
    for close in (1.0, 1.0, 1.0, -1.0):
        action = jnp.zeros((env.action_size, 1), jnp.float32).at[3].set(close)
        state, seen, reward, failed, _, _ = step(state, action)
        lengths.append(float(seen[INNER]))
        assert np.isfinite(float(reward)) and not failed
    np.testing.assert_allclose(np.diff([1.8, *lengths]), [-0.02, -0.02, -0.02, 0.02], atol=1e-3)


def test_what_rods_learn_can_be_asked_of_elements() -> None:
    rods, elements = build("grasp"), build("grasp", load("soft-grasp"))
    assert rods.observation_shape == elements.observation_shape == (38,)
    assert rods.action_size == elements.action_size == 4
