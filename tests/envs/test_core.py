"""Environments as pure functions: the same physics, the same limits, the same chances."""

import subprocess
import sys

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from skyrig import InputError, load, rollout
from skyrig.algebra import as_jax
from skyrig.control.interface import Measurement
from skyrig.envs import CATALOGUE, LEVELS, Environment, build
from skyrig.rigs.bodies import Bodies

reset = eqx.filter_jit(lambda env, key: env.reset(key))
step = eqx.filter_jit(lambda env, state, action: env.step(state, action))


def key(seed: int = 0) -> jax.Array:
    return jax.random.PRNGKey(seed)


def still(env: Environment) -> Environment:
    """The same task, begun exactly where it shall be."""
    return eqx.tree_at(lambda it: it.task.spread, env, jax.tree.map(jnp.zeros_like, env.task.spread))


def nothing(env: Environment, *batch: int) -> jax.Array:
    return jnp.zeros((env.action_size, env.count, *batch), jnp.float32)


@pytest.fixture(scope="module")
def hover() -> Environment:
    return build("hover")


@pytest.mark.parametrize(("task", "action"), [*(("hover", it) for it in LEVELS), ("carry", "acceleration")])
def test_no_action_is_hover(task: str, action: str) -> None:
    env = still(build(task, action=action))
    state, _ = reset(env, key())
    for _ in range(10):
        state, _, reward, terminated, truncated, info = step(env, state, nothing(env))
    assert float(info["load_error"]) < 1e-9
    assert int(info["events"]) == 0 and not bool(terminated | truncated)
    assert float(reward) == pytest.approx(1.0, abs=1e-6)


def test_a_step_is_the_same_flight_as_a_rollout_with_its_thrusts_held() -> None:
    env = build("hover", action="rotors")
    state, _ = reset(env, key(3))
    action = jnp.asarray([[0.3], [-0.2], [0.25], [0.1]], jnp.float32)
    begin, frame = state.rig, load("one-dragonfly-hover").parts.airframes[0]
    for _ in range(5):
        state, *_ = step(env, state, action)
    plant = env.plants.pick(jnp.asarray(0))
    hover = float(plant.thrust[0]) / frame.rotor_count
    low, high = np.asarray(frame.thrust_min), np.asarray(frame.thrust_max)
    own = np.asarray(action[:, 0], np.float64)
    rotors = hover + np.where(own > 0, high - hover, hover - low) * own
    force = np.asarray(frame.mixing) @ rotors
    flown = rollout(plant.rig, begin, [0.0, 5 * env.period], force[:1], force[None, 1:])
    # summed in another order; the vehicle turns at tens of rad/s by now
    np.testing.assert_allclose(state.rig.payload.position, flown.payload.position[-1], atol=1e-10)
    np.testing.assert_allclose(state.rig.vehicles.rate[:, 0], flown.vehicles.rate[-1, 0], atol=1e-8)


@pytest.mark.parametrize("action", LEVELS)
def test_nobody_gets_round_the_rotors(action: str) -> None:
    env = still(build("hover", action=action))
    plant = env.plants.pick(jnp.asarray(0))
    total = float(plant.rig.mass[0] + plant.rig.payload_mass)
    upwards = {
        "rotors": jnp.full((4, 1), 50.0),
        "rates": jnp.asarray([[50.0], [0], [0], [0]]),
        "acceleration": jnp.asarray([[0.0], [0], [50.0]]),
    }[action]
    state, _ = reset(env, key())
    state, *_ = step(env, state, upwards.astype(jnp.float32))
    climb = float(state.rig.payload.velocity[2]) / env.period + 9.81
    most = float(plant.thrust_max[0]) / total
    expected = min(most, 9.81 + 5.0) if action == "acceleration" else most
    assert climb == pytest.approx(expected, rel=1e-3)


def test_body_rates_are_reached() -> None:
    env = still(build("hover"))
    state, _ = reset(env, key())
    for _ in range(8):
        state, *_ = step(env, state, jnp.asarray([[0.0], [0.2], [-0.1], [0.1]], jnp.float32))
    np.testing.assert_allclose(state.rig.vehicles.rate[:, 0], [1.2, -0.6, 0.3], atol=0.02)


