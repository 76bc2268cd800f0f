"""The command that says what there is to choose from: `list`. It imports no JAX."""

from __future__ import annotations

import inspect
import reprlib
from collections.abc import Callable, Iterator
from typing import Annotated, Any, get_args

import tyro

from skyrig.checks import nearest
from skyrig.cli.scenarios import new_table, print_table
from skyrig.errors import InputError

What = Annotated[str, tyro.conf.arg(metavar="WHAT")]


def list_known(what: tyro.conf.Positional[What] = "scenarios", /) -> None:
    """List the bundled scenarios, or what else a scenario may name.

    Args:
        what: One of scenarios, vehicles, payloads, mechanisms, controllers (with their gains), references
            (with their parameters), elements (what pushes or may befall a rig) and sensors.
    """
    if what not in LISTS:
        listed = ", ".join(LISTS)
        raise InputError(
            f"skyrig list knows no {reprlib.repr(what)}{nearest(what, LISTS)}: choose from {listed}."
        )
    LISTS[what]()


def scenarios() -> None:
    """The bundled scenarios."""
    from skyrig.files import read_yaml
    from skyrig.scenario import bundled_text, names

    table = new_table("scenario", "what it shows")
    for name in names():
        head, _, _ = bundled_text(name).partition("\nrig:")  # reading whole files would take a second
        values = read_yaml(head, name)
        table.add_row(name, " ".join(str(values.get("description", "")).split()))
    print_table(table)


def vehicles() -> None:
    """The bundled vehicles with what matters most; files and docs have the rest."""
    from skyrig.vehicles import airframe, airframe_names

    table = new_table("vehicle", "mass (kg)", "radius (m)", "rotors", "thrust (N)", "thrust to weight (1)")
    for column in table.columns[1:]:
        column.justify = "right"
    for name in airframe_names():
        frame = airframe(name)
        thrust = f"{frame.total_thrust_min:.2f} to {frame.total_thrust_max:.2f}"
        numbers = (f"{frame.mass:g}", f"{frame.radius:.3f}", str(frame.rotor_count), thrust)
        table.add_row(name, *numbers, f"{frame.thrust_to_weight:.2f}")
    print_table(table)


def payloads() -> None:
    """The bundled payloads."""
    from skyrig.vehicles import payload, payload_names

    table = new_table("payload", "mass (kg)", "shape", "extent (m)", "sets of attachments")
    for name in payload_names():
        load = payload(name)
        size = 2 * load.shape.corners.max(axis=0) if load.is_point else _extent(load.shape.corners)
        extent = "" if load.is_point else " x ".join(f"{each:.3g}" for each in size)
        table.add_row(name, f"{load.mass:g}", load.shape.kind, extent, ", ".join(load.attachments))
    print_table(table)


def controllers() -> None:
    """The controllers, and every gain of theirs with its unit and meaning."""
    from skyrig.control.known import CONTROLLERS

    table = new_table("controller", "what it does", "follows", "flies")
    for name, known in CONTROLLERS.items():
        flown = known.mechanisms or (
            ("any rig",) if known.build is not None or not known.follows else _geometric()
        )
        table.add_row(name, known.about, known.follows or "nothing", ", ".join(flown))
    print_table(table)
    for flavour in ("full", "published"):
        print()
        table = new_table(f"gain, {flavour} flavour", "unit", "of", "what it is")
        for (gain, meaning), owners in _gains(flavour).items():
            unit, text = meaning or ("", "")
            table.add_row(gain, unit, ", ".join(owners), text)
        print_table(table)


def references() -> None:
    """The references, and every parameter of theirs."""
    from skyrig.planning import REFERENCES, TEAM_REFERENCES

    table = new_table("reference", "default", "what it is")
    for name, builder in (REFERENCES | TEAM_REFERENCES).items():
        text = inspect.getdoc(builder) or ""
        table.add_row(name, "", text.splitlines()[0] if text else "")
        meanings = arguments(text)
        for each, parameter in inspect.signature(builder).parameters.items():
            if each not in ("directory", "parts"):
                required = parameter.default is inspect.Parameter.empty
                usual = "required" if required else _usual(parameter.default)
                table.add_row(f"  {each}", usual, meanings.get(each, ""))
    print_table(table)


