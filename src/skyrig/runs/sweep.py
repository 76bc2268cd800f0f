"""Sweeps: what is flown, row by row, and a folder in which it can be broken off and taken up again.

Rows fly in chunks of a fixed size. Each finished chunk is written whole as a part of its own, so a sweep that
is killed loses the chunks under way and nothing else; started again it flies what is missing.
"""

from __future__ import annotations

import hashlib
import io
import itertools
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

import skyrig
from skyrig import files
from skyrig.errors import InputError
from skyrig.flight.storage import write_whole
from skyrig.flight.verdict import Verdict
from skyrig.scenario import Scenario
from skyrig.scenario.sentences import shown
from skyrig.scenario.vary import SEED, Distribution, changes, check_path, distributions, drawn

CHUNK = 64
"""Rows in a part."""
MOST = 10_000_000
"""Most rows of a sweep."""
REQUEST, PARTS, TABLE = "sweep.json", "parts", "sweep.parquet"


def parse_grid(text: str) -> tuple[str, tuple[Any, ...]]:
    """`path=a,b,c` or `path=start:stop:count` (both ends included) from the command line."""
    path, equals, rest = text.partition("=")
    path, rest = path.strip(), rest.strip()
    wrong = InputError(f"--grid {shown(text)} must be path=a,b,c or path=start:stop:count.")
    if not equals or not path or not rest:
        raise wrong
    if rest.count(":") == 2:
        try:
            low, high, count = rest.split(":")
            first, last, number = float(low), float(high), int(count)
        except ValueError:
            raise wrong from None
        if not 1 <= number <= MOST:
            raise InputError(f"--grid {shown(text)} must go through 1 to {MOST} values, not {number}.")
        return path, tuple(np.linspace(first, last, number).tolist())
    try:
        values = files.read_yaml(f"value: [{rest}]", path)["value"]
    except InputError:
        raise wrong from None
    if not isinstance(values, list) or not all(isinstance(it, int | float | str | bool) for it in values):
        raise wrong
    return path, tuple(values)


