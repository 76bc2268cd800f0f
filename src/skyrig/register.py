"""Bring in mechanisms, elements, sensors, controllers, references and integrators of your own, one line each.

    from skyrig import register

    @register.element("gusts")
    class Gusts(register.ElementSpec): ...

Put them into a file and say `skyrig fly x.yaml --with mine.py`, or register them in Python before
`skyrig.load`. YAML names them; it never runs code. See docs/extending.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from skyrig import extensions
from skyrig.control.known import CONTROLLERS, FLAVOURS, Known
from skyrig.errors import InputError
from skyrig.planning.registry import REFERENCES
from skyrig.rigs.layout import End, Tether
from skyrig.scenario.mechanisms import Mechanism, Place, RigParts
from skyrig.scenario.registry import ELEMENTS, MECHANISMS, enter
from skyrig.scenario.world import ElementSpec
from skyrig.sensing.registry import SENSORS
from skyrig.sensing.sensor import SensorSpec
from skyrig.sim.known import INTEGRATORS

T = TypeVar("T")

__all__ = [
    "ElementSpec",
    "End",
    "Mechanism",
    "Place",
    "RigParts",
    "SensorSpec",
    "Tether",
    "controller",
    "element",
    "file",
    "integrator",
    "mechanism",
    "reference",
    "sensor",
]


def mechanism(kind: type[T]) -> type[T]:
    """A `Mechanism` of your own, by the `tag` it was given."""
    if not issubclass(kind, Mechanism) or not isinstance(kind.__struct_config__.tag, str):
        raise InputError(f"register.mechanism needs a Mechanism with a tag, not {kind.__name__}.")
    return _entered(MECHANISMS, "mechanism", str(kind.__struct_config__.tag), kind)


def element(name: str) -> Callable[[type[T]], type[T]]:
    """An `ElementSpec` of your own, by its name under `world:`."""
    return lambda kind: _entered(ELEMENTS, "element", name, kind)


def controller(
    name: str,
    *,
    about: str = "",
    follows: str = "payload",
    mechanisms: Sequence[str] | None = None,
    gains: Sequence[str] = (),
    geometric: bool = False,
) -> Callable[[T], T]:
    """A function `build(rig, airframes, gains, flavour, clock)` that makes a controller of your own.

    Args:
        name: What scenarios call it.
        about: What it does, in a few words, for `skyrig list controllers`.
        follows: Whose reference it follows: 'payload' or 'vehicles'.
        mechanisms: What it can fly; any rig if left out.
        gains: Names of its gains.
        geometric: Whether it is what 'geometric' stands for on these mechanisms.
    """

    def enters(build: Any) -> Any:
        flown = None if mechanisms is None else tuple(mechanisms)
        known = Known(about, build, dict.fromkeys(FLAVOURS, tuple(gains)), follows, flown, geometric)
        if name in CONTROLLERS and getattr(CONTROLLERS[name].build, "__module__", "") != build.__module__:
            raise InputError(f"there is a controller called {name!r} already: choose another name.")
        CONTROLLERS[name] = known
        extensions.note("controller", name)
        return build

    return enters


def reference(name: str) -> Callable[[T], T]:
    """A function that makes a `skyrig.planning.Reference` of your own; its parameters are YAML's."""
    return lambda build: _entered(REFERENCES, "reference", name, build)


def integrator(name: str) -> Callable[[T], T]:
    """A function `(plant, t, state, effort, dt, fence) -> Trial`; see `skyrig.sim.integrators`."""
    return lambda step: _entered(INTEGRATORS, "integrator", name, step)


def sensor(name: str) -> Callable[[type[T]], type[T]]:
    """A `SensorSpec` of your own, by its name under `sensors:`."""
    return lambda kind: _entered(SENSORS, "sensor", name, kind)


def _entered(table: dict[str, Any], kind: str, name: str, thing: T) -> T:
    enter(table, name, thing, kind)
    extensions.note(kind, name)
    return thing


def file(path: str | Path) -> None:
    """Run a Python file so that what it registers is known, as `--with` does on the command line."""
    extensions.load(Path(path), "register.file")
