"""What skyrig promises of RotorTM's results, measured: one line each, met or not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from skyrig.papers import rotortm_table3 as table3
from skyrig.papers import rotortm_table56 as table56
from skyrig.papers.page import Block, Heading, PageTable, Text
from skyrig.papers.rotortm_flights import FULL, PUBLISHED, Ask, KeptFlight
from skyrig.turns import between

Results = Mapping[Ask, KeptFlight]
EXACT = 1e-9
"""What is left at an impact of a velocity that must vanish or stay (m/s)."""
BACK, LEVEL = 0.005, 0.5
"""How near the hover pose a flight must end (m, degrees)."""
DROP, POKE = ("single", "drop"), ("figures", "poke")


@dataclass(frozen=True)
class Check:
    """A promise, what was measured, and whether it is kept."""

    promise: str
    measured: str
    met: bool


def checks(found: Results, tables: Sequence[int], figures: Sequence[int]) -> list[Check]:
    """The promises that the flights at hand can be held to."""
    made: list[Check] = []
    if 3 in tables:
        made += _table3(found)
    if 6 in tables:
        ratios = table56.still_ratios(found)
        listed = ", ".join(f"{ratio:.2f}" for ratio in ratios)
        made.append(
            Check(
                "Table VI, as published without wanted rates: within a factor of two of the paper",
                f"{listed} of the paper's roll, pitch, yaw",
                all(0.5 <= ratio <= 2 for ratio in ratios),
            )
        )
    if 16 in figures:
        made += _impacts(found, *DROP, 16)
    if 17 in figures:
        made += _impacts(found, *POKE, 17)
    return made


def blocks(found: Results, tables: Sequence[int], figures: Sequence[int]) -> list[Block]:
    """The promises as a table."""
    made = checks(found, tables, figures)
    if not made:
        return []
    rows = [[check.promise, check.measured, "yes" if check.met else "**no**"] for check in made]
    return [
        Heading(2, "In short"),
        Text("What skyrig promises, measured in this run."),
        PageTable(("promise", "measured", "kept"), rows),
    ]


def _table3(found: Results) -> Iterator[Check]:
    far = table3.beyond(found)
    total = sum(len(cell.paper) for cell in table3.CELLS)
    yield Check(
        f"Table III, as published: every number within a factor of {table3.FACTOR:g} of the paper or its "
        "code in some window, or explained by a measurement below",
        f"{total - len(far)} of {total} within"
        + (f"; explained: {'; '.join(f'{cell.name} ({near.unit})' for cell, near in far)}" if far else ""),
        all(table3.explained(cell, near) for cell, near in far),
    )
    ratio, cell = table3.worst_full(found, 0, table3.RIGS)
    yield Check(
        "Table III, full: position at or below the paper in every cell",
        f"at most {ratio:.3g} of the paper ({cell.name})",
        ratio <= 1,
    )
    mean = table3.geometric_mean(found)
    yield Check(
        f"Table III, full, no noise: positions {table3.LOWER:g} times lower by the geometric mean",
        f"{mean:.0f} times",
        mean >= table3.LOWER,
    )
    ratio, cell = table3.worst_full(found, 1, ("cables",))
    yield Check(
        "Table III, full: attitude on cables at or below the paper in every cell",
        f"at most {ratio:.3g} of the paper ({cell.name})",
        ratio <= 1,
    )
    excess = max(_excess(found, cell) for cell in table3.CELLS if cell.rig == "links" and not cell.noisy)
    yield Check(
        "Table III, full, no noise: attitude on links within 1 % of the least tilt",
        f"{100 * excess:.2f} % off at most",
        excess <= 0.01,
    )


def _excess(found: Results, cell: table3.Cell) -> float:
    errors = found[cell.asks(FULL)[0]].errors["whole"]
    assert errors.attitude is not None and errors.floor is not None
    return abs(errors.attitude / errors.floor - 1)


def _impacts(found: Results, rig: str, task: str, number: int) -> Iterator[Check]:
    flights = {word: found[ask] for word, ask in _flavours(rig, task).items() if ask in found}
    hits = [hit for flown in flights.values() for hit in flown.jolts]
    left = max(abs(hit.along[1]) for hit in hits)
    yield Check(
        f"Figure {number}: no speed apart along the cable after its impact, to {EXACT:g} m/s",
        f"{left:.1e} m/s of {max(hit.along[0] for hit in hits):.2f} m/s",
        left <= EXACT,
    )
    if number == 16:
        jump = max(hit.across_jump for hit in hits)
        yield Check(
            f"Figure {number}: relative velocity across the cable unchanged, to {EXACT:g} m/s",
            f"{jump:.1e} m/s",
            jump <= EXACT,
        )
    else:
        own, point = max(hit.vehicle_across_jump for hit in hits), max(hit.across_jump for hit in hits)
        yield Check(
            f"Figure {number}: the vehicle's velocity across the cable unchanged, to {EXACT:g} m/s",
            f"{own:.1e} m/s",
            own <= EXACT,
        )
        left = max(hit.across_unexplained for hit in hits)
        yield Check(
            f"Figure {number}: the relative velocity across the cable changes by what the blows at all its "
            "corners do to a rigid payload (it must: a blow along a cable also turns the payload), and by no "
            f"more than {EXACT:g} m/s beyond that",
            f"changes by {point:.2g} m/s, of which {left:.1e} m/s is left unexplained",
            left <= EXACT,
        )
    lost = max(hit.momentum_jump for hit in hits)
    yield Check(f"Figure {number}: momentum kept, to {EXACT:g} kg m/s", f"{lost:.1e} kg m/s", lost <= EXACT)
    ends = {word: _end(flown) for word, flown in flights.items()}
    yield Check(
        f"Figure {number}: the payload ends within {1e3 * BACK:g} mm and {LEVEL:g}° of its hover pose",
        "; ".join(f"{word} {distance:.2g} mm, {angle:.2g}°" for word, (distance, angle) in ends.items()),
        all(distance <= 1e3 * BACK and angle <= LEVEL for distance, angle in ends.values()),
    )


def _flavours(rig: str, task: str) -> dict[str, Ask]:
    return {"full": Ask(rig, task, FULL), "as published": Ask(rig, task, PUBLISHED)}


def _end(flown: KeptFlight) -> tuple[float, float]:
    """Distance (mm) and angle (degrees) from the reference at the end."""
    record = flown.record
    apart = float(np.linalg.norm(record["position"][-1] - record["reference position"][-1]))
    angle = np.degrees(between(record["reference attitude"][-1:], record["attitude"][-1:]))
    return 1e3 * apart, float(angle[0])
