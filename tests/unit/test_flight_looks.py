"""What people see of flights: pictures, tables, texts; made of flights that nobody flew."""

import json
import re
import sys
import types
from itertools import combinations
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pytest
from made_flights import made_flight
from made_up import replace
from matplotlib.backends.backend_agg import FigureCanvasAgg

from skyrig.errors import InputError
from skyrig.flight import Flight, colours, export, meshes, playback, plots, report
from skyrig.flight.compare import compare
from skyrig.flight.frames import of_flight
from skyrig.flight.path_plot import moments
from skyrig.flight.plot_layout import STYLE
from skyrig.flight.rig import RigData, sketched
from skyrig.flight.tables import impact_rows, rows, texts
from skyrig.flight.thinning import MOST_BYTES
from skyrig.flight.units import number, shown
from skyrig.flight.verdict import Verdict
from skyrig.runs import sweep_plots
from skyrig.scenario import load

TEAMS = ("one-dragonfly-circle", "three-dragonflies-poke", "three-dragonflies-links", "six-dragonflies-box")


@pytest.fixture(scope="module")
def poked() -> Flight:
    return made_flight()


def drawn(flight: Flight, name: str) -> Any:
    figure = plots.figure_of(flight, name)
    if figure is None:
        return None
    with matplotlib.rc_context(STYLE):
        FigureCanvasAgg(figure).draw()
    return figure


@pytest.mark.parametrize("name", TEAMS[1:])
def test_titles_and_legends_cover_nothing(name: str) -> None:
    flight = made_flight(name)
    for kind in plots.FIGURES:
        figure = drawn(flight, kind)
        if figure is None:
            continue
        words = [*figure.texts, *(each for each in figure.legends)]
        assert flight.name in figure.texts[0].get_text()
        boxes = [word.get_window_extent() for word in words]
        assert not any(one.overlaps(other) for one, other in combinations(boxes, 2)), kind
        for box in boxes:
            assert box.x0 >= 0 and box.x1 <= figure.bbox.x1 and box.y1 <= figure.bbox.y1, kind
            assert not any(box.overlaps(axes.get_window_extent()) for axes in figure.axes), kind
        assert not any(axes.get_legend() for axes in figure.axes)


def test_the_path_names_every_vehicle(poked: Flight) -> None:
    figure = drawn(poked, "path")
    named = {text.get_text() for text in figure.legends[0].get_texts()}
    assert named == {"payload", "reference", "vehicle 0", "vehicle 1", "vehicle 2"}


def test_the_rig_is_drawn_where_it_was_not_drawn_yet() -> None:
    times = np.linspace(0.0, 24.0, 1201)
    turns = 4 * 2 * np.pi * times / 24.0  # four times round: even times would show one place
    rows = moments(times, np.stack([np.cos(turns), np.sin(turns), 0 * turns], axis=1))
    places = [np.array([np.cos(turns[row]), np.sin(turns[row])]) for row in rows]
    assert len(rows) == 5 and min(np.linalg.norm(a - b) for a, b in combinations(places, 2)) > 0.7
    resting = moments(times, np.zeros((1201, 3)))
    assert np.allclose(times[resting], [0, 6, 12, 18, 24]), "at rest, evenly in time"
    assert moments(times[:1], np.zeros((1, 3))) == [0]


def test_a_cable_has_one_colour_everywhere(poked: Flight) -> None:
    own = [colours.of_vehicle(k) for k in range(3)]
    assert len(set(own)) == 3 and colours.PAYLOAD not in own
    assert [axes.lines[0].get_color() for axes in drawn(poked, "tensions").axes] == own
    legend = {line.get_label(): line.get_color() for line in drawn(poked, "path").legends[0].get_lines()}
    assert [legend[f"vehicle {k}"] for k in range(3)] == own
    assert drawn(poked, "impact").axes[2].lines[0].get_color() == own[1], "the cable that was hit"
    assert [meshes.colour(k) for k in range(3)] == [colours.rgb(each) for each in own], "as in the studio"
    player = playback.fragment(of_flight(poked), poked.rig)
    scene = json.loads(player.partition('id="flight-a">')[2].partition("</script>")[0])
    assert [line["colour"] for line in scene["tethers"]] == [list(colours.rgb(each)) for each in own]


