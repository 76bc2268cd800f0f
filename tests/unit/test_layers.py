"""Arrows between rooms point one way, and nobody asks a rig what it is instead of what it has."""

import ast
import re
import runpy
from collections.abc import Iterator
from pathlib import Path

import pytest

import skyrig

ROOT = Path(skyrig.__file__).parent
DOCS = ROOT.parents[1] / "docs"
DRAWN = runpy.run_path(str(DOCS / "rooms.py"))
ROOMS = DRAWN["ROOMS"]
"""From the bottom up: a room may know those before it."""
SHARED = {path.stem for path in ROOT.glob("*.py")}
"""Files beside the rooms, below all of them."""
ABOVE = {"__init__", "__main__", "register"}
"""Beside the rooms, but above them."""
DATA_ONLY = {"flight": {"sim", "control", "planning", "elements"}}
"""Rooms that a room must not know though they come before it."""


def imports(tree: ast.Module) -> Iterator[str]:
    """What a module imports when it runs, at its top or inside a function; not what only types need."""
    only_types = {
        inner
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if node in only_types:
            continue
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            if node.module == "skyrig":
                yield from (f"skyrig.{name.name}" for name in node.names)


@pytest.mark.parametrize("path", sorted(ROOT.rglob("*.py")), ids=lambda it: str(it.relative_to(ROOT)))
def test_arrows_point_one_way(path: Path) -> None:
    where = path.relative_to(ROOT).parts
    room = where[0] if len(where) > 1 else None
    if room is None and path.stem in ABOVE:
        return
    for name in imports(ast.parse(path.read_text(encoding="utf-8"))):
        parts = name.split(".")
        if parts[0] != "skyrig" or len(parts) < 2:
            continue
        known = parts[1]
        if known in ROOMS:
            assert room is not None, f"{path} stands below the rooms, but imports {name}"
            assert ROOMS.index(known) <= ROOMS.index(room), f"{room} imports {name}"
            assert known not in DATA_ONLY.get(room, ()), f"{room} imports {name}"
        else:
            assert known in SHARED | {"fly", "trim", "rollout", "__version__"}, f"{path} imports {name}"


SWITCH = re.compile(
    r"(isinstance|issubclass)\([^)]*\b(Slung|Linked|FreeBodies|Elastic|SoftGripper)\b"
    r"|(isinstance|issubclass)\([^)]*\b(Cable|Elastic|Gripper|Link)(Rig|Parts)\b"
    r"|mechanism\s*[!=]=\s*[\"']|(getattr|hasattr)\((built\.|self\.)?rig\b"
    r"|[\"'](cables|elastic|gripper|links)[\"']\s*[!=]="
)


@pytest.mark.parametrize("path", sorted(ROOT.rglob("*.py")), ids=lambda it: str(it.relative_to(ROOT)))
def test_nobody_asks_what_a_rig_is(path: Path) -> None:
    found = [line for line in path.read_text(encoding="utf-8").splitlines() if SWITCH.search(line)]
    assert not found, found


def test_the_drawing_of_the_rooms_is_as_they_are() -> None:
    assert set(ROOMS) == {path.parent.name for path in ROOT.glob("*/__init__.py")}
    assert DRAWN["drawing"]() == (DOCS / "rooms.svg").read_text(encoding="utf-8")


def test_a_class_name_means_one_thing() -> None:
    where: dict[str, list[str]] = {}
    for path in sorted(ROOT.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                where.setdefault(node.name, []).append(str(path.relative_to(ROOT)))
    assert {name: places for name, places in where.items() if len(places) > 1} == {}
