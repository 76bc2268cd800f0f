"""The cable-space equations against the forms the RotorTM paper prints, and against brute force."""

import itertools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from rigging import loads, made_taut, random_inputs, random_rig, random_state
from scipy.spatial.transform import Rotation

from skyrig.rigs.complementarity import Coupled, Dense, complementarity, masked_solve
from skyrig.rigs.slung.motion import cable_matrix, cable_system, motion, spans

E3 = np.array([0.0, 0.0, 1.0])


def hat(v):
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


def parts(rig, state):
    xi = np.asarray(spans(rig, state).direction).T
    rho = np.asarray(rig.attachment).T
    turn = Rotation.from_quat(np.array(state.payload.attitude), scalar_first=True).as_matrix()
    return xi, rho, turn, np.asarray(rig.mass), float(rig.payload_mass), np.asarray(rig.payload_inertia)


@pytest.mark.parametrize("n", [1, 2, 3, 6, 12])
def test_accelerations_equal_the_papers_six_by_six(n):
    rng = np.random.default_rng(n)
    for _ in range(10):
        rig = random_rig(rng, n)
        state = made_taut(rig, random_state(rng, rig, taut=1.1))
        inputs = loads(rig, state, random_inputs(rng, rig, wrench=False))
        rate, tension, *_ = jax.jit(motion)(rig, state, inputs)
        xi, rho, turn, m, mass, inertia = parts(rig, state)
        g = 9.81
        spin = np.asarray(state.payload.rate)
        up = np.asarray(
            Rotation.from_quat(np.array(state.vehicles.attitude.T), scalar_first=True).as_matrix()
        )[:, :, 2]
        thrust = np.asarray(inputs.thrust)[:, None] * up
        speed = (
            np.asarray(state.payload.velocity)
            + np.cross(spin, rho) @ turn.T
            - np.asarray(state.vehicles.velocity).T
        )
        # eqs. 18-19, moved to one side: unknowns are the payload's acceleration + g and angular acceleration
        left, right = np.zeros((6, 6)), np.zeros(6)
        left[:3, :3] = mass * np.eye(3)
        left[3:, 3:] = inertia
        right[3:] = -np.cross(spin, inertia @ spin)
        for k in range(n):
            along = np.outer(xi[k], xi[k])
            omega2 = (speed[k] @ speed[k]) / float(rig.length[k]) ** 2
            known = along @ thrust[k] - m[k] * float(rig.length[k]) * omega2 * xi[k]
            known = known - m[k] * along @ (turn @ hat(spin) @ hat(spin) @ rho[k])
            lever = hat(rho[k]) @ turn.T
            left[:3, :3] += m[k] * along
            left[:3, 3:] += -m[k] * along @ turn @ hat(rho[k])
            left[3:, :3] += m[k] * lever @ along
            left[3:, 3:] += -m[k] * lever @ along @ turn @ hat(rho[k])
            right[:3] += known
            right[3:] += lever @ known
        solution = np.linalg.solve(left, right)
        scale = np.abs(solution).max()
        np.testing.assert_allclose(rate.payload.velocity, solution[:3] - g * E3, rtol=0, atol=1e-10 * scale)
        np.testing.assert_allclose(rate.payload.rate, solution[3:], rtol=0, atol=1e-10 * scale)
        # eq. 20: a vehicle on a taut cable, through its second derivative along and across
        accel = np.asarray(rate.vehicles.velocity).T
        np.testing.assert_allclose(
            m[:, None] * (accel + g * E3), thrust + np.asarray(tension)[:, None] * xi, atol=1e-9 * scale
        )


# few random states pull on all of six cables, and all that are tried are built
@pytest.mark.parametrize("n", [1, 2, 3, pytest.param(6, marks=pytest.mark.slow)])
def test_impacts_equal_the_papers_six_by_six(n):
    rng = np.random.default_rng(10 + n)
    found, reset = 0, eqx.filter_jit(lambda rig, state, loads: rig.reset(0.0, state, loads))
    while found < 20:
        rig = random_rig(rng, n)
        state = eqx.tree_at(lambda s: s.mode.taut, random_state(rng, rig, taut=1.1), jnp.zeros(n, bool))
        after, record = reset(rig, state, loads(rig, state, random_inputs(rng, rig, wrench=False)))
        if not bool(jnp.all(record.events["impact"].value > 0)):
            continue  # the paper's form holds when every cable pulls
        found += 1
        xi, rho, turn, m, mass, inertia = parts(rig, state)
        velocity, spin = np.asarray(state.payload.velocity), np.asarray(state.payload.rate)
        crafts = np.asarray(state.vehicles.velocity).T
        left, right = np.zeros((6, 6)), np.zeros(6)  # eq. 43
        left[:3, :3] = mass * np.eye(3)
        left[3:, 3:] = inertia
        right[:3], right[3:] = mass * velocity, inertia @ spin
        for k in range(n):
            along, lever = np.outer(xi[k], xi[k]), hat(rho[k]) @ turn.T
            left[:3, :3] += m[k] * along
            left[:3, 3:] += -m[k] * along @ turn @ hat(rho[k])
            left[3:, :3] += m[k] * lever @ along
            left[3:, 3:] += -m[k] * lever @ along @ turn @ hat(rho[k])
            right[:3] += m[k] * along @ crafts[k]
            right[3:] += m[k] * lever @ along @ crafts[k]
        solution = np.linalg.solve(left, right)
        np.testing.assert_allclose(after.payload.velocity, solution[:3], rtol=0, atol=1e-10)
        np.testing.assert_allclose(after.payload.rate, solution[3:], rtol=0, atol=1e-9)
        ends = solution[:3] + np.cross(solution[3:], rho) @ turn.T
        for k in range(n):  # eqs. 33 and 42: along the cable as its attachment, across it as before
            along = np.outer(xi[k], xi[k])
            expected = along @ ends[k] + (np.eye(3) - along) @ crafts[k]
            np.testing.assert_allclose(after.vehicles.velocity[:, k], expected, rtol=0, atol=1e-9)


