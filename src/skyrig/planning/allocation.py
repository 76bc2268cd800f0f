"""How long each segment between waypoints takes."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from skyrig.arrays import Array, namespace
from skyrig.errors import InputError
from skyrig.planning import spline


def published(distances: Float[Array, " segments"], speed: Array, acceleration: Array) -> Array:
    """RotorTM's durations (s): T = 3 (2 d/v) (1 + 6.5 (v/a) exp(-2 d/v)).

    Args:
        distances: Between waypoints (m).
        speed: v, a highest speed (m/s); a scale, not a bound that is kept.
        acceleration: a, a highest acceleration (m/s^2); likewise.
    """
    straight = 2 * distances / speed
    decay = namespace(straight).exp(-straight)
    return 3 * straight * (1 + 6.5 * (speed / acceleration) * decay)


def optimal(
    problem: spline.SplineProblem, waypoints: Array, durations: Array
) -> Float[np.ndarray, " segments"]:
    """The durations of least cost among those with the same sum, found from `durations`.

    Minimises the logarithm of the least cost over T = total softmax(z), with its exact gradient.
    Numbers only: it iterates, so it cannot be traced.
    """
    from scipy.optimize import minimize  # takes a while to import, and few ask for it

    if namespace(*problem, waypoints, durations) is not np:
        raise InputError("allocation must not be optimal under a JAX transformation: give durations.")
    total = durations.sum()

    def split(z: np.ndarray) -> np.ndarray:
        share = np.exp(z - z.max())
        return total * share / share.sum()

    def least(T: np.ndarray) -> tuple[float, np.ndarray]:
        nodes = spline.node_derivatives(problem, waypoints, T)
        return spline.cost(problem, waypoints, nodes, T)

    first = float(least(durations)[0])
    if first == 0:
        return durations

    def objective(z: np.ndarray) -> tuple[float, np.ndarray]:
        T = split(z)
        value, slope = least(T)
        floor = value + 1e-12 * first  # a straight line may cost nothing
        return float(np.log(floor / first)), T * (slope - T @ slope / total) / floor

    found = minimize(objective, np.log(durations), jac=True, method="BFGS", options={"gtol": 1e-9})
    return split(found.x)
