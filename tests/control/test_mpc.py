"""Plans: as good as an independent solver's, within their bounds, and those that a public code stored."""

import casadi
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import skyrig
from skyrig.control.interface import target_tables
from skyrig.control.mpc.agents import StageAim, VehicleAgent, VehicleStage, Weights, too_near
from skyrig.control.mpc.problem import Bounds, rolled, total_cost
from skyrig.control.mpc.solver import Plan, solve
from skyrig.errors import InputError
from skyrig.papers.auto_multilift_flight import flown, stored_flight
from skyrig.planning import Sample, circle
from skyrig.runs.flying import make_controller

STEPS, PERIOD, GRAVITY = 10, 0.02, 9.81
INERTIA = np.diag([0.02, 0.02, 0.04])
LOW, HIGH = np.array([0.01, -0.5, -0.5, -0.5]), np.array([40.0, 0.5, 0.5, 0.5])
WEIGHTS = [
    np.repeat([80.0, 10.0, 5.0, 0.5], 3),
    np.repeat([200.0, 20.0, 5.0, 0.5], 3),
    np.array([0.05, 1, 1, 1]),
]


def vehicle() -> VehicleAgent:
    numbers = {
        "mass": 1.0,
        "inertia": INERTIA,
        "inverse_inertia": np.linalg.inv(INERTIA),
        "gravity": GRAVITY,
        "step": PERIOD,
        "scale": 1.0,
        "approach": 0.0,
        "push": np.zeros(6),
        "hook": np.zeros(3),
        "length": 2.0,
        "hangs": 1.0,
        "softness": 1e-3,
        "apart": 0.0,
        "shy": 0.0,
    }
    weights = Weights(*map(jnp.asarray, WEIGHTS))
    return VehicleAgent(**{name: jnp.asarray(value) for name, value in numbers.items()}, weights=weights)


def stages(wanted: np.ndarray, tied: np.ndarray, tension: float) -> VehicleStage:
    """The same at every stage."""
    rows = STEPS + 1
    effort = np.tile([GRAVITY + tension, 0, 0, 0], (rows, 1))
    aim = StageAim(jnp.asarray(np.tile(wanted, (rows, 1))), jnp.asarray(effort))
    nobody = jnp.zeros((rows, 0, 3))
    return VehicleStage(aim, jnp.asarray(np.tile(tied, (rows, 1))), jnp.full(rows, tension), nobody, nobody)


def bounds(barrier: float) -> Bounds:
    return Bounds(jnp.asarray(LOW), jnp.asarray(HIGH), jnp.asarray(barrier))


def guess(start: np.ndarray) -> Plan:
    inputs = jnp.tile(jnp.array([20.0, 0, 0, 0]), (STEPS, 1))
    return Plan.of(jnp.tile(jnp.asarray(start), (STEPS + 1, 1)), inputs)


@jax.jit
def planned(start, stages, barrier):
    return solve(vehicle(), bounds(barrier), start, stages, guess(start), 30)


def random_start(rng: np.random.Generator, size: float) -> np.ndarray:
    attitude = np.concatenate([[1.0], 0.3 * size * rng.standard_normal(3)])
    parts = [rng.normal(0, 0.4, 3) * size, rng.standard_normal(3) * size, attitude / np.linalg.norm(attitude)]
    return np.concatenate([*parts, rng.standard_normal(3) * size])


def by_ipopt(
    start: np.ndarray, wanted: np.ndarray, tied: np.ndarray, tension: float
) -> tuple[float, np.ndarray]:
    """The same problem written anew for CasADi, solved to the end: its cost and inputs."""
    x, u = casadi.SX.sym("x", 13), casadi.SX.sym("u", 4)
    w, v = x[6], x[7:10]
    cross = casadi.skew(v)
    rotation = casadi.SX.eye(3) + 2 * w * cross + 2 * cross @ cross
    along = x[:3] - casadi.DM(tied)
    force = rotation[:, 2] * u[0] - tension * along / casadi.norm_2(along)
    spin = casadi.DM(np.linalg.inv(INERTIA)) @ (u[1:] - casadi.cross(x[10:], casadi.DM(INERTIA) @ x[10:]))
    turning = 0.5 * casadi.vertcat(-casadi.dot(v, x[10:]), w * x[10:] + casadi.cross(v, x[10:]))
    rate = casadi.Function(
        "f", [x, u], [casadi.vertcat(x[3:6], force - casadi.DM([0, 0, GRAVITY]), turning, spin)]
    )
    k1 = rate(x, u)
    k2 = rate(x + PERIOD / 2 * k1, u)
    k3 = rate(x + PERIOD / 2 * k2, u)
    k4 = rate(x + PERIOD * k3, u)
    after = x + PERIOD / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    after[6:10] = after[6:10] / casadi.norm_2(after[6:10])
    step = casadi.Function("step", [x, u], [after])
    off = rotation - rotation.T
    error = casadi.vertcat(x[:6] - wanted[:6], 0.5 * casadi.vertcat(off[2, 1], off[0, 2], off[1, 0]), x[10:])
    long = casadi.norm_2(along) - 2.0
    effort = u - casadi.DM([GRAVITY + tension, 0, 0, 0])
    stage, end, inputs = map(casadi.DM, WEIGHTS)
    here = 0.5 * (casadi.dot(stage, error**2) + casadi.dot(inputs, effort**2) + long**2 / 1e-3)
    last = 0.5 * (casadi.dot(end, error**2) + long**2 / 1e-3)
    here, last = casadi.Function("c", [x, u], [here]), casadi.Function("e", [x], [last])
    all_inputs, now, cost = casadi.SX.sym("U", 4, STEPS), casadi.DM(start), 0
    for k in range(STEPS):
        cost += here(now, all_inputs[:, k])
        now = step(now, all_inputs[:, k])
    problem = {"x": casadi.vec(all_inputs), "f": cost + last(now)}
    quiet = {"ipopt.print_level": 0, "print_time": 0, "ipopt.sb": "yes", "ipopt.tol": 1e-9}
    solver = casadi.nlpsol("solver", "ipopt", problem, quiet)
    found = solver(x0=np.tile([20.0, 0, 0, 0], STEPS), lbx=np.tile(LOW, STEPS), ubx=np.tile(HIGH, STEPS))
    return float(found["f"]), np.array(found["x"]).reshape(STEPS, 4)


