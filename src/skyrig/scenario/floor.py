"""A floor to stand on: new scenarios have one, those of the papers stay as they were printed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from skyrig.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    from skyrig.scenario.scenario import Scenario


def has_floor(scenario: Scenario) -> bool:
    """Whether bodies stand on a floor in `scenario`."""
    return "ground" in scenario.spec.elements


def with_floor(scenario: Scenario) -> Scenario:
    """`scenario` with a floor that bodies stand on, at the height by which flights are judged.

    One that has ground already, or whose flights are judged by none, stays as it is.
    """
    height = scenario.spec.verdict.ground
    if has_floor(scenario) or isinstance(height, str):
        return scenario
    return scenario.with_overrides({"world.ground": {"height": height}})


def begun(scenario: Scenario, path: Path) -> str:
    """The text of a new scenario file that begins as `scenario` is, comments included, on a solid floor.

    Args:
        scenario: As it was read.
        path: Where the file is to be; the scenario is called like it.
    """
    from skyrig.scenario.scenario import Scenario

    text = scenario.text if scenario.text is not None else scenario.to_yaml()
    text = re.sub(r"(?m)^name:.*$", f"name: {path.stem}", text, count=1)
    if scenario.values.get("world") is None and with_floor(scenario) is not scenario:
        height = scenario.spec.verdict.ground
        said = "ground: {}" if height == 0 else f"ground: {{height: {height:g}}}"
        text = f"{text.rstrip()}\n\nworld: {{{said}}} # a floor to stand on; without it bodies pass through\n"
    try:
        Scenario.from_text(text, str(path), path.parent)
    except InputError as error:
        raise InputError(f"{error} Choose another file name, or another scenario to begin with.") from None
    return text
