"""Elastic cables: what a physicist would check of springs, waves, snaps and folds."""

from types import SimpleNamespace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

import skyrig
from skyrig.rigs import Cable, Elastic, Loads, Material, Winch
from skyrig.rigs.elastic.chain import course_now
from skyrig.rigs.elastic.energy import energy
from skyrig.sim.batch import advance, pick, stack
from skyrig.sim.log import Log
from skyrig.sim.plant import Effort, Plant
from skyrig.sim.stepping import step

GRAVITY = 9.81
WALL = SimpleNamespace(mass=1e12, inertia=1e12 * np.eye(3))
"""A vehicle so heavy that nothing moves it: the ceiling."""
STIFF = {"stiffness": 1e5, "damping": 1e3}
"""The report's cable (section 4.1)."""


def point(mass: float) -> SimpleNamespace:
    return SimpleNamespace(mass=mass, inertia=None)


def held(rig: Any) -> Effort:
    """Ceilings that hover."""
    return Effort(rig.mass * GRAVITY, jnp.zeros((3, *rig.mass.shape)))


@jax.jit
def watched(rig: Any, state: Any, effort: Effort, dt: Any, count: Any) -> tuple[Any, Any, Any]:
    """The end of so many steps, the log, and after each the payload's place and the energies (J)."""
    plant = Plant(rig, integrator=rig.integrator)

    def one(carry: Any, index: Any) -> Any:
        at, log = carry
        at, log = step(plant, index * dt, at, effort, dt, log, index)
        now = energy(rig, at.rig)
        kept = (at.rig.payload.position, now.kinetic + now.stored, now.total)
        return (at, log), kept

    begin = plant.start(state)
    (end, log), kept = jax.lax.scan(one, (begin, Log.empty(plant, begin, 1)), jnp.arange(count.shape[0]))
    return end.rig, log, kept


# two hundred flights are dear enough for their program to be made faster than others of the tests
flung = jax.jit(watched.__wrapped__, compiler_options={"xla_backend_optimization_level": 1})
AT_ONCE = 20
"""Flung about by one program."""


def hung(segments: int, masses: tuple[float, ...] = (0.1, 0.5, 1.0, 5.0)) -> tuple[Any, Any]:
    """The report's single cable with each of its weights, let go unstretched; a batch."""
    rigs = [
        Elastic.build([WALL], point(m), [Cable(1.0)], Material(**STIFF, mass_per_metre=2e-4), segments)
        for m in masses
    ]
    states = [rig.state([0.0, 0.0, -1.0], [[0.0, 0.0, 0.0]]) for rig in rigs]
    return stack(rigs), stack(states)


@pytest.mark.parametrize("segments", [10, pytest.param(20, marks=pytest.mark.slow)])
def test_a_cable_is_as_stiff_as_it_is_said_to_be_and_answers_like_a_spring(segments: int) -> None:
    rigs, states = hung(segments)
    dt, steps = 1e-3, 400
    _, log, (place, _, _) = watched(rigs, states, held(rigs), dt, np.zeros(steps))
    assert not np.any(log.trouble)
    mass = np.asarray(rigs.payload_mass)
    times = dt * np.arange(1, steps + 1)[:, None]
    # the ideal second-order response of report section 4.1, from the unstretched length
    decay, rest = 1e3 / (2 * mass), mass * GRAVITY / 1e5
    slow, fast = (-decay + sign * np.sqrt(0j + decay**2 - 1e5 / mass) for sign in (1, -1))
    ideal = rest * (1 - (fast * np.exp(slow * times) - slow * np.exp(fast * times)) / (fast - slow)).real
    own = 2e-4 * GRAVITY / (2 * 1e5)  # by which the cable's own weight stretches it
    fall = -1.0 - np.asarray(place)[:, 2] - own
    stiffness = mass * GRAVITY / fall[-1]
    assert np.abs(stiffness / 1e5 - 1).max() < 1e-4
    error = np.sqrt(((fall - ideal) ** 2).mean(0)) / rest
    assert error.max() < 1e-3


