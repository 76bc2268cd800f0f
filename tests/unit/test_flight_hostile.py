"""Flight files that somebody made up: one sentence each, before memory is spent on them."""

import io
import os
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest
from made_flight import made

from skyrig import files
from skyrig.cli import main
from skyrig.errors import InputError
from skyrig.flight import Flight, format_2
from skyrig.flight.metrics import metrics
from skyrig.flight.storage import from_arrays, load, to_arrays

ARRAYS = to_arrays(made())
HEADER = str(ARRAYS["header"])
SHAPES = format_2.shapes(format_2.read_header(HEADER, "here"))
OLD = Path(__file__).parents[1] / "data" / "flight-format-1.npz"


def refused(arrays: dict[str, np.ndarray]) -> str:
    with pytest.raises(InputError) as refusal:
        from_arrays(arrays, "some.npz")
    sentence = str(refusal.value)
    assert sentence.startswith("some.npz is not a") and "\n" not in sentence and len(sentence) < 200
    return sentence


def test_every_array_has_a_shape_and_each_that_differs_is_named() -> None:
    for name, array in ARRAYS.items():
        assert name in SHAPES, f"{name}: say its shape in skyrig.flight.format_2"
        deeper = refused({**ARRAYS, name: array[None]})
        if name in ("format", "header"):
            assert name in deeper
        else:
            assert f"its {name} has" in deeper
        for axis in range(array.ndim):
            letter = SHAPES[name].split()[axis]
            if letter not in "w":  # nothing else counts the values of an event
                assert "should be" in refused({**ARRAYS, name: np.concatenate([array, array], axis)})


@pytest.mark.parametrize(
    "name, value, words",
    [
        ("times", np.array([0.0, 0.1, np.nan, 0.3, 0.4]), "its times must be finite"),
        ("times", np.array([0.0, 0.1, 0.05, 0.3, 0.4]), "must not go back"),
        ("bodies.payload.position", np.full((5, 1, 3), "x"), "its bodies.payload.position must be numbers"),
        ("name", np.asarray(3.0), "its name must be text"),
        ("name", np.asarray("x" * 201), "its name is longer than 200 characters"),
        ("events.index", np.array([0, 2]), "its events.index names cable 2, but there are 2"),
        ("events.index", np.array([1, 1]), "its events.index names payload 1, but there are 1"),
        ("events.jump", np.array([-1, 0]), "its events.jump names jump 0, but there are 0"),
        ("impacts.cable", np.array([2]), "its impacts.cable names cable 2, but there are 2"),
        ("header", np.asarray("{"), "its header cannot be"),
        ("header", np.asarray("[" * 100_000), "its header cannot be"),
        ("header", np.asarray(HEADER.replace('"payload":1', '"pay$load":1')), "its header cannot be"),
        ("header", np.asarray(HEADER.replace('"payload":1', '"payload":2')), "as many bodies as loads"),
        ("header", np.asarray(HEADER.replace('"vehicles":2', '"vehicles":3')), "a frame to each of its 3"),
        ("header", np.asarray(HEADER.replace('"index":1', '"index":7')), "a body that is not there"),
        ("header", np.asarray(HEADER.replace('"mass":1.0', '"mass":-1.0')), "its header tells of no rig"),
        ("header", np.asarray(HEADER.replace('"team":[0,1]', '"team":[0,9]')), "its header tells of no rig"),
        ("foreign", np.zeros(3), "its header does not name the array 'foreign'"),
        ("format", np.asarray("one"), "its format is"),
        ("metrics", np.asarray("[1]"), "its parts are not what they should be"),
        ("metrics", np.asarray("[" * 100_000), "its parts are not what they should be"),
    ],
)
def test_values_that_no_flight_has_are_refused(name: str, value: np.ndarray, words: str) -> None:
    assert words in refused({**ARRAYS, name: value})


