"""One sentence for what is wrong with a value: where it stands, what it is, what would be right."""

from __future__ import annotations

import re
import reprlib
from collections.abc import Collection, Mapping
from typing import Any

from msgspec import inspect

from skyrig.checks import nearest
from skyrig.errors import InputError

_AT = re.compile(r"^(?P<problem>.*?)(?: - at `(?P<path>[^`]*)`)?$", re.S)
_STEP = re.compile(r"\.([A-Za-z_][\w-]*)|\[(\d+)\]")
_WORDS = {
    "float": "a number",
    "int": "a whole number",
    "str": "text",
    "bool": "true or false",
    "object": "a mapping",
    "array": "a list",
}
_ORDERS = {">": "above", ">=": "at least", "<": "below", "<=": "at most"}

_shortener = reprlib.Repr()
_shortener.maxstring = _shortener.maxother = 60
_shortener.maxlist = _shortener.maxtuple = 6
_shortener.maxdict = 4


def shown(value: object) -> str:
    """A value as people would write it, cut off when long."""
    if value is None:
        return "empty"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) and abs(value) > 10**15:
        return f"a number of {len(str(abs(value))) if value.bit_length() < 10_000 else 'thousands of'} digits"
    text = _shortener.repr(value)
    return " ".join(text.split())


def figure(value: float) -> str:
    """A number with three significant digits, in full as long as people write it so."""
    return f"{float(f'{value:.3g}'):.10g}"


def refuse(where: str, path: str, problem: str) -> InputError:
    """The error to raise: `where` names the file, `path` the field, `problem` goes on from there."""
    place = f"{where}: {path}" if path else where
    return InputError(f"{place} {problem}.")


def explain(where: str, values: Mapping[str, object], error: Exception, kind: Any) -> InputError:
    """What msgspec says in `error` about `values`, which are no `kind`, as one sentence of ours."""
    match = _AT.match(str(error))
    problem, path = (match["problem"], match["path"] or "$") if match else (str(error), "$")
    steps: list[str | int] = [a or int(b) for a, b in _STEP.findall(path)]
    value = _value_at(values, steps)
    place = dotted(steps)
    if found := re.match(r"Object contains unknown field `(.*)`", problem):
        known = _fields_at(kind, values, steps)
        hint = nearest(found[1], known) or f"; choose from {', '.join(known)}"
        return refuse(where, dotted([*steps, found[1]]), f"is not a field here{hint}")
    if found := re.match(r"Object missing required field `(.*)`", problem):
        return refuse(
            where, dotted([*steps, found[1]]), f"is missing{_options(kind, values, steps, found[1])}"
        )
    if re.match(r"Invalid (enum )?value", problem):
        options = _choices_at(kind, values, steps)
        near = nearest(value, options)
        if _may_be_a_number(kind, values, steps):
            wanted = f"a number{_unit_at(kind, values, steps)} or {' or '.join(options)}"
        else:
            wanted = f"one of {', '.join(options)}"
        return refuse(where, place, f"must be {wanted}{near}, not {shown(value)}")
    return refuse(
        where, place, f"must be {_wanted(problem)}{_unit_at(kind, values, steps)}, not {shown(value)}"
    )


