"""The jet below a vehicle, in NumPy or JAX.

A vehicle's rotors are one turbulent round jet along its own axis, far below it (arXiv 2403.13321, eq. 9):

    u = U 10.11/S (1 + (sqrt 2 - 1)(r/h)^2)^-2,    S = s/l + 5.817,    h = 0.07668 l S,

s being the distance along the jet, r from its axis, l the span from rotor to opposite rotor, and
U = sqrt(T/(2 rho pi R^2 rotors)) the speed in which hovering rotors push air. Closer than 2.5 l, where jets
of single rotors have not merged yet, it is taken to be as at 2.5 l.
"""

from __future__ import annotations

from skyrig.arrays import Array, namespace

MERGED = 2.5
"""Spans below a vehicle where its rotors' jets have become one."""
BEGINS = 0.25
"""Spans over which a jet grows from nothing, so that bodies beside a vehicle feel none."""


def jet_pressure(s: Array, square: Array, span: Array, over: Array) -> Array:
    """Rho u^2 (Pa) at `s` along a jet (m) and at a squared distance of `square` (m^2) from its axis.

    Args:
        s: Along the jet, from the vehicle down (m).
        square: Squared distance from the axis (m^2).
        span: l (m).
        over: Rho U^2, thrust over 2 pi R^2 of all rotors (Pa).
    """
    xp = namespace(s, square, span, over)
    long = xp.maximum(s / span, MERGED) + 5.817
    half = 0.07668 * span * long
    fall = (1 + (2**0.5 - 1) * square / half**2) ** -2
    grown = xp.clip(s / (BEGINS * span), 0.0, 1.0)
    return over * (10.11 / long * fall) ** 2 * grown
