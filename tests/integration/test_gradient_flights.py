"""Gradients of a whole closed-loop flight's tracking cost, and gains tuned by them."""

import json

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from skyrig.cli import main
from skyrig.errors import InputError
from skyrig.runs.flying import loop_arguments, make_controller
from skyrig.runs.tuning import tune, usual
from skyrig.scenario import Scenario, load
from skyrig.sim.tracking import QUICK, tracking

TICKS = 1000


def prepared(name, **changes):
    built = (
        load(name)
        .with_overrides({"controller.flavour": "published", "duration": TICKS / 100, **changes})
        .build()
    )
    return tracking(**loop_arguments(built, make_controller(built)))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["one-dragonfly-circle", "three-dragonflies-circle"])
def test_reverse_mode_through_a_thousand_ticks_agrees_with_differences(name):
    flight = prepared(name)
    own = flight.controller
    assert flight.pilot.times.shape[0] == TICKS

    def cost(factors):
        """The cost with some gains, the masses and the cables' lengths scaled."""
        position, velocity, cable, payload, vehicle, length = factors
        gains = eqx.tree_at(
            lambda it: (it.position, it.velocity, it.cable),
            own.gains,
            (position * own.gains.position, velocity * own.gains.velocity, cable * own.gains.cable),
        )
        changed = flight.with_controller(eqx.tree_at(lambda it: it.gains, own, gains))
        changed = changed.with_lengths(length * flight.plant.rig.length)
        masses = (payload * flight.plant.rig.payload_mass, vehicle * flight.plant.rig.mass)
        return eqx.tree_at(lambda it: (it.plant.rig.payload_mass, it.plant.rig.mass), changed, masses).cost(
            0.01
        )

    one = jnp.ones(6)
    compiled = jax.jit(jax.grad(cost), compiler_options=QUICK).lower(one).compile()
    slope = np.asarray(compiled(one))
    assert compiled.memory_analysis().temp_size_in_bytes < 200e6
    value = jax.jit(cost)
    h = 1e-5
    differences = [float(value(one.at[i].add(h)) - value(one.at[i].add(-h))) / (2 * h) for i in range(6)]
    assert np.all(slope != 0)
    np.testing.assert_allclose(slope, differences, rtol=1e-5)


@pytest.mark.slow
def test_tuning_lowers_errors_on_flights_it_has_not_seen(tmp_path, capsys):
    main([
        "tune", "one-dragonfly-circle", "--set", "controller.flavour=published", "--flights", "2",
        "--held-out", "2", "--iterations", "6", "--out", str(tmp_path),
    ])  # fmt: skip
    told = capsys.readouterr().out
    folder = tmp_path / "one-dragonfly-circle"
    numbers = json.loads((folder / "tune.json").read_text())
    assert numbers["improvement"]["held_out"] > 0.3, told
    assert min(numbers["history"]) < 0.6 and len(numbers["history"]) == 7
    assert [flight["held_out"] for flight in numbers["flights"]] == [False, False, True, True]
    tuned = Scenario.load(folder / "scenario.yaml")
    assert tuned.controller.gains == numbers["gains"]
    assert "held out" in (folder / "report.md").read_text() and (folder / "curve.png").stat().st_size > 1000


def test_what_cannot_be_tuned_is_said_in_a_sentence():
    scenario = load("one-dragonfly-circle")
    for name, changes, words in (
        ("drop-open-loop", {}, "controller.name must be one that makes the payload follow"),
        ("one-dragonfly-circle", {"parameters": ["positon"]}, "must be gains among position"),
        ("one-dragonfly-circle", {"flights": 0}, "flights must be at least 1, not 0."),
    ):
        with pytest.raises(InputError, match=words):
            tune(load(name), **changes)
    assert list(usual(scenario)) == ["reference.radius", "reference.period"]
