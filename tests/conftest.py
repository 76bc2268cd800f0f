"""Set up before any test imports skyrig: array shapes are checked, plots need no screen."""

import importlib
import os
import resource

from hypothesis import settings
from jaxtyping import install_import_hook

os.environ["MPLBACKEND"] = "Agg"
# Every annotated function and dataclass of the package checks its arguments while tests run. As in Python's
# own typing, an int will do where a float is asked for.
install_import_hook("skyrig", "beartype.beartype(conf=beartype.BeartypeConf(is_pep484_tower=True))")

# Shapes are checked while a program is traced, so none may come ready from the disk: not here, but in the
# processes that tests start, where nothing checks them, each program is traced once for all.
os.environ["SKYRIG_KEEP_PROGRAMS"] = "0"
importlib.import_module("skyrig.programs")
del os.environ["SKYRIG_KEEP_PROGRAMS"]

# A compiled function's first example takes seconds, so no deadline; CI tries the same examples each time.
settings.register_profile("local", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")

MEMORY: list[int] = []
"""Of every worker, at most (kiB)."""


def pytest_sessionfinish(session):
    """Let a worker tell how much memory it took at most."""
    told = getattr(session.config, "workeroutput", None)
    if told is not None:
        told["memory"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def pytest_testnodedown(node, error):
    """Keep what workers told."""
    MEMORY.append(getattr(node, "workeroutput", {}).get("memory", 0))


def pytest_terminal_summary(terminalreporter):
    """Say how large the largest worker was."""
    if MEMORY:
        terminalreporter.write_line(f"Largest worker: {max(MEMORY) / 2**20:.2f} GiB.")
