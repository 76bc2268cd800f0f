"""Packages of the extra `rl`, imported when asked for."""

from __future__ import annotations

import importlib
from typing import Any


def need(name: str) -> Any:
    """The module `name`, or one sentence that says how to get it."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        package = name.partition(".")[0].replace("_", "-")
        raise ImportError(f"{package} is missing: pip install 'skyrig[rl]' brings it.") from error