def test_six_cables_overshoot_as_their_damping_ratio_says() -> None:
    angle = np.arange(6) * np.pi / 3
    ways = np.stack(
        [np.sin(np.pi / 6) * np.cos(angle), np.sin(np.pi / 6) * np.sin(angle), 0 * angle + np.cos(np.pi / 6)],
        1,
    )
    rigs = [
        Elastic.build([WALL] * 6, point(m), [Cable(1.0)] * 6, Material(**STIFF, mass_per_metre=2e-4), 10)
        for m in (6.0, 30.0, 60.0)
    ]
    states = [rig.state([0.0, 0.0, 0.0], ways) for rig in rigs]
    rig = stack(rigs)
    _, _, (place, _, _) = watched(rig, stack(states), held(rig), 1e-3, np.zeros(600))
    fall = -np.asarray(place)[:, 2]
    overshoot = 100 * (fall.max(0) / fall[-1] - 1)
    # k and c along z are 6 cos(30 degrees)^2 times a cable's
    k, c, mass = 4.5e5, 4.5e3, np.array([6.0, 30.0, 60.0])
    ratio = c / (2 * np.sqrt(k * mass))
    theory = 100 * np.where(ratio < 1, np.exp(-np.pi * ratio / np.sqrt(np.maximum(1 - ratio**2, 1e-9))), 0.0)
    assert np.abs(theory - [0.0, 8.8, 22.1]).max() < 0.1
    assert np.abs(overshoot - theory).max() < 0.2


def test_a_pendulum_swings_on() -> None:
    rig = Elastic.build([WALL], point(1.0), [Cable(1.0)], Material(**STIFF, mass_per_metre=1e-3), 10)
    start = np.array([np.sin(np.pi / 4), 0.0, -np.cos(np.pi / 4)])
    state = rig.state(start * (1 + 9.81 * np.cos(np.pi / 4) / 1e5), [[0.0, 0.0, 0.0]])
    _, _, (place, _, _) = watched(rig, state, held(rig), 4e-3, np.zeros(2500))
    x, _, z = np.asarray(place).T
    last = np.degrees(np.arctan2(np.abs(x), -z))[-300:].max()  # half a period is 1.04 s
    assert 44.97 <= last <= 45.0


def team(rng: Any, segments: int, count: int = 2, wild: float = 0.0, **cable: Any) -> tuple[Any, Any]:
    """Vehicles, a rigid payload and cables of random size, at random distances and speeds."""
    craft = [
        SimpleNamespace(
            mass=rng.uniform(0.2, 1.5), inertia=rng.uniform(0.003, 0.03) * np.diag([1.0, 1.2, 1.5])
        )
        for _ in range(count)
    ]
    load = SimpleNamespace(
        mass=rng.uniform(0.2, 3), inertia=rng.uniform(0.01, 0.1) * np.diag([1.0, 1.2, 1.5])
    )
    lengths = rng.uniform(0.3, 1.5, count)
    node = cable.pop("node_mass", 2e-3)
    stuff = [Material(mass_per_metre=node * (segments - 1) / length, **cable) for length in lengths]
    ropes = [Cable(length, rng.uniform(-0.3, 0.3, 3), rng.uniform(-0.05, 0.05, 3)) for length in lengths]
    rig = Elastic.build(craft, load, ropes, stuff, segments)
    attitude = rng.normal(size=(count, 4))
    attitude /= np.linalg.norm(attitude, axis=1, keepdims=True)
    given = {
        "payload_velocity": rng.normal(size=3),
        "payload_rate": 2 * rng.normal(size=3),
        "vehicle_velocity": 2 * rng.normal(size=(count, 3)),
        "vehicle_attitude": attitude,
        "vehicle_rate": 2 * rng.normal(size=(count, 3)),
    }
    places = rng.normal(size=(count, 3))
    line = course_now(rig, rig.state(np.zeros(3), places, **given))
    top, bottom = np.asarray(line.place[:, 0]), np.asarray(line.place[:, -1])
    apart = np.linalg.norm(top - bottom, axis=0)
    share = lengths * (rng.uniform(0.1, 1.0, count) if wild else 1.001) / apart
    state = rig.state(np.zeros(3), places + ((bottom - top) * (1 - share)).T, **given)
    shake = wild * jnp.asarray(rng.normal(size=state.nodes.velocity.shape))
    return rig, eqx.tree_at(lambda it: it.motion.nodes.velocity, state, state.nodes.velocity + shake)


