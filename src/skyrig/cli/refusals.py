"""What is wrong with the words of a command, in one sentence; what they say is checked elsewhere."""

from __future__ import annotations

import contextlib
import re
import reprlib
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

import tyro

from skyrig.checks import nearest
from skyrig.errors import InputError


def one_sentence(command: str, function: Callable[..., Any] | None) -> AbstractContextManager[Any]:
    """While this lasts, what tyro cannot read raises an `InputError`; for `skyrig COMMAND`, a function."""
    try:  # tyro keeps this hook to itself so far: without it, it tells mistakes in boxes of its own
        from tyro import _errors
    except ImportError:
        return contextlib.nullcontext()
    tell = {
        "MissingArgs": lambda event: _missing(command, [it.arg for it in event.missing_arguments]),
        "UnrecognizedArgs": lambda event: _unknown(command, function, event.tokens),
        "BadValue": lambda event: f"{_called(event.argument)} needs a value{_see(command)}",
        "MissingSubcommand": lambda _: "skyrig needs a command; 'skyrig --help' lists all of them.",
        "InstantiationFailure": lambda event: _misread(event.argument, event.message),
    }

    def refuse(event: Any) -> None:
        if told := tell.get(type(event).__name__):
            raise InputError(told(event))

    return _errors.on_parse_error(refuse)


def _whole(command: str) -> str:
    return f"skyrig {command}".strip()


def _see(command: str) -> str:
    return f"; '{_whole(command)} --help' says more."


def _called(argument: Any) -> str:
    """An argument as it is typed: --out, or SCENARIO."""
    lowered = argument.lowered
    return str(lowered.metavar) if argument.is_positional() else str(lowered.name_or_flags[-1])


def _missing(command: str, arguments: Sequence[Any]) -> str:
    return f"{_whole(command)} needs {' and '.join(_called(it) for it in arguments)}{_see(command)}"


def _unknown(command: str, function: Callable[..., Any] | None, tokens: Sequence[str]) -> str:
    first = tokens[0]
    if not first.startswith("-"):
        return f"{_whole(command)} does not know what to do with {reprlib.repr(first)}{_see(command)}"
    option = first.partition("=")[0]
    known = [] if function is None else tyro.extras.get_parser(function)._option_string_actions
    return (
        f"{_whole(command)} has no option {reprlib.repr(option)}{nearest(option, list(known))}{_see(command)}"
    )


def _misread(argument: Any, message: str) -> str:
    kind = "a whole number" if "int()" in message else "a number" if "float" in message else "something else"
    found = re.findall(r"'([^']*)'", message)
    given = f", not {reprlib.repr(found[-1])}" if found else ""
    name = "A value" if argument is None else _called(argument)
    return f"{name} must be {kind}{given}."
