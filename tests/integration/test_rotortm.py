"""RotorTM's results, a fast subset: every number stays in its band, and every promise of the page is kept.

`skyrig reproduce rotortm` flies everything and writes docs/rotortm.md, where these numbers stand.
"""

from pathlib import Path

import numpy as np
import pytest

from skyrig.cli import main
from skyrig.papers import rotortm_table3 as table3
from skyrig.papers import rotortm_table56 as table56
from skyrig.papers.rotortm_checks import checks
from skyrig.papers.rotortm_flights import FULL, NOISE, PUBLISHED, STILL, Ask, run
from skyrig.papers.rotortm_table3 import Cell

BANDS = {  # as published, whole flight: metres, degrees
    ("single", "slalom-13"): (0.0472, None),
    ("single", "circle-10"): (0.0502, None),
    ("cables", "slalom-20"): (0.00610, 0.00718),
    ("cables", "circle-6"): (0.0698, 0.0784),
    ("links", "slalom-13"): (0.0448, 1.55),
    ("links", "circle-6"): (0.159, 5.18),
}
WIDTH = 0.02
"""Relative half-width of a band."""


@pytest.mark.slow
def test_the_drop_stops_the_cable_and_nothing_else(tmp_path: Path) -> None:
    """One figure's page from the command line: four promises about the drop, all kept."""
    main(["reproduce", "rotortm", "--figure", "16", "--out", str(tmp_path)])
    text = (tmp_path / "rotortm.md").read_text(encoding="utf-8")
    assert text.count("| yes |") == 4 and "**no**" not in text
    assert "### Figure 16" in text and "### Figure 17" not in text and "Table III: tracking" not in text
    assert {path.name for path in (tmp_path / "rotortm").iterdir()} == {"figure-16.npz", "figure-16.png"}
    assert "data:image/png" in (tmp_path / "rotortm.html").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("rig", table3.RIGS)
def test_cells_of_table_3_stay_in_their_bands(rig: str) -> None:
    tasks = [task for name, task in BANDS if name == rig]
    asks = [Ask(rig, task, flavour) for task in tasks for flavour in (PUBLISHED, FULL)]
    noisy = [Ask(rig, tasks[0], flavour, NOISE, seed) for flavour in (PUBLISHED, FULL) for seed in range(2)]
    found = run([*asks, *noisy])
    for task in tasks:
        cell = Cell(rig, task, False)
        metres, degrees = BANDS[rig, task]
        own, full = (found[Ask(rig, task, flavour)].errors["whole"] for flavour in (PUBLISHED, FULL))
        assert own.position == pytest.approx(metres, rel=WIDTH)
        assert degrees is None or own.attitude == pytest.approx(degrees, rel=WIDTH)
        assert full.position <= cell.paper[0] / table3.LOWER
        if rig == "cables":
            assert full.attitude is not None and full.attitude <= cell.paper[1]
        if rig == "links":
            assert full.attitude == pytest.approx(full.floor, rel=0.01)
        for column in range(len(cell.paper)):
            near = table3.nearest(cell, found, column)
            assert near.within or table3.explained(cell, near), (cell.name, near)
    cell = Cell(rig, tasks[0], True)
    calm = found[Ask(rig, tasks[0], PUBLISHED)].errors["whole"].position
    shaken = cell.values(found, PUBLISHED)
    assert shaken is not None and shaken.shape[0] == 2
    # white noise of a millimetre moves a published flight by less than a twentieth
    assert shaken[:, 0] == pytest.approx(calm, rel=0.05)
    full = cell.values(found, FULL)
    assert full is not None and np.all(full[:, 0] <= cell.paper[0])


@pytest.mark.slow
def test_turns_without_wanted_rates_err_like_the_paper_s() -> None:
    found = run(Ask("cables-1m", task, STILL) for task in table56.TURNS)
    assert table56.still_ratios(found) == pytest.approx([0.84, 1.53, 0.84], abs=0.02)


@pytest.mark.slow
def test_the_poke_s_front_cable_goes_slack_and_comes_taut_again() -> None:
    ask = Ask("figures", "poke", FULL)
    found = run([ask])
    made = checks(found, (), (17,))
    assert len(made) == 5
    assert all(check.met for check in made), made
    what = [(kind, cable) for _, kind, cable in found[ask].events]
    assert what == [("poke", None), ("slack", 1), ("impact", 1)]
