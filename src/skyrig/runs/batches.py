"""Many flights of one scenario with some of its values drawn by chance: `skyrig.fly_many`."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

import jax
import numpy as np

from skyrig.control.interface import Target
from skyrig.errors import FlightDiverged, InputError
from skyrig.flight.verdict import DIVERGED, FLEW, NOT_FLOWN, Verdict
from skyrig.runs import columns as tables
from skyrig.runs.batch_arrays import Ready, batch_of
from skyrig.runs.columns import Columns
from skyrig.runs.flying import fly
from skyrig.runs.rows import Row, Workshop
from skyrig.scenario import Scenario
from skyrig.scenario.vary import Distribution, changes, drawn
from skyrig.sim.batch import CHUNK
from skyrig.sim.batch_loop import fly_batch
from skyrig.sim.statistics import Statistics

LEAST = 8
"""Fewest flights that are compiled for; fewer fly in as many lanes."""


@dataclass(frozen=True)
class Flights:
    """What came of many flights, row by row."""

    inputs: Columns
    """What was drawn, by path; with it `Scenario.with_overrides` gives any of the flights again."""
    metrics: Columns
    """By name, as in docs/sweeps.md; not a number where a flight failed."""
    verdicts: tuple[Verdict, ...]
    """On each flight: see `skyrig.flight.verdict`."""

    @property
    def verdict(self) -> np.ndarray:
        """The words of the verdicts."""
        return np.asarray([verdict.word for verdict in self.verdicts], dtype=object)

    @property
    def success(self) -> np.ndarray:
        """Flights that flew as asked."""
        return np.asarray([verdict.flew for verdict in self.verdicts], dtype=bool)

    @property
    def failures(self) -> dict[int, str]:
        """Why flights could not be built or did not reach their end, by row."""
        ended = (DIVERGED, NOT_FLOWN)
        return {row: it.reason for row, it in enumerate(self.verdicts) if it.word in ended}

    def __len__(self) -> int:
        return len(next(iter(self.inputs.values())))

    def __repr__(self) -> str:
        varied = ", ".join(path for path in self.inputs if path != "seed") or "nothing but the seed"
        good = int(self.success.sum())
        counts = f"{len(self)} flights, {good} flew as asked, {len(self.metrics)} metrics"
        return f"Flights({counts}, varied: {varied})"

    def _repr_html_(self) -> str:
        from skyrig.flight.notebook import batch_html

        return batch_html(self)


def fly_many(
    scenario: Scenario | str | Path,
    n: int,
    vary: Mapping[str, str | Distribution] | None = None,
    seed: int = 0,
    *,
    sampler: str = "random",
    within: float | None = None,
    threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Flights:
    """Fly a scenario `n` times with values drawn by chance, many flights at once.

    Each flight's numbers are those that `skyrig.fly` gives for the same values. Memory does not grow with
    the flights' length, and by a few hundred bytes a flight.

    Args:
        scenario: A scenario, a bundled one's name, or a file.
        n: How many flights.
        vary: Distributions by path, such as {"rig.payload.mass": "uniform(0.1, 0.3)"}. The scenario's own
            seed is drawn for every flight unless it varies here.
        seed: Of all that is drawn.
        sampler: How: 'random', 'latin' (a Latin hypercube) or 'sobol'.
        within: How close to its reference a flight must end (m), in place of the scenario's verdict.position.
        threads: Chunks flown at a time; as many as there are cores if left out.
        progress: Called now and then with the flights done and their number.
    """
    known = scenario if isinstance(scenario, Scenario) else Scenario.load(scenario)
    if within is not None:
        known = known.with_overrides({"verdict.position": within})
    inputs = drawn(known, vary, n, seed, sampler)
    flyer = Flyer(known, n)
    starts = range(0, n, CHUNK)
    done, lock = [0], Lock()

    def one(start: int) -> Chunk:
        chunk = flyer.fly(changes(inputs, start, start + CHUNK))
        with lock:
            done[0] += len(chunk.verdicts)
            if progress is not None:
                progress(done[0], n)
        return chunk

    # a compiled program lets go of Python while it runs, so threads fly side by side
    with ThreadPoolExecutor(threads or os.cpu_count() or 1) as pool:
        chunks = list(pool.map(one, starts))
    parts = [
        (np.arange(start, start + len(chunk.verdicts)), chunk.metrics)
        for start, chunk in zip(starts, chunks, strict=True)
    ]
    verdicts = tuple(verdict for chunk in chunks for verdict in chunk.verdicts)
    return Flights(inputs, tables.merged(parts, n), verdicts)


@dataclass(frozen=True)
class Chunk:
    """What came of a few flights."""

    metrics: Columns
    verdicts: list[Verdict]


class Flyer:
    """Flies rows of changes of one scenario, a chunk at a time; chunks may fly side by side in threads.

    Args:
        scenario: What is flown.
        count: How many flights there are in all: if few, few fly side by side.
    """

    def __init__(self, scenario: Scenario, count: int = CHUNK) -> None:
        self.scenario = scenario
        # few sizes, so that few programs are compiled
        self._lanes = min(CHUNK, max(LEAST, 1 << (count - 1).bit_length()))
        self._compiled: set[Any] = set()
        self._compiling = Lock()
        self._shop = Workshop(scenario)
        self._base = self._shop.row({})
        self._targets: dict[Any, tuple[Any, Target]] = {}
        self._building = Lock()

    def fly(self, rows: Sequence[Mapping[str, Any]]) -> Chunk:
        """Fly one chunk of flights; what comes out depends on these rows alone."""
        verdicts = [Verdict(FLEW)] * len(rows)
        kinds: dict[Any, list[tuple[int, Row]]] = {}
        alone: list[int] = []
        with self._building:  # Python builds one at a time anyway, and what is built is kept for others
            for k, row in enumerate(rows):
                try:
                    made = self._shop.row(row)
                except InputError as error:
                    verdicts[k] = Verdict(NOT_FLOWN, str(error))
                    continue
                if made is None or self._base is None:
                    alone.append(k)
                else:
                    kinds.setdefault(made.kind, []).append((k, made))
            batches = [
                (
                    [k for k, _ in group],
                    batch_of([it for _, it in group], self._lanes, self._base, self._shared),
                )
                for group in kinds.values()
                if self._base is not None
            ]
            asked = [
                (group[0][1].built.duration, [it.built.scenario.spec.verdict for _, it in group])
                for group in kinds.values()
            ]
        parts: list[tuple[np.ndarray, Columns]] = []
        for (own, batch), (duration, limits) in zip(batches, asked, strict=True):
            statistics = self._flown(batch)
            found, judged = tables.of_statistics(statistics, duration, limits)
            parts.append((np.asarray(own), found))
            for k, verdict in zip(own, judged, strict=True):
                verdicts[k] = verdict
            alone += [own[lane] for lane in tables.crowded(statistics, len(own))]
        for k in alone:
            found, verdicts[k] = self._alone(rows[k])
            parts.append((np.array([k]), found))
        return Chunk(tables.merged(parts, len(rows)), verdicts)

    def _flown(self, ready: Ready) -> Statistics:
        """Fly a batch; the first of its shape alone, so that threads do not compile the same thing."""
        now = jax.tree.map(lambda leaf: leaf[0], ready.ticks)
        leaves, structure = jax.tree.flatten((ready.batch, ready.state, now))
        shape = structure, tuple((np.shape(leaf), leaf.dtype) for leaf in leaves)
        if shape in self._compiled:
            return jax.block_until_ready(fly_batch(*ready))
        with self._compiling:
            statistics = jax.block_until_ready(fly_batch(*ready))
            self._compiled.add(shape)
        return statistics

    def _alone(self, row: Mapping[str, Any]) -> tuple[Columns, Verdict]:
        """One flight by itself: without a controller, or with more events than a batch has room for."""
        try:
            flight = fly(self.scenario.with_overrides(row))
        except InputError as error:
            return {}, Verdict(NOT_FLOWN, str(error))
        except FlightDiverged as error:
            return {}, Verdict(DIVERGED, str(error))
        return tables.of_flight(flight), flight.verdict

    def _shared(self, key: Any, row: Row, make: Callable[[], Target]) -> Target:
        """The targets kept under `key`, with the reference in it so that its id stays its own."""
        if key not in self._targets:
            if len(self._targets) > 8:
                self._targets.clear()
            self._targets[key] = (row.built.scenario.motions, make())
        return self._targets[key][1]
