"""The table of a sweep: a row a flight, inputs and metrics, as Parquet."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np

from skyrig.flight.columns import merged, succeeded
from skyrig.flight.engines import need
from skyrig.flight.storage import write_whole
from skyrig.flight.sweep import CHUNK, TABLE, Folder, Sweep
from skyrig.flight.units import shown

Table = dict[str, np.ndarray]


def collected(folder: Folder) -> Table:
    """The whole table of a finished sweep: `row`, inputs by path, `success`, `reason`, metrics."""
    sweep = folder.sweep
    parts, reasons = [], []
    for chunk in range(sweep.chunks):
        part = folder.get(chunk)
        start = chunk * CHUNK
        parts.append((np.arange(start, start + len(part.reasons)), part.metrics))
        reasons += part.reasons
    metrics = merged(parts, sweep.count)
    failures = {row: reason for row, reason in enumerate(reasons) if reason}
    inputs = {path: _plain(column) for path, column in sweep.inputs.items()}
    return {
        "row": np.arange(sweep.count),
        **inputs,
        "success": succeeded(metrics, failures, sweep.count, sweep.within),
        "reason": np.asarray(reasons, dtype=object),
        **metrics,
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
    good = table["success"]
    whole = np.asarray([reason == "" for reason in table["reason"]])
    lines = [
        ("flights", f"{sweep.count}"),
        ("reached their end", f"{whole.sum()} ({whole.mean():.1%})"),
        (f"and ended within {sweep.within:g} m", f"{good.sum()} ({good.mean():.1%})"),
    ]
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
