"""The scenarios that come with skyrig: all read, round-trip, can lift their loads and become live rigs."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from skyrig.constants import GRAVITY
from skyrig.scenario import DEFAULT, Scenario, bundled_text, load, names, schema

NAMES = names()
ASKED_FOR = {
    "one-dragonfly-circle",
    "two-dragonflies-bar",
    "three-dragonflies-circle",
    "three-dragonflies-1m",
    "three-dragonflies-mixed-lengths",
    "three-mixed-vehicles",
    "four-dragonflies-box",
    "six-dragonflies-box",
    "two-dragonflies-links",
    "three-dragonflies-links",
    "five-dragonflies-links",
    "drop-open-loop",
    "drop-recover",
    "three-dragonflies-poke",
    "takeoff-circle-land",
    "figure-8",
    "payload-rotation",
    "six-dragonflies-box-cut",
    "six-dragonflies-thrust-loss",
    "four-dragonflies-box-cut",
    "winch-reel-up",
    "three-dragonflies-gate",
}


def test_every_system_and_story_is_there() -> None:
    assert set(NAMES) >= ASKED_FOR
    assert DEFAULT in NAMES


@pytest.mark.parametrize("name", NAMES)
def test_it_says_what_it_is(name: str) -> None:
    scenario = load(name)
    assert scenario.name == name
    assert scenario.description.endswith(".") and len(scenario.description) > 30
    assert bundled_text(name).startswith("# "), "a comment says what to look for"
    assert scenario.text == bundled_text(name)


@pytest.mark.parametrize("name", NAMES)
def test_it_round_trips(name: str) -> None:
    scenario = load(name)
    again = Scenario.from_text(scenario.to_yaml())
    assert again.spec == scenario.spec
    assert again.to_yaml() == scenario.to_yaml()
    assert again.duration == scenario.duration


@pytest.mark.parametrize("name", NAMES)
def test_the_payload_flies_well_above_the_ground(name: str) -> None:
    scenario = load(name)
    motion = scenario.motions.payload
    if motion is not None:
        corners = scenario.parts.payload.shape.corners
        heights = motion.sample(np.linspace(0.0, scenario.duration, 400)).position[:, 0, 2]
        if scenario.spec.verdict.ends == "standing":
            assert heights[0] + corners[:, 2].min() == pytest.approx(0.0, abs=1e-6)
            assert heights.max() > 1.0
        else:
            assert heights.min() + corners[:, 2].min() > 0.15


@pytest.mark.parametrize("name", NAMES)
def test_it_builds_into_a_rig_that_can_hover_there(name: str) -> None:
    scenario = load(name)
    built = scenario.build()
    thrust = np.array([frame.total_thrust_max for frame in scenario.parts.airframes])
    assert thrust.sum() > 1.2 * scenario.parts.mass * GRAVITY
    assert built.rig.count == scenario.parts.count
    assert built.control_times[0] == 0 and built.control_times[-1] == scenario.duration
    assert np.allclose(np.diff(built.control_times[:-1]), 1 / scenario.spec.loop.control_rate)
    if built.hover is None:
        return
    assert built.hover.exact, built.hover.note
    if scenario.parts.mechanism == "cables":
        assert np.all(built.hover.thrust < 0.9 * thrust)
    groups = built.rig.bodies(built.state)
    payload, vehicles = groups["payload"].only(), groups["vehicles"]
    if built.vehicle_references is not None:
        places = np.stack([each.start.position[0] for each in built.vehicle_references])
        assert np.allclose(np.asarray(vehicles.position).T, places, atol=0.02)
        return
    assert built.reference is not None
    said = scenario.spec.start.payload
    place = built.reference.start.position[0] if said is None else said.position
    assert np.allclose(payload.position, place)
    if scenario.parts.mechanism == "cables":
        ends = np.asarray(payload.position) + scenario.parts.points
        apart = np.linalg.norm(np.asarray(vehicles.position).T - ends, axis=1)
        assert np.allclose(apart, scenario.parts.lengths)


def test_reading_checking_and_describing_need_no_jax() -> None:
    program = (
        "import sys, skyrig.scenario as s; "
        "[s.load(n).remarks for n in s.names() if n != 'three-hummingbirds-poses']; s.schema(); "
        "s.load('figure-8').with_overrides({'seed': 3}).to_yaml(); "
        "print(sorted({'jax', 'equinox', 'matplotlib', 'scipy'} & set(sys.modules))); "
        "s.load('three-hummingbirds-poses').remarks; "  # its way is searched for, with scipy
        "print(sorted({'jax', 'equinox', 'matplotlib'} & set(sys.modules)))"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=600)
    assert ran.stdout.split() == ["[]", "[]"], ran.stdout + ran.stderr


def test_the_schema_names_every_field_with_a_description() -> None:
    made = schema()
    assert made["$schema"].startswith("https://json-schema.org/")
    for title, definition in made["$defs"].items():
        for name, field in definition.get("properties", {}).items():
            if name not in ("mechanism", "type") or "enum" not in field:
                assert field.get("description"), f"{title}.{name}"
    assert made["$defs"]["CableRig"]["properties"]["mechanism"]["enum"] == ["cables"]
    kinds = [entry["properties"]["type"]["const"] for entry in made["$defs"]["Reference"]["anyOf"][1:]]
    assert {"circle", "sequence", "waypoints"} <= set(kinds)


def test_the_documented_example_flies_and_every_field_is_documented() -> None:
    page = (Path(__file__).parents[2] / "docs" / "scenarios.md").read_text(encoding="utf-8")
    example = re.findall(r"```yaml\n(skyrig: 1.*?)```", page, re.S)
    assert len(example) == 1
    scenario = Scenario.from_text(example[0])
    assert scenario.believed.payload.mass == 0.25 and scenario.parts.payload.mass == 0.3
    own = {"VehicleSpec", "PayloadSpec", "Reference"}  # described on their own pages
    for other in ("world", "elastic", "sensors", "soft"):
        page += (Path(__file__).parents[2] / "docs" / f"{other}.md").read_text(encoding="utf-8")
    for title, definition in schema()["$defs"].items():
        for name in definition.get("properties", {}) if title not in own else ():
            assert re.search(rf"[`.]{name}[`.]", page), f"{title}.{name}"
