"""What a scenario's parts must agree on, and how it is told when they do not."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from skyrig.errors import InputError
from skyrig.scenario import Scenario, load

CIRCLE = {"type": "circle", "radius": 1.0, "period": 6.0, "start": [1, 0, 1.5]}
RACE = {
    "name": "mine",
    "mass": 0.9,
    "inertia": [0.003, 0.003, 0.004],
    "layout": "x",
    "arm": 0.1,
    "spin": [1, -1, 1, -1],
    "thrust_coefficient": 1.1e-6,
    "torque_coefficient": 1.7e-8,
    "speed_max": 2400.0,
}


def scenario(**changes: Any) -> dict[str, Any]:
    return {
        "skyrig": 1,
        "name": "test",
        "rig": {
            "mechanism": "cables",
            "vehicles": {"type": "dragonfly", "count": 3},
            "payload": "triangle",
            "cables": {"length": 0.5},
        },
        "reference": CIRCLE,
    } | changes


def rig(**changes: Any) -> dict[str, Any]:
    return scenario()["rig"] | changes


LINKS = {"mechanism": "links", "vehicles": {"type": "dragonfly", "count": 3}, "payload": "triangle"}
WINCH = {"rate": 0.2, "acceleration": 0.5, "shortest": 0.3, "longest": 1.0}
ONE = {
    "mechanism": "cables",
    "vehicles": "dragonfly",
    "payload": "point-mass",
    "cables": {"length": 0.5},
}
FREE = {"controller": "open-loop", "reference": None, "duration": 1.0}


@pytest.mark.parametrize(
    "values, sentence",
    [
        (scenario(rig=rig(vehicles=["dragonfly", "dragonfli"])), "rig.vehicles[1] must name a vehicle"),
        (scenario(rig=rig(vehicles=["dragonfly", "dragonfli"])), "did you mean 'dragonfly'?"),
        (scenario(rig=rig(vehicles=[])), "rig.vehicles must name at least one vehicle"),
        (
            scenario(rig=rig(vehicles={"type": "dragonfly", "count": 4})),
            "rig.cables.attachments must be given",
        ),
        (
            scenario(rig=rig(vehicles=[RACE | {"mass": -1}] * 3)),
            "rig.vehicles[0].mass must be above zero, not -1",
        ),
        (scenario(rig=rig(vehicles=[{"mass": 1.0}] * 3)), "rig.vehicles[0]: the field 'name' is missing"),
        (scenario(rig=rig(payload="trangle")), "rig.payload must name a payload"),
        (
            scenario(rig=rig(payload={"type": "triangle", "mass": 2.0})),
            "12.72 N at most, but everything weighs",
        ),
        (
            scenario(rig=rig(payload={"type": "triangle", "inertia": [1, 1, 9]})),
            "rig.payload.inertia is of no",
        ),
        (
            scenario(rig=rig(cables={"length": [0.5, 0.5]})),
            "rig.cables.length must hold one entry for each of 3",
        ),
        (
            scenario(rig=rig(cables=[{"length": 0.5}])),
            "rig.cables must hold one entry for each of 3 vehicles",
        ),
        (scenario(rig=rig(cables={"length": 0.5, "attachments": "cable-4"})), "did you mean 'cable-3'?"),
        (
            scenario(rig=rig(cables={"length": 0.5, "attachments": "rigid-5"})),
            "must hold 3 points, one a vehicle",
        ),
        (scenario(rig=rig(cables={"length": 0.5, "attachments": [[0, 0, 0]]})), "not 1 attachments"),
        (scenario(rig=rig(cables=[{"length": 0.5, "attachment": [0, 0, 0]}] * 3)), None),
        (
            scenario(
                rig=rig(
                    cables=[{"length": 0.5, "attachment": p} for p in ([0, 0, 0], [0, 0, 0], [0.1, 0, 0])]
                )
            ),
            "rig.cables[1].attachment must differ from that of cable 0",
        ),
        (
            scenario(rig=ONE | {"cables": [{"length": 0.5, "attachment": [0.1, 0, 0]}]}),
            "must be [0, 0, 0] on the",
        ),
        (
            scenario(rig=rig(cables={"length": 2.0, "winch": WINCH})),
            "rig.cables.length must lie within its winch's",
        ),
        (
            scenario(rig=LINKS | {"yaw": [0.0]}),
            "rig.yaw must hold one entry for each of 3 vehicles, not 1 yaw",
        ),
        (scenario(rig=LINKS | {"cables": {"length": 1}}), "rig.cables is not a field here"),
        (scenario(reference=None), "reference is missing: 'geometric' needs a motion to follow"),
        (scenario(reference="hover"), "duration is missing: the reference goes on for ever"),
        (scenario(reference={"vehicles": [CIRCLE]}), "reference.vehicles must list 3 references"),
        (scenario(reference={"payloads": CIRCLE}), "did you mean 'payload'?"),
        (scenario(reference=CIRCLE | {"radius": -1}), "reference.radius must be above zero, not -1"),
        (scenario(reference={"type": "table", "file": "no.csv"}), "no.csv cannot be read"),
        (
            scenario(reference={"type": "sequence", "parts": [{"type": "takeoff"}, CIRCLE]}),
            "reference.parts[1] begins at (1, 0, 1.5) m",
        ),
        (scenario(controller="geometrical"), "did you mean 'geometric'?"),
        (scenario(controller={"gains": {"position": "high"}}), "controller.gains.position must be numbers"),
        (scenario(controller={"held": []}), "controller.held is for open-loop"),
        (
            scenario(controller={"model": {"payload.mas": 1}}),
            "controller.model: rig.payload.mas is not a field",
        ),
        (scenario(controller={"model": {"vehicles.count": 2}}), "controller.model"),
        (scenario(rig=ONE, **FREE), "start.payload is missing"),
        (scenario(rig=ONE, controller="open-loop", reference=None), "duration is missing"),
        (
            scenario(controller={"name": "open-loop", "held": [{"time": 1}]}),
            "held[0].time must be 0 in the first",
        ),
        (
            scenario(controller={"name": "open-loop", "held": [{"thrust": [1]}]}),
            "must hold 3 entries, one a vehicle",
        ),
        (scenario(controller={"name": "open-loop", "held": [{}, {}]}), "held[1].time must be later than 0 s"),
        (
            scenario(controller={"name": "open-loop", "held": [{"thrust": [1, 9, 1]}]}),
            "controller.held[0].thrust[1] must be from 0 to 4.24 N, all its rotors give, not 9",
        ),
        (scenario(start={"vehicles": []}), "start.payload is missing"),
        (
            scenario(start={"payload": {"position": [0, 0, 1]}, "vehicles": []}),
            "must list each of 3 vehicles",
        ),
        (scenario(rig=LINKS, start={"lean": 0.1}), "start.lean is for cables"),
        (
            scenario(
                rig=ONE,
                start={"payload": {"position": [0, 0, 1]}, "vehicles": [{"position": [0, 0, 1.6]}]},
            ),
            "start.vehicles[0].position must be within its cable's 0.5 m of the attachment, not 0.6",
        ),
        (scenario(happenings=[{"type": "cut", "time": 99, "cable": 0}]), "must be before the end at"),
        (
            scenario(happenings=[{"type": "cut", "time": 1, "cable": 3}]),
            "happenings[0].cable must be from 0 to 2",
        ),
        (scenario(rig=LINKS, happenings=[{"type": "cut", "time": 1, "cable": 0}]), "is on rigid links"),
        (scenario(happenings=[{"type": "winch", "time": 1, "length": 1}]), "must be one with a winch"),
        (scenario(happenings=[{"type": "wrench"}]), "must have a force (N) or a torque (N m)"),
        (
            scenario(happenings=[{"type": "wrench", "force": [1, 0, 0], "period": 1}]),
            "happenings[0].width is missing",
        ),
        (
            scenario(
                happenings=[{"type": "thrust-loss", "vehicle": 0, "factor": 0.5, "time": 2, "until": 1}]
            ),
            "happenings[0].until must be after 2 s",
        ),
        (
            scenario(happenings=[{"type": "thrust-loss", "vehicle": 0, "factor": 1.5}]),
            "a number at most 1, not 1.5",
        ),
        (scenario(loop={"control_rate": 1000.0}), "loop.step must be at most a control period (0.001 s)"),
        (scenario(name="../elsewhere"), "name must be letters, digits"),
    ],
)
def test_the_parts_must_agree(values: dict[str, Any], sentence: str | None) -> None:
    if sentence is None:
        Scenario.from_dict(values)
        return
    with pytest.raises(InputError) as refusal:
        Scenario.from_dict(values, "my.yaml")
    assert str(refusal.value).startswith("my.yaml: ")
    assert sentence in str(refusal.value)


def test_a_vehicle_of_your_own_and_a_changed_one_stand_side_by_side() -> None:
    made = Scenario.from_dict(scenario(rig=rig(vehicles=[RACE, {"type": "race", "mass": 1.9}, "dragonfly"])))
    own, heavy, plain = made.parts.airframes
    assert (own.name, own.mass) == ("mine", 0.9)
    assert heavy.mass == 1.9 and np.allclose(np.diag(heavy.inertia), [6e-3, 6e-3, 8e-3])
    assert plain.name == "dragonfly"


def test_the_controller_may_believe_another_mass() -> None:
    made = Scenario.from_dict(
        scenario(controller={"model": {"payload": {"mass": 0.4}, "cables.length": 0.6}})
    )
    assert made.parts.payload.mass == 0.278 and made.believed.payload.mass == 0.4
    assert [cable.length for cable in made.parts.cables] == [0.5] * 3
    assert [cable.length for cable in made.believed.cables] == [0.6] * 3


def test_files_that_a_reference_names_lie_beside_the_scenario(tmp_path: Path) -> None:
    rows = "t,x,y,z\n" + "".join(f"{t / 10},{np.sin(t / 10)},0,1\n" for t in range(30))
    (tmp_path / "flown.csv").write_text(rows)
    text = """
        {skyrig: 1, name: test, duration: 2.0, reference: {type: table, file: flown.csv},
         rig: {mechanism: cables, vehicles: dragonfly, payload: point-mass, cables: {length: 0.5}}}
    """
    (tmp_path / "scenario.yaml").write_text(text)
    made = load(tmp_path / "scenario.yaml")
    assert made.motions.duration == 2.9
    again = Scenario.from_text(made.to_yaml(), directory="/nowhere")
    assert again.spec == made.spec, "the resolved scenario can be read from anywhere"