def test_same_arguments_same_bits_and_flights_do_not_know_of_one_another(hover: Environment) -> None:
    keys = jax.random.split(key(5), 6)
    many, seen = reset(hover, keys.T)
    action = 0.3 * jax.random.normal(key(9), (4, 1, 6), jnp.float32)
    after = step(hover, many, action)
    again = step(hover, many, action)
    assert all(np.array_equal(a, b) for a, b in zip(*map(jax.tree.leaves, (after, again)), strict=True))
    for k in (0, 4):
        alone, own = reset(hover, keys[k])
        np.testing.assert_allclose(own, seen[:, k], rtol=1e-6, atol=1e-7)
        alone = step(hover, alone, action[:, :, k])
        np.testing.assert_allclose(alone[1], after[1][:, k], rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(alone[2], after[2][k], rtol=1e-5)


def test_starts_are_scattered_as_said_with_cables_at_their_length() -> None:
    env = build("carry")
    state, seen = reset(env, jax.random.split(key(1), 200).T)
    off = np.asarray(state.rig.payload.position) - np.asarray(env.task.place)[:, None]
    assert 0.4 < np.abs(off).max() <= 0.5
    cables = np.asarray(seen)[18:].reshape(3, 18, 200)[:, 15:]
    np.testing.assert_allclose(np.linalg.norm(cables, axis=1), 1.0, atol=1e-6)
    assert np.abs(cables[:, :2]).max() > 0.05, "and they swing"


def test_a_poke_gives_the_rig_its_impulse() -> None:
    env = still(build("recover"))
    state, _ = reset(env, key(4))
    when, change = int(state.task.tick), np.asarray(state.task.change)
    rig = env.plants.pick(jnp.asarray(0)).rig
    assert 10 <= when <= 50 and 1.0 <= np.linalg.norm(change) <= 2.0

    def momentum(state) -> np.ndarray:
        own = rig.payload_mass * state.rig.payload.velocity + rig.mass[0] * state.rig.vehicles.velocity[:, 0]
        return np.asarray(own)

    for _ in range(when):
        state, *_ = step(env, state, nothing(env))
    assert np.abs(momentum(state)).max() < 1e-9
    state, *_ = step(env, state, nothing(env))
    # thrust and weight balance as long as the vehicle stays level, which a cable at its centre leaves it
    np.testing.assert_allclose(momentum(state), float(rig.payload_mass) * change, atol=1e-9)


def test_the_path_is_the_reference() -> None:
    scenario = load("one-dragonfly-circle")
    env = build("track", scenario)
    state, seen = reset(env, key(2))
    begin = int(state.task)
    for _ in range(3):
        state, seen, *_ = step(env, state, nothing(env))
    times = (begin + 3) * env.period + np.array([0.0, 0.2, 0.4, 0.6])
    reference = scenario.motions.payload
    assert reference is not None
    path = reference.sample(times)
    np.testing.assert_allclose(
        seen[:3], path.position[0, 0] - np.asarray(state.rig.payload.position), atol=1e-6
    )
    np.testing.assert_allclose(seen[6:15], (path.position[1:, 0] - path.position[0, 0]).ravel(), atol=1e-6)


def test_a_gate_is_passed_or_struck() -> None:
    task = still(build("gate")).task
    memory = task.begin(key(0))[0]
    centre = np.asarray(task.place + memory.centre)

    def measured(x: float, y: float) -> Measurement:
        place = centre + [x, y, -0.25]
        one = Bodies(*(as_jax(each) for each in (place, np.zeros(3), np.array([1.0, 0, 0, 0]), np.zeros(3))))
        above = place[:, None] + np.array([[0.0], [0.0], [0.5]])
        zero = np.zeros((3, 1))
        level = np.array([[1.0], [0], [0], [0]])
        craft = Bodies(*(as_jax(each) for each in (above, zero, level, zero)))
        return Measurement(
            {"payload": one.alone(), "vehicles": craft}, {"cable.length": as_jax(np.array([0.5]))}
        )

    through = task.verdict(memory, measured(-0.02, 0.1), measured(0.02, 0.1))
    assert float(through.bonus) == 5.0 and not bool(through.failed)
    beside = task.verdict(memory, measured(-0.02, 0.55), measured(0.02, 0.55))
    assert float(beside.bonus) == 0.0 and bool(beside.failed)
    before = task.verdict(memory, measured(-0.3, 0.55), measured(-0.2, 0.55))
    assert float(before.bonus) == 0.0 and not bool(before.failed)
    back = task.verdict(memory, measured(0.02, 0.1), measured(-0.02, 0.1))
    assert float(back.bonus) == 0.0 and not bool(back.failed)


def test_episodes_end_for_a_reason(hover: Environment) -> None:
    state, _ = reset(hover, key())
    down = jnp.asarray([[-1.0], [0], [0], [0]], jnp.float32)
    for _ in range(int(hover.limit)):
        state, _, reward, terminated, truncated, info = step(hover, state, down)
        if terminated:
            break
    assert bool(info["left"]) and float(reward) == -10.0 and not bool(truncated)
    state, _ = reset(hover, key())
    for _ in range(60):
        state, _, _, terminated, _, info = step(
            hover, state, jnp.asarray([[0.0], [1], [0], [0]], jnp.float32)
        )
        if terminated:
            break
    assert bool(info["flipped"])
    state, _ = reset(hover, key())
    state, seen, reward, terminated, _, info = step(hover, state, jnp.full((4, 1), jnp.nan, jnp.float32))
    assert bool(terminated) and bool(info["diverged"]) and float(reward) == -10.0
    assert np.isfinite(seen).all()


def test_rigs_vary_from_episode_to_episode() -> None:
    env = build("hover", vary={"rig.payload.mass": "uniform(0.05, 0.1)"}, pool=8, seed=1)
    masses = np.asarray(env.plants.rig.payload_mass)
    assert masses.shape == (8,) and masses.min() >= 0.05 and masses.max() <= 0.1 and len(set(masses)) == 8
    state, _ = reset(env, jax.random.split(key(0), 100).T)
    assert set(np.asarray(state.plant).tolist()) == set(range(8))
    env = still(env)
    for seed in range(3):
        state, _ = reset(env, key(seed))
        for _ in range(5):
            state, _, _, _, _, info = step(env, state, nothing(env))
        assert float(info["load_error"]) < 1e-9, "every rig hovers on its own thrust"


def test_noise_is_what_the_agent_sees_and_not_what_is() -> None:
    scenario = load("one-dragonfly-hover").with_overrides({"noise.position": 0.01})
    env = still(build("hover", scenario))
    _, seen = reset(env, jax.random.split(key(0), 400).T)
    assert 0.008 < float(np.std(seen[0])) < 0.012
    _, _, _, _, _, info = step(env, reset(env, key())[0], nothing(env))
    assert float(info["load_error"]) < 1e-9


def test_lagging_rotors_start_at_hover() -> None:
    scenario = load("one-dragonfly-hover").with_overrides({"loop.rotor_lag": 0.03})
    env = still(build("hover", scenario, action="rotors"))
    state, _ = reset(env, key())
    state, _, _, _, _, info = step(env, state, nothing(env))
    assert float(info["load_error"]) < 1e-12
    state, *_ = step(env, state, jnp.ones((4, 1), jnp.float32))
    assert state.rotors is not None
    coefficient = env.plants.actuators.coefficient[..., 0]
    hover = np.sqrt(env.plants.thrust[0, 0] / 4 / coefficient)
    share = (state.rotors - hover) / (np.sqrt(env.plants.actuators.high[..., 0] / coefficient) - hover)
    np.testing.assert_allclose(share, 1 - np.exp(-0.02 / 0.03), rtol=1e-6)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"task": "hoover"}, "did you mean 'hover'"),
        ({"action": "thrust"}, "action is 'thrust'"),
        ({"control_rate": 300.0}, "control_rate must make its period a whole number"),
        ({"scenario": "winch-reel-up"}, "rig must have no winch in a learning environment"),
        ({"scenario": "two-vehicles-own-paths"}, "reference must tell the motion of the payload"),
        ({"scenario": "soft-grasp"}, "rig must have no tendon in a learning environment"),
        ({"action": "hand"}, "rig must be a gripper for actions of a hand"),
        ({"vary": {"duration": "uniform(1, 2)"}}, "vary must name values of the rig"),
        ({"seconds": -1.0}, "seconds must be above zero"),
    ],
)
def test_what_cannot_be_built_is_said(options: dict, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        build(**options)


def test_a_linked_team_hovers_when_nothing_is_asked_of_it() -> None:
    env = still(build("hover", "three-dragonflies-links", action="rotors"))
    state, seen = reset(env, key())
    state, after, _, failed, _, info = step(env, state, nothing(env))
    assert seen.shape == after.shape and not failed and float(info["load_error"]) < 1e-9


def test_every_task_tells_its_shape() -> None:
    shapes = {task: build(task).observation_shape for task in CATALOGUE}
    known = {"hover": (24,), "track": (33,), "carry": (72,), "recover": (24,), "gate": (27,), "grasp": (38,)}
    assert shapes == known


def test_the_core_needs_no_extra_and_the_rest_says_which() -> None:
    code = """
import sys
for name in ("gymnasium", "pettingzoo", "stable_baselines3", "torch"):
    sys.modules[name] = None
import skyrig.envs
for name in ("gym", "teams", "sb3"):
    try:
        __import__(f"skyrig.envs.{name}")
    except ImportError as error:
        print(error)
"""
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=True
    )
    said = ran.stdout.splitlines()
    assert len(said) == 3 and all("is missing: pip install 'skyrig[rl]' brings it." in line for line in said)
