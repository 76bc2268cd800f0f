"""The page on cooperative manipulation: what needs no flight, and what bad input is told."""

from pathlib import Path

import pytest

from skyrig.cli import main
from skyrig.papers import cooperative


def test_figures_without_flights(tmp_path: Path) -> None:
    written = cooperative.reproduce(tmp_path, [1], [9])
    text = written[0].read_text(encoding="utf-8")
    for row in ("| 0.360 0.360 0.391 | 1.504 | yes |", "| 0.333 0.480 0.480 |", "| 0.417 0.452 0.448 |"):
        assert row in text
    assert "| unstable |" in text and "Figure 6" not in text
    assert (tmp_path / "cooperative-manipulation" / "figure-09.png").stat().st_size > 10_000


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--table", "2"], "--table must be 1, not 2."),
        (["--figure", "5"], "--figure must be one of 3, 4, 6, 7, 9, 10"),
    ],
)
def test_what_is_not_there_is_told(arguments, told, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["reproduce", "cooperative-manipulation", *arguments])
    assert told in capsys.readouterr().err
