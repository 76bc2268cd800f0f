"""Flights of rigs that nobody knows: saved, exported, drawn, told, played and compared as any other."""

import base64
import csv
import json
from dataclasses import replace
from pathlib import Path
from unittest.mock import MagicMock

import numpy as np
import pytest
import viser
from made_anything import made_anything
from made_flights import made_flight

from skyrig.cli import main
from skyrig.errors import InputError
from skyrig.flight import Flight, FlightEvent, export, playback, plots, report
from skyrig.flight.compare import compare
from skyrig.flight.frames import of_flight
from skyrig.flight.metrics import metrics
from skyrig.flight.storage import to_arrays
from skyrig.flight.tables import rows, texts
from skyrig.studio.camera import surroundings
from skyrig.studio.charts import Charts
from skyrig.studio.history import History
from skyrig.studio.look import Look
from skyrig.studio.scene import RigScene
from skyrig.studio.traces import usual


@pytest.fixture(scope="module")
def flight() -> Flight:
    return made_anything()


def test_what_is_saved_is_loaded_without_the_scenario_being_understood(
    flight: Flight, tmp_path: Path
) -> None:
    again = Flight.load(flight.save(tmp_path))
    one, other = to_arrays(flight), to_arrays(again)
    assert one.keys() == other.keys()
    for name, array in one.items():
        np.testing.assert_array_equal(array, other[name])
    assert again.events == flight.events and again.metrics == flight.metrics
    assert list(again.bodies) == ["vehicles", "object"] and again.rig.tethers == flight.rig.tethers
    assert again.rig.loads["object"][0].shape.size.tolist() == [0.2, 0.1, 0.06]
    signal = again.signals["gripper.gap"]
    assert (signal.unit, signal.says, signal.owner, signal.held) == (
        "m",
        "between the fingers",
        "gripper",
        False,
    )
    assert np.asarray(signal).shape == (101, 1) and signal[0, 0] == 0.04 and again.signals["mood"].held
    assert repr(again).startswith("Flight('anything', 2 vehicles on rubber bands, 2 s")
    with pytest.raises(InputError, match="anything has no payload: flight.bodies has vehicles, object"):
        _ = again.payload
    assert again.cables.tension.shape == (101, 0) and again.measured_payload is None
    assert again.reference is not None and again.reference.position.shape == (101, 3)


def test_every_body_and_signal_has_columns(flight: Flight, tmp_path: Path) -> None:
    states, events = export.write_csv(flight, tmp_path / "flight.csv")
    head, *numbers = list(csv.reader(states.open()))
    for name in (
        *("object.position.z (m)", "object_reference.position.x (m)", "vehicle1.attitude.w (1)"),
        *("band1.tension (N)", "gripper0.gap (m)", "mood0 (1)", "vehicle0.thrust (N)"),
    ):
        assert name in head, name
    assert float(numbers[-1][head.index("mood0 (1)")]) == 20.0, "held from the latest tick"
    told = list(csv.DictReader(events.open()))
    assert [told[0][key] for key in ("kind", "owner", "index", "value", "unit")] == [
        *("closed", "gripper", "0", "0.02", "m"),
    ]


def test_pictures_show_what_there_is(flight: Flight, tmp_path: Path) -> None:
    names = {path.stem for path in plots.save_all(flight, tmp_path)}
    assert names == {"path", "error", "attitudes", "thrusts", "signals"}
    figure = plots.figure_of(flight, "signals")
    assert figure is not None and len(figure.axes) == 3
    assert figure.axes[0].get_ylabel() == "band.tension (N)" and len(figure.axes[0].lines) == 2 + 2
    path = plots.figure_of(flight, "path")
    assert path is not None
    assert {text.get_text() for text in path.legends[0].get_texts()} >= {"object", "vehicle 1", "reference"}
    assert plots.draw(made_flight("three-dragonflies-links", duration=0.1), "signals") is None


def test_words_that_somebody_made_up_are_drawn_as_they_stand(flight: Flight) -> None:
    odd = tuple(FlightEvent(0.1 * k, f"$\\frac{k}" + 50 * "x", "gripper", 0) for k in range(20))
    image = plots.draw(replace(flight, name="a $\\frac", events=odd), "signals")
    assert image is not None and image.startswith(b"\x89PNG")


def test_numbers_are_told_and_compared(flight: Flight) -> None:
    found = flight.metrics
    assert found["tracking"]["whole"]["position_rmse"] == pytest.approx(0.01)
    assert found["tracking"]["whole"]["attitude_rmse"] == 0.0 and "attitude_floor" not in found["tracking"]
    assert found["signals"]["band.tension"]["max"] == [4.0, 2.0] and "mood" not in found["signals"]
    assert found["verdict"]["word"] == "flew" and found["cables"] == [] and found["events"]["closed"] == 1
    assert found["closest_cable"]["pair"] in ([0, 1], [1, 0])
    lines = {name: (value, unit) for name, value, unit in texts(rows(found))}
    assert lines["band 1: tension, least"] == ("0", "N") and lines["gripper 0: gap, most"] == ("40", "mm")
    other = made_anything(0.03)
    gaps = {name: second for name, _, second, _ in compare(flight, other)}
    assert gaps["largest distance between the object"] == 0.0
    assert gaps["largest difference of gripper.gap"] == pytest.approx(0.02)
    assert compare(flight, made_flight(duration=1.0)), "with another rig only what both have"
    thin = made_anything(count=4001).thinned(10.0)
    assert len(thin.times) < 60 and len(thin.signals["mood"]) == len(thin.inputs.times) < 60
    assert thin.signals["band.tension"].shape == (len(thin.times), 2)


