"""What holds for every mechanism that is registered, ours and the one of the documentation's page."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from pages import write_files

import skyrig
from skyrig import algebra, register
from skyrig.flight import Flight
from skyrig.rigs.protocol import Loads, Rig
from skyrig.scenario import Scenario
from skyrig.scenario.registry import MECHANISMS
from skyrig.sim.batch import advance, pick, stack
from skyrig.sim.plant import Effort

PAGE = Path(__file__).parents[2] / "docs" / "extending.md"
SAMPLES = {
    "cables": "three-dragonflies-circle",
    "elastic": "three-dragonflies-circle",
    "links": "three-dragonflies-links",
    "rubber-band": "band.yaml",
}
"""A scenario of every mechanism; a new one without a sample here is a failure."""
OTHERWISE = {"gripper"}
"""Those without a derivative or a hover, which step themselves; tests/soft holds a gripper to the same."""
CHANGES: dict[str, dict[str, Any]] = {"elastic": {"rig.mechanism": "elastic", "rig.segments": 1}}
"""Of a scenario that is not of the mechanism by itself; one segment, since nodes are no bodies."""
ORDERS = {"elastic": 2}
"""Of integrators that are not of fourth order."""
GRAVITY = jnp.array([0.0, 0.0, -9.81])


class Sample(NamedTuple):
    """A rig on its way: away from hover, and with thrusts that are not those of hover."""

    scenario: Scenario
    rig: Any
    state: Any
    loads: Loads
    masses: dict[str, np.ndarray]
    inertias: dict[str, np.ndarray]
    hover: Any


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    place = tmp_path_factory.mktemp("page")
    write_files(PAGE.read_text(encoding="utf-8"), place)
    register.file(place / "mine.py")
    yield place


@pytest.fixture(scope="module", params=sorted(SAMPLES))
def it(request: pytest.FixtureRequest, folder: Path) -> Sample:
    name = SAMPLES[request.param]
    scenario = skyrig.load(folder / name if name.endswith(".yaml") else name)
    scenario = scenario.with_overrides(CHANGES.get(request.param, {}))
    assert scenario.parts.mechanism == request.param
    built = scenario.build()
    hover, n = built.hover, built.rig.count
    assert hover is not None
    groups = built.rig.bodies(hover.state)
    drift = np.array([[0.3], [-0.2], [0.1]])
    # everything moves and turns as one: no joint is strained, whatever it is
    load = groups["payload"]
    spin = np.array([[0.2], [0.1], [0.3]])
    moved = {}
    for group, them in groups.items():
        turn = algebra.rotation_matrix(them.attitude)
        swing = np.cross(spin.T, np.asarray(them.position - load.position).T).T
        rate = algebra.apply_transposed(turn, spin + 0 * them.rate)
        moved[group] = type(them)(them.position, drift + swing + 0 * them.velocity, them.attitude, rate)
    state = built.rig.shifted(hover.state, moved)
    chance = np.random.default_rng(1)
    thrust = hover.thrust * (1 + 0.05 * chance.standard_normal(n))
    moment = hover.moment.T + 1e-3 * chance.standard_normal((3, n))
    parts = {"vehicles": scenario.parts.airframes, **scenario.parts.loads}
    point = np.zeros((3, 3))
    return Sample(
        scenario,
        built.rig,
        state,
        Loads(jnp.asarray(thrust), jnp.asarray(moment)),
        {group: jnp.array([one.mass for one in them]) for group, them in parts.items()},
        {
            group: jnp.stack([point if one.inertia is None else one.inertia for one in them], axis=-1)
            for group, them in parts.items()
        },
        hover,
    )


def test_every_mechanism_has_a_sample(folder: Path) -> None:
    assert set(SAMPLES) | OTHERWISE == set(MECHANISMS)


def along_motion(it: Sample, what: Any) -> Any:
    """The time derivative of a function of the bodies, by the rig's own derivative."""
    rate = it.rig.derivative(0.0, it.state, it.loads)

    def of(motion: Any) -> Any:
        return what(type(it.state)(motion, it.state.mode))

    return jax.jvp(of, (it.state.motion,), (rate,))[1]


def test_forces_from_outside_alone_change_the_momentum(it: Sample) -> None:
    def momentum(state: Any) -> Any:
        groups = it.rig.bodies(state)
        return sum((it.masses[name] * them.velocity).sum(1) for name, them in groups.items())

    craft = it.rig.bodies(it.state)["vehicles"]
    thrust = (it.loads.thrust * algebra.rotation_matrix(craft.attitude)[:, 2]).sum(1)
    weight = sum(mass.sum() for mass in it.masses.values()) * GRAVITY
    assert np.abs(along_motion(it, momentum) - thrust - weight).max() < 1e-12


def test_moments_from_outside_alone_change_the_angular_momentum(it: Sample) -> None:
    def turning(state: Any) -> Any:
        total = 0.0
        for name, them in it.rig.bodies(state).items():
            spin = algebra.apply(it.inertias[name], them.rate)
            own = algebra.apply(algebra.rotation_matrix(them.attitude), spin)
            total = total + (algebra.cross(them.position, it.masses[name] * them.velocity) + own).sum(1)
        return total

    groups = it.rig.bodies(it.state)
    craft = groups["vehicles"]
    rotation = algebra.rotation_matrix(craft.attitude)
    moment = algebra.cross(craft.position, it.loads.thrust * rotation[:, 2])
    moment = (moment + algebra.apply(rotation, it.loads.moment)).sum(1)
    for name, them in groups.items():
        moment = moment + algebra.cross(them.position, it.masses[name] * GRAVITY[:, None]).sum(1)
    assert np.abs(along_motion(it, turning) - moment).max() < 1e-12


