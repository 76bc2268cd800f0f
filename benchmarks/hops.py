"""How many times a scenario is handed on, from its YAML to the flight's file: `python benchmarks/hops.py`.

A call is a function of one module of skyrig that calls a function of another one, anything of other packages
in between left out; the same two functions count once, however often one calls the other. Calls while a
module is imported do not count, nor do those from or to the small files beside the rooms (`checks.py`,
`algebra.py`, ...), which are words of the language rather than stations. `skyrig fly NAME --no-report` is
flown twice, and the second time is counted: what JAX traces while it compiles is no walk of the data.

Most calls only ask something of an object: how heavy a payload is, where a reference is at some time. A
hand-over is a call that gives an object of skyrig's own away (a spec, parts, a rig, a record, a flight; alone
or in a list or mapping) as an argument other than `self`: there the data goes on to another module, and who
follows it must open that file.
"""

from __future__ import annotations

import argparse
import contextlib
import inspect
import io
import os
import sys
import tempfile
from types import FrameType

import skyrig
from skyrig.cli import main as command_line

ROOT = os.path.dirname(skyrig.__file__) + os.sep
Station = tuple[str, str]
"""A module and a function in it."""


def station(frame: FrameType) -> Station | None:
    """Where a frame is; None outside of skyrig's rooms."""
    path = frame.f_code.co_filename
    if not path.startswith(ROOT):
        return None
    module = path[len(ROOT) : -3].replace(os.sep, ".")
    return (module, frame.f_code.co_name) if "." in module else None


def handed(frame: FrameType) -> bool:
    """Whether a function that is just called was given an object of skyrig's own, besides itself."""
    code = frame.f_code
    starred = sum(bool(code.co_flags & flag) for flag in (inspect.CO_VARARGS, inspect.CO_VARKEYWORDS))
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + starred]
    given = [frame.f_locals[name] for name in names if name in frame.f_locals and name not in ("self", "cls")]
    return any(ours(each) for each in given)


def ours(value: object, inside: bool = True) -> bool:
    """Whether a value is of a class of skyrig's own, or holds one such."""
    if inside and isinstance(value, tuple | list):
        return any(ours(each, False) for each in value)
    if inside and isinstance(value, dict):
        return any(ours(each, False) for each in value.values())
    return type(value).__module__.startswith("skyrig.")


def walked(arguments: list[str]) -> dict[tuple[Station, Station], bool]:
    """The calls of one run of the command line, and whether any of them handed something over."""
    found: dict[tuple[Station, Station], bool] = {}

    def look(frame: FrameType, event: str, _: object) -> None:
        here = station(frame) if event == "call" else None
        if here is None:
            return
        caller = frame.f_back
        while caller is not None and station(caller) is None:
            caller = caller.f_back
        there = None if caller is None else station(caller)
        if there is not None and there[0] != here[0] and "<module>" not in (there[1], here[1]):
            found[there, here] = found.get((there, here), False) or handed(frame)

    sys.setprofile(look)
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
            command_line(arguments)
    finally:
        sys.setprofile(None)
    return found


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    asked.add_argument("scenario", nargs="?", default="one-dragonfly-hover")
    asked.add_argument("--list", action="store_true", help="print every call and hand-over")
    given = asked.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        arguments = ["fly", given.scenario, "--no-report", "--out", folder]
        walked(arguments)
        calls = walked(arguments)
    told("calls", list(calls), given.list)
    told("hand-overs", [each for each, over in calls.items() if over], given.list)


def told(noun: str, calls: list[tuple[Station, Station]], listed: bool) -> None:
    """Print how many there are, between how many modules and rooms."""
    pairs = sorted({(there[0], here[0]) for there, here in calls})
    rooms = [pair for pair in pairs if pair[0].split(".")[0] != pair[1].split(".")[0]]
    modules = {module for pair in pairs for module in pair}
    print(
        f"{len(calls)} {noun} between {len(modules)} modules: {len(pairs)} pairs of them, {len(rooms)} of "
        "which lie in different rooms"
    )
    for there, here in sorted(calls) if listed else ():
        print(f"  {'.'.join(there)} -> {'.'.join(here)}")


if __name__ == "__main__":
    main()