def test_payloads_are_drawn_as_they_are() -> None:
    def edges(rig: RigData) -> np.ndarray:
        return meshes.edges(rig.shape("payload", 0))

    for name, count in (("six-dragonflies-box", 12), ("three-dragonflies-poke", 9)):
        known = made_flight(name).rig
        names = ("payload_mass", "payload_is_point", "payload_corners", "vehicle_mass", "vehicle_radius")
        names = (*names, "vehicle_thrust_max", "attachments", "hooks")
        alone = sketched(**{each: getattr(known, each) for each in names})
        assert len(edges(known)) == count
        assert np.allclose(edges(known), edges(alone)), "the corners tell the same shape"
        assert np.allclose(alone.vehicle_radius, known.vehicle_radius) and len(alone.cables) == known.count
    ball = made_flight("one-dragonfly-circle").rig
    radius = load("one-dragonfly-circle").parts.payload.shape.radius
    assert np.allclose(np.linalg.norm(edges(ball), axis=-1), radius)


def test_the_impact_is_near_and_its_axes_are_plain() -> None:
    late = made_flight(start=4000.0, hits=((4001.0, 1, 0.07),))
    figure = drawn(late, "impact")
    assert figure.axes[-1].get_xlim() == (-100.0, 100.0) and "4001.000 s" in figure.texts[0].get_text()
    for kind in ("impact", "tensions", "thrusts"):
        for axes in drawn(late, kind).axes:
            assert [axis.get_offset_text().get_text() for axis in (axes.xaxis, axes.yaxis)] == ["", ""]


def test_small_impacts_are_counted_and_left_out(poked: Flight) -> None:
    told = {name: value for name, value, _ in texts(rows(poked.metrics))}
    assert told["impacts below 2.78 mN s, left out above"] == "2" and told["events: impact"] == "1"
    assert "cable 0: impacts" not in told and told["cable 1: hardest impact"] == "70.6"
    assert poked.metrics["events"]["impact"] == 3, "the metrics themselves leave nothing out"
    page = report.html(poked, {})
    assert page.count("<h3>Impact of cable") == 1 and "2 impacts below 2.78 mN s are left out." in page


def test_impacts_left_out_of_the_terminal_are_counted_from_all_events(
    capfd: pytest.CaptureFixture[str],
) -> None:
    """The two sides of some impacts only are kept, but all of them happened."""
    from rich.console import Console

    from skyrig.cli.flights import _tell

    hits = (*((0.5 + 0.1 * k, 0, 0.05) for k in range(6)), *((1.2 + 0.01 * k, 1, 1e-6) for k in range(9)))
    many = made_flight(hits=hits)
    few = replace(many, impacts=(*many.impacts[:4], *many.impacts[6:8]))
    _tell(few, Console(highlight=False))
    out, _ = capfd.readouterr()
    assert "Not shown: 3 later impacts, and 9 below 2.78 mN s." in out


def test_a_long_list_of_events_scrolls_by_itself(poked: Flight) -> None:
    long = made_flight(hits=tuple((0.5 + 0.01 * k, 0, 0.05) for k in range(60)))
    inside = report.html(long, {}).partition('<div class="long">')[2].partition("</div>")[0]
    assert inside.count("<tr>") > 60 and '<div class="long">' not in report.html(poked, {})


def test_the_jumps_that_are_kept_are_the_hardest() -> None:
    from skyrig.flight.impacts import MOST
    from skyrig.runs.assembly import _kept

    sizes = [*np.linspace(1e-6, 1e-5, 2 * MOST), 0.3, 0.1]
    events = [types.SimpleNamespace(kind="impact", row=k, value=size) for k, size in enumerate(sizes)]
    flown = types.SimpleNamespace(events=events, log=types.SimpleNamespace(sides=()))
    layout = types.SimpleNamespace(events=(types.SimpleNamespace(name="impact", unit="N s"),))
    assert _kept(layout, flown) == list(range(MOST + 2, 2 * MOST + 2))


def test_what_a_controller_believed_is_drawn_where_it_believed_something(poked: Flight) -> None:
    from skyrig.flight.records import Signal

    def believing(state: float) -> Flight:
        values = np.zeros((len(poked.inputs.times), 3))
        values[50:60, 1] = state
        belief = Signal(values, "1", "told by the controller", "controller", held=True)
        return replace(poked, signals={**poked.signals, "cable_belief": belief})

    assert drawn(believing(0.0), "signals") is None and drawn(believing(1e-5), "signals") is None
    (axes,) = drawn(believing(2.0), "signals").axes
    assert axes.get_ylabel() == "cable_belief" and axes.lines[1].get_ydata().max() == 2.0


