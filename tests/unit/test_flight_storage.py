"""Flights as files: whole or not there, readable by NumPy alone, polite when they are something else."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from made_flight import made

from skyrig.errors import InputError
from skyrig.flight import Flight
from skyrig.flight.storage import from_arrays, to_arrays, write_whole


def same(first: Flight, second: Flight) -> bool:
    one, other = to_arrays(first), to_arrays(second)
    return one.keys() == other.keys() and all(np.array_equal(one[name], other[name]) for name in one)


def test_what_is_saved_is_loaded(tmp_path: Path) -> None:
    flight = made()
    path = flight.save(tmp_path / "here")
    assert path == tmp_path / "here" / "flight.npz" and flight.save(tmp_path / "one.npz").is_file()
    for place in (path, path.parent, tmp_path / "one.npz", str(path)):
        again = Flight.load(place)
        assert same(flight, again)
    assert again.events == flight.events and again.metrics == flight.metrics
    assert again.signals.keys() > {"cable_belief", "missing_thrust"}
    # signals stand at the inputs' times, in a thinned flight too
    few = Flight.load(flight.thinned(4.0).save(tmp_path / "few"))
    assert len(few.inputs.times) < len(flight.inputs.times)
    rows = np.isin(flight.inputs.times, few.inputs.times)
    np.testing.assert_array_equal(few.signals["cable_belief"], flight.signals["cable_belief"][rows])
    assert again.scenario == flight.scenario and again.rig.payload_is_point is False
    assert isinstance(again.rig.payload_mass, float) and again.vehicle_references is None
    assert sorted(file.name for file in path.parent.iterdir()) == ["flight.npz"], (
        "nothing else is left behind"
    )


def test_an_empty_story_is_saved_too(tmp_path: Path) -> None:
    from made_up import replace

    flight = replace(
        made(), events=(), impacts=(), reference=None, measured_payload=None, measured_vehicles=None
    )
    again = Flight.load(flight.save(tmp_path))
    assert again.events == () and again.impacts == () and again.reference is None
    assert same(flight, again)


def test_numpy_alone_reads_it(tmp_path: Path) -> None:
    path = made().save(tmp_path)
    program = (
        "import sys, json, numpy as np; d = np.load(sys.argv[1], allow_pickle=False); "
        "assert 'skyrig' not in sys.modules; "
        "print(json.dumps({k: [str(d[k].dtype), list(d[k].shape)] for k in d})); "
        "assert json.loads(str(d['metrics']))['rmse'] == 0.5; "
        "assert str(d['scenario']).startswith('skyrig: 1'); "
        "assert list(d['events.kind']) == ['poke', 'impact'] and list(d['events.index']) == [0, 1]; "
        "assert json.loads(str(d['header']))['groups'] == {'payload': 1, 'vehicles': 2}"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program, str(path)], capture_output=True, text=True, timeout=300
    )
    assert ran.returncode == 0, ran.stderr
    kinds = json.loads(ran.stdout)
    assert all(not kind.startswith("object") for kind, _ in kinds.values())
    assert kinds["bodies.vehicles.position"] == ["float64", [5, 2, 3]]
    assert kinds["signals.cable.taut"] == ["bool", [5, 2]]


def test_every_array_is_documented() -> None:
    page = (Path(__file__).parents[2] / "docs" / "flights.md").read_text(encoding="utf-8")
    for name in to_arrays(made()):
        group, _, field = name.rpartition(".")
        assert f"`{group}." in page if group else f"`{field}`" in page, name
        assert field in page, name


@pytest.mark.parametrize(
    "content, reason",
    [
        (b"", "is not a flight"),
        (b"PK\x03\x04 not a zip", "is not a flight"),
        (b"\x93NUMPY", "is not a flight"),
        (b"\x80\x04\x95pickled", "is not a flight"),
        (None, "cannot be read: No such file"),
    ],
)
def test_other_files_are_refused_in_one_sentence(tmp_path: Path, content: bytes | None, reason: str) -> None:
    path = tmp_path / "odd.npz"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match=reason) as refusal:
        Flight.load(path)
    assert "\n" not in str(refusal.value) and str(path) in str(refusal.value)


def test_half_a_flight_is_refused(tmp_path: Path) -> None:
    arrays = to_arrays(made())
    for name in ("times", "bodies.payload.rate", "header", "metrics", "events.time", "signals.cable.taut"):
        with pytest.raises(InputError, match="is not a whole flight: it has no"):
            from_arrays({key: value for key, value in arrays.items() if key != name})
    with pytest.raises(InputError, match="format"):
        from_arrays({**arrays, "format": np.asarray(99)})
    with pytest.raises(InputError, match="is not a flight"):
        from_arrays({**arrays, "metrics": np.asarray("{")})
    np.savez(tmp_path / "pickled.npz", format=np.asarray([{}], dtype=object))
    with pytest.raises(InputError, match="is not a flight"):
        Flight.load(tmp_path / "pickled.npz")
    whole = made().save(tmp_path / "whole.npz").read_bytes()
    (tmp_path / "cut.npz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match="is not a flight"):
        Flight.load(tmp_path / "cut.npz")


def test_what_cannot_be_written_is_told_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(InputError, match="cannot be written"):
        made().save(tmp_path / "file" / "deeper")
    (tmp_path / "folder.npz").mkdir()
    with pytest.raises(InputError, match="cannot be written"):
        write_whole(tmp_path / "folder.npz", b"x")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["file", "folder.npz"]
