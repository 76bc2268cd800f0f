"""The process-wide defaults skyrig asks of JAX, in one place, each with a way out."""

from __future__ import annotations

import os
import sys
from pathlib import Path

SMALL_LOOP = "xla_cpu_small_while_loop_byte_threshold"
"""XLA option: loops whose data fit in this many bytes are compiled into one kernel."""
LOOP_BYTES = 1 << 30
"""Enough for the loops of a chunk of 64 flights or environments, controller and statistics included."""
VECTOR = "xla_cpu_prefer_vector_width"
"""XLA option: width of vector instructions (bits); processors without such wide ones take what they have."""


def set_defaults() -> None:
    """Set what nobody has set: environment variables before JAX is imported, its configuration after.

    Way out: set JAX_ENABLE_X64=0, JAX_CPU_ENABLE_ASYNC_DISPATCH=1, JAX_COMPILATION_CACHE_DIR (empty for
    none), OPENBLAS_NUM_THREADS, or the XLA options to values of your own before importing skyrig. Threads of
    OpenBLAS wait for each other far longer than the small systems of soft fingers take to solve.
    """
    flags = os.environ.get("XLA_FLAGS", "")
    if "xla_backend_extra_options" not in flags:
        flags = f"{flags} --xla_backend_extra_options={SMALL_LOOP}={LOOP_BYTES}"
    if VECTOR not in flags:
        flags = f"{flags} --{VECTOR}=512"
    os.environ["XLA_FLAGS"] = flags.strip()
    wanted = {
        "OPENBLAS_NUM_THREADS": "1",
        "JAX_ENABLE_X64": "1",
        "JAX_COMPILATION_CACHE_DIR": str(cache_folder() / "jax"),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0.3",
        "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
    }
    for name, value in wanted.items():
        if name in os.environ:
            continue
        os.environ[name] = value
        if "jax" in sys.modules and name.startswith("JAX"):
            _configure(name.lower(), value)
    if "jax" in sys.modules:
        set_dispatch()


def set_dispatch() -> None:
    """Have JAX run a call at once, in the thread that asks for it, unless JAX_CPU_ENABLE_ASYNC_DISPATCH=1.

    Handing a call of some microseconds to another thread doubles what it costs. JAX does not read this from
    the environment, and takes it only before its first array is made: so those modules of ours call this that
    are imported before any.
    """
    if os.environ.get("JAX_CPU_ENABLE_ASYNC_DISPATCH", "0") in ("0", "false", "False"):
        _configure("jax_cpu_enable_async_dispatch", "0")


def cache_folder() -> Path:
    """Where skyrig keeps what can be made again."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "skyrig"


def _configure(name: str, value: str) -> None:
    import jax

    typed: object = value
    if name in ("jax_enable_x64", "jax_cpu_enable_async_dispatch"):
        typed = value == "1"
    elif name != "jax_compilation_cache_dir":
        typed = float(value) if "." in value else int(value)
    jax.config.update(name, typed)