@pytest.mark.parametrize(
    "value, text",
    [
        (0.0, "0"), (1e-15, "0"), (26.0, "26"), (0.006912, "0.00691"), (0.9996, "1.00"), (20.046, "20.0"),
        (999.96, "1000"), (1234.5, "1230"), (-0.0304, "-0.0304"), (3.3e8, "3.30e+08"), (2e-7, "2.00e-07"),
        (float("nan"), "-"), (330.0, "330"),
    ],
)  # fmt: skip
def test_numbers_have_three_significant_digits(value: float, text: str) -> None:
    assert number(value) == text


def test_units_are_those_that_people_use(poked: Flight) -> None:
    assert shown("m", [0.0031, 0.0]) == (["3.10", "0"], "mm")
    assert shown("m", [0.0031, 2.0]) == (["0.00310", "2"], "m")
    assert shown("rad", [np.pi / 6]) == (["30.0"], "deg") and shown("s", [0.0123]) == (["12.3"], "ms")
    assert shown("N s", [None, 3, "x"]) == (["-", "3", "x"], "N s")
    told = {name: (value, unit) for name, value, unit in texts(rows(poked.metrics))}
    assert told["position error, rms (whole, 0 to 2 s)"] == ("3.12", "mm")
    assert told["flown at, compilation included"] == ("0.500", "x real time"), "slower than it is below 1"
    assert all(len(cell) < 9 for row in impact_rows(poked.impacts[0]) for cell in row[1:])


def test_flights_are_compared_with_zeros_and_windows_of_their_own(poked: Flight) -> None:
    quiet = made_flight(duration=3.0, hits=())
    lines = {name: (one, other) for name, one, other, _ in compare(poked, quiet)}
    assert lines["cable 1: impacts"] == (1, 0) and lines["events: impact"] == (1, 0)
    assert lines["cable 1: hardest impact"] == (0.0706, 0.0)
    assert lines["duration"] == (2.0, 3.0)
    assert all(None not in pair for pair in lines.values()), "nothing is missing on either side"


@pytest.mark.parametrize("name", TEAMS)
def test_thinned_files_stay_small_and_keep_what_metrics_tell(name: str, tmp_path: Path) -> None:
    flight = made_flight(name, duration=10.0)
    spike = replace(flight.cables, tension=flight.cables.tension.copy())
    spike.tension[777] = 5.0
    flight = replace(flight, cables=spike)
    thin = flight.thinned()
    saved = thin.save(tmp_path)
    assert saved.stat().st_size < MOST_BYTES * 10 / 60 + 60_000, "a minute's share, and what is there once"
    assert thin.metrics == flight.metrics and thin.events == flight.events and thin.impacts == flight.impacts
    assert thin.times[0] == flight.times[0] and thin.times[-1] == flight.times[-1]
    if flight.cables.tension.size:
        assert thin.cables.tension.max() == 5.0
    if flight.rig.count > 1 and flight.impacts:
        near = np.abs(flight.times - 1.0) <= 0.1
        assert np.isin(flight.times[near], thin.times).all(), "every step about the hardest impact"
    assert len(thin.inputs.times) == len(thin.measured_payload.position) < len(flight.inputs.times) + 1
    few = flight.thinned(2.0)
    assert np.all(np.diff(few.inputs.times) > 0.4) and flight.thinned(1e4) is flight
    with pytest.raises(InputError, match="above 0, not -1"):
        flight.thinned(-1.0)


def test_tables_hold_thrusts_and_moments(poked: Flight, monkeypatch: pytest.MonkeyPatch) -> None:
    every = export.columns(poked)
    assert every["vehicle2.commanded_thrust (N)"].shape == poked.times.shape
    assert np.all(every["vehicle0.thrust (N)"] == 5.0) and np.all(every["vehicle1.moment.z (N m)"] == 6.0)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(InputError, match="^flight.to_pandas needs pandas, which is not installed.$"):
        poked.to_pandas()
    stand_in = types.SimpleNamespace(
        DataFrame=lambda data, index: (data, index), Index=lambda data, name: (data, name)
    )
    monkeypatch.setitem(sys.modules, "pandas", stand_in)
    data, (times, name) = poked.to_pandas()
    assert name == "time (s)" and times is poked.times and set(data) == set(every) - {"time (s)"}


