"""What a finger is made of, as data; nothing here needs JAX."""

from __future__ import annotations

from dataclasses import dataclass

from skyrig import checks
from skyrig.errors import InputError
from skyrig.soft.shapes import slice_of


@dataclass(frozen=True)
class FingerDesign:
    """What a finger is made of and how it is cut into elements. The defaults are the paper's finger.

    In its own frame a finger runs along z from its base at 0 to its tip; x points to the side that closes.
    """

    length: float = 0.18
    """m."""
    width: float = 0.025
    """Of its square cross-section (m)."""
    young: float = 2e4
    """Young's modulus (N/m^2)."""
    poisson: float = 0.25
    """Poisson's ratio."""
    density: float = 250.0
    """kg/m^3."""
    damping: float = 0.01
    """Of the material: viscous stress over elastic stress at a strain rate of 1/s (s)."""
    tendon_stiffness: float = 1e3
    """kappa of eq. 13: the tension is 2 kappa times the stretch (N/m)."""
    elements: str = "H20"
    """One of `skyrig.soft.KINDS`."""
    slices: int = 8
    """Along the finger; there is an eyelet at the face of each."""
    cells: int = 1
    """Elements along a side of the cross-section."""
    mount: str = "clamp"
    """'clamp': the base's face is glued on; 'pins': three of its nodes are held by springs (eq. 14)."""
    pin_stiffness: float = 1e3
    """kappa of eq. 14 (N/m)."""
    mass: str = "consistent"
    """'consistent', or 'lumped' at the nodes."""

    def __post_init__(self) -> None:
        """Refuse a finger that cannot be."""
        for name in ("length", "width", "young", "density", "tendon_stiffness", "pin_stiffness"):
            checks.positive(name, getattr(self, name))
        checks.nonnegative("damping", self.damping)
        if not -1 < self.poisson < 0.5:
            raise InputError(f"poisson must be above -1 and below 0.5, not {self.poisson:g}.")
        if not 1 <= self.slices <= 200:
            raise InputError(f"slices must be from 1 to 200, not {self.slices}.")
        checks.choice("mount", self.mount, ("clamp", "pins"))
        checks.choice("mass", self.mass, ("consistent", "lumped"))
        slice_of(self.elements, self.cells)

    @property
    def weight(self) -> float:
        """Its mass (kg)."""
        return self.density * self.length * self.width**2