def test_contacts_count_where_they_are_known(flight: Flight) -> None:
    low = flight.bodies["object"].position - [0.0, 0.0, 1.0]
    fallen = replace(
        flight, bodies={**flight.bodies, "object": replace(flight.bodies["object"], position=low)}
    )
    assert metrics(fallen)["verdict"]["word"] == "crashed"
    bare = replace(
        flight,
        bodies={"vehicles": flight.vehicles},
        references={},
        jumps={},
        rig=replace(flight.rig, loads={}, tethers=()),
    )
    bare = replace(bare, metrics=metrics(bare))
    assert (
        bare.verdict.flew
        and bare.carried is None
        and "closest: vehicles 0 and 1" in [name for name, _, _ in rows(bare.metrics)]
    )
    assert plots.draw(bare, "path") and plots.draw(bare, "attitudes") is None
    assert "vehicle 0 <span" in report.html(bare, {}) and "2 vehicles on rubber bands" in report.html(
        bare, {}
    )


def test_cables_may_tell_of_their_tensions_alone() -> None:
    flight = made_flight(duration=0.5, hits=((0.25, 1, 0.07),))
    told = replace(flight, signals={"cable.tension": flight.signals["cable.tension"]})
    assert told.cables.taut.all() and np.isnan(told.cables.length).all()
    found = metrics(told)
    assert found["verdict"]["word"] == "flew" and found["cables"] == flight.metrics["cables"]
    assert plots.draw_all(told).keys() == plots.draw_all(flight).keys()


def test_the_report_plays_it(flight: Flight) -> None:
    page = report.html(flight)
    assert "2 vehicles and an object of 0.5 kg on rubber bands, 2 s, 101 samples." in page
    assert ">gripper 0<" in page and ">20 mm<" in page and "<h2>Signals</h2>" in page
    scene = json.loads(page.partition('id="flight-a">')[2].partition("</script>")[0])
    assert [len(body["meshes"]) for body in scene["bodies"]] == [1, 3, 3] and scene["main"] == 0
    band = scene["tethers"][1]
    assert band["name"] == "band-1" and band["cut"] == 1.0
    assert [end["body"] for end in band["ends"]] == [2, 0] and band["ends"][1]["point"] == [0.1, 0.0, 0.03]

    def track(name: str) -> np.ndarray:
        return np.frombuffer(base64.b64decode(scene["tracks"][name]), "<f4")

    count = len(track("times"))
    assert track("position").reshape(count, 3, 3)[0, 0].tolist() == pytest.approx([0.0, 0.0, 1.0])
    assert np.isnan(track("length")).all() and np.all(track("taut") == 1), "a band without length is straight"
    assert playback.of(flight).count("<script") == 2


def test_the_studio_draws_it(flight: Flight) -> None:
    server = MagicMock(spec=viser.ViserServer)
    server.scene, server.gui = MagicMock(), MagicMock()
    scene = RigScene(server, "/rig", flight.rig)
    made = {str(call.args[0]) for call in server.scene.add_frame.call_args_list}
    assert {"/rig/object0", "/rig/vehicle0", "/rig/vehicle1", "/rig/tether1"} <= made
    frames = of_flight(flight)
    scene.draw(frames.at(1.5), {1}, {0: 0.1}, Look(labels=True, by_tension=True))
    scene.draw_trail(frames.place, True)
    line = frames.at(0.0).tethers(flight.rig)[0]
    np.testing.assert_allclose(line.start, [-0.4, 0.0, 1.57])
    np.testing.assert_allclose(line.end, [-0.1, 0.0, 1.03])
    assert line.taut and line.tension == 2.0 and not line.sags
    centre, size = surroundings(frames[:1], flight.rig, None)
    assert size > 0.8 and centre[2] > 0.8  # with the ground below, for its shadow
    names = usual(frames[:1], flight.rig)
    charts = Charts(server, frames[:1], flight.rig, names, (), False)
    charts.draw(frames, [1.5])
    titles = {call.kwargs["title"] for call in server.gui.add_uplot.call_args_list}
    assert titles == {"Tracking error (mm)", "band.tension (N)", "gripper.gap (m)", "Heights (m)"}
    history = History(frames[:1])
    history.append(frames[1:])
    assert history.frames().signals["gripper.gap"].shape[1] == 1 and history.frames().units == frames.units


def test_the_command_line_takes_it(
    flight: Flight, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    flight.save(tmp_path)
    main(["export", str(tmp_path), "--csv"])
    main(["compare", str(tmp_path), str(tmp_path)])
    out = capsys.readouterr().out
    assert "largest difference of band.tension" in out and (tmp_path / "flight.csv").is_file()
