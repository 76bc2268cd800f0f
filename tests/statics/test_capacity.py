"""Tension distributions against other formulations, and what a team can hold against linear programs."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import linprog, minimize
from teams import box, frame, random_team

from skyrig.control.sharing import cable_forces, sharing
from skyrig.errors import InputError
from skyrig.statics import Configuration, Pose, inverse
from skyrig.statics.capacity import aimed_margin, held_margin, losses, reach, support, zonotope_margin
from skyrig.statics.distribution import METHODS, distribution, tension_limit
from skyrig.statics.inverse import pulls


def teams(count: int):
    """Random wrench matrices of 4 to 12 cables, wrenches they can make, and limits."""
    rng = np.random.default_rng(7)
    for _ in range(count):
        n = int(rng.integers(4, 13))
        arms = rng.uniform(-0.5, 0.5, (n, 3))
        unit = rng.normal(size=(n, 3)) + [0, 0, 1.5]
        unit /= np.linalg.norm(unit, axis=1, keepdims=True)
        matrix = np.concatenate([unit, np.cross(arms, unit)], axis=1).T
        yield n, matrix, matrix @ rng.uniform(0.5, 4.0, n), np.full(n, 0.2), np.full(n, 6.0)


def agree(count: int, slow_checks: int) -> None:
    for k, (n, matrix, wrench, low, high) in enumerate(teams(count)):
        found = {method: distribution(matrix, wrench, low, high, method) for method in METHODS[1:]}
        for tension in found.values():
            np.testing.assert_allclose(matrix @ tension, wrench, atol=1e-7)
            assert (tension >= low).all() and (tension <= high).all()
        if n <= 6:  # nothing to choose
            for tension in found.values():
                np.testing.assert_allclose(tension, found["qp"], atol=1e-7)
        # the same programs in other words: over the tensions themselves, with equations
        bounds = list(zip(low, high, strict=True))
        least = linprog(np.ones(n), A_eq=matrix, b_eq=wrench, bounds=bounds)
        np.testing.assert_allclose(found["lp"].sum(), least.fun, atol=1e-6)
        wide = np.pad(matrix, ((0, 0), (0, 1)))
        below = np.concatenate([np.eye(n), -np.ones((n, 1))], axis=1)
        largest = linprog(
            np.eye(n + 1)[n],
            A_eq=wide,
            b_eq=wrench,
            A_ub=below,
            b_ub=np.zeros(n),
            bounds=[*bounds, (0, None)],
        )
        np.testing.assert_allclose(found["minmax"].max(), largest.fun, atol=1e-6)
        # the least squares against everything else: no feasible direction leads down
        for tension in found.values():
            assert found["qp"] @ (tension - found["qp"]) > -1e-6
        if k < slow_checks:
            ended = minimize(
                lambda x: x @ x,
                found["centre"],
                jac=lambda x: 2 * x,
                method="SLSQP",
                bounds=bounds,
                constraints={
                    "type": "eq",
                    "fun": lambda x, a=matrix, b=wrench: a @ x - b,
                    "jac": lambda x, a=matrix: a,
                },
                options={"ftol": 1e-14, "maxiter": 500},
            )
            assert (found["qp"] ** 2).sum() <= ended.fun + 1e-6
        try:
            closed = distribution(matrix, wrench, low, high, "closed")
        except InputError as error:
            assert "outside its limits" in str(error)
            continue
        middle = (low + high) / 2
        free = np.eye(n) - np.linalg.pinv(matrix) @ matrix
        np.testing.assert_allclose(free @ (closed - middle), 0, atol=1e-7)


def test_distributions_agree_with_each_other_and_with_other_solvers() -> None:
    agree(60, 20)


@pytest.mark.slow
def test_distributions_of_a_thousand_teams() -> None:
    agree(1000, 1000)


def test_least_effort_is_what_the_controller_shares() -> None:
    team = box(6)
    pose = Pose.turned()
    shared = cable_forces(sharing(team.attachment.T, np.ones(6)), np.array([0, 0, team.weight]), np.zeros(3))
    np.testing.assert_allclose(pulls(team, pose).least, shared.T, atol=1e-9)


def test_what_cannot_be_shared_is_told() -> None:
    matrix = np.eye(6)
    with pytest.raises(InputError, match=r"cable 2 would need 9 N, 4 N outside its limits of 0 to 5 N"):
        distribution(matrix, [0, 0, 9.0, 0, 0, 0], 0, 5, "qp")
    with pytest.raises(InputError, match="whatever their tensions"):
        distribution(matrix[:, :4], [0, 0, 1.0, 0, 0, 1.0])
    with pytest.raises(InputError, match="no tensions within the limits"):
        distribution(np.ones((1, 3)), [9.0], 0, 2, "lp")


def test_thrust_limit_along_a_cable() -> None:
    found = inverse(frame(), Pose.turned(0.2), "margin")
    most = Configuration(found.team, found.pose, tension_limit(found)[:, None] * found.direction)
    np.testing.assert_allclose(np.linalg.norm(most.thrust, axis=1), found.team.thrust_max)


def test_margin_of_held_directions_is_that_of_the_linear_program() -> None:
    rng = np.random.default_rng(2)
    for n, matrix, wrench, low, high in teams(30):
        margin = zonotope_margin(matrix, wrench, low, high)
        if n < 6:
            assert margin == 0.0
            continue
        assert margin > 0
        reached = []
        for direction in rng.normal(size=(40, 6)):
            unit = direction / np.linalg.norm(direction)
            rows = np.concatenate([matrix, -unit[:, None]], axis=1)
            bounds = [*zip(low, high, strict=True), (0, None)]
            reached.append(-linprog(-np.eye(n + 1)[n], A_eq=rows, b_eq=wrench, bounds=bounds).fun)
        assert min(reached) >= margin - 1e-9


def test_margin_of_vehicles_that_may_move() -> None:
    team, pose = frame(), Pose.turned(0.1)
    margin = aimed_margin(team, pose)
    assert held_margin(inverse(team, pose)) == 0.0  # three cables leave three freedoms
    rng = np.random.default_rng(4)
    for _ in range(6):
        push = rng.normal(size=6)
        push /= np.linalg.norm(push / np.repeat([1, team.scale], 3))
        assert reach(team, pose, push) >= margin - 1e-6
    # straight down the team lifts what its thrust leaves, if all pull upright
    spare = float(team.thrust_max.sum() - team.vehicle_mass.sum() * team.gravity) - team.weight
    np.testing.assert_allclose(reach(team, Pose.turned(), [0, 0, -1.0, 0, 0, 0]), spare, rtol=1e-6)
    np.testing.assert_allclose(
        support(team, Pose.turned(), np.array([0, 0, 1.0, 0, 0, 0])), spare + team.weight, rtol=1e-12
    )
    weak = replace(team, thrust_max=np.full(3, 5.5))
    assert aimed_margin(weak, pose) < 0


def test_after_the_loss_of_a_vehicle() -> None:
    three_left = losses(frame(), Pose.turned())
    assert all(it.margin is None and "one line" in it.note for it in three_left)
    strong = losses(random_team(np.random.default_rng(0), 5), Pose.turned())
    assert any(it.margin is not None and it.margin > 0 for it in strong)
