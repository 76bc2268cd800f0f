"""Which of many configurations is best, and the search for it."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from skyrig.checks import Numbers
from skyrig.statics.configuration import Configuration
from skyrig.statics.stability import softness
from skyrig.statics.team import Team

Of = Callable[[Configuration], Numbers]
"""(..., k) numbers of configurations."""


def effort(found: Configuration) -> Numbers:
    """(..., 1) sum of squared tensions, over the payload's weight squared."""
    return (found.force**2).sum((-2, -1))[..., None] / found.team.weight**2


def spread(found: Configuration) -> Numbers:
    """(..., 2 n) differences of the tensions from their mean, either way, over the weight.

    A hundredth of the mean is a price on effort: of many equal ones, that of least tension.
    """
    mean = found.tension.mean(-1, keepdims=True)
    apart = found.tension - mean
    return (np.concatenate([apart, -apart], axis=-1) - 0.01 * mean) / found.team.weight


def margins(found: Configuration) -> Numbers:
    """(..., 2 n) tensions and spare thrusts, over the payload's weight."""
    spare = found.team.thrust_max - np.linalg.norm(found.thrust, axis=-1)
    return np.concatenate([found.tension, spare], axis=-1) / found.team.weight


def stiffnesses(found: Configuration) -> Numbers:
    """(..., k) squared natural frequencies s over gravity by length, as s / (1 + s/100): never very large."""
    plain = softness(found) * float(found.team.length.mean()) / found.team.gravity
    return plain / (1 + np.maximum(plain, 0.0) / 100)


SMALL: dict[str, Of] = {"effort": effort}
"""What is to be small."""
LARGE: dict[str, Of] = {"equal": spread, "margin": margins, "stiffness": stiffnesses}
"""Of which the least is to be large."""
CRITERIA = (*SMALL, *LARGE)


def starts(team: Team, free: Numbers, count: int, seed: int) -> Numbers:
    """(count, d) places to begin: least effort, cables that lean outwards more and more, and random ones.

    Args:
        team: The team.
        free: (n, 3, d) what may be added to the pulls of least effort.
        count: How many.
        seed: Of the random ones.
    """
    around = 2 * np.pi * np.arange(team.count) / team.count
    arms = team.attachment - team.attachment.mean(axis=0)
    size = np.linalg.norm(arms, axis=1, keepdims=True)
    ring = np.stack([np.cos(around), np.sin(around), 0 * around], axis=1)
    out = np.where(size > 1e-9, arms / np.maximum(size, 1e-9), ring)
    outward = np.einsum("nkd,nk->d", free, out) / team.count
    random = np.random.default_rng(seed).normal(size=(count, len(outward))) * 0.3 / np.sqrt(team.count)
    leans = [np.zeros_like(outward), 0.3 * outward, 0.7 * outward, 1.2 * outward]
    return np.concatenate([leans, random])[:count]


class Search:
    """A search for the best z: the values of `of` and `inside` with their slopes, in one sweep each."""

    def __init__(
        self, made: Callable[[Numbers], Configuration], size: int, criterion: str, inside: Of
    ) -> None:
        """Search among the configurations `made` of `size` numbers z, where `inside` is not below zero."""
        self.large = criterion in LARGE
        self.lowest = float(effort(made(np.zeros(size)))[0]) if criterion == "effort" else -np.inf
        of = LARGE[criterion] if self.large else SMALL[criterion]

        @lru_cache(maxsize=4)
        def swept(content: bytes) -> tuple[Numbers, Numbers, int]:
            z = np.frombuffer(content)
            step = 1e-6 * np.eye(len(z))
            many = made(np.concatenate([z[None], z + step, z - step]))
            values = of(many)
            whole = np.concatenate([values, inside(many)], axis=-1)
            d = len(z)
            return whole[0], (whole[1 : 1 + d] - whole[1 + d :]).T / 2e-6, values.shape[-1]

        self._swept = swept

    def values(self, z: Numbers) -> tuple[Numbers, Numbers, Numbers, Numbers]:
        """The criterion's numbers (k,) and the limits' (m,) at z, and their slopes (k, d) and (m, d)."""
        whole, slope, count = self._swept(np.ascontiguousarray(z, dtype=float).tobytes())
        return whole[:count], whole[count:], slope[:count], slope[count:]

    def cost(self, z: Numbers) -> tuple[float, float]:
        """How far z misses the limits, and how good it is there: less is better."""
        of, inside, _, _ = self.values(z)
        miss = max(0.0, -float(inside.min()))
        return 0.0 if miss < 1e-8 else miss, -float(of.min()) if self.large else float(of[0])

    def best(self, begin: Numbers) -> Numbers:
        """The best z of searches from every row of `begin`; the least bad one if none keeps to the limits."""
        if self.cost(begin[0]) == (0.0, self.lowest):
            return begin[0]
        ends = [self._lowest(self._entered(z)) for z in begin]
        return min((*ends, *begin), key=self.cost)

    def _entered(self, z: Numbers) -> Numbers:
        """A place within the limits near z, or the one that misses them least."""
        if self.values(z)[1].min() >= 0:
            return z
        return self._raised(z, lambda at: (self.values(at)[1], self.values(at)[3]), None, 0.02)

    def _lowest(self, z: Numbers) -> Numbers:
        """The local best from z."""

        def limits(at: Numbers) -> tuple[Numbers, Numbers]:
            return self.values(at)[1], self.values(at)[3]

        if self.large:
            return self._raised(z, lambda at: (self.values(at)[0], self.values(at)[2]), limits, np.inf)
        from scipy.optimize import minimize  # takes a while to import

        ended = minimize(
            lambda x: float(self.values(x)[0][0]),
            z,
            jac=lambda x: self.values(x)[2][0],
            method="SLSQP",
            constraints=[
                {"type": "ineq", "fun": lambda x: limits(x)[0], "jac": lambda x: limits(x)[1]},
            ],
            options={"maxiter": 60, "ftol": 1e-12},
        )
        return _finite(np.asarray(ended.x), z)

    def _raised(self, z: Numbers, of: Callable, limits: Callable | None, most: float) -> Numbers:
        """Raise the least of `of`: as a variable t of its own that all of them must exceed."""
        from scipy.optimize import minimize  # takes a while to import

        def exceeds(x: Numbers) -> Numbers:
            return of(x[:-1])[0] - x[-1]

        def slope(x: Numbers) -> Numbers:
            rise = of(x[:-1])[1]
            return np.concatenate([rise, -np.ones((len(rise), 1))], axis=1)

        rows = [{"type": "ineq", "fun": exceeds, "jac": slope}]
        if limits is not None:
            rows.append(
                {
                    "type": "ineq",
                    "fun": lambda x: limits(x[:-1])[0],
                    "jac": lambda x: np.pad(limits(x[:-1])[1], ((0, 0), (0, 1))),
                }
            )
        ended = minimize(
            lambda x: -x[-1],
            np.append(z, min(of(z)[0].min(), most)),
            jac=lambda x: np.append(np.zeros(len(z)), -1.0),
            method="SLSQP",
            constraints=rows,
            bounds=[(None, None)] * len(z) + [(None, most if np.isfinite(most) else None)],
            options={"maxiter": 60, "ftol": 1e-10},
        )
        return _finite(np.asarray(ended.x)[:-1], z)


def _finite(new: Numbers, old: Numbers) -> Numbers:
    return new if np.isfinite(new).all() else old
