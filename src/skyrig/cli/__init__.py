"""The command line: `skyrig COMMAND ...`, each command one function, named in `COMMANDS`.

Whatever is wrong with the input is told in one sentence on the error stream, with exit code 2. Looking at
scenarios needs no JAX, so each command imports what it needs when it runs.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import tyro

from skyrig.cli.flights import compare, export, fly, plot
from skyrig.cli.papers import reproduce
from skyrig.cli.scenarios import check, list_scenarios, schema, show
from skyrig.cli.studio import studio
from skyrig.cli.sweeps import sweep
from skyrig.cli.tuning import tune
from skyrig.errors import FlightDiverged, InputError

COMMANDS = {
    "list": list_scenarios,
    "show": show,
    "check": check,
    "schema": schema,
    "fly": fly,
    "plot": plot,
    "compare": compare,
    "export": export,
    "sweep": sweep,
    "studio": studio,
    "tune": tune,
    "reproduce": reproduce,
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the `skyrig` command with `arguments`, those of the process if left out."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given in (["--version"], ["-V"]):
        from skyrig import __version__

        print(__version__)
        return
    try:
        tyro.extras.subcommand_cli_from_dict(
            COMMANDS, prog="skyrig", description="Fly multirotors that carry payloads.", args=_each_set(given)
        )
        sys.stdout.flush()
    except InputError as error:
        _leave(error, 2)
    except FlightDiverged as error:
        _leave(error, 1)
    except KeyboardInterrupt:
        _leave("Stopped.", 130)
    except BrokenPipeError:
        # whoever was reading has left; hand the interpreter a stream it can flush on its way out
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)


def _leave(reason: object, code: int) -> None:
    print(reason, file=sys.stderr)
    sys.exit(code)


def _each_set(arguments: list[str]) -> list[str]:
    """`--set a=1 b=2` as `--set a=1 --set b=2`."""
    written: list[str] = []
    setting = False
    for argument in arguments:
        if setting and written[-1] != "--set" and not argument.startswith("-") and "=" in argument:
            written.append("--set")
        elif argument != "--set" and written and written[-1] != "--set":
            setting = False
        setting = setting or argument == "--set"
        written.append(argument)
    return written
