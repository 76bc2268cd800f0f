"""Changing a scenario by path, as `--set` does."""

from typing import Any

import numpy as np
import pytest

from skyrig.errors import InputError
from skyrig.scenario import load
from skyrig.scenario.overrides import parse_setting, steps_of


@pytest.mark.parametrize(
    "text, path, value",
    [
        ("rig.payload.mass=0.3", "rig.payload.mass", 0.3),
        ("seed=7", "seed", 7),
        ("rig.payload=box", "rig.payload", "box"),
        ("reference.start=[0, 1, 2.5]", "reference.start", [0, 1, 2.5]),
        ("noise={position: 1e-3}", "noise", {"position": 1e-3}),
        (" loop.step = 1.0e-3 ", "loop.step", 1e-3),
        ("description=a: b", None, None),
        ("description='x=y'", "description", "x=y"),
        ("seed", None, None),
        ("=3", None, None),
        ("seed=[1", None, None),
    ],
)
def test_settings_are_typed_as_yaml(text: str, path: str | None, value: Any) -> None:
    if path is None:
        with pytest.raises(InputError, match="^--set"):
            parse_setting(text)
    else:
        assert parse_setting(text) == (path, value)


def test_paths_have_keys_and_indices() -> None:
    assert steps_of("rig.cables[1].length") == ["rig", "cables", 1, "length"]
    assert steps_of("happenings.0.time") == ["happenings", 0, "time"]
    for wrong in ("", ".", "a..b", "a[x]", "a[", "a b", "[0]", "a[0]b"):
        with pytest.raises(InputError, match="is not the path of a field"):
            steps_of(wrong)


def test_shorthands_in_the_way_are_written_out() -> None:
    base = load("three-dragonflies-circle")
    changed = base.with_overrides(
        {
            "rig.payload.mass": 0.3,
            "rig.cables[1].length": 0.7,
            "rig.vehicles[2].type": "race",
            "controller.model": {"payload.mass": 0.25},
            "noise.position": 1e-3,
            "reference.radius": np.float64(0.5),
        }
    )
    assert changed.parts.payload.mass == 0.3 and changed.believed.payload.mass == 0.25
    assert [cable.length for cable in changed.parts.cables] == [0.5, 0.7, 0.5]
    assert [frame.name for frame in changed.parts.airframes] == ["dragonfly", "dragonfly", "race"]
    assert changed.spec.noise.position == 1e-3 and changed.spec.noise.rate == 0.0
    assert base.parts.payload.mass == 0.278, "the scenario itself stays as it is"
    assert (
        load("one-dragonfly-circle").with_overrides({"rig.vehicles.mass": 0.26}).parts.airframes[0].mass
        == 0.26
    )
    assert load("drop-recover").with_overrides({"start.vehicles[0].position": [0, 0, 2.1]}) is not base
    assert base.with_overrides({}) is base


def test_a_payload_of_another_mass_keeps_its_shape() -> None:
    base = load("four-dragonflies-box")
    heavy = base.with_overrides({"rig.payload.mass": 0.5})
    assert np.allclose(heavy.parts.payload.inertia, 2 * np.asarray(base.parts.payload.inertia))


@pytest.mark.parametrize(
    "path, value, sentence",
    [
        ("rig.payload.mas", 1, "did you mean 'mass'"),
        ("rig.paylod.mass", 1, "did you mean 'payload'"),
        ("rig.cables[3].length", 1, "goes from 0 to 2, not 3"),
        ("rig.vehicles[3]", "race", "goes from 0 to 2, not 3"),
        ("happenings[0].time", 1, "goes from 0 to -1, not 0"),
        ("seed.x", 1, "has no part"),
        ("nothing[0]", 1, "there is no list"),
        ("rig.payload.mass", -1, "rig.payload.mass must be above zero, not -1"),
        ("rig.payload.mass", {1, 2}, "not a set"),
        ("duration", float("nan"), "circle.yaml: duration must be a finite number, not nan."),
        ("noise.position", 1e300, "circle.yaml: noise.position must be at most 1e+06 in size, not 1e+300."),
        ("skyrig", 2, "skyrig must be 1"),
    ],
)
def test_what_cannot_be_set_is_told(path: str, value: object, sentence: str) -> None:
    base = load("three-dragonflies-circle").with_overrides({"happenings": []})
    with pytest.raises(InputError) as refusal:
        base.with_overrides({path: value})
    assert sentence in str(refusal.value) and "\n" not in str(refusal.value)
