"""CPU time of a call, compared fairly: contenders take turns in one process, and the median counts."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Hashable
from typing import TypeVar

Name = TypeVar("Name", bound=Hashable)


def cpu_seconds(contenders: dict[Name, Callable[[], object]], rounds: int = 7) -> dict[Name, float]:
    """Median CPU seconds (all threads of this process) of one call of each, in turns after a warm-up."""
    for call in contenders.values():
        call()
    taken: dict[Name, list[float]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, call in contenders.items():
            start = time.process_time()
            call()
            taken[name].append(time.process_time() - start)
    return {name: statistics.median(values) for name, values in taken.items()}
