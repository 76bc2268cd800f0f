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
from skyrig.runs.flying import fly, rotor_saturation
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


def test_the_scenarios_table_of_controllers_is_that_of_control() -> None:
    import skyrig.control as control
    from skyrig.control import builders
    from skyrig.control.known import CONTROLLERS, OPEN_LOOP, gain_names

    assert set(CONTROLLERS) == {*control.CONTROLLERS, OPEN_LOOP}
    assert all(control.FOLLOWS[name] == CONTROLLERS[name].follows for name in control.CONTROLLERS)
    rigs = {name: load(name).build().team for name in ("three-dragonflies-circle", "three-dragonflies-links")}
    asked: list[set[str]] = []
    real = builders.read_gains
    patch = pytest.MonkeyPatch()
    patch.setattr(
        builders, "read_gains", lambda given, known, n: asked.append(set(known)) or real(given, known, n)
    )
    try:
        for team, mechanism in zip(rigs.values(), ("cables", "links"), strict=True):
            for name in control.CONTROLLERS:
                for flavour in control.FLAVOURS:
                    if mechanism in CONTROLLERS[name].mechanisms:
                        control.build(name, team.rig, team.airframes, flavour=flavour)
                        assert asked[-1] == set(gain_names(name, flavour, mechanism))
                    else:
                        with pytest.raises(InputError):
                            control.build(name, team.rig, team.airframes, flavour=flavour)
    finally:
        patch.undo()


def test_rotors_saturate_at_their_own_limits() -> None:
    parts = load("one-dragonfly-circle").parts
    most, least = parts.airframes[0].total_thrust_max, parts.airframes[0].total_thrust_min
    thrust = np.array([[most * 0.99], [most * 1.01], [least * 0.9], [most * 0.99]])
    moment = np.zeros((4, 1, 3))
    moment[3, 0, 0] = 0.05  # two rotors have to push harder than they can, two less than others
    share = rotor_saturation(parts, thrust, moment)
    assert np.allclose(share[:, 0], [0, 1, 1, 0.5])


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
