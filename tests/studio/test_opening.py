"""Before anything is served: addresses that can be listened on, and one sentence for what cannot be."""

import socket
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from made_flight import made

from skyrig.cli import main
from skyrig.cli.studio import folders
from skyrig.errors import InputError
from skyrig.flight.frames import of_flight
from skyrig.scenario import load, names
from skyrig.studio.app import Studio
from skyrig.studio.opening import free_port, is_flight
from skyrig.studio.pictures import _fly_to
from skyrig.studio.readouts import numbers


def test_the_next_port_is_taken_if_one_is_in_use() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert free_port("127.0.0.1", port) > port
    assert free_port("127.0.0.1", 0) == 0
    with pytest.raises(InputError, match="cannot be listened on"):
        free_port("192.0.2.1", 8080)


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["no-such-scenario"], "is neither a file nor a bundled scenario"),
        (["--port", "70000"], "--port must be from 0 to 65535"),
        (["--host", "no host at all"], "--host must be an address of this machine"),
        (["--picture", "picture.txt"], "--picture must name a .png, .gif or .mp4 file"),
        (["--picture", "a.png", "--at", "nan"], "--at must be a time from 0 on (s), not nan"),
        (["--picture", "a.png", "--at", "inf"], "--at must be a time from 0 on (s), not inf"),
        (["--picture", "a.png", "--at", "-1"], "--at must be a time from 0 on (s), not -1"),
        (["--picture", "a.gif", "--at", "0"], "--at must be above 0 (s): a film ends there"),
        (["--picture", "a.gif", "--seconds", "0"], "--seconds must be above 0 and at most 30 (s), not 0"),
        (
            ["--picture", "a.gif", "--seconds", "1e9"],
            "--seconds must be above 0 and at most 30 (s), not 1e",
        ),
        (["missing.npz"], "cannot be read"),
        (["--open", "no-such-folder"], "--open must name a folder, not 'no-such-folder'"),
    ],
)
def test_bad_input_is_one_sentence(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        main(["studio", *arguments])
    out, err = capsys.readouterr()
    assert end.value.code == 2 and words in err and err.count("\n") == 1 and out == ""


def test_the_page_may_open_what_was_named_and_what_lies_beside_it(tmp_path: Path) -> None:
    (tmp_path / "own.yaml").touch()
    flights, others = Path("flights"), (tmp_path,)
    assert folders("three-dragonflies-poke", flights, ()) == (flights,) == folders(None, flights, ())
    assert folders(str(tmp_path / "own.yaml"), flights, ()) == (flights, tmp_path)
    assert folders(str(tmp_path), flights, others) == (flights, tmp_path, tmp_path)


def test_flights_are_told_from_scenarios(tmp_path: Path) -> None:
    assert is_flight("some.npz") and not is_flight("figure-8") and not is_flight(tmp_path)
    (tmp_path / "flight.npz").touch()
    assert is_flight(tmp_path)


def test_a_film_ends_where_its_flight_does() -> None:
    frames = of_flight(made())
    recorded = SimpleNamespace(recorded=frames, status="ready", message="")
    recorded.view = lambda: SimpleNamespace(span=(float(frames.times[0]), float(frames.times[-1])))
    assert _fly_to(cast("Any", SimpleNamespace(session=recorded)), 800.0) == frames.times[-1]


def test_every_bundled_scenario_opens() -> None:
    studio = Studio(port=0)  # nothing is compiled and nobody looks: its threads do not run
    try:
        for name in names():
            studio.open(name)
            studio.session._make()
            studio._draw()
            view, parts = studio.session.view(), load(name).parts
            assert view is not None and view.message == "" and view.frame.place[0, 2] > -1.0
            cables = sum(it.name == "cable" for it in parts.tethers)
            assert numbers(view, studio.shown, set()).count('data-readout="tension-') == cables
            assert studio.rig is not None and studio.panel.scenario.pick.value == name
    finally:
        studio.close()