def snapping(count: int) -> list[tuple[Any, Any]]:
    """Batches of folded cables flung about: k up to 1e6 N/m, node masses down to 1e-4 kg."""
    rng = np.random.default_rng(5)
    pairs = []
    for _ in range(count):
        k = 10 ** rng.uniform(3, 6)
        stuff = {
            "stiffness": k,
            "damping": k * 10 ** rng.uniform(-5, -2),
            "node_mass": 10 ** rng.uniform(-4, -2),
        }
        pairs.append(team(rng, 6, wild=rng.uniform(0.1, 8), **stuff))
    return [
        (stack([rig for rig, _ in some]), stack([state for _, state in some]))
        for some in (pairs[k : k + AT_ONCE] for k in range(0, count, AT_ONCE))
    ]


def unforced(rig: Any) -> Effort:
    return Effort(0 * rig.mass, jnp.zeros((3, *rig.mass.shape)))


@pytest.mark.parametrize("count", [20, pytest.param(200, marks=pytest.mark.slow)])
def test_folding_and_snapping_never_gain_energy(count: int) -> None:
    batches = snapping(count)
    for dt in (1e-3, 2e-3, 4e-3):
        lost = np.concatenate([lost_by_flinging(*batch, dt) for batch in batches])
        assert np.median(lost) > 0.05  # snapping does take energy


def lost_by_flinging(rigs: Any, states: Any, dt: float) -> np.ndarray:
    """Energy lost by each of a batch in 250 steps, as a share; none is ever gained."""
    before = energy(rigs, states)
    end, _, (_, active, total) = flung(rigs, states, unforced(rigs), dt, np.zeros(250))
    total = np.concatenate([np.asarray(before.total)[None], np.asarray(total)])
    scale = np.asarray(before.kinetic + before.stored)
    assert np.isfinite(total).all() and np.isfinite(np.asarray(end.nodes.position)).all()
    active = np.concatenate([scale[None], np.asarray(active)])
    assert (np.diff(total, axis=0) / np.maximum(active[1:], active[:-1])).max() < 1.01e-5
    lowest = np.minimum.accumulate(total, axis=0)
    assert ((total - lowest) / scale).max() < 1e-3  # all it regains from any moment on
    assert ((total - total[0]) / scale).max() < 1e-5  # it never has more than at the start
    return (total[0] - total[-1]) / scale


@pytest.fixture(scope="module")
def taut() -> tuple[Any, Any, Loads]:
    """Two vehicles on taut cables of four segments, thrown and pushed."""
    rig, state = team(np.random.default_rng(3), 4, stiffness=2e4, damping=40.0)
    thrust = jnp.asarray([14.0, 12.0])
    return rig, state, Loads(thrust, jnp.asarray([[0.01, -0.02], [0.02, 0.01], [0.0, 0.005]]))


def test_momentum_is_kept(taut: tuple[Any, Any, Loads]) -> None:
    rig, state, _ = taut
    rig = eqx.tree_at(lambda it: it.gravity, rig, jnp.asarray(0.0))

    def momentum(state: Any) -> np.ndarray:
        nodes = (rig.segment(state).node_mass * state.nodes.velocity).sum((1, 2))
        craft = (rig.mass * state.vehicles.velocity).sum(1)
        return np.asarray(nodes + craft + rig.payload_mass * state.payload.velocity)

    end, log = advance(rig, state, unforced(rig), 1e-3, 500)
    assert int(log.trouble) == 0
    assert np.abs(momentum(end) - momentum(state)).max() < 1e-9


