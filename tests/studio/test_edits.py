"""The panel's fields: untouched they change nothing, and what cannot be flown is said as the CLI says it."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from skyrig.errors import InputError
from skyrig.scenario import load, names
from skyrig.studio.edits import MIXED, edited, form_of, spread
from skyrig.studio.tab_scenario import TEMPLATES
from skyrig.vehicles import payload


@pytest.mark.parametrize("name", names())
def test_untouched_fields_change_nothing(name: str) -> None:
    scenario = load(name)
    assert edited(scenario, form_of(scenario)) is scenario


def changed(name: str, others: str = "", **fields: Any) -> Any:
    scenario = load(name)
    return edited(scenario, replace(form_of(scenario), **fields), others)


def test_every_reference_that_is_offered_can_be_flown() -> None:
    for kind, text in TEMPLATES.items():
        it = changed("three-dragonflies-poke", reference=text)
        assert it.values["reference"]["type"] == kind


def test_every_field_does_what_it_says() -> None:
    it = changed(
        "three-dragonflies-circle",
        "seed=7\nloop.step=0.001\n",
        kind="hummingbird",
        mass=0.3,
        lengths="0.5, 0.6, 0.7",
        reference="{type: hover, start: [0, 0, 2], duration: 5}",
        gains="{damping: 0.8}",
        flavour="full",
        noise_rate=0.01,
    )
    assert [frame.name for frame in it.parts.airframes] == ["hummingbird"] * 3
    assert it.parts.payload.mass == 0.3 and [cable.length for cable in it.parts.cables] == [0.5, 0.6, 0.7]
    assert it.duration == 5 and it.spec.noise.rate == 0.01 and it.controller.gains == {"damping": 0.8}
    assert it.spec.seed == 7 and it.spec.loop.step == 0.001


def test_teams_of_any_number_find_a_hold() -> None:
    five = changed("six-dragonflies-box", count=5)
    assert five.parts.count == 5 and len({tuple(point) for point in five.parts.points}) == 5
    mixed = changed("three-dragonflies-circle", kind=MIXED, team="race, dragonfly")
    assert [frame.name for frame in mixed.parts.airframes] == ["race", "dragonfly"]
    assert changed("three-dragonflies-circle", payload="box", count=4).parts.payload.name == "box"
    points = np.asarray(spread(payload("box").shape, 8))
    half = payload("box").shape.corners.max(0)
    assert (np.abs(points) <= half + 1e-9).all() and np.isclose(points[:, 2], half[2]).all()


def test_the_mechanism_changes_both_ways() -> None:
    linked = changed("three-dragonflies-circle", mechanism="links")
    assert linked.parts.mechanism == "links" and not linked.parts.tethers
    assert changed("six-dragonflies-box", mechanism="links").parts.count == 6
    slung = changed("three-dragonflies-links", mechanism="cables", lengths="0.7")
    assert [cable.length for cable in slung.parts.cables] == [0.7] * 3


@pytest.mark.parametrize(
    "fields, words",
    [
        ({"mass": -1.0}, "rig.payload.mass must be above zero, not -1"),
        ({"mass": 99.0}, "the team pushes 12.72 N at most"),
        ({"lengths": "0.5, x"}, "must be numbers separated by commas"),
        ({"lengths": "0.5, 0.6"}, "rig.cables.length"),
        ({"reference": "{type: circel}"}, "did you mean 'circle'"),
        ({"reference": "{type: [}"}, "YAML"),
        ({"gains": "{postion: 2}"}, "did you mean 'position'"),
        ({"kind": MIXED, "team": "dragonfly, rice, race"}, "rice"),
        ({"others": "rig.payload.mas=2"}, "did you mean 'mass'"),
        ({"others": "nonsense"}, "must be path=value"),
    ],
)
def test_what_cannot_be_is_told_in_a_sentence(fields: dict, words: str) -> None:
    others = fields.pop("others", "")
    with pytest.raises(InputError, match=".") as refused:
        changed("three-dragonflies-circle", others, **fields)
    assert words in str(refused.value) and "\n" not in str(refused.value)


def test_a_floor_comes_with_a_tick_and_goes_with_it() -> None:
    it = changed("one-dragonfly-hover", "verdict.ground=0.2", floor=True)
    assert it.spec.world.ground.height == 0.2
    assert form_of(it).floor and edited(it, form_of(it)) is it
    assert edited(it, replace(form_of(it), floor=False)).spec.world.ground is None
    own = load("takeoff-circle-land")
    assert edited(own, replace(form_of(own), floor=True)) is own  # it has its own
