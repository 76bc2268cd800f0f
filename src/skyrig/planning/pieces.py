"""Piecewise polynomials of time, each in powers about a point of its own."""

from __future__ import annotations

from dataclasses import dataclass

from jaxtyping import Float

from skyrig.arrays import Array, namespace
from skyrig.planning import taylor
from skyrig.planning.pytree import Tree
from skyrig.planning.taylor import Series


@dataclass(frozen=True, eq=False)
class Pieces(Tree):
    """Piece i holds from breaks[i] to breaks[i+1]: sum_n coefficients[i, n] ((t - origin[i]) / scale[i])^n.

    Normalised time keeps the coefficients of short and long pieces alike in size.
    """

    breaks: Float[Array, " breaks"]
    origin: Float[Array, " pieces"]
    scale: Float[Array, " pieces"]
    coefficients: Float[Array, "pieces powers columns"]

    def series(self, times: Float[Array, " *times"]) -> Series:
        """The series at times inside the breaks, shape (7, *times, columns)."""
        xp = namespace(times, self.breaks, self.origin, self.scale, self.coefficients)
        piece = xp.searchsorted(self.breaks[1:-1], times, side="right")
        scale = xp.asarray(self.scale)[piece]
        s = (times - xp.asarray(self.origin)[piece]) / scale
        coefficients = xp.moveaxis(xp.asarray(self.coefficients)[piece], -2, 0)
        return taylor.polynomial(coefficients, s[..., None], 1 / scale[..., None])