def test_files_of_format_1_open_and_are_checked_as_strictly() -> None:
    with np.load(OLD, allow_pickle=False) as data:
        arrays = dict(data)
    flight = from_arrays(arrays, "some.npz")
    assert np.array_equal(flight.payload.position, arrays["payload.position"])
    assert (
        np.array_equal(flight.cables.taut, arrays["cables.taut"])
        and flight.signals["cable.tension"].unit == "N"
    )
    assert [event.cable for event in flight.events if event.kind == "impact"] == [1]
    assert len(flight.impacts) == 1 and len(flight.rig.cables) == 3 and not flight.rig.rigid
    for name in ("payload_mass", "payload_is_point", "vehicle_mass", "attachments", "hooks"):
        assert np.array_equal(getattr(flight.rig, name), arrays[f"rig.{name}"]), name
    for name in ("payload_corners", "vehicle_radius", "vehicle_thrust_max"):
        np.testing.assert_allclose(getattr(flight.rig, name), arrays[f"rig.{name}"], rtol=1e-12)
    assert metrics(flight)["cables"][1]["impacts"] == flight.metrics["cables"][1]["impacts"] == 1
    assert metrics(flight)["verdict"] == flight.metrics["verdict"]
    for name, array in arrays.items():
        if array.ndim and not name.startswith("signals.") and name != "rig.payload_corners":
            assert "should be" in refused({**arrays, name: np.concatenate([array, array[:1]])}), name
    one = {name: arrays[name][:, :1] for name in ("cables.tension", "cables.length", "cables.taut")}
    assert "its cables.tension has 1 columns, but there are 3 vehicles" in refused({**arrays, **one})
    assert "no rig has the masses" in refused({**arrays, "rig.payload_mass": np.asarray(-1.0)})


def test_the_command_line_tells_it_in_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    np.savez(
        tmp_path / "flight.npz",
        allow_pickle=False,
        **{**ARRAYS, "bodies.payload.velocity": np.zeros((4, 1, 3))},
    )
    with pytest.raises(SystemExit) as end:
        main(["plot", str(tmp_path)])
    out, err = capsys.readouterr()
    assert end.value.code == 2 and out == "" and err.count("\n") == 1
    assert "its bodies.payload.velocity has shape 4 x 1 x 3, where 4 should be 5, as times says" in err


def packed(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.npy", content)
    return path


def header(shape: str) -> bytes:
    """The beginning of a .npy file that promises an array of such a shape."""
    text = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()


def test_a_small_file_that_unpacks_to_much_is_refused_before_it_does(tmp_path: Path) -> None:
    whole = io.BytesIO()
    np.save(whole, np.zeros(25_000_000))
    file = packed(tmp_path / "bomb.npz", {"times": whole.getvalue()})
    del whole
    assert file.stat().st_size < 1_000_000
    tracemalloc.start()
    with pytest.raises(InputError, match="holds 200000128 bytes once unpacked, but may hold 100000000"):
        load(file, 100_000_000)
    used = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert used < 5_000_000
    with pytest.raises(InputError, match="bytes, but may hold 1000 at most"):
        load(file, 1000)


@pytest.mark.parametrize("shape", ["(10**18,)", "(1000000000000,)", "(-1,)", "(0, 3)", "(3, 4, 5)", "'x'"])
def test_a_header_that_promises_other_than_there_is_is_refused(tmp_path: Path, shape: str) -> None:
    with pytest.raises(InputError, match="is not a flight: NumPy cannot read it"):
        Flight.load(packed(tmp_path / "lies.npz", {"times": header(shape) + bytes(80)}))


def test_a_directory_without_end_is_not_read(tmp_path: Path) -> None:
    file = packed(tmp_path / "many.npz", {f"a{k}": b"" for k in range(501)})
    with pytest.raises(InputError, match="does not end as skyrig's files do"):
        load(file, 10**8)
    with pytest.raises(InputError, match="does not end as skyrig's files do"):
        file.write_bytes(b"PK")
        load(file, 10**8)
    assert load(made().save(tmp_path / "fine.npz"), 10**6).name == "made up"


def test_only_regular_files_are_opened_and_nobody_waits(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "flight.npz")
    for place in (tmp_path / "flight.npz", tmp_path):
        with pytest.raises(InputError, match="it is not a regular file"):
            Flight.load(place)
    with pytest.raises(InputError, match="it is not a regular file"):
        Flight.load(Path("/dev/zero"))
    for name in ("nothing\0", "x" * 300, "no/where"):
        with pytest.raises(InputError, match="cannot be read"):
            Flight.load(tmp_path / name)


def test_within_folders_nothing_outside_is_opened_nor_told_of(tmp_path: Path) -> None:
    inside, outside = tmp_path / "in", tmp_path / "out"
    made().save(inside / "one")
    made().save(outside / "two")
    (inside / "link").symlink_to(outside / "two")
    (inside / "loop.npz").symlink_to(inside / "loop.npz")
    told = set()
    with files.only_under([inside]):
        assert Flight.load(inside / "one").name == "made up"
        for place in (
            outside / "two",
            outside / "nothing.npz",
            outside,
            inside / "link",
            inside / ".." / "out",
        ):
            with pytest.raises(InputError) as refusal:
                Flight.load(place)
            told.add(str(refusal.value))
        with pytest.raises(InputError, match="cannot be read"):
            Flight.load(inside / "loop.npz")
    assert len(told) == 1 and str(tmp_path) not in told.pop()
    assert Flight.load(outside / "two").name == "made up"
