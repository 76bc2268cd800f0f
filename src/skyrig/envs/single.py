"""One flight as a Gymnasium environment."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from skyrig.envs.arrays import giver
from skyrig.envs.catalogue import build
from skyrig.envs.environment import Environment
from skyrig.envs.extras import need
from skyrig.envs.render import MODES, Pictures
from skyrig.envs.spaces import action_box, key_of, observation_box, shaped
from skyrig.envs.vectorised import Many
from skyrig.errors import InputError

gymnasium = need("gymnasium")


class RigEnv(gymnasium.Env):
    """One flight of an environment: of that of its class, or of any that was built.

    Args:
        environment: One that was built already, instead of `options`.
        options: What `skyrig.envs.build` takes.
        array_type: "numpy", "jax" or "torch".
        render_mode: "rgb_array", for pictures by `render`, or None.
    """

    TASK: ClassVar[str] = "hover"
    metadata: dict[str, Any] = {"render_modes": MODES, "render_fps": 50}

    def __init__(
        self,
        environment: Environment | None = None,
        *,
        array_type: str = "numpy",
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        self.environment = build(self.TASK, **options) if environment is None else environment
        self.observation_space = observation_box(self.environment)
        self.action_space = action_box(self.environment)
        self.render_mode = render_mode
        self.metadata = {**self.metadata, "render_fps": round(1 / self.environment.period)}
        task = self.TASK if environment is None else None
        self._pictures = Pictures(self.environment, render_mode, task, options.get("scenario"))
        self._give = giver(array_type)
        self._many = Many(self.environment, 1, "never", threads=1)
        self._begun = False

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict]:
        """Start an episode; without a seed, by the chances that follow the last one's."""
        super().reset(seed=seed)
        if seed is None and self._begun:
            observation = self._many.restart()
        else:
            seed = int(self.np_random.integers(2**63)) if seed is None else seed
            observation = self._many.reset(key_of(seed)[None])
        self._begun = True
        return self._give(observation)[0], {}

    def render(self) -> Any:
        """The flight as it is now, (480, 480, 3) of 8 bits, where `render_mode` is "rgb_array"; else None."""
        if self.render_mode is None:
            return None
        if not self._begun:
            raise InputError("reset must be called before render.")
        return self._pictures.of(self._many)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """One control period."""
        if not self._begun:
            raise InputError("reset must be called before step.")
        out = self._many.step(shaped(action, self.action_space.shape)[None])
        # as plain numbers at once: an index into one of JAX's arrays would be a call of its own
        reward, terminated, truncated = (
            np.asarray(it).item() for it in (out.reward, out.terminated, out.truncated)
        )
        info = {name: np.asarray(value).item() for name, value in out.info.items()}
        return self._give(out.observation)[0], reward, terminated, truncated, info
