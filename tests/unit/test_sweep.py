"""Sweeps: the rows they ask for, the folder they keep, and what they refuse."""

from pathlib import Path

import numpy as np
import pytest

from skyrig import InputError, load
from skyrig.flight.verdict import Verdict
from skyrig.runs.engines import ENGINES, check_engine, need
from skyrig.runs.sweep import CHUNK, ChunkResult, Folder, Sweep, parse_grid
from skyrig.runs.sweep_plots import rank_correlation, save_pictures, success_map
from skyrig.runs.sweep_table import collected, shares, write_table


def asked(**changes) -> Sweep:
    given = {
        "vary": {"rig.payload.mass": "uniform(0.2, 0.3)"},
        "grid": {"controller.gains.damping": (0.7, 0.9), "controller.flavour": ("full", "published")},
        "samples": 40,
        "sampler": "latin",
        "seed": 3,
        "within": 0.5,
    }
    return Sweep.of(load("three-dragonflies-links"), **{**given, **changes})


def finished(folder: Folder) -> None:
    """Parts as if they had been flown."""
    for chunk in folder.open():
        rows = np.arange(chunk * CHUNK, min((chunk + 1) * CHUNK, folder.sweep.count))
        words = ["diverged" if row == 7 else "crashed" if row > 50 else "flew" for row in rows]
        verdicts = [Verdict(word, "" if word == "flew" else "It broke.") for word in words]
        metrics = {"position_last": 0.01 * rows, "position_rmse": np.where(rows == 7, np.nan, 0.5 * rows)}
        folder.put(chunk, ChunkResult(metrics, verdicts))


def test_every_point_of_the_grid_gets_the_same_samples() -> None:
    sweep = asked()
    inputs = sweep.inputs
    assert sweep.count == 160 and sweep.chunks == 3 and len(sweep.rows(2)) == 160 - 2 * CHUNK
    assert inputs["controller.gains.damping"].tolist() == [0.7] * 80 + [0.9] * 80
    assert inputs["controller.flavour"][[0, 40, 80, 120]].tolist() == ["full", "published"] * 2
    assert np.array_equal(inputs["rig.payload.mass"][:40], inputs["rig.payload.mass"][120:])
    assert sweep.rows(0)[0] == {path: column[0] for path, column in inputs.items()}


def test_a_grid_is_a_list_or_a_range() -> None:
    assert parse_grid("a.b=1,2.5,x") == ("a.b", (1, 2.5, "x"))
    assert parse_grid("a=0.5:1:3") == ("a", (0.5, 0.75, 1.0))
    for wrong in ("a", "a=", "=1", "a=1:2:x", "a=[1", "a={b: 1}"):
        with pytest.raises(InputError, match="must be path=a,b,c or path=start:stop:count"):
            parse_grid(wrong)
    with pytest.raises(InputError, match="must go through 1 to [0-9]+ values, not 100000000"):
        parse_grid("a=0:1:100000000")


def test_a_folder_goes_on_with_its_own_sweep_and_refuses_another(tmp_path: Path) -> None:
    folder = Folder(tmp_path / "a", asked())
    assert folder.open() == [0, 1, 2]
    verdicts = [Verdict("flew"), Verdict("crashed", "No.", 2.5), Verdict("flew")]
    folder.put(1, ChunkResult({"x": np.arange(3.0)}, verdicts))
    assert Folder(tmp_path / "a", asked()).open() == [0, 2]
    part = folder.get(1)
    assert part.verdicts == verdicts and part.metrics["x"].tolist() == [0, 1, 2]
    with pytest.raises(InputError, match="another sweep, which differs in samples, seed"):
        Folder(tmp_path / "a", asked(seed=4, samples=41)).open()
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="in the way"):
        Folder(tmp_path / "file", asked()).open()


def test_the_table_holds_inputs_success_and_metrics(tmp_path: Path) -> None:
    from pyarrow import parquet

    folder = Folder(tmp_path, asked())
    finished(folder)
    table = collected(folder)
    read = parquet.read_table(write_table(folder, table))
    assert read.column_names[:7] == ["row", *asked().inputs, "verdict", "reason"][:7]
    assert read["reason"][7].as_py() == "It broke." and read["verdict"][7].as_py() == "diverged"
    flew = [word == "flew" for word in read["verdict"].to_pylist()]
    assert flew == [row != 7 and row <= 50 for row in range(160)]
    assert ("flew as asked", "50 (31.2%)") in shares(asked(), table)
    axes = success_map(table, ["rig.payload.mass", "controller.gains.damping"]).axes[0]
    assert axes.get_title(loc="left") == "31.2% of 160 flights flew as asked"
    assert np.array_equal(read["rig.payload.mass"].to_numpy(), asked().inputs["rig.payload.mass"])


def test_pictures_are_drawn(tmp_path: Path) -> None:
    folder = Folder(tmp_path, asked())
    finished(folder)
    paths = save_pictures(tmp_path, collected(folder), ["rig.payload.mass", "controller.gains.damping"])
    assert [path.stem for path in paths] == ["success-map", "histograms", "sensitivity"]
    assert all(path.stat().st_size > 5000 for path in paths)


def test_rank_correlation_is_spearmans() -> None:
    rng = np.random.default_rng(0)
    a = rng.normal(size=50)
    assert np.isclose(rank_correlation(a, np.exp(a)), 1) and np.isclose(rank_correlation(a, -(a**3)), -1)
    assert rank_correlation(a, np.ones(50)) == 0


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"grid": {"rig.payload.mass": (0.2,)}}, "cannot both vary and stand on the grid"),
        ({"grid": {"rig.payload.mas": (0.2,)}}, "rig.payload.mas"),
        ({"samples": 0}, "^samples must be at least 1, not 0"),
        ({"sampler": "latim"}, "did you mean 'latin'"),
        ({"within": -1.0}, "within must be"),
        ({"samples": 10_000_000}, "at most"),
    ],
)
def test_nonsense_is_refused(changes: dict, words: str) -> None:
    with pytest.raises(InputError, match=words):
        asked(**changes)


def test_what_is_not_installed_is_told_with_its_extra() -> None:
    with pytest.raises(InputError, match=r"needs nosuchthing.*skyrig\[sweep\]"):
        need("nosuchthing", "sweep", "skyrig sweep")
    with pytest.raises(InputError, match="choose from"):
        check_engine("bach")
    assert set(ENGINES) == {"batch", "processes", "ray"}