def test_texts_are_short_and_notebooks_get_more(poked: Flight) -> None:
    from skyrig.runs.batches import Flights

    scenario = load("three-dragonflies-poke")
    broke = Verdict("diverged", "The <state> turned non-finite.")
    batch = Flights(
        {"noise.position": np.arange(400.0), "seed": np.arange(400)},
        {"position_rmse": np.linspace(0, 0.1, 400), "position_last": np.linspace(0, 1, 400)},
        tuple(broke if row == 3 else Verdict("flew") for row in range(400)),
    )
    things = (
        poked,
        poked.payload,
        poked.inputs,
        poked.rig,
        poked.impacts[0],
        scenario,
        scenario.parts,
        batch,
    )
    for thing in (*things, of_flight(poked)):
        assert len(repr(thing)) < 600 and type(thing).__name__ in repr(thing), thing
    assert (
        repr(poked) == "Flight('three-dragonflies-poke', 3 vehicles on cables, 2 s, 1001 samples, 4 events)"
    )
    assert "position=float64[1001,3]" in repr(poked.payload)
    page = poked._repr_html_()
    assert "position error, rms" in page and "data:image/png;base64," in page
    assert "3 dragonfly with triangle on cables" in scenario._repr_html_()
    told = batch._repr_html_()
    assert "399 flew as asked" in told and "<td" in told and "&lt;state&gt;" in told and ">50</td>" in told


def test_numbers_below_the_axes_of_a_sweep_do_not_overprint() -> None:
    rng = np.random.default_rng(0)
    paths = [f"controller.model.payload.attachments[{k}].position" for k in range(9)]
    table = {path: 0.1234567 + rng.uniform(1e-7, 1.00003e-7, 64) for path in paths}
    words = np.where(rng.random(64) > 0.5, "flew", "crashed").astype(object)
    table |= {"verdict": words, "position_rmse": 0.00012345 + rng.uniform(0, 1e-9, 64)}
    table |= {name: rng.random(64) for name in sweep_plots.SHOWN if name not in table}
    with matplotlib.rc_context(STYLE):
        made = sweep_plots.pictures(table, paths)
        for figure in made.values():
            FigureCanvasAgg(figure).draw()
            for axes in figure.axes:
                for labels in (axes.get_xticklabels(), axes.get_yticklabels()):
                    boxes = [label.get_window_extent() for label in labels if label.get_text()]
                    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))
                assert not axes.xaxis.get_offset_text().get_text()
    assert set(made) == {"success-map", "histograms", "sensitivity"}


def test_films_keep_the_colours_of_cables() -> None:
    from skyrig.studio.film import indexed

    grey = np.linspace(120, 255, 360 * 640).astype(np.uint8).reshape(360, 640)
    picture = np.stack([grey] * 3, axis=2)
    for k in range(6):
        picture[100:160, 100 * k + 20 : 100 * k + 23] = meshes.colour(k)
    kept = np.asarray(indexed(picture).convert("RGB")).astype(int)
    for k in range(6):
        assert np.abs(kept[130, 100 * k + 21] - meshes.colour(k)).max() < 24


def test_films_are_whole_as_gif_and_as_mp4(tmp_path: Path) -> None:
    import io

    from PIL import Image

    from skyrig.studio.film import _gif, _mp4, indexed

    reader = pytest.importorskip("imageio_ffmpeg", reason="needs imageio-ffmpeg: skyrig[film]")
    shots = [np.full((36, 64, 3), 60 * k, np.uint8) for k in range(1, 4)]
    assert Image.open(io.BytesIO(_gif([indexed(it) for it in shots]))).n_frames == 3
    file = tmp_path / "film.mp4"
    file.write_bytes(_mp4(shots, (64, 36)))
    frames = reader.read_frames(str(file))
    told = next(frames)
    assert told["size"] == (64, 36) and told["fps"] == 25 and told["codec"] == "h264"
    back = [np.frombuffer(it, np.uint8) for it in frames]
    assert len(back) == 3 and all(abs(it.mean() - 60 * k) < 6 for k, it in enumerate(back, 1))


def test_a_report_plays_first_fits_small_screens_and_says_what_pictures_show(poked: Flight) -> None:
    page = report.html(poked, {"error": b"x", "tensions": b"y", "path": b"z"})
    assert page.index('data-player="canvas"') < page.index("<h2>Numbers</h2>")
    assert 'name="viewport"' in page and "prefers-color-scheme: dark" in page and '"dark":null' in page
    alts = re.findall(r'<img alt="([^"]*)"', page)
    assert len(alts) == 3 and all(re.search(r"\d", text) and text.endswith(".") for text in alts)
