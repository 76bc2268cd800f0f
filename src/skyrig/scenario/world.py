"""What surrounds a rig, as scenarios describe it: elements by name under `world:`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from skyrig.fields import Part, Point, unit
from skyrig.scenario.sentences import nearest, refuse, shown

if TYPE_CHECKING:
    from skyrig.elements import Element
    from skyrig.scenario.mechanisms import RigParts


class ElementSpec(Part, frozen=True, kw_only=True):
    """What `world:` says of an element; one of one's own derives from it, its fields being YAML's."""

    def check(self, parts: RigParts, where: str, path: str) -> None:
        """Refuse what this rig cannot have."""

    def build(self, parts: RigParts) -> Element:
        """The element itself. Here JAX comes in."""
        raise NotImplementedError(f"{type(self).__name__} must build its element")


def elements_of(spec: Any) -> dict[str, ElementSpec]:
    """The elements that a scenario's `world:` holds, by name."""
    world = spec.world
    held = {} if world is None else {name: getattr(world, name) for name in world.__struct_fields__}
    return {name: element for name, element in held.items() if element is not None}


class Coefficients(Part, frozen=True, kw_only=True):
    """Of the drag of a body, one for all directions or along each of its axes."""

    linear: Annotated[float | Point, unit("N s/m", "Drag over speed")] = 0.0
    quadratic: Annotated[float | Point, unit("N s^2/m^2", "Drag over speed squared")] = 0.0


class DragSpec(ElementSpec, frozen=True, kw_only=True):
    """Still air against bodies: F = -(linear + quadratic |v|) v, axis by axis of each body's frame."""

    bodies: Annotated[dict[str, Coefficients], unit("", "Coefficients by group of bodies: payload, vehicles")]

    def check(self, parts: RigParts, where: str, path: str) -> None:
        """The groups are there, and nothing is pushed along."""
        groups = (*parts.loads, "vehicles")
        for name, given in self.bodies.items():
            if name not in groups:
                listed = f"{', '.join(groups)}{nearest(name, groups)}"
                raise refuse(
                    where, f"{path}.bodies", f"must name groups of the rig, {listed}, not {shown(name)}"
                )
            for field in ("linear", "quadratic"):
                if np.any(np.asarray(getattr(given, field)) < 0):
                    raise refuse(where, f"{path}.bodies.{name}.{field}", "must not be below zero")

    def build(self, parts: RigParts) -> Element:
        """The drag of every group that is named."""
        from skyrig.algebra import as_jax
        from skyrig.elements import Drag

        def along(name: str) -> dict[str, Any]:
            return {
                group: as_jax(
                    np.broadcast_to(np.asarray(getattr(it, name), dtype=float), (3,)).reshape(3, 1).copy()
                )
                for group, it in self.bodies.items()
            }

        return Drag(along("linear"), along("quadratic"))
