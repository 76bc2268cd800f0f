"""The table of a sweep: a row a flight, inputs and metrics, as Parquet."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np

from skyrig.flight.storage import write_whole
from skyrig.flight.units import shown
from skyrig.flight.verdict import FLEW, WORDS, Verdict
from skyrig.runs.columns import merged
from skyrig.runs.engines import need
from skyrig.runs.sweep import CHUNK, TABLE, Folder, Sweep

Table = dict[str, np.ndarray]


def collected(folder: Folder) -> Table:
    """The whole table of a finished sweep: `row`, inputs by path, `verdict`, `reason`, metrics."""
    sweep = folder.sweep
    verdicts: list[Verdict] = []
    parts = []
    for chunk in range(sweep.chunks):
        part = folder.get(chunk)
        start = chunk * CHUNK
        parts.append((np.arange(start, start + len(part.verdicts)), part.metrics))
        verdicts += part.verdicts
    inputs = {path: _plain(column) for path, column in sweep.inputs.items()}
    return {
        "row": np.arange(sweep.count),
        **inputs,
        "verdict": np.asarray([it.word for it in verdicts], dtype=object),
        "reason": np.asarray([it.reason for it in verdicts], dtype=object),
        **merged(parts, sweep.count),
    }


def write_table(folder: Folder, table: Table) -> Path:
    """Write the table whole and say where it is."""
    arrow = need("pyarrow", "sweep", "skyrig sweep")
    parquet = need("pyarrow.parquet", "sweep", "skyrig sweep")
    stream = io.BytesIO()
    parquet.write_table(arrow.table({name: arrow.array(column) for name, column in table.items()}), stream)
    return write_whole(folder.path / TABLE, stream.getvalue())


def shares(sweep: Sweep, table: Table) -> list[tuple[str, str]]:
    """A few lines on how it went."""
    lines = [("flights", f"{sweep.count}")]
    for word in WORDS:
        own = table["verdict"] == word
        if word == FLEW or own.any():
            lines.append(("flew as asked" if word == FLEW else word, f"{own.sum()} ({own.mean():.1%})"))
    for name, unit in (("position_rmse", "m"), ("position_peak", "m"), ("attitude_rmse", "rad")):
        if name in table and np.isfinite(table[name]).any():
            low, middle, high = np.nanpercentile(table[name], [5, 50, 95])
            values, people = shown(unit, [float(low), float(middle), float(high)])
            lines.append((f"{name} (5 %, median, 95 %)", f"{', '.join(values)} {people}"))
    return lines


def _plain(column: np.ndarray) -> np.ndarray:
    """Words as words; of mixed values every one as text, as a Parquet column has one type."""
    if column.dtype != object:
        return column
    kinds = {type(value) for value in column}
    return (
        column if kinds <= {str} or kinds <= {bool} else np.asarray([str(it) for it in column], dtype=object)
    )
