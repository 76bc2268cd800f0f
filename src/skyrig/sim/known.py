"""Integrators by name, known here so that files are checked without JAX."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

INTEGRATORS: dict[str, str | Callable[..., Any]] = {
    "own": "skyrig.sim.integrators.own:own",
    "rk4": "skyrig.sim.integrators.rk4:rk4",
    "sdirk2": "skyrig.sim.integrators.sdirk2:sdirk2",
}
"""The function, or 'module:name' of it; see `skyrig.sim.integrators`."""


def integrator(name: str) -> Callable[..., Any]:
    """The integrator of that name: `(plant, t, state, effort, dt, fence) -> Trial`."""
    known = INTEGRATORS[name]
    if callable(known):
        return known
    module, _, function = known.partition(":")
    return getattr(importlib.import_module(module), function)