def test_thrust_and_weight_alone_do_work(it: Sample) -> None:
    def energy(state: Any) -> Any:
        total = it.rig.stored(state)
        for name, them in it.rig.bodies(state).items():
            spin = algebra.apply(it.inertias[name], them.rate)
            turning = (them.rate * spin).sum() / 2
            heights = -(it.masses[name] * (GRAVITY @ them.position)).sum()
            total = total + (it.masses[name] * (them.velocity**2).sum(0)).sum() / 2 + turning + heights
        return total

    craft = it.rig.bodies(it.state)["vehicles"]
    up = algebra.rotation_matrix(craft.attitude)[:, 2]
    power = (it.loads.thrust * (up * craft.velocity).sum(0)).sum() + (it.loads.moment * craft.rate).sum()
    assert abs(float(along_motion(it, energy)) - float(power)) < 1e-12


def test_hover_is_an_equilibrium(it: Sample) -> None:
    loads = Loads(jnp.asarray(it.hover.thrust), jnp.asarray(it.hover.moment.T))
    rate = it.rig.derivative(0.0, it.hover.state, loads)
    assert max(float(np.abs(leaf).max(initial=0.0)) for leaf in jax.tree.leaves(rate)) < 1e-9


def test_compiled_and_not_are_the_same(it: Sample) -> None:
    compiled = jax.jit(lambda rig, state, loads: rig.derivative(0.0, state, loads))
    one, other = compiled(it.rig, it.state, it.loads), it.rig.derivative(0.0, it.state, it.loads)
    for a, b in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True):
        assert np.allclose(a, b, rtol=1e-12, atol=1e-12)


def places(rig: Rig, state: Any) -> np.ndarray:
    """Where all bodies are, (3, bodies, *batch)."""
    return np.concatenate([np.asarray(them.position) for them in rig.bodies(state).values()], axis=1)


@pytest.fixture(scope="module")
def ends(it: Sample) -> dict[int, np.ndarray]:
    """Where all bodies are after 0.08 s in so many steps."""
    effort = Effort(it.loads.thrust, it.loads.moment)
    found = {}
    for steps in (4, 8, 128):
        end, log = advance(it.rig, it.state, effort, 0.08 / steps, steps)
        assert int(log.count) == 0
        found[steps] = places(it.rig, end)
    return found


def test_the_integrator_is_of_its_order(it: Sample, ends: dict[int, np.ndarray]) -> None:
    coarse, fine = (float(np.abs(ends[steps] - ends[128]).max()) for steps in (4, 8))
    whole = 2 ** ORDERS.get(it.rig.mechanism, 4)
    assert fine > 1e-12 and 0.6 * whole < coarse / fine < 1.63 * whole


def test_a_batch_flies_as_each_alone(it: Sample, ends: dict[int, np.ndarray]) -> None:
    effort = Effort(it.loads.thrust, it.loads.moment)
    less = Effort(0.9 * it.loads.thrust, it.loads.moment)
    rigs, states, efforts = (stack(pair) for pair in ([it.rig] * 2, [it.state] * 2, [effort, less]))
    end, _ = advance(rigs, states, efforts, 0.08 / 8, 8)
    assert np.abs(places(it.rig, pick(end, 0)) - ends[8]).max() < 1e-12
    alone, _ = advance(it.rig, it.state, less, 0.08 / 8, 8)
    assert np.abs(places(it.rig, pick(end, 1)) - places(it.rig, alone)).max() < 1e-12


@pytest.mark.slow
def test_gradients_agree_with_differences(it: Sample) -> None:
    weights = np.random.default_rng(2).standard_normal(3)

    def end(share: Any) -> Any:
        thrust = share * it.loads.thrust
        flown = skyrig.rollout(it.rig, it.state, [0.0, 0.05], thrust, it.loads.moment.T, at=[0.05], step=0.01)
        return (flown.payload.position[-1] * weights).sum()

    size = 1e-4
    slope = (float(end(1 + size)) - float(end(1 - size))) / (2 * size)
    assert float(jax.jvp(end, (1.0,), (1.0,))[1]) == pytest.approx(slope, rel=1e-6)
    assert float(jax.grad(end)(1.0)) == pytest.approx(slope, rel=1e-6)


def test_a_flight_of_it_is_saved_and_read(it: Sample, tmp_path: Path) -> None:
    flight = skyrig.fly(it.scenario.with_overrides({"duration": 0.1}))
    same = Flight.load(flight.save(tmp_path))
    assert list(same.bodies) == list(flight.bodies) and list(same.signals) == list(flight.signals)
    for name, them in flight.bodies.items():
        assert np.array_equal(them.position, same.bodies[name].position)
    for name, signal in flight.signals.items():
        assert np.array_equal(np.asarray(signal), np.asarray(same.signals[name]))
        assert same.signals[name].unit == signal.unit
    assert same.events == flight.events and same.scenario == flight.scenario


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("rig.vehicles", [], "rig.vehicles"),
        ("rig.vehicles", "dragonfyl", "dragonfly"),
        ("rig.payload", "nothing", "rig.payload"),
        ("rig.nonsense", 1.0, "rig.nonsense is not a field here"),
        ("rig.mechanism", "glue", "rig.mechanism must be one of"),
    ],
)
def test_what_cannot_be_is_told_in_a_sentence(it: Sample, path: str, value: Any, words: str) -> None:
    with pytest.raises(skyrig.InputError) as refused:
        it.scenario.with_overrides({path: value})
    assert words in str(refused.value) and str(refused.value).count("\n") == 0
