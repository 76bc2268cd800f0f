"""Scenarios flown open loop from end to end, and what is made of their flights."""

import base64
import csv
import re
from pathlib import Path

import numpy as np
import pytest

from skyrig.constants import GRAVITY
from skyrig.errors import InputError
from skyrig.flight import Flight, export, plots, report
from skyrig.flight.compare import apart, compare
from skyrig.runs.flying import fly
from skyrig.scenario import Scenario, load


@pytest.fixture(scope="module")
def drop() -> Flight:
    return fly("drop-open-loop")


@pytest.fixture(scope="module")
def poked() -> Flight:
    return fly(load("three-dragonflies-poke").with_overrides({"controller": "open-loop", "duration": 2.4}))


def test_the_drop_is_that_of_the_paper(drop: Flight) -> None:
    (impact,) = drop.impacts
    assert abs(impact.time - 0.2104129136) < 1e-9
    assert np.allclose(
        impact.payload_velocity, [[0, 0, -2.0641506823], [-0.461501778, 0, -0.596668557]], atol=1e-8
    )
    assert np.allclose(impact.vehicle_velocity, [[0, 0, 0], [0.129220498, 0, -0.410894995]], atol=1e-8)
    assert np.allclose(impact.along, [1.969074253, 0.0], atol=1e-8)
    assert abs(impact.across[1] - impact.across[0]) < 1e-9, "nothing happens across the cable"
    assert np.linalg.norm(impact.momentum[1] - impact.momentum[0]) < 1e-12
    (event,) = drop.events
    assert (event.owner, event.index, event.unit, event.jump) == ("cable", 0, "N s", 0)
    assert np.array_equal(drop.jumps["payload"].velocity[0, :, 0], impact.payload_velocity)
    assert drop.signals["cable.tension"].unit == "N" and drop.signals["cable.taut"].values.dtype == bool
    change = 0.07 * np.linalg.norm(impact.payload_velocity[1] - impact.payload_velocity[0])
    assert abs(impact.impulse - change) < 1e-9
    assert np.isclose(drop.metrics["cables"][0]["slack_time"], impact.time)
    assert drop.metrics["events"] == {"impact": 1} and drop.reference is None


def test_a_flight_remembers_what_was_flown(drop: Flight) -> None:
    assert Scenario.from_text(drop.scenario).spec == load("drop-open-loop").spec
    assert set(drop.versions) == {"skyrig", "python", "jax", "numpy"}
    assert drop.times[0] == 0 and drop.times[-1] == 0.6 and np.all(np.diff(drop.times) > 0)
    assert np.allclose(drop.inputs.thrust, 0.25 * GRAVITY)
    assert drop.metrics["wall_seconds"] > 0


def test_a_poke_makes_one_cable_slack_and_bring_an_impact(poked: Flight) -> None:
    kinds = [(event.kind, event.cable) for event in poked.events if event.time > 0]
    assert kinds[:3] == [("poke", None), ("slack", 1), ("impact", 1)]
    before = poked.times < 2.0
    assert np.allclose(poked.payload.position[before], [0, 0, 1.5], atol=1e-9), "trim is an equilibrium"
    assert poked.metrics["tracking"]["whole"]["position_peak"] > 1e-3
    assert np.isclose(poked.impacts[0].impulse, poked.events[-1].impulse)


def test_lasting_happenings_act_in_the_open_loop_too() -> None:
    push = {"type": "wrench", "time": 0.1, "until": 0.3, "force": [0.0, 0.0, 0.5]}
    loss = {"type": "thrust-loss", "vehicle": 0, "factor": 0.5, "time": 0.45}
    base = load("three-dragonflies-links").with_overrides(
        {"controller": "open-loop", "duration": 0.6, "reference": {"type": "hover", "start": [0, 0, 2]}}
    )
    flown = fly(base.with_overrides({"happenings": [push, loss]}))
    k = np.searchsorted(flown.times, 0.3 + 1e-9)
    # 0.5 N upwards for 0.2 s: whatever the turning, the whole rig gains 0.1 N s
    momentum = (
        flown.rig.payload_mass * flown.payload.velocity[k]
        + flown.rig.vehicle_mass @ flown.vehicles.velocity[k]
    )
    assert np.allclose(momentum[1:], [0.0, 0.1], atol=1e-3)
    assert np.isclose(flown.inputs.thrust[-1, 0], 0.5 * flown.inputs.commanded_thrust[-1, 0])
    assert flown.cables.tension.shape == (len(flown.times), 0)


def test_gains_that_cannot_be_are_told_with_their_file() -> None:
    wrong = load("three-dragonflies-circle").with_overrides({"controller.gains": {"position": [1.0, 2.0]}})
    with pytest.raises(
        InputError, match=r"three-dragonflies-circle.*: controller\.gains\.position must have"
    ):
        fly(wrong)


