"""Teams as PettingZoo environments: one agent for each vehicle."""

from __future__ import annotations

from typing import Any

import numpy as np

from skyrig.envs.arrays import giver
from skyrig.envs.catalogue import build
from skyrig.envs.environment import Environment
from skyrig.envs.extras import need
from skyrig.envs.render import MODES, Pictures
from skyrig.envs.spaces import Box, key_of, shaped
from skyrig.envs.vectorised import Many
from skyrig.errors import InputError

ParallelEnv = need("pettingzoo").ParallelEnv


class CarryTeam(ParallelEnv):
    """Hold a rigid load that hangs from several vehicles in one place; every vehicle is an agent.

    **Rig, start, end**: as in `skyrig.envs.gym.RigidCarry`; all agents end together.

    **Agents**: `vehicle_0` to `vehicle_{n-1}`.

    **Action** of each: its vehicle's, as in `skyrig.envs.gym`; 4 numbers with `action="rates"`.

    **Observation** of each (36 + 3 n):

    | index | what | unit |
    |---|---|---|
    | 0-2 | from the load to where it is wanted, world axes | m |
    | 3-5 | wanted velocity minus the load's | m/s |
    | 6-14 | the load's rotation matrix, body to world, row by row | |
    | 15-17 | its body rates | rad/s |
    | 18-20 | the agent's velocity, world axes | m/s |
    | 21-29 | its rotation matrix | |
    | 30-32 | its body rates | rad/s |
    | 33-35 | from its hook to its attachment, world axes, in cable lengths | |
    | 36-38 | its attachment, load frame | m |
    | 39- | the other vehicles from the load, world axes, the next one first | m |

    **Reward**: the same for all, as in `RigidCarry`. `state()` holds all agents' observations, one after the
    other.

    Args:
        environment: One that was built already with `teams=True`, instead of `options`.
        array_type: "numpy", "jax" or "torch".
        render_mode: "rgb_array", for pictures by `render`, or None.
        options: What `skyrig.envs.build` takes.
    """

    metadata: dict[str, Any] = {"name": "skyrig/CarryTeam-v0", "render_modes": MODES, "render_fps": 50}

    def __init__(
        self,
        environment: Environment | None = None,
        *,
        array_type: str = "numpy",
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        self.environment = build("carry", teams=True, **options) if environment is None else environment
        if not self.environment.teams:
            raise InputError("environment must be built with teams=True to be flown by a team.")
        size, n = self.environment.observation_shape
        self.possible_agents = [f"vehicle_{k}" for k in range(n)]
        self.agents: list[str] = []
        self.render_mode = render_mode
        self.metadata = {**self.metadata, "render_fps": round(1 / self.environment.period)}
        task = "carry" if environment is None else None
        self._pictures = Pictures(self.environment, render_mode, task, options.get("scenario"))
        self.observation_spaces = {
            agent: Box(-np.inf, np.inf, (size,), np.float32) for agent in self.possible_agents
        }
        self.action_spaces = {
            agent: Box(-1.0, 1.0, (self.environment.action_size,), np.float32)
            for agent in self.possible_agents
        }
        self._give = giver(array_type)
        self._many = Many(self.environment, 1, "never", threads=1)
        self._random = np.random.default_rng()
        self._begun = False
        self._seen: Any = None

    def observation_space(self, agent: str) -> Any:
        """The same object every time."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Any:
        """The same object every time."""
        return self.action_spaces[agent]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, dict]]:
        """Start an episode; without a seed, by the chances that follow the last one's."""
        if seed is None and self._begun:
            observation = self._many.restart()
        else:
            chosen = int(self._random.integers(2**63)) if seed is None else seed
            observation = self._many.reset(key_of(chosen)[None])
        self._begun = True
        self.agents = list(self.possible_agents)
        return self._shared(observation), {agent: {} for agent in self.agents}

    def step(self, actions: dict[str, Any]) -> tuple[dict, dict, dict, dict, dict]:
        """One control period of the whole team."""
        if not self.agents:
            return {}, {}, {}, {}, {}
        for agent in self.agents:
            if agent not in actions:
                raise InputError(f"actions must hold one for {agent}.")
        shape = (self.environment.action_size,)
        rows = np.stack([np.asarray(shaped(actions[agent], shape)) for agent in self.agents])
        out = self._many.step(rows[None])
        info = {name: np.asarray(value)[0].item() for name, value in out.info.items()}
        seen = self._shared(out.observation)

        def all_of(value: Any) -> dict[str, Any]:
            return dict.fromkeys(self.agents, value)

        ended, stopped = bool(out.terminated[0]), bool(out.truncated[0])
        infos = {agent: dict(info) for agent in self.agents}
        answer = seen, all_of(float(out.reward[0])), all_of(ended), all_of(stopped), infos
        if ended or stopped:
            self.agents = []
        return answer

    def state(self) -> np.ndarray:
        """All agents' observations, one after the other."""
        if self._seen is None:
            raise InputError("reset must be called before state.")
        return np.asarray(self._seen).ravel()

    def render(self) -> Any:
        """The flight as it is now, (480, 480, 3) of 8 bits, where `render_mode` is "rgb_array"; else None."""
        if self.render_mode is None:
            return None
        if not self._begun:
            raise InputError("reset must be called before render.")
        return self._pictures.of(self._many)

    def close(self) -> None:
        """Nothing is held open."""

    def _shared(self, observation: Any) -> dict[str, Any]:
        """Each agent's own, and a copy for `state`."""
        self._seen = observation[0]
        rows = self._give(observation)[0]
        return {agent: rows[k] for k, agent in enumerate(self.possible_agents)}
