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
from skyrig.flight import Flight
from skyrig.flight.agreement import SHAPES
from skyrig.flight.storage import from_arrays, load, to_arrays

ARRAYS = to_arrays(made())


def refused(arrays: dict[str, np.ndarray]) -> str:
    with pytest.raises(InputError) as refusal:
        from_arrays(arrays, "some.npz")
    sentence = str(refusal.value)
    assert sentence.startswith("some.npz is not a") and "\n" not in sentence and len(sentence) < 200
    return sentence


def test_every_array_has_a_shape_and_each_that_differs_is_named() -> None:
    for name, array in ARRAYS.items():
        assert name in SHAPES, f"{name}: say its shape in skyrig.flight.agreement"
        deeper = refused({**ARRAYS, name: array[None]})
        assert "format" in deeper if name == "format" else f"its {name} has" in deeper
        for axis in range(array.ndim):
            letter = SHAPES[name].split()[axis]
            if letter not in "c":  # nothing else counts the corners
                assert "should be" in refused({**ARRAYS, name: np.concatenate([array, array], axis)})


@pytest.mark.parametrize(
    "name, value, words",
    [
        ("times", np.array([0.0, 0.1, np.nan, 0.3, 0.4]), "its times must be finite"),
        ("times", np.array([0.0, 0.1, 0.05, 0.3, 0.4]), "must not go back"),
        ("payload.position", np.full((5, 3), "x"), "its payload.position must be numbers"),
        ("name", np.asarray(3.0), "its name must be text"),
        ("name", np.asarray("x" * 201), "its name is longer than 200 characters"),
        ("events.cable", np.array([-1, 2]), "its events.cable names cable 2, but there are 2"),
        ("format", np.asarray("one"), "its format is"),
        ("metrics", np.asarray("[1]"), "its parts are not what they should be"),
        ("metrics", np.asarray("[" * 100_000), "its parts are not what they should be"),
    ],
)
def test_values_that_no_flight_has_are_refused(name: str, value: np.ndarray, words: str) -> None:
    assert words in refused({**ARRAYS, name: value})


def test_cables_are_as_many_as_vehicles_or_none() -> None:
    none = {name: ARRAYS[name][:, :0] for name in ("cables.tension", "cables.length", "cables.taut")}
    without = {"events.cable": np.array([-1, -1]), "impacts.cable": np.array([0])}
    assert from_arrays({**ARRAYS, **none, **without}).cables.tension.shape == (5, 0)
    one = {name: ARRAYS[name][:, :1] for name in none}
    assert "its cables.tension has 1 columns, but there are 2 vehicles" in refused({**ARRAYS, **one})


def test_the_command_line_tells_it_in_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    np.savez(tmp_path / "flight.npz", allow_pickle=False, **{**ARRAYS, "payload.velocity": np.zeros((4, 3))})
    with pytest.raises(SystemExit) as end:
        main(["plot", str(tmp_path)])
    out, err = capsys.readouterr()
    assert end.value.code == 2 and out == "" and err.count("\n") == 1
    assert "its payload.velocity has shape 4 x 3, where 4 should be 5, as times says" in err


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
