"""Elements: forces on the bodies of a rig, evaluated at every stage of a step, one file each."""

from skyrig.elements.drag import Drag
from skyrig.elements.element import Element
from skyrig.elements.pushes import Pushes

__all__ = ["Drag", "Element", "Pushes"]
