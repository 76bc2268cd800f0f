"""Who flies the chunks of a sweep: threads in this process, processes through joblib, or a Ray cluster.

All of them run `fly_rows` on the same rows, so the numbers are the same, bit for bit.
"""

from __future__ import annotations

import importlib
import importlib.util
import itertools
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from skyrig import checks, extensions
from skyrig.errors import InputError
from skyrig.runs.sweep import ChunkResult, Sweep

ENGINES = ("batch", "processes", "ray")
_NEEDS = {"processes": ("joblib", "sweep"), "ray": ("ray", "cluster")}


def need(package: str, extra: str, what: str) -> Any:
    """A package that comes with one of skyrig's extras, or one sentence that says which."""
    if importlib.util.find_spec(package) is None:
        raise InputError(f"{what} needs {package}, which is not installed: pip install 'skyrig[{extra}]'.")
    return importlib.import_module(package)


def check_engine(engine: str, workers: int | None = None) -> None:
    """Refuse an engine that is not known or not installed, or without anybody to work."""
    checks.choice("engine", engine, ENGINES)
    if workers is not None and workers < 1:
        raise InputError(f"workers must be at least 1, not {workers}.")
    if engine in _NEEDS:
        need(*_NEEDS[engine], f"--engine {engine}")


def fly_rows(
    scenario: bytes, where: str, count: int, rows: list[dict[str, Any]], files: tuple[str, ...] = ()
) -> ChunkResult:
    """Fly one chunk of a sweep with `count` rows; `files` of people's own are brought in first."""
    for file in files:
        extensions.load(Path(file))
    chunk = _flyer(scenario, where, count).fly(rows)
    return ChunkResult(chunk.metrics, chunk.verdicts)


@lru_cache(maxsize=2)
def _flyer(scenario: bytes, where: str, count: int) -> Any:
    """Kept from chunk to chunk, as it keeps what it builds."""
    from skyrig.runs.batches import Flyer
    from skyrig.scenario import Scenario

    return Flyer(Scenario.from_dict(msgspec.json.decode(scenario), where), count)


def flown(
    sweep: Sweep, chunks: list[int], engine: str, address: str | None = None, workers: int | None = None
) -> Iterator[tuple[int, ChunkResult]]:
    """Chunks and what came of them, in the order they are done.

    Args:
        sweep: What is flown.
        chunks: Which chunks of it.
        engine: One of `ENGINES`.
        address: Of a running Ray cluster; one is started on this machine if left out.
        workers: How many chunks at a time; as many as there are cores if left out.
    """
    check_engine(engine, workers)
    count = workers or os.cpu_count() or 1
    ways = {"batch": _threads, "processes": _processes}
    return _ray(sweep, chunks, address, count) if engine == "ray" else ways[engine](sweep, chunks, count)


def _job(sweep: Sweep, chunk: int) -> tuple[bytes, str, int, list[dict[str, Any]], tuple[str, ...]]:
    known = sweep.scenario
    files = tuple(str(path) for path in extensions.LOADED)
    return msgspec.json.encode(known.values), known.where, sweep.count, sweep.rows(chunk), files


def _threads(sweep: Sweep, chunks: list[int], count: int) -> Iterator[tuple[int, ChunkResult]]:
    # a compiled program lets go of Python while it runs, so threads fly side by side
    pool = ThreadPoolExecutor(count)
    try:
        waiting = iter(chunks)
        under_way = {pool.submit(fly_rows, *_job(sweep, chunk)): chunk for chunk in _few(waiting, 2 * count)}
        while under_way:
            done = next(as_completed(under_way))
            chunk = under_way.pop(done)
            for further in _few(waiting, 1):
                under_way[pool.submit(fly_rows, *_job(sweep, further))] = further
            yield chunk, done.result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _processes(sweep: Sweep, chunks: list[int], count: int) -> Iterator[tuple[int, ChunkResult]]:
    joblib = need("joblib", "sweep", "--engine processes")
    # the first here, so that its compiled program is in the cache when workers ask for it
    yield from ((chunk, fly_rows(*_job(sweep, chunk))) for chunk in chunks[:1])
    run = joblib.Parallel(n_jobs=count, backend="loky", return_as="generator_unordered")
    yield from run(joblib.delayed(_numbered)(chunk, *_job(sweep, chunk)) for chunk in chunks[1:])


def _numbered(chunk: int, *job: Any) -> tuple[int, ChunkResult]:
    return chunk, fly_rows(*job)


def _ray(
    sweep: Sweep, chunks: list[int], address: str | None, count: int
) -> Iterator[tuple[int, ChunkResult]]:
    ray = need("ray", "cluster", "--engine ray")
    own = not ray.is_initialized()
    if own:
        try:
            if address is None:
                ray.init(num_cpus=count, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
            else:
                ray.init(address=address, log_to_driver=False, logging_level="ERROR")
        except (ConnectionError, ValueError, RuntimeError) as error:
            reason = str(error).split("\n")[0].rstrip(".")
            raise InputError(
                f"--address {address} is not a Ray cluster that answers: {reason} "
                "(one that asks for a token needs RAY_AUTH_MODE=token in the environment here)."
            ) from None
    try:
        # a worker that dies takes its chunk with it; any other flies it again
        fly = ray.remote(max_retries=-1, num_cpus=1)(fly_rows)
        limit = max(count, int(ray.cluster_resources().get("CPU", count)))
        waiting = iter(chunks)
        under_way = {fly.remote(*_job(sweep, chunk)): chunk for chunk in _few(waiting, 2 * limit)}
        while under_way:
            ready, _ = ray.wait(list(under_way), num_returns=1)
            chunk = under_way.pop(ready[0])
            part = ray.get(ready[0])
            for further in _few(waiting, 1):
                under_way[fly.remote(*_job(sweep, further))] = further
            yield chunk, part
    finally:
        if own:
            ray.shutdown()


def _few(waiting: Iterator[int], count: int) -> list[int]:
    return list(itertools.islice(waiting, count))
