"""How the tensions share a wrench when the cables' directions are given: W lambda = w, low <= lambda <= high.

With more cables than freedoms (n > 6) many tensions do; each method picks one of them:

| method | picks |
|---|---|
| closed | mid + W+ (w - W mid), nearest to the middle of the limits, which it may leave (after Pott) |
| qp | the least sum of squares |
| lp | the least sum |
| minmax | the least largest tension |
| centre | the middle of the largest ball within the polytope of all of them |
"""

from __future__ import annotations

import numpy as np

from skyrig import checks
from skyrig.checks import Numbers
from skyrig.errors import InputError
from skyrig.statics.configuration import Configuration
from skyrig.statics.team import Given

METHODS = ("closed", "qp", "lp", "minmax", "centre")


def tension_limit(found: Configuration) -> Numbers:
    """(n,) the tension at which each vehicle's thrust, holding itself too, is at its most (N).

    |m g e3 + lambda u| = T; zero where a vehicle cannot even hold itself so.
    """
    team = found.team
    own = team.vehicle_mass * team.gravity
    up = found.direction[..., 2]
    inside = team.thrust_max**2 - own**2 * (1 - up**2)
    return np.maximum(np.sqrt(np.maximum(inside, 0.0)) - own * up, 0.0)


def distribution(
    matrix: Given, wrench: Given, low: Given = 0.0, high: Given = np.inf, method: str = "qp"
) -> Numbers:
    """(n,) tensions (N) that make a wrench, by one of `METHODS`.

    Args:
        matrix: (f, n) wrench of a unit pull along each cable, as `Configuration.wrench_matrix`.
        wrench: (f,) what the cables shall make: N, and N m.
        low: Least tension, of all or (n,) of each (N).
        high: Most tension, of all or (n,) of each (N); 'closed' and 'centre' need it.
        method: One of `METHODS`.

    Raises:
        InputError: If no tensions within the limits make the wrench, or the closed form leaves the limits.
    """
    checks.choice("method", method, METHODS)
    rows = checks.numbers("matrix", matrix, (None, None))
    wanted = checks.numbers("wrench", wrench, (len(rows),))
    n = rows.shape[1]
    least = np.broadcast_to(np.asarray(low, dtype=float), (n,))
    most = np.broadcast_to(np.asarray(high, dtype=float), (n,))
    if np.any(least > most) or np.any(least < 0):
        raise InputError("low must not be below zero nor above high: cables only pull.")
    if method in ("closed", "centre") and not np.isfinite(most).all():
        raise InputError(f"high must be given for the method '{method}', which looks for a middle.")
    some, free = plane(rows, wanted)
    if method == "closed":
        middle = (least + most) / 2
        return _within(some + free @ (free.T @ (middle - some)), least, most)
    if not free.shape[1]:
        return _within(some, least, most)
    return {"qp": _nearest, "lp": _least_sum, "minmax": _least_largest, "centre": _centre}[method](
        some, free, least, most
    )


def plane(matrix: Numbers, wrench: Numbers) -> tuple[Numbers, Numbers]:
    """Tensions of least norm (n,) that make a wrench, and an orthonormal basis (n, d) of what may be added.

    Raises:
        InputError: If no tensions make it, positive or not.
    """
    weigh = 1 / np.maximum(np.abs(matrix).max(axis=1), 1e-12)
    left, size, right = np.linalg.svd(matrix * weigh[:, None])
    rank = int((size > 1e-10 * size[0]).sum())
    wanted = left.T @ (wrench * weigh)
    over = float(np.abs(wanted[rank:]).max(initial=0.0))
    if over > 1e-8 * max(float(np.abs(wrench * weigh).max()), 1e-12):
        raise InputError(
            f"these {matrix.shape[1]} cables cannot make this wrench whatever their tensions: {over:.3g} N "
            "are left in a direction in which none of them pulls."
        )
    return right[:rank].T @ (wanted[:rank] / size[:rank]), right[rank:].T


def _within(tension: Numbers, low: Numbers, high: Numbers) -> Numbers:
    over = np.maximum(low - tension, tension - high)
    worst = int(over.argmax())
    if over[worst] > 1e-9 * max(1.0, float(np.abs(tension).max())):
        raise InputError(
            f"cable {worst} would need {tension[worst]:.4g} N, {over[worst]:.3g} N outside its limits of "
            f"{low[worst]:.4g} to {high[worst]:.4g} N."
        )
    return np.clip(tension, low, high)


def _rows(some: Numbers, free: Numbers, low: Numbers, high: Numbers) -> tuple[Numbers, Numbers]:
    """Limits as G z >= h."""
    known = np.isfinite(high)
    return np.concatenate([free, -free[known]]), np.concatenate([low - some, (some - high)[known]])


def _nearest(some: Numbers, free: Numbers, low: Numbers, high: Numbers) -> Numbers:
    """Least |z| with G z >= h, exactly: Lawson and Hanson's least distance programming by NNLS."""
    from scipy.optimize import nnls  # takes a while to import

    rows, least = _rows(some, free, low, high)
    size = max(float(np.abs(least).max()), 1e-12)
    stack = np.concatenate([rows.T, least[None] / size])
    weight, miss = nnls(stack, np.append(np.zeros(free.shape[1]), 1.0), maxiter=100 * len(rows))
    if miss < 1e-9:
        raise _none()
    rest = stack @ weight - np.append(np.zeros(free.shape[1]), 1.0)
    return np.clip(some + free @ (-rest[:-1] / rest[-1] * size), low, high)


def _linear(cost: Numbers, rows: Numbers, least: Numbers) -> Numbers:
    """The z with the least cost.z and rows z >= least."""
    from scipy.optimize import linprog  # takes a while to import

    ended = linprog(cost, A_ub=-rows, b_ub=-least, bounds=(None, None), method="highs")
    if ended.status == 2:
        raise _none()
    if ended.x is None:
        raise InputError(f"the linear program of the tensions has no answer: {ended.message}")
    return np.asarray(ended.x, dtype=float)


def _least_sum(some: Numbers, free: Numbers, low: Numbers, high: Numbers) -> Numbers:
    return np.clip(some + free @ _linear(free.sum(axis=0), *_rows(some, free, low, high)), low, high)


def _least_largest(some: Numbers, free: Numbers, low: Numbers, high: Numbers) -> Numbers:
    rows, least = _rows(some, free, low, high)
    rows = np.pad(rows, ((0, 0), (0, 1)))
    below = np.concatenate([-free, np.ones((len(some), 1))], axis=1)
    cost = np.append(np.zeros(free.shape[1]), 1.0)
    z = _linear(cost, np.concatenate([rows, below]), np.concatenate([least, some]))
    return np.clip(some + free @ z[:-1], low, high)


def _centre(some: Numbers, free: Numbers, low: Numbers, high: Numbers) -> Numbers:
    rows, least = _rows(some, free, low, high)
    size = np.linalg.norm(rows, axis=1, keepdims=True)
    cost = np.append(np.zeros(free.shape[1]), -1.0)
    whole = np.concatenate([np.concatenate([rows, -size], axis=1), cost[None] * -1])
    z = _linear(cost, whole, np.append(least, 0.0))
    return np.clip(some + free @ z[:-1], low, high)


def _none() -> InputError:
    return InputError("no tensions within the limits make this wrench.")