def dotted(steps: Collection[str | int]) -> str:
    """A path as people write it: rig.cables[1].length."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)
    return text.removeprefix(".")


def _wanted(problem: str) -> str:
    """What msgspec expected, in words."""
    if problem.startswith("Number out of range"):
        return "a number of reasonable size"
    if "matching regex" in problem:
        return "letters, digits, '-', '_' and '.', at most 80 and beginning with a letter or digit"
    found = re.match(r"Expected `([^`]*)`(?: of length (.*?)|\s*(>=|<=|>|<)\s*(\S+))?(?:, got .*)?$", problem)
    if not found:
        return "something else"
    names = [_WORDS.get(name, name) for name in found[1].split(" | ") if name != "null"]
    text = " or ".join(names)
    if found[2]:
        return f"{text} of {found[2]} numbers"
    if found[3]:
        bound = found[4] if len(found[4]) > 8 else f"{float(found[4]):g}"
        return f"{text} {_ORDERS[found[3]]} {bound}"
    return text


def _value_at(values: Any, steps: list[str | int]) -> Any:
    for step in steps:
        try:
            values = values[step]
        except (KeyError, IndexError, TypeError):
            return None
    return values


def _type_at(whole: Any, values: Any, steps: list[str | int]) -> tuple[Any, str]:
    """The schema's type at a path, and the unit of the last field passed on the way."""
    kind, unit = inspect.type_info(whole), ""
    for step in [*steps, None]:
        kind, unit = _bare(kind, unit)
        if isinstance(kind, inspect.UnionType):
            kind, unit = _bare(_alternative(kind, values), unit)
        if step is None or kind is None:
            break
        if isinstance(step, int):
            items = getattr(kind, "item_types", None)
            kind = items[step] if items and step < len(items) else getattr(kind, "item_type", None)
        else:
            fields = {field.encode_name: field.type for field in getattr(kind, "fields", ())}
            kind = fields.get(step)
        values = _value_at(values, [step])
    return kind, unit


def _bare(kind: Any, unit: str) -> tuple[Any, str]:
    while isinstance(kind, inspect.Metadata):
        unit = (kind.extra or {}).get("unit", unit)
        kind = kind.type
    return kind, unit


def _alternative(union: inspect.UnionType, values: object) -> Any:
    """Which of several types `values` was meant to be."""
    bare = [_bare(kind, "")[0] for kind in union.types]
    if isinstance(values, Mapping):
        structs = [kind for kind in bare if isinstance(kind, inspect.StructType)]
        for kind in structs:
            if kind.tag_field is None or values.get(kind.tag_field) == kind.tag:
                return kind
        return union if len(structs) > 1 else next(iter(structs), None)
    if isinstance(values, list):
        return next((k for k in bare if isinstance(k, inspect.ListType | inspect.TupleType)), None)
    return next((k for k in bare if not isinstance(k, inspect.StructType | inspect.NoneType)), None)


def _fields_at(whole: Any, values: object, steps: list[str | int]) -> list[str]:
    kind, _ = _type_at(whole, values, steps)
    own = [kind.tag_field] if getattr(kind, "tag_field", None) else []
    return own + [field.encode_name for field in getattr(kind, "fields", ())]


def _choices_at(whole: Any, values: object, steps: list[str | int]) -> list[str]:
    kind, _ = _type_at(whole, values, steps)
    if isinstance(kind, inspect.LiteralType):
        return [str(value) for value in kind.values]
    owner, _ = _type_at(whole, values, steps[:-1])
    return [str(tag) for tag in _tags(owner)]


def _may_be_a_number(whole: Any, values: object, steps: list[str | int]) -> bool:
    owner, _ = _type_at(whole, values, steps[:-1])
    own = {field.encode_name: field.type for field in getattr(owner, "fields", ())}.get(str(steps[-1]))
    bare = getattr(own, "type", own)
    return any(isinstance(each, inspect.FloatType) for each in getattr(bare, "types", ()))


def _options(whole: Any, values: object, steps: list[str | int], field: str) -> str:
    """What a missing field could be."""
    owner, _ = _type_at(whole, values, steps)
    tags = [kind for kind in getattr(owner, "types", ()) if getattr(kind, "tag_field", None) == field]
    if tags:
        return f": give one of {', '.join(str(kind.tag) for kind in tags)}"
    own = {each.encode_name: each.type for each in getattr(owner, "fields", ())}.get(field)
    text = (getattr(own, "extra_json_schema", None) or {}).get("description", "")
    return f": {text[0].lower()}{text[1:].rstrip('.')}" if text else ""


def _tags(owner: Any) -> list[Any]:
    return [kind.tag for kind in getattr(owner, "types", ()) if getattr(kind, "tag", None) is not None]


def _unit_at(whole: Any, values: object, steps: list[str | int]) -> str:
    _, unit = _type_at(whole, values, steps)
    return f" ({unit})" if unit and unit != "1" else ""
