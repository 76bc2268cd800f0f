"""Controllers that hold up: through noise, wrong models, lag and delay, and for as long as one likes."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from skyrig import fly, load
from skyrig.control.cable_belief import CUT, TAUT
from skyrig.control.known import OPEN_LOOP
from skyrig.flight import Flight
from skyrig.scenario import names

pytestmark = pytest.mark.slow

SLOW = {"six-multilift-figure-8", "three-dragonflies-gate", "soft-carry", "soft-grasp"}
"""Plans at every tick, and soft fingers, take minutes for flights this long: they have tests of their own."""
FLOWN = sorted(name for name in set(names()) - SLOW if load(name).controller.name != OPEN_LOOP)
LONG = 120.0


def away(flight: Flight) -> np.ndarray:
    """Distance of the payload from its reference, or of the vehicle that is farthest from its own (m)."""
    if flight.reference is not None:
        return np.linalg.norm(flight.payload.position - flight.reference.position, axis=1)
    return np.linalg.norm(flight.vehicles.position - flight.vehicle_references.position, axis=2).max(1)


@pytest.mark.parametrize("name", FLOWN)
def test_every_bundled_scenario_settles_and_stays(name):
    """Flown for two minutes, whatever it is for: the last ten seconds are calm, and no worse than before."""
    flight = fly(load(name).with_overrides({"duration": LONG}))
    errors, times = away(flight), flight.times
    last, before = errors[times > LONG - 10], errors[(times > LONG - 30) & (times < LONG - 20)]
    bound = 2 * load(name).spec.noise.position + 0.002
    assert last.max() < bound
    assert last.max() < 1.5 * before.max() + 1e-6
    if name == "four-dragonflies-box-cut":
        # three cables hold the parcel still but not level: its middle is right on a diagonal
        assert np.abs(flight.payload.rate[times > LONG - 10]).max() < 1e-3
        assert flight.cables.tension[-1, 1:].min() > 0.1


@pytest.mark.parametrize("noise", [0.001, 0.003, 0.01])
def test_noise_in_positions_makes_no_cable_slack_or_cut(noise):
    flight = fly(load("three-dragonflies-circle").with_overrides({"noise.position": noise}))
    assert away(flight).max() < 2 * noise
    assert np.all(flight.signals["cable_belief"] == TAUT)


def test_noise_in_the_first_measurements_makes_no_cable_slack_either():
    # speeds are exact here, and the first distances blurred by more than the margins of a settled estimate
    flight = fly(
        load("three-dragonflies-circle").with_overrides(
            {
                "noise.position": 0.0136512149,
                "rig.payload.mass": 0.190728025,
                "seed": 2027547918,
                "duration": 2.0,
            }
        )
    )
    assert flight.verdict.flew and away(flight).max() < 0.02
    assert not np.asarray(flight.signals["cable_belief"]).any()


@pytest.mark.parametrize("seed", [2, 6])
def test_what_begins_a_rounding_error_apart_stays_so(seed):
    """With these seeds, commands once leapt by 1e-5 in a tick in which noise made cables look slack."""

    def flown(x):
        start = {"payload": {"position": [x, 0.0, 1.5]}}
        changes = {"noise.position": 0.01, "duration": 3.0, "seed": seed, "start": start}
        return fly(load("three-dragonflies-circle").with_overrides(changes))

    one, other = flown(1.0), flown(1.0 + 1e-14)
    assert 0 < np.abs(one.payload.position - other.payload.position).max() < 1e-12
    assert np.abs(one.inputs.commanded_moment - other.inputs.commanded_moment).max() < 1e-12


def test_a_cut_is_believed_soon_and_only_where_it_is():
    flight = fly("six-dragonflies-box-cut")
    belief = flight.signals["cable_belief"]
    assert np.all(belief[:, 1:] == TAUT)
    seen = flight.inputs.times[np.argmax(belief[:, 0] == CUT)]
    assert 3.0 < seen < 3.2
    assert np.all(belief[flight.inputs.times < 3.0, 0] == TAUT)


STANDARD = ["three-dragonflies-circle", "three-dragonflies-links", "six-dragonflies-thrust-loss"]


@pytest.mark.parametrize("name", STANDARD)
def test_none_falls_under_the_standard_of_noise_and_wrong_models(name):
    """A small part of `benchmarks/robustness.py`; a loss of thrust from 3 to 8 s is in it."""
    bench = _benchmark()
    flown = bench.fly(name, 8, 9.0)
    assert not bench.fallen(flown).any(), flown.failures
    assert flown.metrics["position_peak"].max() < 0.4


def _benchmark():
    path = Path(__file__).parents[2] / "benchmarks" / "robustness.py"
    spec = importlib.util.spec_from_file_location("robustness", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
