"""Waiting for what another thread or process does."""

import time
from collections.abc import Callable
from typing import Any

SAFETY = 120.0
"""How long to wait for what never comes (s): several times longer than a slow machine takes for what does."""


def until(true: Callable[[], Any]) -> None:
    """Wait for something to become true."""
    last = time.monotonic() + SAFETY
    while not true():
        assert time.monotonic() < last, "It never came true."
        time.sleep(0.02)
