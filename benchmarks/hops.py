"""How many times a scenario is handed on, from its YAML to the flight's file: `python benchmarks/hops.py`.

A hop is a function of one module of skyrig that calls a function of another one, anything of other packages
in between left out; the same two functions count once, however often one calls the other. Calls while a
module is imported do not count, nor do those from or to the small files beside the rooms (`checks.py`,
`algebra.py`, ...), which are words of the language rather than stations. `skyrig fly NAME --no-report` is
flown twice, and the second time is counted: what JAX traces while it compiles is no walk of the data.
"""

from __future__ import annotations

import argparse
import contextlib
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


def walked(arguments: list[str]) -> set[tuple[Station, Station]]:
    """The hops of one run of the command line."""
    found: set[tuple[Station, Station]] = set()

    def look(frame: FrameType, event: str, _: object) -> None:
        here = station(frame) if event == "call" else None
        if here is None:
            return
        caller = frame.f_back
        while caller is not None and station(caller) is None:
            caller = caller.f_back
        there = None if caller is None else station(caller)
        if there is not None and there[0] != here[0] and "<module>" not in (there[1], here[1]):
            found.add((there, here))

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
    asked.add_argument("--list", action="store_true", help="print every pair of modules")
    given = asked.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        arguments = ["fly", given.scenario, "--no-report", "--out", folder]
        walked(arguments)
        hops = walked(arguments)
    pairs = sorted({(there[0], here[0]) for there, here in hops})
    rooms = [pair for pair in pairs if pair[0].split(".")[0] != pair[1].split(".")[0]]
    modules = {module for pair in pairs for module in pair}
    print(
        f"{len(hops)} hops between {len(modules)} modules: {len(pairs)} pairs of them, {len(rooms)} of which "
        "lie in different rooms"
    )
    if given.list:
        for there, here in pairs:
            print(f"  {there} -> {here}")


if __name__ == "__main__":
    main()
