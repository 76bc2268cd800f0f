"""Many flights as a stable-baselines3 VecEnv: a thin coat over `skyrig.envs.Many`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from skyrig.envs.environment import Environment
from skyrig.envs.extras import need
from skyrig.envs.spaces import action_box, key_of, observation_box
from skyrig.envs.vectorised import Many

VecEnv = need("stable_baselines3.common.vec_env").VecEnv


class RigVecEnv(VecEnv):
    """Flights that start again in the step in which they end, the last observation in their info.

    Args:
        environment: What is flown.
        count: How many flights.
        seed: Flight i starts from seed + i.
        threads: Threads to spread them over; one for each core if left out.
    """

    def __init__(
        self, environment: Environment, count: int, seed: int = 0, threads: int | None = None
    ) -> None:
        self.environment = environment
        self.render_mode = None
        self._many = Many(environment, count, "same", threads)
        self._first = seed
        self._return, self._steps = np.zeros(count), np.zeros(count, dtype=int)
        self._actions: Any = None
        super().__init__(count, observation_box(environment), action_box(environment))

    def seed(self, seed: int | None = None) -> list[int]:
        """Set the seed of the next reset."""
        if seed is not None:
            self._first = seed
        return [self._first + i for i in range(self.num_envs)]

    def reset(self) -> np.ndarray:
        """Start every flight from its seed."""
        self._return[:], self._steps[:] = 0.0, 0
        return np.array(self._many.reset(np.stack([key_of(each) for each in self.seed()])))

    def step_async(self, actions: np.ndarray) -> None:
        """Take the actions."""
        self._actions = actions

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Fly them."""
        out = self._many.step(self._actions)
        reward, done = np.array(out.reward), np.array(out.started)
        self._return += reward
        self._steps += 1
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        if done.any():
            final, truncated = np.asarray(out.final), np.asarray(out.truncated)
            known = {name: np.asarray(value) for name, value in out.info.items()}
            for i in np.flatnonzero(done):
                infos[i] = {name: value[i].item() for name, value in known.items()}
                infos[i] |= {
                    "terminal_observation": final[i],
                    "TimeLimit.truncated": bool(truncated[i]),
                    "episode": {"r": float(self._return[i]), "l": int(self._steps[i])},
                }
            self._return[done], self._steps[done] = 0.0, 0
        return np.array(out.observation), reward, done, infos

    def close(self) -> None:
        """Let the threads go."""
        self._many.close()

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """The same attribute for every flight: they share one environment."""
        return [getattr(self, attr_name)] * len(self._chosen(indices))

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Refused: flights share one environment."""
        raise NotImplementedError("the flights of a RigVecEnv share one environment")

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> list[Any]:
        """Refused: flights share one environment."""
        raise NotImplementedError("the flights of a RigVecEnv share one environment")

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """Nothing is wrapped."""
        return [False] * len(self._chosen(indices))

    def _chosen(self, indices: Any) -> list[int]:
        if indices is None:
            return list(range(self.num_envs))
        return list(indices) if isinstance(indices, Iterable) else [indices]
