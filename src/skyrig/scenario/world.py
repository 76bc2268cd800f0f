"""What surrounds a rig, as scenarios describe it: elements by name under `world:`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
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


def elements_of(spec: Any) -> dict[str, ElementSpec]:
    """The elements that a scenario's `world:` holds, by name."""
    world = spec.world
    held = {} if world is None else {name: getattr(world, name) for name in world.__struct_fields__}
    return {name: element.placed(spec) for name, element in held.items() if element is not None}


def build_elements(spec: Any, parts: RigParts) -> dict[str, Element]:
    """All elements of a scenario: those it names, and what its vehicles bring along."""
    made = {name: element.build(parts) for name, element in elements_of(spec).items()}
    if any(frame.tilted for frame in parts.airframes):
        from skyrig.elements.rotors import RotorSet
        from skyrig.elements.side_forces import SideForces

        made["side_forces"] = SideForces(RotorSet.of(parts.airframes))
    return made


def known_drag(spec: Any) -> dict[str, ElementSpec]:
    """The elements of a scenario's `world:` that its controller may know and feed forward."""
    return {name: it for name, it in elements_of(spec).items() if it.drags}


def with_whole_files(world: Any, directory: Path) -> Any:
    """What `world:` says with the files it names made independent of where it stands."""
    if not isinstance(world, Mapping):
        return world

    def whole(said: Any) -> Any:
        if not isinstance(said, Mapping) or not isinstance(said.get("file"), str):
            return said
        return {**said, "file": str((directory / said["file"]).absolute())}

    return {name: whole(said) for name, said in world.items()}
