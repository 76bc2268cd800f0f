"""What cables are made of, as people say it: stiffness and damping of the whole cable, or of its material."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
from jaxtyping import Array

from skyrig.algebra import as_jax, traced
from skyrig.errors import InputError
from skyrig.rigs.cables import stacked

MODULUS, AREA = 25e9, 0.8e-6
"""Of a thin braided line of polyethylene fibres (Pa, m^2): about one millimetre thick, E A = 20 kN."""


@dataclass(frozen=True)
class Material:
    """A cable's material; what is left out is that of a thin braided line of polyethylene fibres."""

    stiffness: float | Array | None = None
    """Of the whole cable at its length (N/m); else modulus times area over length."""
    damping: float | Array | None = None
    """Of the whole cable at its length (N s/m); else by the damping ratio."""
    modulus: float | Array = MODULUS
    """Young's (Pa)."""
    area: float | Array = AREA
    """Of the cross-section (m^2)."""
    damping_ratio: float | Array = 0.1
    """Of the payload's share bouncing on one cable; 1 is critical."""
    mass_per_metre: float | Array = 1e-3
    """kg/m."""
    bending: float | Array = 0.0
    """E I (N m^2): what resists bending."""
    drag_per_metre: float | Array = 0.0
    """Drag force over squared speed and length (N s^2/m^3): half the air's density, width and coefficient."""


def restitution(ratio: float) -> float:
    """Share of its speed that a body gives back which bounces once on a spring and damper that only pull.

    They let go when spring and damper cancel, before the spring is back at its length; so a damping ratio
    of 1 gives back exp(-2), and of 0 everything. For an inextensible cable that is the limit of this one.
    """
    if ratio <= 0:
        return 1.0
    root = abs(1 - ratio**2) ** 0.5
    if root < 1e-6:
        return math.exp(-2)
    angle = math.atan(root / ratio) if ratio < 1 else math.atanh(root / ratio)
    return math.exp(-2 * ratio / root * angle)


LINE = Material()
"""A thin braided line."""


def material_arrays(
    material: Material | Sequence[Material], length: Array, load: Any, segments: int
) -> dict[str, Any]:
    """The fields of an elastic rig that its material gives; checked.

    Args:
        material: Of all cables, or one for each.
        length: (n,) unstretched (m).
        load: The payload's mass (kg).
        segments: In each cable.
    """
    n = length.shape[0]
    each = [material] * n if isinstance(material, Material) else list(material)
    if len(each) != n:
        raise InputError(f"material must be one, or one for each of {n} cables, not {len(each)}.")
    for k, it in enumerate(each):
        _check(it, f"material[{k}]", segments)
    axial, viscous = [], []
    for k, it in enumerate(each):
        stiffness = it.modulus * it.area / length[k] if it.stiffness is None else it.stiffness
        share = load / n
        critical = 2 * (stiffness * share) ** 0.5
        damping = it.damping_ratio * critical if it.damping is None else it.damping
        axial.append(stiffness * length[k])
        viscous.append(damping * length[k])

    def if_any(values: list[Any]) -> Array | None:
        known = not traced(*values)
        return None if known and not any(values) else stacked([as_jax(it) for it in values])

    return {
        "axial": stacked([jnp.asarray(it) for it in axial]),
        "viscous": stacked([jnp.asarray(it) for it in viscous]),
        "mass_per_metre": stacked([as_jax(float(it.mass_per_metre)) for it in each]),
        "drag_per_metre": if_any([it.drag_per_metre for it in each]),
        "bending": if_any([it.bending for it in each]) if segments > 1 else None,
    }


def _check(it: Material, where: str, segments: int) -> None:
    """Refuse what no cable is made of."""
    for name in ("stiffness", "modulus", "area"):
        value = getattr(it, name)
        if value is not None and not traced(value) and not value > 0:
            raise InputError(f"{where}.{name} must be above 0, not {value:g}.")
    for name in ("damping", "damping_ratio", "mass_per_metre", "drag_per_metre", "bending"):
        value = getattr(it, name)
        if value is not None and not traced(value) and not value >= 0:
            raise InputError(f"{where}.{name} must be 0 or more, not {value:g}.")
    if segments > 1 and not traced(it.mass_per_metre) and not it.mass_per_metre > 0:
        raise InputError(f"{where}.mass_per_metre must be above 0 with more than one segment.")
