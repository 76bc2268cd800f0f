"""What scenarios may name besides what is written here: mechanisms and elements, by their names in YAML."""

from __future__ import annotations

import functools
import operator
from functools import lru_cache
from typing import Annotated, Any

from msgspec import defstruct

from skyrig.errors import InputError
from skyrig.fields import SpecPart, unit
from skyrig.scenario.elements.cable_drag import CableDragSpec
from skyrig.scenario.elements.downwash import DownwashSpec
from skyrig.scenario.elements.drag import DragSpec
from skyrig.scenario.elements.ground import GroundSpec, ObstaclesSpec
from skyrig.scenario.elements.ground_effect import GroundEffectSpec
from skyrig.scenario.elements.payload_drag import PayloadDragSpec
from skyrig.scenario.elements.rotor_air import GyroscopicSpec, RollingMomentSpec, RotorDragSpec
from skyrig.scenario.elements.turbulence import TurbulenceSpec
from skyrig.scenario.elements.wind import WindSpec
from skyrig.scenario.elements.wind_field import WindFieldSpec
from skyrig.scenario.mechanisms.base import Mechanism
from skyrig.scenario.mechanisms.cables import CableRig
from skyrig.scenario.mechanisms.elastic import ElasticRig
from skyrig.scenario.mechanisms.gripper import GripperRig
from skyrig.scenario.mechanisms.links import LinkRig
from skyrig.scenario.spec import Spec
from skyrig.scenario.world import ElementSpec
from skyrig.sensing.registry import SENSORS

MECHANISMS: dict[str, type[Mechanism]] = {
    "cables": CableRig,
    "elastic": ElasticRig,
    "gripper": GripperRig,
    "links": LinkRig,
}
"""What `rig.mechanism` may be."""
ELEMENTS: dict[str, type[ElementSpec]] = {
    "wind": WindSpec,
    "turbulence": TurbulenceSpec,
    "wind_field": WindFieldSpec,
    "drag": DragSpec,
    "payload_drag": PayloadDragSpec,
    "rotor_drag": RotorDragSpec,
    "rolling_moment": RollingMomentSpec,
    "gyroscopic": GyroscopicSpec,
    "cable_drag": CableDragSpec,
    "ground_effect": GroundEffectSpec,
    "downwash": DownwashSpec,
    "ground": GroundSpec,
    "obstacles": ObstaclesSpec,
}
"""What `world:` may hold."""


def spec_type() -> type[Spec]:
    """The schema with every mechanism, element and sensor that is registered."""
    return _spec_type(tuple(MECHANISMS.values()), tuple(ELEMENTS.items()), tuple(SENSORS.items()))


@lru_cache(maxsize=16)
def _spec_type(
    mechanisms: tuple[type, ...],
    elements: tuple[tuple[str, type], ...],
    sensors: tuple[tuple[str, type], ...],
) -> type[Spec]:
    one_of: Any = functools.reduce(operator.or_, mechanisms)
    rig = Annotated[one_of, unit("", "Bodies, and how they are joined")]
    world, instruments = _named("World", elements), _named("Sensors", sensors)
    around = Annotated[world, unit("", "What pushes the bodies all the time")]
    mounted = Annotated[instruments, unit("", "Instruments that read the rig, recorded as signals")]
    made: Any = defstruct(
        "Spec",
        [("rig", rig), ("world", around, world()), ("sensors", mounted, instruments())],
        bases=(Spec,),
        frozen=True,
        kw_only=True,
        module=__name__,
    )
    return made


def _named(name: str, kinds: tuple[tuple[str, type], ...]) -> Any:
    """A struct with a field for each of `kinds`, each of which may be left out."""
    return defstruct(
        name,
        [(each, Annotated[kind | None, unit("", _first(kind))], None) for each, kind in kinds],
        bases=(SpecPart,),
        frozen=True,
        kw_only=True,
        module=__name__,
    )


def _first(kind: type) -> str:
    return (kind.__doc__ or kind.__name__).strip().splitlines()[0].rstrip(".")


def enter(table: dict[str, Any], name: str, thing: Any, noun: str) -> None:
    """Put a thing into a table of names, unless another one has its name there."""
    known = table.get(name)
    if known is not None and known is not thing and not _reloaded(known, thing):
        raise InputError(f"there is a {noun} called {name!r} already: choose another name.")
    table[name] = thing


def _reloaded(known: Any, thing: Any) -> bool:
    """Whether two things are the same one, its file having been read twice."""
    places = [(getattr(it, "__module__", None), getattr(it, "__qualname__", None)) for it in (known, thing)]
    return places[0] == places[1] and not str(places[0][0]).startswith("skyrig.")