def brute_force(matrix, q):
    n = len(q)
    best = None
    for size in range(n + 1):
        for chosen in itertools.combinations(range(n), size):
            z, index = np.zeros(n), list(chosen)
            if index:
                z[index] = np.linalg.solve(matrix[np.ix_(index, index)], q[index])
            if z.min() >= -1e-12 and (matrix @ z - q).min() >= -1e-9:
                best = z
    return best


@pytest.mark.parametrize("n", range(1, 7))
def test_complementarity_equals_enumeration(n):
    # six sizes, 167 random states each: 1,002
    rng = np.random.default_rng(n)
    matrices, sides = [], []
    for _ in range(167):
        rig = random_rig(rng, n)
        matrices.append(np.asarray(rig.cable_matrix(random_state(rng, rig, taut=1.1))))
        sides.append(rng.normal(size=n) * 10 ** rng.uniform(-2, 2))
    solve = jax.jit(complementarity)
    answer = solve(Dense(jnp.stack(matrices, -1)), jnp.stack(sides, -1), jnp.ones((n, 167), bool))
    assert bool(answer.solved.all())
    for k in range(167):
        expected = brute_force(matrices[k], sides[k])
        np.testing.assert_allclose(answer.value[:, k], expected, rtol=1e-9, atol=1e-11)


def test_complementarity_of_twelve():
    rng = np.random.default_rng(0)
    for _ in range(20):
        factor = rng.normal(size=(12, 12))
        matrix, q = factor @ factor.T + 0.1 * np.eye(12), rng.normal(size=12)
        answer = complementarity(Dense(jnp.asarray(matrix)), jnp.asarray(q), jnp.ones(12, bool))
        w = matrix @ np.asarray(answer.value) - q
        assert bool(answer.solved) and np.min(answer.value) >= 0 and w.min() > -1e-9
        assert abs(np.asarray(answer.value) @ w) < 1e-9


def test_masked_solve_leaves_the_rest_out():
    rng = np.random.default_rng(0)
    factor = rng.normal(size=(5, 5))
    matrix, side = factor @ factor.T + np.eye(5), rng.normal(size=(2, 5))
    mask = np.array([True, False, True, True, False])
    found = masked_solve(jnp.asarray(matrix), jnp.asarray(side), jnp.asarray(mask))
    inside = np.linalg.solve(matrix[np.ix_(mask, mask)], side[:, mask].T).T
    np.testing.assert_allclose(found[:, mask], inside, rtol=1e-12)
    assert np.all(np.asarray(found)[:, ~mask] == 0)


@pytest.mark.parametrize("point", [False, True])
def test_many_cables_are_solved_through_the_payload(point):
    # the cost of a large team hangs on it: no matrix of n x n in what is solved at every stage
    rng = np.random.default_rng(7)
    rig = random_rig(rng, 9, hooks=True, point=point)
    state = random_state(rng, rig, taut=1.1)
    sides, mask = jnp.asarray(rng.normal(size=(3, 9))), jnp.asarray(rng.uniform(size=9) < 0.7)

    @jax.jit
    def both(rig, state):
        span = spans(rig, state)
        found = cable_system(rig, span), Dense(cable_matrix(rig, span))
        return [(it.solve(sides, mask), it.times(sides[0]), it.diagonal()) for it in found], found[0]

    (ours, plain), system = both(rig, state)
    assert isinstance(system, Coupled)
    for have, wanted in zip(ours, plain, strict=True):
        np.testing.assert_allclose(have, wanted, rtol=1e-11, atol=1e-12)
    assert np.all(np.asarray(ours[0])[:, ~mask] == 0)