def places(state: Any) -> np.ndarray:
    return np.concatenate(
        [np.asarray(state.payload.position)[:, None], np.asarray(state.vehicles.position)], 1
    )


def six() -> Elastic:
    """Six vehicles and a payload on six cables of ten segments."""
    craft = SimpleNamespace(mass=1.0, inertia=np.diag([0.02, 0.02, 0.035]))
    load = SimpleNamespace(mass=7.0, inertia=np.diag([1.4, 1.4, 1.75]))
    angle = np.arange(6) * np.pi / 3
    ring = np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1)
    stuff = Material(**STIFF, mass_per_metre=0.01)
    return Elastic.build([craft] * 6, load, [Cable(2.0, it) for it in ring], stuff, 10)


def off_radau(steps: tuple[float, ...]) -> list[np.ndarray]:
    """(3, 7) distance of payload and vehicles from SciPy's Radau after two seconds, for each step (m)."""
    from scipy.integrate import solve_ivp

    rig = six()
    hover = rig.trim([0.0, 0.0, 0.0], lean=0.35)
    uneven = 0.02 * np.random.default_rng(1).standard_normal(6)
    loads = Loads(jnp.asarray(hover.thrust * (1 + uneven)), jnp.asarray(hover.moment.T))
    still = rig.derivative(0.0, hover.state, Loads(jnp.asarray(hover.thrust), loads.moment))
    assert max(float(np.abs(leaf).max()) for leaf in jax.tree.leaves(still)) < 1e-7
    start, motion = ravel_pytree(hover.state.motion)

    @jax.jit
    def slope(y: Any) -> Any:
        state = eqx.tree_at(lambda it: it.motion, hover.state, motion(y))
        return ravel_pytree(rig.derivative(0.0, state, loads))[0]

    jacobian = jax.jit(jax.jacfwd(slope))
    exact = solve_ivp(
        lambda t, y: np.asarray(slope(y)),
        (0, 2.0),
        np.asarray(start),
        "Radau",
        jac=lambda t, y: np.asarray(jacobian(y)),
        rtol=1e-10,
        atol=1e-11,
    )
    wanted = places(SimpleNamespace(**vars(motion(jnp.asarray(exact.y[:, -1])))))
    effort = Effort(loads.thrust, loads.moment)
    ends = [advance(rig, hover.state, effort, dt, round(2 / dt))[0] for dt in steps]
    return [np.abs(places(end) - wanted) for end in ends]


@pytest.mark.slow
def test_an_independent_stiff_solver_agrees_and_the_order_is_two() -> None:
    coarse, middle, fine = off_radau((4e-3, 2e-3, 1e-3))
    assert fine.max() < 1e-6  # m: the payload, and the vehicles too
    for more, less in ((coarse, middle), (middle, fine)):
        assert 3.2 < more[:, 0].max() / less[:, 0].max() < 4.8


def test_a_batch_flies_as_each_alone(taut: tuple[Any, Any, Loads]) -> None:
    rig, state, loads = taut
    efforts = [Effort(share * loads.thrust, loads.moment) for share in (1.0, 0.3)]
    together, _ = advance(stack([rig] * 2), stack([state] * 2), stack(efforts), 1e-3, 150)
    for k, effort in enumerate(efforts):
        alone, _ = advance(rig, state, effort, 1e-3, 150)
        assert np.abs(places(pick(together, k)) - places(alone)).max() < 1e-10


def taut_end(inputs: Any) -> Any:
    """Where a taut flight ends, by shares of the hover's thrust and of the cables' stiffness."""
    rig, _ = team(np.random.default_rng(3), 4, stiffness=2e4, damping=40.0)
    hover = rig.trim([0.0, 0.0, 0.0], lean=0.3)
    share, stiff = inputs
    lively = eqx.tree_at(lambda it: it.axial, rig, stiff * rig.axial)
    flown = skyrig.rollout(
        lively, hover.state, [0.0, 0.06], share * hover.thrust, hover.moment, at=[0.06], step=2e-3
    )
    return (flown.payload.position[-1] * np.array([0.3, -0.5, 1.0])).sum()