def mechanisms() -> None:
    """What joins bodies, and what `rig:` says of it."""
    from skyrig.scenario.registry import MECHANISMS

    table = new_table("mechanism", "default", "what it is")
    for name, kind in MECHANISMS.items():
        table.add_row(name, "", (inspect.getdoc(kind) or "").split("\n\n")[0])
        _fields(table, kind)
    print_table(table)


def elements() -> None:
    """What may befall a rig, and what comes between it and its controller."""
    from skyrig.scenario.registry import ELEMENTS
    from skyrig.scenario.spec import Happening, Loop, NoiseSpec

    table = new_table("element", "default", "what it is")
    for name, kind in ELEMENTS.items():
        table.add_row(f"world: {name}", "", inspect.getdoc(kind) or "")
        _fields(table, kind)
    for kind in get_args(Happening):
        table.add_row(f"happenings: {kind.__struct_config__.tag}", "", inspect.getdoc(kind) or "")
        _fields(table, kind)
    table.add_row("noise", "", inspect.getdoc(NoiseSpec) or "")
    _fields(table, NoiseSpec)
    table.add_row("loop", "", "What comes between measurements and thrusts.")
    for field, *rest in described(Loop):
        if field in ("rotor_lag", "delay"):
            table.add_row(f"  {field}", *rest)
    print_table(table)


def sensors() -> None:
    """Instruments, and what `sensors:` says of them."""
    from skyrig.sensing.registry import SENSORS

    table = new_table("sensor", "default", "what it is")
    for name, kind in SENSORS.items():
        table.add_row(name, "", inspect.getdoc(kind) or "")
        _fields(table, kind)
    print_table(table)


LISTS: dict[str, Callable[[], None]] = {
    "scenarios": scenarios,
    "vehicles": vehicles,
    "payloads": payloads,
    "mechanisms": mechanisms,
    "controllers": controllers,
    "references": references,
    "elements": elements,
    "sensors": sensors,
}
"""What can be listed."""


def arguments(docstring: str) -> dict[str, str]:
    """What a Google docstring, its indentation cleaned, says of each argument, on one line."""
    _, _, section = docstring.partition("\nArgs:\n")
    found: dict[str, str] = {}
    name = ""
    for line in section.splitlines():
        if not line.startswith("    "):
            break
        if not line.startswith("     "):
            name, _, text = line.strip().partition(": ")
            found[name] = text
        else:
            found[name] += f" {line.strip()}"
    return found


def _gains(flavour: str) -> dict[tuple[str, Any], list[str]]:
    """Gains of a flavour with their meanings, and which controllers have them."""
    from skyrig.control.known import CONTROLLERS
    from skyrig.scenario.gains import gains

    found: dict[tuple[str, Any], list[str]] = {}
    for name in CONTROLLERS:
        for item in gains(name, flavour).items():
            found.setdefault(item, []).append(name)
    return found


def _geometric() -> tuple[str, ...]:
    """What has a controller that 'geometric' stands for."""
    from skyrig.control.known import CONTROLLERS

    return tuple(each for it in CONTROLLERS.values() if it.geometric for each in it.mechanisms or ())


def _fields(table: Any, kind: Any) -> None:
    """A row for every field of a struct, from its schema."""
    for name, usual, text in described(kind):
        table.add_row(f"  {name}", usual, text)


def described(kind: Any) -> Iterator[tuple[str, str, str]]:
    """Name, default (or 'required') and description of every field of a struct of the schema."""
    from msgspec import NODEFAULT
    from msgspec import inspect as schema

    struct: Any = schema.type_info(kind)
    for field in struct.fields:
        text = (getattr(field.type, "extra_json_schema", None) or {}).get("description", "")
        usual = field.default if field.default_factory is NODEFAULT else field.default_factory()
        yield field.encode_name, "required" if field.required else _usual(usual), text


def _usual(default: object) -> str:
    """A default as it would be written in YAML; nothing for one that is not said."""
    if default is None:
        return ""
    if isinstance(default, tuple | list):
        return f"[{', '.join(_usual(each) for each in default)}]"
    if isinstance(default, bool):
        return "true" if default else "false"
    return f"{default:g}" if isinstance(default, float) else str(default)


def _extent(corners: Any) -> Any:
    return corners.max(axis=0) - corners.min(axis=0)
