"""Set up before any test imports skyrig: shapes are checked, plots need no screen, compiling is quick."""

import contextlib
import ctypes
import gc
import importlib
import os
import resource
import sys
from pathlib import Path

import pytest
from _pytest.runner import runtestprotocol
from hypothesis import settings
from jaxtyping import install_import_hook

os.environ["MPLBACKEND"] = "Agg"
# Every annotated function and dataclass of the package checks its arguments while tests run. As in Python's
# own typing, an int will do where a float is asked for.
install_import_hook("skyrig", "beartype.beartype(conf=beartype.BeartypeConf(is_pep484_tower=True))")

# Tests compile hundreds of programs and fly each for seconds at most, so most of their time would go into
# making machine code faster. Processes that tests start do the same, so that they give the same bits. Way
# out, to try what users fly: XLA_FLAGS=--xla_backend_optimization_level=3.
LEVEL = "xla_backend_optimization_level"
if LEVEL not in os.environ.get("XLA_FLAGS", ""):
    # the older of the two ways in which XLA writes kernels takes half the time, and half the memory
    QUICK = f"--{LEVEL}=0 --xla_cpu_use_fusion_emitters=false"
    os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {QUICK}".strip()
# However small, what one process compiled the next one need not.
os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"

# Machines that write no bytecode would compile all modules anew in every process that tests start.
BYTECODE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "skyrig" / "bytecode"
if os.environ.pop("PYTHONDONTWRITEBYTECODE", None):
    os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix = str(BYTECODE)
    sys.dont_write_bytecode = False

# Shapes are checked while a program is traced. What was traced under these checks from the same source need
# not be traced again, by another worker or another run; what other processes keep was never checked, and they
# go their own way.
os.environ["SKYRIG_KEEP_PROGRAMS"] = "checked"
programs = importlib.import_module("skyrig.programs")
del os.environ["SKYRIG_KEEP_PROGRAMS"]

# A compiled function's first example takes seconds, so no deadline; CI tries the same examples each time.
settings.register_profile("local", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")

MEMORY: list[int] = []
"""Of every worker, at most (kiB)."""
FULL, MORE = 1.8, 0.4
"""A process that holds more than FULL (GiB) after a test, and MORE above what it could not let go of, forgets
what it compiled."""
KEPT = 1000
"""Programs kept for the next run, the newest."""
AGAIN: list[str] = []
"""Tests that were tried twice."""
base = [0.0]


def pytest_collection_finish(session):
    """Spare what is imported by now when Python looks for cycles: tracing makes it look all the time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


@pytest.fixture(autouse=True)
def forgotten():
    """Let compiled programs go once they take up much memory: what is needed again is read from the disk."""
    yield
    if held() > max(FULL, base[0] + MORE):
        programs.forget()
        gc.collect()
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).malloc_trim(0)
        base[0] = held()


def pytest_sessionstart(session):
    """Clear away programs of sources that are long gone."""
    folder = programs._folder()
    if hasattr(session.config, "workerinput") or folder is None or not folder.is_dir():
        return
    for old in sorted(folder.iterdir(), key=lambda it: it.stat().st_mtime)[:-KEPT]:
        old.unlink(missing_ok=True)


def held() -> float:
    """Memory that this process has now (GiB)."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return pages * resource.getpagesize() / 2**30


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item, nextitem):
    """Try what needs a browser twice: on a machine with much to do, it may not paint in time.

    What passes only then is named at the end.
    """
    if item.get_closest_marker("browser") is None:
        return None
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    reports = runtestprotocol(item, nextitem=nextitem, log=False)
    if any(it.failed for it in reports):
        item._initrequest()
        reports = runtestprotocol(item, nextitem=nextitem, log=False)
        AGAIN.append(item.nodeid)
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def pytest_sessionfinish(session):
    """Let a worker tell how much memory it took at most, and what it tried twice."""
    told = getattr(session.config, "workeroutput", None)
    if told is not None:
        told["again"] = AGAIN
        told["memory"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def pytest_testnodedown(node, error):
    """Keep what workers told."""
    told = getattr(node, "workeroutput", {})
    MEMORY.append(told.get("memory", 0))
    AGAIN.extend(told.get("again", []))


def pytest_terminal_summary(terminalreporter):
    """Say what was tried twice, and how large the largest worker was."""
    for name in AGAIN:
        terminalreporter.write_line(f"Tried twice: {name}")
    if MEMORY:
        terminalreporter.write_line(f"Largest worker: {max(MEMORY) / 2**20:.2f} GiB.")
