"""Reproducing papers: the page, the data behind it, and how bad input is refused. Nothing flies here."""

import re
from pathlib import Path

import numpy as np
import pytest

from skyrig.cli import main
from skyrig.errors import FlightDiverged, InputError
from skyrig.papers import page, rotortm, rotortm_figures, rotortm_flights
from skyrig.papers.page import Code, Heading, Items, PageTable, Picture, Text
from skyrig.papers.rotortm_drawing import KINDS, draw
from skyrig.papers.rotortm_flights import FULL, PUBLISHED, Ask, Errors, KeptFlight, book, printed, scenario
from skyrig.papers.rotortm_table3 import CELLS, SEEDS, Cell, geometric_mean, nearest

BLOCKS = [
    Heading(1, "A < B"),
    Text("Some `x < 1` and **more**."),
    Items(["one", "two & three"]),
    PageTable(("a", "b|c"), [["1", "2"], ["3", ""]]),
    Code("skyrig reproduce <paper>"),
    Picture("p/figure-01.png", b"\x89PNG", "Figure 1. What it shows."),
]


def test_markdown_has_every_block() -> None:
    text = page.markdown(BLOCKS)
    assert text.startswith(
        "# A < B\n\nSome `x < 1` and **more**.\n\n- one\n- two & three\n\n| a | b\\|c |\n| --- | --- |"
    )
    assert "![Figure 1](p/figure-01.png)" in text and "```sh\nskyrig" in text and text.endswith("*\n")


def test_html_stands_alone_and_is_escaped() -> None:
    text = page.html(BLOCKS)
    assert (
        "<title>A &lt; B</title>" in text
        and "<code>x &lt; 1</code>" in text
        and "<strong>more</strong>" in text
    )
    assert "two &amp; three" in text and "reproduce &lt;paper&gt;" in text
    assert 'src="data:image/png;base64,iVBORw=="' in text
    assert not re.search(r"(src|href)=.http", text)
    assert text.count("<tr>") == text.count("</tr>") == 3


