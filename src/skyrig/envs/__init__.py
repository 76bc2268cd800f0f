"""Learning environments: scenarios as tasks for agents, in pure JAX, for Gymnasium and for PettingZoo."""

from skyrig.envs.actions import LEVELS, Level
from skyrig.envs.catalogue import CATALOGUE, build
from skyrig.envs.environment import Environment, EnvState
from skyrig.envs.tasks import Rewards, Spread, Task
from skyrig.envs.vectorised import Many

__all__ = [
    "CATALOGUE",
    "LEVELS",
    "EnvState",
    "Environment",
    "Level",
    "Many",
    "Rewards",
    "Spread",
    "Task",
    "build",
]
