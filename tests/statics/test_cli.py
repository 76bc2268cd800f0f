"""`skyrig statics` for people and for programs."""

import json
from pathlib import Path

import numpy as np
import pytest

from skyrig.cli import main

TEAM = "three-hummingbirds-frame"


def test_answers_for_programs_and_files(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    main(["statics", "inverse", TEAM, "--coordinates", "0", "0", "-0.9", "--json", "--out", str(tmp_path)])
    answer = json.loads(capsys.readouterr().out)
    assert [round(row["tension"] / (0.25 * 9.81), 3) for row in answer["vehicles"]] == [0.333, 0.480, 0.480]
    assert json.loads((tmp_path / "inverse.json").read_text()) == answer
    assert (tmp_path / "inverse.png").stat().st_size > 10_000
    hooks = [text for place in answer["hooks"] for text in ("--hook", *map(str, place))]
    main(["statics", "direct", TEAM, "--json", *hooks])
    first = json.loads(capsys.readouterr().out)["equilibria"][0]
    assert first["stable"] and abs(first["position"][2] - 1) < 1e-6
    main(["statics", "rest", TEAM, "--json", *hooks])
    rest = json.loads(capsys.readouterr().out)
    assert rest["exact"] and rest["equilibrium"]["energy"] <= first["energy"] + 1e-9
    narrow = ["--samples", "500", "--tension-max", "1.2", "--push", "0.2"]
    main(["statics", "workspace", TEAM, *narrow, "--json", "--out", str(tmp_path)])
    assert json.loads(capsys.readouterr().out)["volume"] > 0
    with np.load(tmp_path / "workspace.npz") as table:
        assert table["valid"].all() and len(table["x1"]) > 10


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["inverse", "three-dragonflies-links"], "on rigid links"),
        (["invers", TEAM], "did you mean 'inverse'"),
        (["inverse", TEAM, "--criterion", "best"], "choose from: effort, equal, margin, stiffness"),
        (["inverse", TEAM, "--set", "rig.payload.mass=9"], "everything weighs 103 N"),
        (["workspace", TEAM, "--tension-max", "0.5"], "outside the workspace"),
        (["direct", TEAM, "--hook", "0", "0", "1"], "once for each of the 3 cables"),
        (
            ["workspace", TEAM, "--samples", "500", "--roll", "1.5", "--studio"],
            "nothing to see: of these samples no configuration",
        ),
        (["workspace", TEAM, "--push", "-1"], "push must be at least 0 N"),
        (["workspace", TEAM, "--tension-max", "-1"], "tension_max must be above zero, not -1 N"),
        (["inverse", TEAM, "--separation", "-1"], "separation must be at least 0 m, not -1 m"),
        (["inverse", TEAM, "--roll", "3"], "misses by 0.228 at best: the payload would not stay there"),
        (["wrench", TEAM, "--picture", "wrench.png"], "has nothing to show for wrench"),
        (["stability", "four-dragonflies-box", "--coordinates", "0", "0", "0"], "for three cables"),
    ],
)
def test_bad_input_is_told_in_one_sentence(arguments, told, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["statics", *arguments])
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert told in said and said.count("\n") <= 2 and "Traceback" not in said
