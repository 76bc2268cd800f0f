"""The training example, in small; and policies as controllers."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from skyrig import InputError, fly, load
from skyrig.envs import build
from skyrig.envs.observations import LOAD, VEHICLE
from skyrig.envs.policy import Network, PolicyPilot, save
from skyrig.envs.policy import load as load_policy
from skyrig.flight.trace import trace_in

EXAMPLE = Path(__file__).parents[2] / "examples" / "learn_hover.py"


def some_layers(seed: int = 0, last: float = 0.01) -> list[tuple[np.ndarray, np.ndarray]]:
    rng = np.random.default_rng(seed)
    sizes = [LOAD + VEHICLE, 8, 4]
    layers = [(rng.normal(size=(b, a)), rng.normal(size=b)) for a, b in zip(sizes, sizes[1:], strict=False)]
    return [layers[0], (last * layers[1][0], last * layers[1][1])]


def test_a_policy_flies_as_it_did_in_its_environment(tmp_path: Path) -> None:
    save(tmp_path / "policy.npz", some_layers(), "rates", 50.0)
    network, action, rate = load_policy(tmp_path / "policy.npz")
    assert (action, rate) == ("rates", 50.0)
    scenario = load("one-dragonfly-hover").with_overrides({"duration": 0.4})
    flight = fly(scenario, controller=PolicyPilot.of(scenario.build(), tmp_path / "policy.npz"))
    trace = trace_in(flight.scenario)
    assert trace is not None and trace.name == "PolicyPilot" and str(trace.file).endswith("policy.py")

    env = build("hover", scenario)
    state, _ = env.reset(jax.random.PRNGKey(0))
    start = scenario.build().state
    state = eqx.tree_at(lambda s: s.rig, state, start)
    step = eqx.filter_jit(lambda env, state, act: env.step(state, act))
    plant = env.plants.pick(state.plant)
    seen = env._observed(plant, state, env._seen(plant, state))
    for _ in range(20):
        state, seen, *_ = step(env, state, network(seen).reshape(4, 1))
    np.testing.assert_allclose(state.rig.payload.position, flight.payload.position[-1], atol=1e-6)


def test_a_policy_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    save(tmp_path / "policy.npz", some_layers(), "rates", 50.0)
    with pytest.raises(InputError, match="control_rate must be 50 Hz"):
        PolicyPilot.of(load("one-dragonfly-circle").build(), tmp_path / "policy.npz")
    other = load("three-dragonflies-circle").with_overrides({"loop.control_rate": 50.0})
    with pytest.raises(InputError, match="rig must be one such as"):
        PolicyPilot.of(other.build(), tmp_path / "policy.npz")
    (tmp_path / "bad.npz").write_text("no")
    with pytest.raises(InputError, match="cannot be read as a policy"):
        load_policy(tmp_path / "bad.npz")


def test_a_network_is_its_layers() -> None:
    layers = some_layers(1)
    seen = np.random.default_rng(2).normal(size=(LOAD + VEHICLE, 3)).astype(np.float32)
    (w0, b0), (w1, b1) = layers
    expected = w1 @ np.tanh(w0 @ seen + b0[:, None]) + b1[:, None]
    np.testing.assert_allclose(Network.of(layers)(jnp.asarray(seen)), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.slow
def test_the_example_learns_a_little_and_its_policy_flies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("stable_baselines3", reason="stable-baselines3 is missing: the extra rl brings it")
    spec = importlib.util.spec_from_file_location("learn_hover", EXAMPLE)
    assert spec is not None and spec.loader is not None
    example = importlib.util.module_from_spec(spec)
    sys.modules["learn_hover"] = example
    spec.loader.exec_module(example)
    monkeypatch.setattr(example, "EPISODES", 16)
    example.main(out=tmp_path, seeds=(0,), steps=2048, flights=16)
    assert (tmp_path / "learning.png").stat().st_size > 1000
    command = [
        str(Path(sys.executable).with_name("skyrig")),
        *("fly", "one-dragonfly-hover", "--set", "duration=0.2"),
        *("--controller", f"{tmp_path / 'policy.py'}:Policy", "--out", str(tmp_path / "flight")),
    ]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, ran.stdout + ran.stderr