AT = jnp.array([1.05, 1.0])


def difference(k: int, size: float = 1e-4) -> float:
    by = size * np.eye(2)[k]
    return (float(taut_end(AT + by)) - float(taut_end(AT - by))) / (2 * size)


@pytest.mark.slow
def test_derivatives_of_a_taut_flight_agree_with_differences() -> None:
    slopes = [difference(k) for k in range(2)]
    _, forwards = jax.jvp(taut_end, (AT,), (jnp.array([1.0, 0.0]),))
    assert float(forwards) == pytest.approx(slopes[0], rel=1e-6)
    assert np.asarray(jax.grad(taut_end)(AT)) == pytest.approx(slopes, rel=1e-6)


def test_a_rough_step_has_a_derivative_too() -> None:
    """A cable that arrives within the flight: the derivative of one side, close to the difference."""
    rig = Elastic.build([WALL], point(1.0), [Cable(1.0)], Material(stiffness=1e4, damping=50.0), 3)
    state = rig.state([0.0, 0.0, -0.995], [[0.0, 0.0, 0.0]])

    def end(speed: Any) -> Any:
        thrown = eqx.tree_at(
            lambda it: it.motion.payload.velocity, state, jnp.array([0.0, 0.0, -1.0]) * speed
        )
        flown = skyrig.rollout(
            rig, thrown, [0.0, 0.02], [1e12 * GRAVITY], np.zeros((1, 3)), at=[0.02], step=1e-3
        )
        return flown.payload.position[-1][2]

    slope = float(jax.jvp(end, (1.0,), (1.0,))[1])
    difference = (float(end(1 + 1e-5)) - float(end(1 - 1e-5))) / 2e-5
    assert slope == pytest.approx(difference, rel=0.02)


def test_a_cut_cable_falls_in_two() -> None:
    rig = Elastic.build([WALL], point(1.0), [Cable(1.0)], Material(**STIFF, mass_per_metre=0.1), 4)
    state = rig.trim([0.0, 0.0, 0.0]).state
    cut = rig.switch(state, "cut", jnp.array([False, False, True, False]))
    end, _ = advance(rig, cut, held(rig), 1e-3, 100)
    fallen = GRAVITY * 0.1**2 / 2
    assert float(end.payload.position[2]) == pytest.approx(-fallen, abs=1e-3)
    lowest = np.asarray(end.nodes.position)[2, :, 0]
    assert lowest[2] == pytest.approx(0.25 - fallen, abs=2e-3)  # went down with the payload
    assert lowest[1] == pytest.approx(0.5, abs=1e-3)  # still hangs from the top
    assert float(rig.tensions(end)[2, 0]) == 0.0


@pytest.mark.parametrize("way", [1, -1])
def test_a_winch_lets_the_load_down_and_pulls_it_up(way: int) -> None:
    winch = Winch(rate=0.5, acceleration=2.0, shortest=0.3, longest=2.0)
    rig = Elastic.build([WALL], point(1.0), [Cable(1.0, winch=winch)], Material(**STIFF), 4)
    state = rig.trim([0.0, 0.0, 0.0]).state
    reel = {"winch": jnp.array([0.5 * way])}
    end, log = advance(rig, state, Effort(jnp.array([1e12 * GRAVITY]), jnp.zeros((3, 1)), reel), 1e-3, 1000)
    assert int(log.trouble) == 0
    # 0.25 s of speeding up at 2 m/s^2, then 0.75 s at 0.5 m/s
    assert float(end.length[0]) == pytest.approx(1 + way * (0.0625 + 0.375), abs=1e-6)
    assert float(end.payload.position[2]) == pytest.approx(-way * 0.4375, abs=1e-4)
