"""The command line: what it prints, what it leaves behind, and how it refuses."""

import hashlib
import inspect
import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
import pytest
from made_up import flight

from skyrig.cli import COMMANDS, _each_by_itself, main
from skyrig.flight import Flight, report
from skyrig.flight.metrics import metrics
from skyrig.flight.trace import Own
from skyrig.runs import own as own_controllers
from skyrig.scenario import bundled_text, load, names

GOOD = bundled_text("drop-open-loop")


def run(capfd: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Exit code, output and errors of a command."""
    code = 0
    try:
        main(arguments)
    except SystemExit as end:
        code = int(end.code or 0)
    return (code, *capfd.readouterr())


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_list_names_every_scenario(capfd: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capfd, "list")
    assert (code, err) == (0, "") and all(name in out for name in names())


def test_show_prints_a_summary_or_the_file(capfd: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capfd, "show", "winch-reel-up")
    assert (code, err) == (0, "") and "winch at 2.7 s" in out and "3 dragonfly with triangle on cables" in out
    assert run(capfd, "show", "drop-open-loop", "--yaml") == (0, GOOD, "")
    code, out, _ = run(capfd, "show", "figure-8", "--yaml", "--set", "rig.payload.mass=0.3", "seed=5")
    assert "mass: 0.3" in out and "seed: 5" in out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("", "skyrig needs a command; 'skyrig --help' lists all of them."),
        ("--foo", "skyrig has no option '--foo'; 'skyrig --help' says more."),
        ("fly a.yaml --durtion 3", "has no option '--durtion' (did you mean '--duration'?)"),
        ("fly a.yaml b.yaml", "skyrig fly does not know what to do with 'b.yaml'"),
        ("fly a.yaml --duration two", "--duration must be a number, not 'two'."),
        ("fly a.yaml --seed 1.5", "--seed must be a whole number, not '1.5'."),
        ("fly a.yaml --out", "--out needs a value"),
        ("statics", "skyrig statics needs WHAT and SCENARIO"),
        ("show dragonfy", "'dragonfy' is neither a vehicle (did you mean 'dragonfly'?) nor a scenario."),
        ("show dragonfly --yaml", "dragonfly is a vehicle: --set and --yaml go with a scenario."),
        ("sweep drop-open-loop --workers 0", "workers must be at least 1, not 0."),
        ("sitl one-dragonfly-circle --px4 --port 0", "--port must be from 1 to 65535, not 0."),
        ("check low.yaml", "low.yaml: verdict.ground must be a number (m) or none, not 'low'."),
    ],
)
def test_wrong_words_are_told_in_one_sentence(
    capfd: pytest.CaptureFixture[str], here: Path, words: str, sentence: str
) -> None:
    (here / "low.yaml").write_text(GOOD + "\nverdict: {ground: low}\n")
    code, out, err = run(capfd, *words.split())
    assert (code, out) == (2, "") and sentence in err and err.count("\n") == 1
    assert [path.name for path in here.iterdir()] == ["low.yaml"], "nothing is written"


def test_check_tells_what_is_fine(capfd: pytest.CaptureFixture[str], here: Path) -> None:
    (here / "good.yaml").write_text(GOOD)
    code, out, err = run(capfd, "check", "good.yaml", "figure-8")
    assert (code, err) == (0, "") and out.startswith("good.yaml: fine, 1 dragonfly")
    (here / "bad.yaml").write_text(GOOD.replace("duration: 0.6", "duraton: 0.6"))
    code, out, err = run(capfd, "check", "bad.yaml", "good.yaml")
    assert (
        code == 2 and "did you mean 'duration'" in err and err.count("\n") == 1 and "good.yaml: fine" in out
    )


def test_warnings_are_told_by_check_show_and_fly_alike_and_strict_refuses(
    capfd: pytest.CaptureFixture[str], here: Path
) -> None:
    long = "Cable 0 is 800 m long: were millimetres or centimetres typed for metres?"
    (here / "long.yaml").write_text(GOOD.replace("length: 0.5", "length: 800"))
    code, out, err = run(capfd, "check", "long.yaml")
    assert code == 0 and "can be flown, but deserves a second look" in out
    assert err == f"long.yaml: warning: {long}\n"
    assert run(capfd, "show", "long.yaml")[2] == err
    for command in (["check"], ["show"], ["show", "--yaml"], ["fly", "--duration", "0.1"]):
        assert run(capfd, *command, "long.yaml", "--strict") == (2, "", f"long.yaml: {long}\n")
    assert [path.name for path in here.iterdir()] == ["long.yaml"]
    code, out, err = run(capfd, "fly", "long.yaml", "--duration", "0.1", "--no-report")
    assert code == 0 and err == f"long.yaml: warning: {long}\n" and "warning" not in out
    code, out, err = run(capfd, "check", "long.yaml", "figure-8", "--strict")
    assert code == 2 and "figure-8: fine" in out and "long.yaml" not in out


def test_a_shorter_flight_leaves_out_what_would_happen_later(capfd: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capfd, "show", "three-dragonflies-poke", "--set", "duration=1")
    assert code == 0 and "happens" not in out and "duration                1 s" in out
    left_out = "happenings[0] (poke at 2 s) is left out: the flight ends at 1 s."
    assert err == f"scenarios/three-dragonflies-poke.yaml: {left_out}\n"
    code, out, err = run(capfd, "show", "six-dragonflies-thrust-loss", "--yaml", "--set", "duration=5")
    assert code == 0 and "until" not in out and "factor: 0.65" in out
    assert err.endswith("(thrust-loss at 3 s) lasts until the end: the flight ends at 5 s, before 8 s.\n")
    longer = ["--set", "happenings[0].time=15", "duration=16"]
    code, out, err = run(capfd, "show", "three-dragonflies-poke", *longer)
    assert (code, err) == (0, "") and "poke at 15 s" in out
    code, out, err = run(capfd, "show", "three-dragonflies-poke", "--set", "duration=-1")
    assert (code, out) == (2, "") and "duration must be a number above 0 (s), not -1" in err


@pytest.mark.parametrize(
    "what, words",
    [
        ("vehicles", ["dragonfly-bullnose", "0.80 to 7.07", "2.88"]),
        ("payloads", ["point-mass", "cable-3-figures", "prism"]),
        ("controllers", ["yaw-decoupled", "most_turning", "N m s/rad", "bandwidth of the position"]),
        ("references", ["figure-8", "radius", "required", "Time to reach the full rate (s)"]),
        (
            "elements",
            ["thrust-loss", "Impulse, world frame (N s)", "rotor_lag", "delay", "Of positions"],
        ),
    ],
)
def test_everything_a_scenario_may_name_is_listed(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, what: str, words: list[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    code, out, err = run(capfd, "list", what)
    assert (code, err) == (0, "") and all(word in out for word in words)
    assert "NODEFAULT" not in out


def test_every_gain_and_every_parameter_has_a_meaning() -> None:
    from skyrig.cli.listing import arguments
    from skyrig.control.known import CONTROLLERS, GEOMETRIC, OPEN_LOOP
    from skyrig.planning import REFERENCES
    from skyrig.scenario.gains import gains

    own = [name for name, known in CONTROLLERS.items() if isinstance(known.build, str)]
    assert {*own, OPEN_LOOP, GEOMETRIC} <= set(CONTROLLERS) and len(own) > 4
    for name in own:
        for flavour in CONTROLLERS[name].gains:
            assert gains(name, flavour)
            for gain, meaning in gains(name, flavour).items():
                assert meaning is not None and meaning.unit and meaning.text, (name, flavour, gain)
    ours = {name: it for name, it in REFERENCES.items() if it.__module__.startswith("skyrig.")}
    for name, builder in ours.items():
        told = arguments(inspect.getdoc(builder) or "")
        asked = set(inspect.signature(builder).parameters) - {"directory"}
        assert asked <= {key for key, text in told.items() if text}, name


def test_schema_is_json(capfd: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capfd, "schema")
    assert code == 0 and json.loads(out)["title"] == "skyrig scenario"


def test_flying_leaves_a_flight_pictures_and_a_report(capfd: pytest.CaptureFixture[str], here: Path) -> None:
    code, out, _ = run(
        capfd,
        "fly",
        "drop-open-loop",
        "--duration",
        "0.3",
        "--set",
        "rig.payload.mass=0.05",
        "--record-rate",
        "20",
    )
    assert code == 0 and "comes taut at t = 0.210 s" in out and "impulse (mN s)" in out
    folder = here / "flights" / "drop-open-loop"
    made = {path.name for path in folder.iterdir()}
    assert made == {"flight.npz", "scenario.yaml", "metrics.json", "report.html"} | {
        f"{name}.png" for name in ("path", "tensions", "impact", "thrusts")
    }
    assert load(str(folder / "scenario.yaml")).spec.rig.payload.mass == 0.05
    assert json.loads((folder / "metrics.json").read_text())["events"] == {"impact": 1}
    flown = Flight.load(folder)
    assert flown.rig.payload_mass == 0.05 and flown.times[-1] == 0.3
    early = flown.times[flown.times < 0.11]
    assert np.allclose(early, [0.0, 0.05, 0.1], atol=1e-9), "of every step, one in 0.05 s; more at the impact"
    assert flown.metrics["cables"][0]["tension_max"] >= flown.cables.tension.max()

    code, out, _ = run(capfd, "export", "flights/drop-open-loop", "--csv")
    assert code == 0 and out.split() == [f"flights/drop-open-loop/flight{end}.csv" for end in ("", "-events")]
    code, out, _ = run(capfd, "compare", "flights/drop-open-loop", "flights/drop-open-loop/flight.npz")
    assert code == 0 and "largest distance between the payload" in out
    assert "first:  flights/drop-open-loop\nsecond: flights/drop-open-loop/flight.npz\n" in out
    assert all("…" not in line for line in out.splitlines()), "nothing is cut"
    code, _, err = run(capfd, "plot", "flights/drop-open-lop")
    assert code == 2 and "there is no such flight (did you mean 'drop-open-loop'?)." in err
    code, _, err = run(capfd, "show", "flights/drop-open-loop")
    assert code == 2 and "a folder (did you mean 'flights/drop-open-loop/scenario.yaml'?)." in err
    code, out, _ = run(capfd, "plot", "flights/drop-open-loop", "--out", "elsewhere")
    assert code == 0 and (here / "elsewhere" / "report.html").is_file()


def test_a_flight_that_fails_says_so_first_and_leaves_nothing_stale(
    capfd: pytest.CaptureFixture[str], here: Path
) -> None:
    folder = here / "flights" / "drop-open-loop"
    short = ["fly", "drop-open-loop", "--duration", "0.3", "--no-report"]
    assert run(capfd, *short)[0] == 0
    for name in ("report.html", "flight.csv", "path.png"):
        (folder / name).write_text("of an earlier run")
    code, out, err = run(capfd, *short, "--set", "verdict.ground=0.6")
    first, _, rest = out.partition("\n")
    assert code == 1 and first.startswith("drop-open-loop crashed: The payload touches the ground at t = 0.")
    assert err == "" and "Flight:  flights/drop-open-loop/flight.npz" in rest
    assert {path.name for path in folder.iterdir()} == {"flight.npz", "scenario.yaml", "metrics.json"}
    verdict = json.loads((folder / "metrics.json").read_text())["verdict"]
    assert verdict["word"] == "crashed" and verdict["reason"] in first and 0.1 < verdict["time"] < 0.3
    page = report.html(Flight.load(folder), {})
    assert f"<strong>crashed: {verdict['reason']}</strong>" in page

    (folder / "notes.txt").write_text("mine")
    before = (folder / "flight.npz").read_bytes()
    code, out, _ = run(capfd, *short)
    assert code == 0 and out.startswith("drop-open-loop flew as asked.\n")
    assert "holds files of other origin (notes.txt) and stays as it is" in out
    assert (folder / "flight.npz").read_bytes() == before
    assert Flight.load(here / "flights" / "drop-open-loop-2").metrics["verdict"]["word"] == "flew"
    assert sorted(path.name for path in folder.parent.iterdir()) == ["drop-open-loop", "drop-open-loop-2"]


def test_a_reader_that_leaves_ends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as nobody:
        monkeypatch.setattr(sys, "stdout", nobody)
        main(["list"])
        print("and more", flush=True)
    assert sys.stdout is nobody


MINE = """
from skyrig.control import Controller

class Hold(Controller):
    weight: float

    @staticmethod
    def build(built):
        return Hold(built.duration)

    def __call__(self, memory, t, target, seen):
        return memory, None

def breaks(t, target, seen):
    return 1 / t

def leaves(t, target, seen):
    raise SystemExit(7)

number = 5
"""


def test_own_controllers_are_remembered_and_their_errors_told(
    capfd: pytest.CaptureFixture[str], here: Path
) -> None:
    (here / "mine.py").write_text(MINE)
    kind, own = own_controllers.load("mine.py:Hold")
    assert own_controllers.made(kind, load("one-dragonfly-hover").build()).weight == 8.0
    assert own == Own(name="Hold", file="mine.py", sha256=hashlib.sha256(MINE.encode()).hexdigest())
    # a scenario that was flown by somebody's own does not fly with another unless told so
    known = load("one-dragonfly-hover").with_overrides({"controller.own": msgspec.to_builtins(own)})
    (here / "scenario.yaml").write_text(known.to_yaml())
    code, _, err = run(capfd, "fly", "scenario.yaml")
    assert code == 2 and "give --controller mine.py:Hold to fly it again" in err
    flown = flight(np.linspace(0, 1, 3), scenario=known.to_yaml())
    page = report.html(replace(flown, metrics=metrics(flown)), {})
    assert f"Flown by a controller of its own: Hold in mine.py, sha256 {own.sha256}." in page

    hover = ["fly", "one-dragonfly-hover", "--no-report"]
    code, out, err = run(capfd, *hover, "--controller", "mine.py:breaks")
    line = 1 + MINE.split("\n").index("    return 1 / t")
    assert (code, out) == (2, "") and f"mine.py, line {line}: ZeroDivisionError: " in err
    assert err.count("\n") == 1 and not (here / "flights").exists()
    code, out, err = run(capfd, *hover, "--controller", "mine.py:leaves")
    assert (code, out) == (2, "") and f"mine.py, line {line + 3}: SystemExit: 7 (--debug shows" in err
    code, out, err = run(capfd, *hover, "--controller", "mine.py:number")
    assert (code, out) == (2, "") and err.startswith("controller must be a callable (t, target, measurement)")
    with pytest.raises(ZeroDivisionError):
        main([*hover, "--controller", "mine.py:breaks", "--debug"])


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        (["show", "drop-open-lop"], "did you mean 'drop-open-loop'"),
        (["chek", "text.yaml"], "'chek' is no command (did you mean 'check'?)"),
        (["list", "vehicels"], "did you mean 'vehicles'?"),
        (["check", "texd.yaml"], "there is no such file (did you mean 'text.yaml'?)"),
        (["reproduce", "rotrtm"], "did you mean 'rotortm'?"),
        (["fly", "figure-8", "--set", "reference.priod=3"], "did you mean 'period'?"),
        (["fly", "figure-8", "--set", "rig.vehicles=Dragonfli"], "did you mean 'dragonfly'?"),
        (["sweep", "figure-8", "--vary", "seed=unifrom(1,2)"], "did you mean 'uniform'?"),
        (["sweep", "figure-8", "--sampler", "sobel"], "did you mean 'sobol'?"),
        (["sweep", "figure-8", "--engine", "bach"], "did you mean 'batch'?"),
        (["check", "nothing.yaml"], "nothing.yaml cannot be read: there is no such file"),
        (["check", "text.yaml"], "text.yaml must hold a mapping"),
        (["check", "binary.yaml"], "binary.yaml cannot be read: it is not UTF-8 text"),
        (["check", "."], ". cannot be read: it is a folder."),
        (["check", "/dev/null"], "/dev/null cannot be read: it is not a regular file."),
        (["fly", "text.yaml"], "text.yaml must hold a mapping"),
        (
            ["fly", "drop-open-loop", "--set", "rig.payload.mass=-1"],
            "rig.payload.mass must be above zero, not -1",
        ),
        (["fly", "drop-open-loop", "--set", "rig.payload.mass"], "must be path=value"),
        (["fly", "drop-open-loop", "--set", "rig.payload.mass=heavy"], "must be a number (kg), not 'heavy'"),
        (["fly", "drop-open-loop", "--duration", "-1"], "duration must be a number above 0 (s), not -1"),
        (["fly", "drop-open-loop", "--record-rate", "0"], "record.rate must be a number above 0 (Hz), not 0"),
        (["fly", "drop-open-loop", "--seed", "-1"], "seed must be a whole number at least 0, not -1"),
        (["fly", "drop-open-loop", "--out", "text.yaml"], "text.yaml is in the way"),
        (["fly", "drop-open-loop", "--out", "text.yaml/below"], "cannot be written: Not a directory"),
        (["fly", "drop-open-loop", "--out", "/proc/nowhere"], "cannot be written: No such file or directory"),
        (["fly", "drop-open-loop", "--controller", "mine.py"], "--controller must be FILE.py:NAME"),
        (["fly", "drop-open-loop", "--controller", "mine.py:Mine"], "must name a Python file"),
        (["plot", "nowhere"], "nowhere cannot be read: there is no such flight."),
        (["plot", "no/where"], "no/where cannot be read: No such file"),
        (["compare", "text.yaml", "text.yaml"], "text.yaml is not a flight"),
        (["export", "text.yaml"], "skyrig export needs one format: give --csv"),
    ],
)
def test_bad_input_is_one_sentence_and_nothing_is_written(
    capfd: pytest.CaptureFixture[str], here: Path, arguments: list[str], sentence: str
) -> None:
    (here / "text.yaml").write_text("just text")
    (here / "binary.yaml").write_bytes(b"\xff\xfe\x00")
    code, out, err = run(capfd, *arguments)
    assert code == 2 and out == "" and sentence in err
    assert err.endswith(".\n") and err.count("\n") == 1 and "Traceback" not in err
    assert {path.name for path in here.iterdir()} == {"text.yaml", "binary.yaml"}


@pytest.mark.parametrize(
    "arguments",
    [
        ["list"],
        ["list", "controllers"],
        ["list", "references"],
        ["show", "figure-8"],
        ["check", "figure-8"],
        ["schema"],
    ],
)
def test_looking_at_scenarios_never_imports_jax(arguments: list[str]) -> None:
    program = (
        "import sys; from skyrig.cli import main; main(sys.argv[1:]); "
        "print(sorted({'jax', 'equinox', 'matplotlib', 'scipy'} & set(sys.modules)), file=sys.stderr)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, timeout=300
    )
    assert ran.returncode == 0 and ran.stderr.strip() == "[]", ran.stderr


def test_the_command_itself_refuses_without_a_traceback(here: Path) -> None:
    (here / "bad.yaml").write_text(GOOD.replace("length: 0.5", "length: -0.5"))
    command = [sys.executable, "-m", "skyrig", "fly", "bad.yaml"]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr == "bad.yaml: rig.cables.length must be a number above 0 (m), not -0.5.\n"
    assert [path.name for path in here.iterdir()] == ["bad.yaml"]


def test_several_settings_may_follow_one_another() -> None:
    assert _each_by_itself(["fly", "--set", "a=1", "b=2", "--seed", "3", "x=4"]) == [
        *("fly", "--set", "a=1", "--set", "b=2", "--seed", "3", "x=4")
    ]
    assert _each_by_itself(["fly", "--set", "a=1", "name", "--set", "b=2"]) == [
        *("fly", "--set", "a=1", "name", "--set", "b=2")
    ]
    assert _each_by_itself(["sweep", "--vary", "a=u(1,2)", "b=u(1,2)", "--grid", "c=1", "d=2", "name"]) == [
        *("sweep", "--vary", "a=u(1,2)", "--vary", "b=u(1,2)", "--grid", "c=1", "--grid", "d=2", "name")
    ]


def test_a_version_and_help_are_there(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(capfd, "--version")[1].startswith("0.")
    code, out, _ = run(capfd, "--help")
    assert code == 0 and all(command in out for command in ("list", "show", "check", "fly", "compare"))
    for command in COMMANDS:
        code, out, _ = run(capfd, command, "--help")
        assert code == 0 and "usage: skyrig" in out and "None" not in out, command


def test_what_is_begun_anew_stands_on_a_floor(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for name in ("figure-8", "two-dragonflies-links", "soft-grasp", "takeoff-circle-land"):
        path = tmp_path / f"my-{name}.yaml"
        assert run(capfd, "new", str(path), "--like", name)[0] == 0, name
        made, old = load(path), load(name)
        assert made.name == path.stem
        if old.values.get("world") is None:  # nothing else is changed, comments and order included
            assert made.spec.world.ground.height == old.spec.verdict.ground
            kept = {key: value for key, value in made.values.items() if key != "world"}
            assert kept == {**old.values, "name": made.name}
        else:
            assert made.values["world"] == old.values["world"]
    again = tmp_path / "my-figure-8.yaml"
    for arguments, sentence in (
        ((str(again),), f"{again} is there already: choose another name."),
        ((str(tmp_path / "no" / "a.yaml"),), "there is no folder"),
        ((str(tmp_path / "a.txt"),), "must end in .yaml"),
        ((str(tmp_path / "a b.yaml"),), "name must be letters"),
        ((str(tmp_path / "a.yaml"), "--like", "figure-9"), "did you mean 'figure-8'?"),
    ):
        code, _, error = run(capfd, "new", *arguments)
        assert code == 2 and sentence in error and error.count("\n") == 1


def test_shells_can_complete(capfd: pytest.CaptureFixture[str]) -> None:
    page = (Path(__file__).parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")
    shells = re.findall(r"^skyrig --tyro-print-completion (\w+) > ", page, re.M)
    assert shells == ["bash", "zsh"]
    for shell in shells:
        code, script, _ = run(capfd, "--tyro-print-completion", shell)
        assert code == 0 and all(word in script for word in (*COMMANDS, "--duration", "--vary")), shell
