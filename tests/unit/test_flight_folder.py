"""A flight's folder: replaced whole or not at all, and nobody else's files are touched."""

from pathlib import Path

import pytest

from skyrig import InputError
from skyrig.flight import folder
from skyrig.flight.folder import place_for, whole_folder


def content(place: Path) -> dict[str, str]:
    return {file.name: file.read_text() for file in place.iterdir()}


@pytest.mark.parametrize("exchange", [True, False])
def test_a_folder_is_replaced_when_all_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exchange: bool
) -> None:
    if not exchange:
        monkeypatch.setattr(folder, "_exchanged", lambda first, second: False)
    place = tmp_path / "out" / "flown"
    for run in ("first", "second"):
        with whole_folder(place) as draft:
            (draft / "flight.npz").write_text(run)
            (draft / f"{'path' if run == 'first' else 'error'}.png").write_text(run)
            assert run == "first" or content(place) == {"flight.npz": "first", "path.png": "first"}
    assert content(place) == {"flight.npz": "second", "error.png": "second"}
    with pytest.raises(RuntimeError), whole_folder(place) as draft:
        (draft / "flight.npz").write_text("half")
        raise RuntimeError
    assert content(place) == {"flight.npz": "second", "error.png": "second"}
    assert [it.name for it in place.parent.iterdir()] == ["flown"], "nothing is left beside it"


def test_foreign_files_are_never_touched(tmp_path: Path) -> None:
    place = tmp_path / "flown"
    assert place_for(place) == (place, [])
    place.mkdir()
    (place / "flight-events.csv").write_text("exported")
    assert place_for(place) == (place, [])
    (place / "notes.txt").write_text("mine")
    (place / "flight.d").mkdir()
    assert place_for(place) == (tmp_path / "flown-2", ["flight.d", "notes.txt"])
    (tmp_path / "flown-2").mkdir()
    assert place_for(place)[0] == tmp_path / "flown-2"
    # what comes in while a run is written is kept, too
    with whole_folder(tmp_path / "flown-2") as draft:
        (draft / "flight.npz").write_text("new")
        (tmp_path / "flown-2" / "late.txt").write_text("mine")
    assert content(tmp_path / "flown-2") == {"flight.npz": "new"}
    assert [file.read_text() for file in tmp_path.glob(".flown-2*/late.txt")] == ["mine"]
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="in the way"):
        place_for(tmp_path / "file")


def test_a_link_to_a_folder_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "here").symlink_to(tmp_path / "there")
    with whole_folder(tmp_path / "here") as draft:
        (draft / "flight.npz").write_text("new")
    assert (tmp_path / "here").is_symlink() and content(tmp_path / "there") == {"flight.npz": "new"}
