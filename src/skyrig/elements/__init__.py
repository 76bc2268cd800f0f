"""Elements: forces on the bodies of a rig, evaluated at every stage of a step, one file each."""

from skyrig.elements.air import Air
from skyrig.elements.around import Around
from skyrig.elements.cable_drag import CableDrag
from skyrig.elements.contact import SurfaceContact
from skyrig.elements.downwash import Downwash
from skyrig.elements.drag import Drag
from skyrig.elements.element import Element
from skyrig.elements.ground_effect import GroundEffect
from skyrig.elements.gyroscopic import Gyroscopic
from skyrig.elements.payload_drag import PayloadDrag
from skyrig.elements.points import Points
from skyrig.elements.pushes import Pushes
from skyrig.elements.rolling_moment import RollingMoment
from skyrig.elements.rotor_drag import RotorDrag
from skyrig.elements.rotors import RotorSet
from skyrig.elements.turbulence import Turbulence
from skyrig.elements.wind import Gusts, Shear, Wind
from skyrig.elements.wind_field import WindField

__all__ = [
    "Air",
    "Around",
    "CableDrag",
    "SurfaceContact",
    "Downwash",
    "Drag",
    "Element",
    "GroundEffect",
    "Gusts",
    "Gyroscopic",
    "PayloadDrag",
    "Points",
    "Pushes",
    "RollingMoment",
    "RotorDrag",
    "RotorSet",
    "Shear",
    "Turbulence",
    "Wind",
    "WindField",
]