def test_pages_are_written_whole_with_their_pictures(tmp_path: Path) -> None:
    written = page.write(BLOCKS, tmp_path, "paper")
    assert [path.name for path in written] == ["paper.md", "paper.html"]
    assert (tmp_path / "p" / "figure-01.png").read_bytes() == b"\x89PNG"
    assert not list(tmp_path.rglob("*.part"))


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nature"], "There is no paper 'nature' to reproduce: the papers are multilift, rotortm, coop"),
        (["rotortm", "--table", "4"], "--table must be one of 3, 5, 6, not 4."),
        (["rotortm", "--table", "3", "--figure", "7"], "--figure must be one of 8, 9, 10"),
        (["rotortm", "--figure", "16", "--out", "file"], "file is in the way"),
        (["rotortm", "--figure", "16", "--out", "file/below"], "file/below cannot be made"),
    ],
)
def test_bad_input_is_one_sentence(
    arguments: list[str],
    sentence: str,
    capfd: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("here first")
    with pytest.raises(SystemExit) as end:
        main(["reproduce", *arguments])
    assert end.value.code == 2
    errors = capfd.readouterr().err
    assert errors.startswith(sentence) and errors.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_without_numbers_everything_is_meant() -> None:
    assert rotortm.choose((), ()) == ([3, 5, 6], list(range(8, 21)))
    assert rotortm.choose((5, 3, 5), ()) == ([3, 5], [])
    with pytest.raises(InputError):
        rotortm.choose((), (21,))


def test_every_flight_is_a_scenario_that_can_be_flown() -> None:
    asks = {ask for number in rotortm_figures.numbers() for ask in rotortm_figures.asks(number)}
    for flown, _ in rotortm.TABLES.values():
        asks |= {ask for ask in flown() if ask.seed == 0}
    for rig, task in {(ask.rig, ask.task) for ask in asks}:
        known = scenario(Ask(rig, task, FULL, noise=1e-3, seed=7))
        assert (known.controller.flavour, known.spec.noise.attitude, known.spec.seed) == (FULL, 1e-3, 7)
    assert scenario(Ask("single", "yaw", PUBLISHED)).duration == 40 + rotortm_flights.AFTER
    assert {ask.rig for ask in asks} == set(book()["rigs"])
    assert {ask.task for ask in asks} == set(book()["tasks"])


def test_the_paper_s_numbers_are_all_there() -> None:
    assert len(CELLS) == 24 and sum(len(cell.paper) for cell in CELLS) == 40
    assert Cell("cables", "slalom-13", False).code is None and Cell("single", "circle-6", True).code is None
    assert np.linalg.norm(printed()["table-5"]["cables-1m"]["simulation"]) == pytest.approx(0.101, abs=5e-4)
    assert sum(1 for _ in rotortm.TABLES[3][0]()) == 2 * (12 + 12 * SEEDS + 4) + 4


def test_the_nearest_window_and_source_are_found() -> None:
    cell = Cell("single", "circle-10", False)  # the paper 0.0309, its code 0.079
    errors = {name: Errors(value, (0, 0, 0)) for name, value in {"whole": 0.5, "cruise": 0.08}.items()}
    near = nearest(cell, {Ask("single", "circle-10", PUBLISHED): KeptFlight(errors)}, 0)
    assert (near.source, near.window, near.within) == ("its code", "cruise", True)
    found = {ask: KeptFlight({"whole": Errors(ask_paper(ask) / 7, (0, 0, 0))}) for ask in clean(FULL)}
    assert geometric_mean(found) == pytest.approx(7)


def clean(flavour: str) -> list[Ask]:
    return [cell.asks(flavour)[0] for cell in CELLS if not cell.noisy]


def ask_paper(ask: Ask) -> float:
    return Cell(ask.rig, ask.task, False).paper[0]


@pytest.mark.parametrize("number", [12, 10, 16, 18, 20])
def test_figures_are_drawn_from_their_file_alone(number: int, tmp_path: Path) -> None:
    entry = book()["figures"][number]
    (tmp_path / "data.npz").write_bytes(rotortm_figures.packed(made_up(entry)))
    with np.load(tmp_path / "data.npz") as data:
        image = draw(entry["kind"], dict(data), entry)
    assert image.startswith(b"\x89PNG")


def test_every_figure_has_a_way_to_be_drawn() -> None:
    assert {entry["kind"] for entry in book()["figures"].values()} == set(KINDS)


def made_up(entry: dict) -> dict[str, np.ndarray]:
    """Arrays of the right shapes."""
    time, both = np.linspace(0, 9, 50), (PUBLISHED, FULL)
    wavy = np.sin(time)[:, None] * [1.0, 2.0, 0.0]
    if entry["kind"] == "tracks":
        names = ["reference", *(f"{rig}.{flavour}" for rig in entry["rigs"] for flavour in both)]
        return {"time": time} | {f"{a}.{b}": wavy for a in names for b in ("position", "velocity")}
    if entry["kind"] == "turns":
        names = ["time", "reference", *(f"{rig}.{flavour}" for rig in entry["rigs"] for flavour in both)]
        return {f"{task}.{name}": time for task in entry["tasks"] for name in names}
    if entry["kind"] == "stills":
        places = np.random.default_rng(0).normal(size=(3, 3, 3))
        taut = np.array([[True] * 3, [True, False, True], [True] * 3])
        return {"times": time[:3], "corners": places, "vehicles": places, "ends": places, "taut": taut}
    arrays = {f"{flavour}.{name}": time for flavour in both for name in ("time", "slow_time", "distance")}
    arrays |= {f"{flavour}.{name}": time for flavour in both for name in ("along", "across")}
    arrays |= {f"{flavour}.{name}": wavy for flavour in both for name in ("apart", "value")}
    arrays |= {f"{flavour}.impact": np.asarray(1.0) for flavour in both}
    return arrays | {"length": np.asarray(0.5), "start": np.asarray(0.0), "until": np.asarray(9.0)}


def test_flights_fly_once_each_and_progress_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    flown: list[Ask] = []

    def fake(ask: Ask) -> KeptFlight:
        flown.append(ask)
        return KeptFlight({})

    monkeypatch.setattr(rotortm_flights, "fly_one", fake)
    told: list[tuple[int, int, str]] = []
    asks = [Ask("single", "slalom-13", FULL, 1e-3, seed % 3) for seed in range(6)] + [
        Ask("links", "yaw", FULL)
    ]
    found = rotortm_flights.run(asks, lambda *line: told.append(line))
    assert set(found) == set(asks) and len(flown) == 4
    assert [line[0] for line in told] == [1, 2, 3, 4] and {line[1] for line in told} == {4}


def test_a_flight_that_diverges_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def fake(ask: Ask) -> KeptFlight:
        raise FlightDiverged("the payload is lost")

    monkeypatch.setattr(rotortm_flights, "fly_one", fake)
    with pytest.raises(FlightDiverged, match=r"^three links, slalom, 13 s, full: the payload"):
        rotortm_flights.run([Ask("links", "slalom-13", FULL)])