@pytest.mark.parametrize("seed", range(4))
def test_plans_are_those_of_an_independent_solver(seed: int) -> None:
    rng = np.random.default_rng(seed)
    start, wanted = random_start(rng, 1.0), np.array([0.0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0])
    tied, tension = np.array([0.3, -0.2, -1.9]), 9.0
    told = stages(wanted, tied, tension)
    plan = planned(jnp.asarray(start), told, 1e-6)
    cost, inputs = by_ipopt(start, wanted, tied, tension)
    ours = float(total_cost(vehicle(), bounds(0.0), plan.states, plan.inputs, told))
    assert ours == pytest.approx(cost, rel=1e-4)
    assert np.abs(plan.inputs - inputs).max() < 0.02 * (HIGH - LOW).max() / 40
    assert np.any(np.abs(np.abs(inputs[:, 1:]) - 0.5) < 1e-3), "a bound should be at work"


def test_wild_starts_give_plans_all_the_same() -> None:
    rng = np.random.default_rng(7)
    starts = jnp.asarray(np.stack([random_start(rng, size) for size in np.geomspace(0.1, 20, 40)]))
    wanted = np.array([0.0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0])
    told, soft = stages(wanted, np.array([0.0, 0, -2]), 9.0), bounds(1e-4)

    @jax.jit
    def both(start):
        plan = solve(vehicle(), soft, start, told, guess(start), 6)
        before = total_cost(vehicle(), soft, *_first(start, told), told)
        return plan, before, total_cost(vehicle(), soft, plan.states, plan.inputs, told)

    plans, before, after = jax.vmap(both)(starts)
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(plans))
    assert (plans.inputs >= LOW).all() and (plans.inputs <= HIGH).all()
    assert (np.asarray(after) <= np.asarray(before)).all()
    again = jax.vmap(lambda start, inputs: rolled(vehicle(), start, inputs, told))(starts, plans.inputs)
    assert np.abs(again - plans.states).max() < 1e-9 * np.abs(plans.states).max()


def _first(start, told):
    inputs = guess(start).inputs
    return rolled(vehicle(), start, inputs, told), inputs


@pytest.mark.slow
def test_a_stored_flight_of_auto_multilift_is_flown_again() -> None:
    """Six quadrotors and a load, five sweeps with the stored nets: within millimetres of what acados flew."""
    ours, theirs = flown("cl", 0.6), stored_flight("cl")
    count = len(ours.times)
    assert np.abs(ours.position - theirs.position[:count]).max() < 3e-3
    assert np.abs(ours.planned - theirs.planned[:count])[5:].mean() < 0.3


@pytest.mark.slow
def test_a_team_holds_its_payload_though_cables_go_slack_and_a_vehicle_hears_nothing() -> None:
    gains = {"deaf_from": [0.0, 0.5, 0.0], "deaf_until": [0.0, 1.0, 0.0]}
    changes = {
        "controller": {"name": "mpc-distributed", "gains": gains},
        "loop.control_rate": 50,
        "duration": 4.0,
    }
    flight = skyrig.fly(skyrig.load("three-dragonflies-poke").with_overrides(changes))
    assert flight.verdict.line == "flew as asked."
    assert any(event.kind == "slack" for event in flight.events)
    assert flight.metrics["tracking"]["whole"]["position_peak"] < 0.03
    assert flight.metrics["tracking"]["whole"]["position_last"] < 2e-3
    planned = flight.signals["planned_tension"].values
    assert np.isfinite(planned).all() and planned.min() > 0


def test_flights_of_a_batch_look_ahead_along_their_own_references() -> None:
    scenario = skyrig.load("three-dragonflies-circle")
    built = scenario.with_overrides({"controller.name": "mpc-distributed", "loop.control_rate": 50}).build()
    controller, clock = make_controller(built), 0.02 * np.arange(30)
    alone = [circle(radius=radius, period=6.0).sample(clock) for radius in (0.8, 1.2)]
    beside = Sample(*(np.stack(leaves, axis=1) for leaves in zip(*alone, strict=True)))
    together = target_tables(controller, beside).nominal
    for k, own in enumerate(alone):
        for whole, part in zip(
            jax.tree.leaves(together), jax.tree.leaves(target_tables(controller, own).nominal), strict=True
        ):
            lane = whole[..., k] if whole.ndim > part.ndim else whole
            assert np.allclose(lane, part, atol=1e-12)


def test_what_is_too_near_is_told_from_above() -> None:
    others = jnp.array([[0.3, 0.4, 9.0], [1.0, 0.0, 0.1]])
    close = too_near(jnp.zeros(13), others, jnp.array([0.7, 0.9]))
    assert np.allclose(close, [0.2, 0.0], atol=1e-6)


def test_what_cannot_be_planned_is_refused() -> None:
    scenario = skyrig.load("three-dragonflies-poke")
    for name, value, said in (("horizon", 2.5, "whole number from 2 to 50"), ("sweeps", 0, "from 1 to 20")):
        changes = {"controller": {"name": "mpc-distributed", "gains": {name: value}}}
        with pytest.raises(InputError, match=said):
            skyrig.fly(scenario.with_overrides(changes))
