"""What a controller that plans is tuned by."""

from __future__ import annotations

import equinox as eqx
from jaxtyping import Array, Float

from skyrig.control.interface import axes


class MpcGains(eqx.Module):
    """Weights, limits and observers of the plans."""

    vehicle: Float[Array, "12 n ..."] = axes(2)
    """Weights of the vehicles' errors: position, velocity, attitude, rate."""
    effort: Float[Array, "4 n ..."] = axes(2)
    """Weights of what thrust and moment differ from those of the reference."""
    load: Float[Array, "12 ..."] = axes(1)
    """Weights of the load's errors."""
    tension: Float[Array, "n ..."] = axes(1)
    """Weights of what tensions differ from those of the reference (1/N^2)."""
    final: Float[Array, " ..."] = axes(0)
    """How many times more errors count at the end of the horizon."""
    approach: Float[Array, " ..."] = axes(0)
    """Rate at which they should die out there (1/s)."""
    brake: Float[Array, " ..."] = axes(0)
    """How far vehicles move against each m/s of the load, to brake its swing (s)."""
    softness: Float[Array, " ..."] = axes(0)
    """Of the cables' lengths: (L - L_0)^2 / (2 softness) is what a change costs."""
    apart: Float[Array, " ..."] = axes(0)
    """Least distance between vehicles, seen from above (m); half of it is kept from obstacles."""
    shy: Float[Array, " ..."] = axes(0)
    """Weight of coming nearer (1/m^2)."""
    learn: Float[Array, " ..."] = axes(0)
    """Rate at which unplanned pushes are learnt (1/s)."""
