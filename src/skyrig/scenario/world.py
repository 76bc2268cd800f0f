"""What surrounds a rig, as scenarios describe it: elements by name under `world:`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from skyrig.fields import SpecPart

if TYPE_CHECKING:
    from skyrig.elements import Element
    from skyrig.scenario.mechanisms import RigParts

AIR_DENSITY = 1.225
"""Of air at sea level and 15 degrees (kg/m^3)."""


class ElementSpec(SpecPart, frozen=True, kw_only=True):
    """What `world:` says of an element; one of one's own derives from it, its fields being YAML's."""

    pushes: ClassVar[bool] = False
    """Whether it pushes bodies in ways that controllers do better to look out for: wind and drag do."""

    drags: ClassVar[bool] = False
    """Whether it is drag, a law of bodies' motions that controllers can reckon with."""

    def placed(self, spec: Any) -> ElementSpec:
        """This with what the rest of the scenario decides filled in: a seed, say."""
        return self

    def check(self, parts: RigParts, where: str, path: str) -> None:
        """Refuse what this rig cannot have."""

    def build(self, parts: RigParts) -> Element:
        """The element itself. Here JAX comes in."""
        raise NotImplementedError(f"{type(self).__name__} must build its element")
