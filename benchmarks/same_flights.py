"""Whether two versions of skyrig fly the bundled scenarios alike.

    python benchmarks/same_flights.py record before.npz      # in one version
    python benchmarks/same_flights.py record after.npz       # in the other
    python benchmarks/same_flights.py compare before.npz after.npz

Scenarios may be named after the file; all bundled ones are flown if none are. Prints, scenario by scenario of
those in both files, the largest distance between positions at the same instants and whether the same events
happened, and ends with status 1 if any is further apart than a nanometre.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

NEAR = 1e-9
"""Largest distance that counts as the same (m)."""


def record(path: Path, chosen: list[str]) -> None:
    """Fly the named scenarios, or all bundled ones, and keep where everything was and what happened."""
    import skyrig
    from skyrig.scenario.scenario import names as bundled

    arrays = {}
    for name in chosen or bundled():
        flight = skyrig.fly(skyrig.load(name))
        arrays[f"{name}/times"] = flight.times
        arrays[f"{name}/payload"] = flight.payload.position
        arrays[f"{name}/vehicles"] = flight.vehicles.position
        arrays[f"{name}/events"] = np.array([it.time for it in flight.events])
        arrays[f"{name}/kinds"] = np.array([f"{it.kind} {it.cable}" for it in flight.events], dtype=str)
        print(f"{name}: {len(flight.times)} steps, {len(flight.events)} events", flush=True)
    np.savez_compressed(path, **arrays)


def compare(before: Path, after: Path) -> int:
    """Print the differences; 1 if there are any that count."""
    old, new = np.load(before), np.load(after)
    names = sorted({key.split("/")[0] for key in new.files} & {key.split("/")[0] for key in old.files})
    bad = 0
    for name in names:
        ours, theirs = (
            {key: data[f"{name}/{key}"] for key in ("times", "payload", "vehicles", "events", "kinds")}
            for data in (old, new)
        )
        common, first, second = np.intersect1d(ours["times"], theirs["times"], return_indices=True)
        gap = max(
            float(np.abs(ours[key][first] - theirs[key][second]).max()) for key in ("payload", "vehicles")
        )
        same = np.array_equal(ours["kinds"], theirs["kinds"])
        same = same and np.allclose(ours["events"], theirs["events"], atol=1e-9, rtol=0)
        events = "same events" if same else "OTHER EVENTS"
        alike = gap <= NEAR and events == "same events" and len(common) == len(ours["times"])
        bad += not alike
        print(f"{'ok ' if alike else 'NOT'} {name:32s} {gap:9.2e} m, {events} ({len(ours['events'])})")
    return int(bad > 0)


if __name__ == "__main__":
    command, *rest = sys.argv[1:]
    if command == "record":
        record(Path(rest[0]), rest[1:])
    else:
        sys.exit(compare(Path(rest[0]), Path(rest[1])))
