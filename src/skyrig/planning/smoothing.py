"""Splines of degree seven near noisy samples: few pieces, fitted by least squares."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from skyrig.errors import InputError

if TYPE_CHECKING:
    from scipy.interpolate import BSpline

DEGREE = 7
"""So that the sixth derivative is continuous."""
FEWEST = 2
"""Samples in every piece."""
AT_REST = 4
"""Equal coefficients at an end make three derivatives vanish there."""


def fitted(
    times: Float[np.ndarray, " samples"],
    values: Float[np.ndarray, "samples columns"],
    piece: float,
    rest: bool,
    field: str,
) -> BSpline:
    """The spline whose pieces last about `piece` (s) that comes closest to all samples.

    Args:
        times: Of the samples (s), in order.
        values: One column a quantity.
        piece: What changes faster than this is taken for noise (s).
        rest: Whether three derivatives vanish at both ends.
        field: What an error message begins with.
    """
    from scipy.interpolate import BSpline  # takes a while to import; checks do without
    from scipy.sparse import csr_array
    from scipy.sparse.linalg import spsolve

    inner = breaks(times, piece)[1:-1]
    knots = np.concatenate([np.full(DEGREE + 1, times[0]), inner, np.full(DEGREE + 1, times[-1])])
    count = len(knots) - DEGREE - 1
    owner = np.arange(count)  # which free number each coefficient is
    if rest:
        owner = np.clip(owner, AT_REST - 1, count - AT_REST) - (AT_REST - 1)
    if len(times) < owner[-1] + 1:
        raise InputError(
            f"{field} must hold at least {owner[-1] + 1} samples to be smoothed, not {len(times)}."
        )
    shared = csr_array((np.ones(count), (np.arange(count), owner)), shape=(count, int(owner[-1]) + 1))
    basis: Any = BSpline.design_matrix(times, knots, DEGREE) @ shared
    free = spsolve((basis.T @ basis).tocsc(), basis.T @ values)
    coefficients = np.asarray(free).reshape(-1, values.shape[1])[owner]
    if not np.all(np.isfinite(coefficients)):
        raise InputError(f"{field} must have samples closer together to be smoothed over {piece:g} s.")
    return BSpline(knots, coefficients, DEGREE)


def breaks(times: Float[np.ndarray, " samples"], piece: float) -> Float[np.ndarray, " breaks"]:
    """Where pieces meet (s): at samples about `piece` apart, farther where samples are missing."""
    chosen = [0]
    for i, t in enumerate(times):
        enough = i - chosen[-1] >= FEWEST and t - times[chosen[-1]] >= piece * (1 - 1e-9)
        if enough and times[-1] - t >= piece / 2 and len(times) - 1 - i >= FEWEST:
            chosen.append(i)
    return times[[*chosen, len(times) - 1]]
