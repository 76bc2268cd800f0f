"""The command line: `skyrig COMMAND ...`, each command one function, named in `COMMANDS`.

Whatever is wrong with the input is told in one sentence on the error stream, with exit code 2; a flight that
does not fly as asked ends with exit code 1, once all is written. Looking at
scenarios needs no JAX, so each command imports what it needs when it runs.
"""

from __future__ import annotations

import reprlib
import sys
from collections.abc import Sequence
from pathlib import Path

import tyro

from skyrig.checks import nearest
from skyrig.cli.flights import compare, export, fly, plot
from skyrig.cli.learning import learn_weights
from skyrig.cli.listing import list_known
from skyrig.cli.logs import import_log
from skyrig.cli.papers import reproduce
from skyrig.cli.pipes import patient_output
from skyrig.cli.refusals import one_sentence
from skyrig.cli.ros2 import ros2
from skyrig.cli.scenarios import check, new, schema, show
from skyrig.cli.sitl import sitl
from skyrig.cli.statics import statics
from skyrig.cli.studio import studio
from skyrig.cli.sweeps import sweep
from skyrig.cli.tuning import tune
from skyrig.errors import FlightDiverged, InputError

COMMANDS = {
    "list": list_known,
    "show": show,
    "new": new,
    "check": check,
    "schema": schema,
    "fly": fly,
    "plot": plot,
    "compare": compare,
    "export": export,
    "import": import_log,
    "sweep": sweep,
    "statics": statics,
    "sitl": sitl,
    "ros2": ros2,
    "studio": studio,
    "tune": tune,
    "learn-weights": learn_weights,
    "reproduce": reproduce,
}

SEVERAL = ("--set", "--vary", "--grid", "--body")
"""Options after which several values may follow one another."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the `skyrig` command with `arguments`, those of the process if left out."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given in (["--version"], ["-V"]):
        from skyrig import __version__

        print(__version__)
        return
    with patient_output():
        code = _run(given)
    if code:
        sys.exit(code)


def _run(given: list[str]) -> int:
    """Run a command; its exit code: 0 for done, 1 for a flight that did not fly as asked, 2 for bad input."""
    try:
        if given and not given[0].startswith("-") and given[0] not in COMMANDS:
            near = nearest(given[0], COMMANDS)
            raise InputError(
                f"{reprlib.repr(given[0])} is no command{near}; 'skyrig --help' lists all commands."
            )
        arguments = _each_by_itself(_brought_in(given))
        command = arguments[0] if arguments and arguments[0] in COMMANDS else ""
        with one_sentence(command, COMMANDS.get(command)):
            code = tyro.extras.subcommand_cli_from_dict(
                COMMANDS,
                prog="skyrig",
                description="Fly multirotors that carry payloads. Any command takes --with FILE.py: a Python "
                "file of your own, run first, whose mechanisms, elements and controllers scenarios may name.",
                args=arguments,
                config=(tyro.conf.DisallowNone,),
            )
        return code if isinstance(code, int) else 0
    except InputError as error:
        return _told(error, 2)
    except FlightDiverged as error:
        return _told(error, 1)
    except KeyboardInterrupt:
        return _told("Stopped.", 130)


def _brought_in(arguments: list[str]) -> list[str]:
    """The arguments without `--with FILE.py`, each such file having been run."""
    rest: list[str] = []
    files: list[str] = []
    waiting = iter(arguments)
    for argument in waiting:
        if argument == "--with":
            files.append(next(waiting, ""))
        elif argument.startswith("--with="):
            files.append(argument.removeprefix("--with="))
        else:
            rest.append(argument)
    for file in files:
        from skyrig.extensions import load

        load(Path(file))
    return rest


def _told(reason: object, code: int) -> int:
    print(reason, file=sys.stderr)
    return code


def _each_by_itself(arguments: list[str]) -> list[str]:
    """`--set a=1 b=2` as `--set a=1 --set b=2`, and the same of the other options that take paths."""
    written: list[str] = []
    option = None
    for argument in arguments:
        if argument in SEVERAL:
            option = argument
        elif option is not None and written[-1] != option:
            if argument.startswith("-") or "=" not in argument:
                option = None
            else:
                written.append(option)
        written.append(argument)
    return written
