"""Many flights at once are the same flights: each row's numbers are those of `skyrig.fly`."""

import numpy as np
import pytest

from skyrig import InputError, fly, fly_many, load
from skyrig.runs.batches import Flights
from skyrig.runs.columns import of_flight
from skyrig.scenario.vary import changes

POKE = {"duration": 1.0, "happenings.0.time": 0.3}
LINKS = {"duration": 0.5}


def worst(scenario, flights: Flights, rows: int = 2) -> float:
    """Largest difference between rows of a batch and the same flights flown alone."""
    found = 0.0
    for k, row in enumerate(changes(flights.inputs)[:rows]):
        flight = fly(scenario.with_overrides(row))
        alone = of_flight(flight)
        assert flight.verdict == flights.verdicts[k]
        assert set(alone) == set(flights.metrics)
        found = max(found, *(abs(value - flights.metrics[name][k]) for name, value in alone.items()))
    return found


@pytest.mark.slow
def test_cables_that_go_slack_at_different_times_are_flown_as_alone() -> None:
    scenario = load("three-dragonflies-poke").with_overrides(POKE)
    how = {
        "rig.payload.mass": "uniform(0.2, 0.25)",
        "happenings.0.time": "uniform(0.2, 0.4)",
        "happenings.0.impulse.2": "uniform(0.08, 0.15)",
        "noise.position": "uniform(0.0, 0.0005)",
        "verdict.ground": "choice(0.0, 1.48)",
    }
    flights = fly_many(scenario, 8, how, seed=1)
    # a load that dips below the ground comes back to its reference, and yet has crashed
    high = flights.inputs["verdict.ground"] > 0
    assert not flights.failures and flights.metrics["position_last"].max() < 0.5
    assert (flights.verdict == np.where(high, "crashed", "flew")).all() and len(set(high[:4])) == 2
    assert flights.metrics["tension_min.1"].max() == 0.0
    assert flights.metrics["events.slack"].min() >= 1 and flights.metrics["slack_time.1"].min() > 0.01
    assert worst(scenario, flights, 4) < 1e-9


@pytest.mark.slow
def test_links_gains_and_starts_are_flown_as_alone_and_bad_rows_are_told() -> None:
    scenario = load("three-dragonflies-links").with_overrides(LINKS)
    how = {
        "controller.gains.damping": "uniform(0.7, 1.0)",
        "rig.payload.mass": "choice(0.2, 0.25, -1.0)",
    }
    flights = fly_many(scenario, 8, how, seed=1)
    bad = flights.inputs["rig.payload.mass"] < 0
    assert 0 < bad.sum() < 8 and set(flights.failures) == set(np.flatnonzero(bad))
    assert all("mass" in reason and reason.endswith(".") for reason in flights.failures.values())
    assert np.isnan(flights.metrics["position_rmse"][bad]).all() and not flights.success[bad].any()
    good = {name: column[~bad] for name, column in flights.inputs.items()}
    kept = {name: column[~bad] for name, column in flights.metrics.items()}
    verdicts = tuple(it for it, wrong in zip(flights.verdicts, bad, strict=True) if not wrong)
    assert worst(scenario, Flights(good, kept, verdicts)) < 1e-9
    assert (flights.verdict == np.where(bad, "not flown", "flew")).all()
    again = fly_many(scenario, 8, how, seed=1, threads=1)
    assert all(np.array_equal(again.metrics[name], flights.metrics[name], equal_nan=True) for name in kept)


HAPPENING = [
    ("four-dragonflies-box-cut", {"duration": 0.5, "happenings.0.time": 0.2}),
    ("drop-recover", {"duration": 0.5, "loop.rotor_lag": 0.03, "loop.delay": 2}),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "short"), HAPPENING)
def test_cuts_drops_lagging_rotors_and_late_commands_are_flown_as_alone(
    name: str, short: dict[str, float]
) -> None:
    scenario = load(name).with_overrides(short)
    mass = float(scenario.build().team.payload.mass)
    how = {"rig.payload.mass": f"uniform({0.97 * mass}, {mass})", "noise.position": "uniform(0, 0.0005)"}
    how["controller.factors.vehicle_mass"] = "uniform(0.98, 1.02)"
    flights = fly_many(scenario, 4, how, seed=1)
    assert not flights.failures and flights.metrics["slack_time.0"].min() > 0.2
    assert worst(scenario, flights, 1) < 1e-9


def test_flights_without_a_controller_fly_alone() -> None:
    scenario = load("drop-open-loop").with_overrides({"duration": 0.2})
    flights = fly_many(scenario, 2, {"rig.payload.mass": "uniform(0.1, 0.2)"})
    assert worst(scenario, flights) == 0 and len(flights) == 2


@pytest.mark.parametrize(
    ("n", "seed", "words"), [(0, 0, "n must"), (2, -1, "seed must"), (2, 2**32, "seed must")]
)
def test_nonsense_is_refused(n: int, seed: int, words: str) -> None:
    with pytest.raises(InputError, match=words):
        fly_many("three-dragonflies-links", n, seed=seed)
