"""Many flights as a Gymnasium vector environment."""

from __future__ import annotations

from collections.abc import Sequence
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
AutoresetMode = gymnasium.vector.AutoresetMode


class RigVectorEnv(gymnasium.vector.VectorEnv):
    """Many flights of one environment in one compiled program, on all cores.

    Flight i with seed s is the flight that `RigEnv` with seed s + i flies. `metadata["autoreset_mode"]` says
    when a flight that has ended starts again: in the step after its end, whose action for it is ignored and
    whose reward is zero (NEXT_STEP), or in the very step, which then gives the new episode's first
    observation and keeps the last one in `infos["final_obs"]` and `infos["final_info"]` (SAME_STEP).

    Args:
        num_envs: How many flights.
        environment: One that was built already, instead of `options`.
        autoreset_mode: NEXT_STEP or SAME_STEP of `gymnasium.vector.AutoresetMode`.
        array_type: "numpy", "jax" or "torch".
        threads: Threads to spread the flights over; one for each core if left out.
        render_mode: "rgb_array", for pictures by `render`, or None.
        options: What `skyrig.envs.build` takes.
    """

    TASK: ClassVar[str] = "hover"
    metadata: dict[str, Any] = {
        "render_modes": MODES,
        "render_fps": 50,
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }

    def __init__(
        self,
        num_envs: int = 1,
        environment: Environment | None = None,
        *,
        autoreset_mode: Any = AutoresetMode.NEXT_STEP,
        array_type: str = "numpy",
        threads: int | None = None,
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        modes = {AutoresetMode.NEXT_STEP: "next", AutoresetMode.SAME_STEP: "same"}
        if AutoresetMode(autoreset_mode) not in modes:
            raise InputError(f"autoreset_mode must be NEXT_STEP or SAME_STEP, not {autoreset_mode}.")
        mode = AutoresetMode(autoreset_mode)
        self.environment = build(self.TASK, **options) if environment is None else environment
        self.num_envs = num_envs
        fps = round(1 / self.environment.period)
        self.metadata = {"render_modes": MODES, "render_fps": fps, "autoreset_mode": mode}
        self.render_mode = render_mode
        task = self.TASK if environment is None else None
        self._pictures = Pictures(self.environment, render_mode, task, options.get("scenario"))
        self.single_observation_space = observation_box(self.environment)
        self.single_action_space = action_box(self.environment)
        batch = gymnasium.vector.utils.batch_space
        self.observation_space = batch(self.single_observation_space, num_envs)
        self.action_space = batch(self.single_action_space, num_envs)
        self._give = giver(array_type)
        self._many = Many(self.environment, num_envs, modes[mode], threads)
        self._begun = False

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start every flight anew; seed s gives flight i the seed s + i, a list gives each its own."""
        super().reset(seed=seed if isinstance(seed, int) else None)
        if options and options.get("reset_mask") is not None:
            raise InputError("options must not hold a reset_mask: flights start again by themselves.")
        if seed is None and self._begun:
            return self._give(self._many.restart()), {}
        if isinstance(seed, int):
            seed = [seed + i for i in range(self.num_envs)]
        seeds = [None] * self.num_envs if seed is None else list(seed)
        if len(seeds) != self.num_envs:
            raise InputError(f"seed must be one number or {self.num_envs} of them, not {len(seeds)}.")
        drawn = [int(self.np_random.integers(2**63)) if each is None else each for each in seeds]
        self._begun = True
        return self._give(self._many.reset(np.stack([key_of(each) for each in drawn]))), {}

    def render(self) -> tuple[Any, ...] | None:
        """A picture of every flight, as `RigEnv.render` draws one, where `render_mode` is "rgb_array"."""
        if self.render_mode is None:
            return None
        return tuple(self._pictures.of(self._many, k) for k in range(self.num_envs))

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """One control period of every flight."""
        out = self._many.step(shaped(actions, self.action_space.shape))
        give = self._give
        infos: dict[str, Any] = {}
        started = np.asarray(out.started)
        for name, value in out.info.items():
            infos[name], infos[f"_{name}"] = give(value), ~started
        if self._many.mode == "same" and started.any():
            final = give(out.final)
            last = np.full(self.num_envs, None, dtype=object)
            for i in np.flatnonzero(started):
                last[i] = final[i]
            infos["final_obs"], infos["_final_obs"] = last, started
            mine = {name: give(value) for name, value in out.info.items()}
            infos["final_info"] = mine | {f"_{name}": started for name in mine}
            infos["_final_info"] = started
        return give(out.observation), give(out.reward), give(out.terminated), give(out.truncated), infos

    def close_extras(self, **kwargs: Any) -> None:
        """Let the threads go."""
        self._many.close()
