"""The JSON schema of scenario files, for editors that complete and check while one types."""

from __future__ import annotations

import inspect
from typing import Any

import msgspec

from skyrig.control.known import CONTROLLERS
from skyrig.planning import REFERENCES
from skyrig.scenario.registry import spec_type
from skyrig.vehicles import airframe_names, payload_names


def schema() -> dict[str, Any]:
    """JSON schema (draft 2020-12) of version 1 of the scenario file."""
    made = msgspec.json.schema(spec_type())
    definitions = made["$defs"]
    definitions["Reference"] = _reference()
    wanted = {"$ref": "#/$defs/Reference"}
    spec = definitions["Spec"]["properties"]
    per_body = {
        "type": "object",
        "properties": {"payload": wanted, "vehicles": {"type": "array", "items": wanted}},
        "additionalProperties": False,
        "minProperties": 1,
        "maxProperties": 1,
    }
    spec["reference"]["anyOf"] = [wanted, per_body, {"type": "null"}]
    definitions["ControllerSpec"]["properties"]["name"]["enum"] = list(CONTROLLERS)
    definitions["VehicleSpec"]["properties"]["type"]["anyOf"][0]["enum"] = list(airframe_names())
    definitions["PayloadSpec"]["properties"]["type"]["anyOf"][0]["enum"] = list(payload_names())
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "skyrig scenario", **made}


def _reference() -> dict[str, Any]:
    """Every reference by its type, its parameters taken from its builder."""
    kinds: list[dict[str, Any]] = [{"enum": list(REFERENCES)}]
    for name, builder in REFERENCES.items():
        parameters = inspect.signature(builder).parameters
        own = {each: _parameter(each) for each in parameters if each != "directory"}
        needed = [each for each in own if parameters[each].default is inspect.Parameter.empty]
        kinds.append(
            {
                "type": "object",
                "description": (inspect.getdoc(builder) or name).splitlines()[0],
                "properties": {"type": {"const": name}, "offset": {"type": "boolean"}, **own},
                "required": ["type", *needed],
                "additionalProperties": False,
            }
        )
    return {"description": "A wanted motion, in SI units and radians.", "anyOf": kinds}


def _parameter(name: str) -> dict[str, Any]:
    """What is known of a parameter by its name: references inside references."""
    inner = {"$ref": "#/$defs/Reference"}
    if name == "parts":
        return {"type": "array", "items": inner}
    return inner if name in ("path", "rotation") else {}