def test_the_gains_that_files_may_name_are_those_that_controllers_read() -> None:
    from skyrig import control
    from skyrig.control import builders, point_robot
    from skyrig.control.known import CONTROLLERS, GEOMETRIC, OPEN_LOOP, chosen
    from skyrig.control.mpc import building as mpc

    teams = [load(name).build().team for name in ("three-dragonflies-circle", "three-dragonflies-links")]
    asked: list[set[str]] = []
    real = builders.read_gains
    patch = pytest.MonkeyPatch()
    for module in (builders, point_robot, mpc):
        patch.setattr(
            module, "read_gains", lambda given, known, n: asked.append(set(known)) or real(given, known, n)
        )
    ours = [name for name, it in CONTROLLERS.items() if name == GEOMETRIC or isinstance(it.build, str)]
    assert OPEN_LOOP not in ours and len(ours) > 5
    try:
        for team in teams:
            for name in ours:
                for flavour in control.FLAVOURS:
                    known = chosen(name, team.rig.mechanism)
                    if known.flies(team.rig.mechanism) and flavour not in known.gains:
                        with pytest.raises(InputError, match="flavour must be full for mpc"):
                            control.build(name, team.rig, team.airframes, flavour=flavour)
                    elif known.flies(team.rig.mechanism):
                        control.build(name, team.rig, team.airframes, flavour=flavour)
                        whole = {*mpc.WHOLE, "parallel", "obstacles"} if name.startswith("mpc") else set()
                        unheard = {"deaf_from", "deaf_until"} if name == "mpc-central" else set()
                        alone = {"sweeps", "delay", "parallel"} if name == "mpc-central" else set()
                        assert (asked[-1] | whole) - unheard - alone == set(known.gains[flavour])
                    else:
                        with pytest.raises(InputError, match="must be one that flies"):
                            control.build(name, team.rig, team.airframes, flavour=flavour)
    finally:
        patch.undo()


def test_held_commands_do_not_get_round_the_rotors_limits() -> None:
    known = load("drop-open-loop")
    frame = known.parts.airframes[0]
    # two rotors would have to push harder than they can, two less than others
    held = [{"thrust": [0.99 * frame.total_thrust_max], "moment": [[0.05, 0.0, 0.0]]}]
    flown = fly(known.with_overrides({"controller.held": held, "duration": 0.1}))
    asked, made = flown.inputs.commanded_moment[0, 0], flown.inputs.moment[0, 0]
    assert asked[0] == 0.05 and flown.inputs.saturated[0, 0] > 0
    rotors = np.linalg.pinv(frame.mixing) @ [flown.inputs.thrust[0, 0], *made]
    assert rotors.max() <= frame.thrust_max * (1 + 1e-9) and rotors.min() >= frame.thrust_min * (1 - 1e-9)


def test_pictures_show_what_there_is(drop: Flight, poked: Flight, tmp_path: Path) -> None:
    names = {path.stem for path in plots.save_all(poked, tmp_path)}
    assert names == {"path", "error", "tensions", "impact", "attitudes", "thrusts"}
    assert all((tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG") for name in names)
    assert plots.draw(drop, "error") is None and plots.draw(drop, "attitudes") is None


def test_the_report_stands_alone_and_escapes_what_it_quotes(poked: Flight, tmp_path: Path) -> None:
    from dataclasses import replace

    nasty = replace(poked, name="<script>alert(1)</script>", scenario='name: "<b>&"\n')
    text = report.write_report(nasty, tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<script>alert" not in text and "&lt;script&gt;" in text and "&lt;b&gt;&amp;" in text
    assert text.count("<script") == 2, "the player and its numbers, though no scenario tells of the rig"
    sources = re.findall(r'(?:src|href)="([^"]*)"', text)
    assert len(sources) == 6 and all(source.startswith("data:image/png;base64,") for source in sources)
    assert base64.b64decode(sources[0].split(",")[1]).startswith(b"\x89PNG")
    assert "position error, rms" in text and "impact" in text and "http" not in text


def test_csv_holds_every_number_to_the_last_digit(poked: Flight, tmp_path: Path) -> None:
    states, events = export.write_csv(poked, tmp_path / "flight.csv")
    table = list(csv.reader(states.open()))
    head, numbers = table[0], np.asarray(table[1:], dtype=float)
    assert len(numbers) == len(poked.times) and len(set(head)) == len(head)
    column = head.index("vehicle2.position.z (m)")
    assert np.array_equal(numbers[:, column], poked.vehicles.position[:, 2, 2])
    assert np.array_equal(numbers[:, head.index("cable1.tension (N)")], poked.cables.tension[:, 1])
    assert np.all(numbers[:, head.index("vehicle0.thrust (N)")] == poked.inputs.thrust[0, 0])
    assert [row[1] for row in list(csv.reader(events.open()))[1:]] == [event.kind for event in poked.events]


def test_flights_are_compared_over_their_common_time(drop: Flight, poked: Flight) -> None:
    lines = {name: (one, other) for name, one, other, _ in compare(drop, drop)}
    assert lines["duration"] == (0.6, 0.6) and lines["largest distance between the payload"] == ("", 0.0)
    gaps = {name: value for name, value, _ in apart(drop, poked)}
    assert (
        gaps["largest distance between the payload"] > 0.5
        and "largest distance between the vehicles" not in gaps
    )
