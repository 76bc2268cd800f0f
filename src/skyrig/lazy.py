"""Packages whose names are imported when first asked for: files are checked without waiting for JAX."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any


def lazily(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """A package's `__getattr__` that finds each name in the module that `homes` gives for it.

    A module of the package itself has itself for a home.
    """

    def find(name: str) -> Any:
        if name in homes:
            home = importlib.import_module(homes[name])
            return home if homes[name] == f"{package}.{name}" else getattr(home, name)
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return find