@dataclass(frozen=True)
class Sweep:
    """What is asked for: every point of a grid, each with the same samples."""

    scenario: Scenario
    vary: Mapping[str, Distribution]
    grid: Mapping[str, tuple[Any, ...]]
    samples: int
    sampler: str
    seed: int

    @staticmethod
    def of(
        scenario: Scenario,
        vary: Mapping[str, str | Distribution],
        grid: Mapping[str, tuple[Any, ...]],
        samples: int,
        sampler: str,
        seed: int,
        within: float | None = None,
    ) -> Sweep:
        """A sweep, checked; `within` (m) stands in place of the scenario's verdict.position."""
        if within is not None:
            if not 0 < within < np.inf:
                raise InputError(f"within must be a length above zero (m), not {within:g}.")
            scenario = scenario.with_overrides({"verdict.position": within})
        if samples < 1:
            raise InputError(f"samples must be at least 1, not {samples}.")
        known = distributions(scenario, vary)
        for path, values in grid.items():
            if path in known:
                raise InputError(f"{path} cannot both vary and stand on the grid: choose one.")
            check_path(scenario, path, values)
        sweep = Sweep(scenario, known, dict(grid), samples, sampler, seed)
        if sweep.count > MOST:
            raise InputError(f"A sweep has at most {MOST} rows, not {sweep.count}: ask for fewer samples.")
        _ = sweep.inputs
        return sweep

    @property
    def count(self) -> int:
        """How many flights."""
        return self.samples * int(np.prod([len(values) for values in self.grid.values()], dtype=np.int64))

    @property
    def chunks(self) -> int:
        """How many parts."""
        return -(-self.count // CHUNK)

    @cached_property
    def inputs(self) -> dict[str, np.ndarray]:
        """Values by path, a row a flight: the grid's last path changes fastest, samples faster still."""
        draws = drawn(self.scenario, self.vary, self.samples, self.seed, self.sampler)
        points = list(itertools.product(*self.grid.values()))
        columns: dict[str, np.ndarray] = {}
        for k, path in enumerate(self.grid):
            columns[path] = np.repeat(_column([point[k] for point in points]), self.samples)
        for path, values in draws.items():
            if path != SEED or SEED not in columns:
                columns[path] = np.tile(values, len(points))
        return columns

    def rows(self, chunk: int) -> list[dict[str, Any]]:
        """Changes of the scenario for the flights of a chunk."""
        return changes(self.inputs, chunk * CHUNK, (chunk + 1) * CHUNK)

    @cached_property
    def request(self) -> dict[str, Any]:
        """All that the table depends on, for people and for the fingerprint."""
        return {
            "skyrig": skyrig.__version__,
            "scenario": self.scenario.values,
            "vary": {path: str(it) for path, it in self.vary.items()},
            "grid": {path: list(values) for path, values in self.grid.items()},
            "samples": self.samples,
            "sampler": self.sampler,
            "seed": self.seed,
            "verdict": msgspec.to_builtins(self.scenario.spec.verdict),
            "chunk": CHUNK,
        }

    @property
    def fingerprint(self) -> str:
        """Of the request."""
        return hashlib.sha256(json.dumps(self.request, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True)
class ChunkResult:
    """What came of a chunk."""

    metrics: dict[str, np.ndarray]
    verdicts: list[Verdict]


class Folder:
    """The folder of a sweep."""

    def __init__(self, path: Path, sweep: Sweep) -> None:
        self.path, self.sweep = path, sweep

    def open(self) -> list[int]:
        """Claim the folder for the sweep, and say which chunks are missing."""
        self.check()
        text = json.dumps({"fingerprint": self.sweep.fingerprint, "request": self.sweep.request}, indent=2)
        if not (self.path / REQUEST).exists():
            write_whole(self.path / REQUEST, text + "\n")
        parts = self.path / PARTS
        if parts.is_dir():
            for left in parts.glob(".*.part"):  # of a run that was killed while it wrote
                left.unlink(missing_ok=True)
        return [chunk for chunk in range(self.sweep.chunks) if not self._file(chunk).exists()]

    def check(self) -> None:
        """Refuse a folder that holds something else."""
        if self.path.exists() and not self.path.is_dir():
            raise InputError(f"{self.path} is in the way: a folder is needed to write the sweep to.")
        file = self.path / REQUEST
        if not file.exists():
            return
        try:
            have = json.loads(file.read_text(encoding="utf-8"))
            print_of, request = have["fingerprint"], have["request"]
        except (OSError, ValueError, KeyError, TypeError):
            raise InputError(f"{file} is not a sweep's request: choose another folder with --out.") from None
        if print_of != self.sweep.fingerprint:
            mine = self.sweep.request
            other = [
                name for name in mine if not isinstance(request, dict) or request.get(name) != mine[name]
            ]
            raise InputError(
                f"{self.path} holds another sweep, which differs in {', '.join(other) or 'its request'}: "
                "choose another folder with --out, or remove it."
            )

    def put(self, chunk: int, part: ChunkResult) -> None:
        """Keep what came of a chunk."""
        stream = io.BytesIO()
        verdicts = json.dumps([verdict.to_dict() for verdict in part.verdicts])
        np.savez(stream, allow_pickle=False, verdicts=np.asarray(verdicts), **part.metrics)
        write_whole(self._file(chunk), stream.getvalue())

    def get(self, chunk: int) -> ChunkResult:
        """What came of a chunk."""
        file = self._file(chunk)
        try:
            with np.load(file, allow_pickle=False) as data:
                arrays = {name: data[name] for name in data}
            return ChunkResult(arrays, [Verdict(**it) for it in json.loads(str(arrays.pop("verdicts")))])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError(f"{file} cannot be read ({error}): remove it, and it is flown again.") from None

    def _file(self, chunk: int) -> Path:
        return self.path / PARTS / f"{chunk:06d}.npz"


def _column(values: list[Any]) -> np.ndarray:
    if {type(value) for value in values} <= {int, float}:
        return np.asarray(values)
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column
