"""Learn to hover with a slung load from nothing, by PPO on the CPU, and keep the policy to be flown.

    python examples/learn_hover.py --out learned
    skyrig fly one-dragonfly-hover --controller learned/policy.py:Policy

Needs the extra rl: pip install 'skyrig[rl]'. Solved means: from 100 starts the load is on average within
0.15 m of its place after 5 s, and no episode ends early.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # small networks: more threads only wait for one another

import statistics
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import tyro
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback

from skyrig.envs import build
from skyrig.envs.policy import save
from skyrig.envs.sb3 import RigVecEnv

EPISODES = 100
NEAR = 0.15  # m
POLICY = '''"""What was learnt: skyrig fly one-dragonfly-hover --controller FOLDER/policy.py:Policy."""

from pathlib import Path

from skyrig.envs.policy import Flown


class Policy:
    def __new__(cls, built):
        return Flown.of(built, Path(__file__).with_name("policy.npz"))
'''


@dataclass
class Check:
    """What 100 flights without exploration came to."""

    steps: int
    wall: float
    """Seconds of learning so far, checks left out."""
    cpu: float
    error: float
    """Mean of the load's final distance from its place (m)."""
    early: int
    """Episodes that ended early."""

    @property
    def solved(self) -> bool:
        return self.error < NEAR and self.early == 0


def check(model, flights) -> tuple[float, int]:
    """Mean final error (m) of one episode of every flight, and how many ended early."""
    seen = flights.reset()
    error, early = np.full(flights.num_envs, np.nan), 0
    for _ in range(int(flights.environment.limit)):
        action, _ = model.predict(seen, deterministic=True)
        seen, _, done, infos = flights.step(action)
        for k in np.flatnonzero(done & np.isnan(error)):
            error[k] = infos[k]["load_error"]
            early += not infos[k]["TimeLimit.truncated"]
    return float(np.mean(error)), early


class Curve(BaseCallback):
    """Checks the policy every so many rollouts."""

    def __init__(self, flights, every: int):
        super().__init__()
        self.flights, self.every = flights, every
        self.checks: list[Check] = []
        self.rollouts = 0
        self.wall = self.cpu = 0.0

    def _on_training_start(self) -> None:
        self.begun = time.perf_counter(), time.process_time()

    def _on_step(self) -> bool:
        return True

    def _on_rollout_end(self) -> None:
        self.rollouts += 1

    def _on_rollout_start(self) -> None:
        if self.rollouts % self.every == 0:
            self.look()

    def look(self) -> None:
        """Check the policy; the clocks stand still meanwhile."""
        self.wall += time.perf_counter() - self.begun[0]
        self.cpu += time.process_time() - self.begun[1]
        found = Check(self.num_timesteps, self.wall, self.cpu, *check(self.model, self.flights))
        self.checks.append(found)
        print(
            f"  {found.steps:>9,} steps  {found.wall:5.0f} s ({found.cpu:.0f} s CPU)  "
            f"final error {found.error:.3f} m  ended early {found.early}/{self.flights.num_envs}",
            flush=True,
        )
        self.begun = time.perf_counter(), time.process_time()


def train(seed: int, steps: int, flights: int = 256, every: int = 20) -> tuple[PPO, list[Check]]:
    """Learn for so many steps; the model and its checks."""
    torch.set_num_threads(1)
    environment = build("hover", action="rates")
    model = PPO(
        "MlpPolicy",
        RigVecEnv(environment, flights, seed=10_000 * seed),
        learning_rate=lambda left: 1e-3 * left,
        n_steps=32,
        batch_size=min(2048, 32 * flights),
        n_epochs=5,
        gamma=0.98,
        ent_coef=0.0,
        policy_kwargs={"net_arch": [64, 64], "log_std_init": -0.7},
        seed=seed,
        device="cpu",
    )
    curve = Curve(RigVecEnv(environment, EPISODES, seed=1_000_000_000), every)
    model.learn(steps, callback=curve)
    curve.look()
    return model, curve.checks


def layers(model: PPO) -> list[tuple[np.ndarray, np.ndarray]]:
    """Weights and biases from observation to action."""
    policy = model.policy
    linear = [it for it in policy.mlp_extractor.policy_net if isinstance(it, torch.nn.Linear)]
    return [(it.weight.detach().numpy(), it.bias.detach().numpy()) for it in [*linear, policy.action_net]]


def draw(curves: dict[int, list[Check]], path: Path) -> None:
    """The learning curves as a picture."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4))
    for seed, checks in curves.items():
        axes.plot(
            [it.steps / 1e6 for it in checks], [it.error for it in checks], marker=".", label=f"seed {seed}"
        )
    axes.axhline(NEAR, color="grey", linestyle=":", label="solved, if no flight ends early")
    axes.set(xlabel="environment steps (millions)", ylabel="mean final load error (m)", yscale="log")
    axes.legend()
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    plt.close(figure)


def main(
    out: Path = Path("learned"),
    seeds: tuple[int, ...] = (0, 1, 2),
    steps: int = 1_500_000,
    flights: int = 256,
) -> None:
    """Learn with every seed, print when each had solved it, keep the first seed's policy.

    Args:
        out: Folder for the policy and the learning curve.
        seeds: One run each.
        steps: Environment steps of a run.
        flights: How many are flown at once.
    """
    out.mkdir(parents=True, exist_ok=True)
    curves: dict[int, list[Check]] = {}
    for seed in seeds:
        print(f"seed {seed}")
        model, curves[seed] = train(seed, steps, flights)
        if seed == seeds[0]:
            save(out / "policy.npz", layers(model), "rates", 50.0)
            (out / "policy.py").write_text(POLICY, encoding="utf-8")
        draw(curves, out / "learning.png")
    firsts = [next((it for it in checks if it.solved), None) for checks in curves.values()]
    for seed, first in zip(seeds, firsts, strict=True):
        last = curves[seed][-1]
        when = f"solved after {first.steps:,} steps, {first.wall:.0f} s" if first else "not solved"
        print(
            f"seed {seed}: {when}; at the end {last.error:.3f} m, {last.early} ended early, {last.wall:.0f} s"
        )
    found = [first.wall if first else float("inf") for first in firsts]
    print(
        f"median time to solve: {statistics.median(found):.0f} s; see {out / 'learning.png'}, "
        f"fly {out / 'policy.py'}:Policy"
    )


if __name__ == "__main__":
    tyro.cli(main)
