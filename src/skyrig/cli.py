"""The command line: `skyrig fly`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import tyro
from rich.console import Console

from skyrig.errors import FlightDiverged, InputError


def fly(*, out: Annotated[Path, tyro.conf.arg(metavar="DIR")] = Path("flights")) -> None:
    """Fly the open-loop drop of a point mass on a slack cable.

    Args:
        out: Folder in which the flight's own folder is made.
    """
    from skyrig.flight.drop import fly_drop

    fly_drop(out / "drop-open-loop", Console())


def main() -> None:
    """Entry point of the `skyrig` command."""
    try:
        tyro.extras.subcommand_cli_from_dict({"fly": fly}, prog="skyrig")
    except InputError as error:
        print(error, file=sys.stderr)
        sys.exit(2)
    except FlightDiverged as error:
        print(error, file=sys.stderr)
        sys.exit(1)
