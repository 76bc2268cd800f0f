"""Controllers of somebody's own: loaded from a file, made for a scenario, and remembered by name and hash."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skyrig import extensions
from skyrig.checks import nearest
from skyrig.errors import InputError
from skyrig.flight.trace import Own
from skyrig.scenario.sentences import shown

if TYPE_CHECKING:
    from skyrig.scenario.build import Built

CALL = "(t, target, measurement) -> (thrust, moment)"


def load(text: str) -> tuple[Any, Own]:
    """What NAME is in FILE.py, for `FILE.py:NAME`, and its trace; the file runs as any program does.

    A file of learned networks, `FILE.npz`, holds numbers alone: the scenario's controller flies with them.
    """
    if text.endswith(".npz"):
        return _networks(Path(text))
    file, colon, name = text.rpartition(":")
    if not colon or not name.isidentifier():
        raise InputError(f"--controller must be FILE.py:NAME, or an .npz file of networks, not {text!r}.")
    used, module = extensions.load(Path(file), "--controller")
    own = Own(name=name, file=file, sha256=used.sha256)
    if not hasattr(module, name):
        names = [it for it, value in vars(module).items() if callable(value) and not it.startswith("_")]
        raise InputError(f"--controller {file!r} has no {name!r}{nearest(name, names)}.")
    return getattr(module, name), own


def _networks(path: Path) -> tuple[Any, Own]:
    from skyrig.control.mpc.policy import Policy
    from skyrig.runs.learning import with_policy

    policy = Policy.read(path)

    def learned(built: Built) -> Any:
        return with_policy(built, policy)

    return learned, Own(name="learned weights", file=str(path), sha256=extensions.hash_of(path))


def made(given: Any, built: Built) -> Any:
    """The controller that `given` is, or that it makes for a built scenario.

    Args:
        given: A `skyrig.control.Controller`; a callable `(t, target, measurement)`; a class of either; or a
            function that makes one. A class is made by its `build(built)` if it has one. Classes and
            functions that need one argument get the built scenario, and those that need none get none.
        built: What will be flown.
    """
    from skyrig.control import Controller

    if isinstance(given, Controller):
        return _written(given)
    if not callable(given):
        raise InputError(f"controller must be a callable {CALL}, or make one, not {shown(given)}.")
    name = getattr(given, "__name__", type(given).__name__)
    if inspect.isclass(given):
        controller = _instance(given, name, built)
    elif _takes(given, 3):
        return given
    elif _takes(given, 1) or _takes(given, 0):
        controller = given(built) if _takes(given, 1) else given()
    else:
        raise InputError(_wrong_call(given, name))
    if isinstance(controller, Controller):
        return _written(controller)
    if not callable(controller):
        raise InputError(f"{name} must make a controller or a callable {CALL}, not {shown(controller)}.")
    if not _takes(controller, 3):
        raise InputError(_wrong_call(controller, type(controller).__name__))
    return controller


def _written(controller: Any) -> Any:
    """A compiled controller, refused if its law was never written."""
    from skyrig.control import Controller

    kind = next(each for each in type(controller).__mro__ if "__call__" in vars(each))
    if kind is Controller:
        law = "__call__(self, memory, t, target, measurement) -> (memory, command)"
        raise InputError(f"class {type(controller).__name__} has no law: write {law}.")
    return controller


def trace(given: Any) -> Own:
    """Name, file and hash of a controller handed over in Python; no file where it was typed in."""
    kind: Any = given if inspect.isclass(given) or inspect.isroutine(given) else type(given)
    name = str(getattr(kind, "__qualname__", type(given).__name__))
    path = Path(_source(kind))
    if path.suffix != ".py" or not path.is_file():
        return Own(name=name)
    here = Path.cwd()
    file = path.relative_to(here) if path.is_relative_to(here) else path
    return Own(name=name, file=str(file), sha256=extensions.hash_of(path))


def need_none(own: Own | None, where: str, name: str) -> None:
    """Refuse to fly with the named controller what a flight says was flown by somebody's own."""
    if own is None:
        return
    again = "hand it over"
    if own.file:
        again = f"give --controller {own.file}" + ("" if own.file.endswith(".npz") else f":{own.name}")
    raise InputError(
        f"{where}: controller.own says that {own.name!r} flew this: {again} to fly it again, "
        f"or remove controller.own to fly {name!r}."
    )


def _instance(kind: Any, name: str, built: Built) -> Any:
    """An object of a class, made for a scenario."""
    make = getattr(kind, "build", None)
    if callable(make):
        return make(built)
    fields = getattr(kind, "__dataclass_fields__", {})
    needed = [each for each in _needed(kind) if each in fields]
    if needed or not (_takes(kind, 1) or _takes(kind, 0)):
        listed = ", ".join(needed or _needed(kind))
        raise InputError(
            f"class {name} needs {listed}: give it a static method build(built) that makes one for a built "
            "scenario, or values of its own."
        )
    return kind(built) if len(_needed(kind)) == 1 else kind()


def _needed(given: Any) -> list[str]:
    """Names of the arguments that a callable cannot do without."""
    try:
        parameters = inspect.signature(given).parameters.values()
    except (TypeError, ValueError):
        return []
    many = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [it.name for it in parameters if it.default is inspect.Parameter.empty and it.kind not in many]


def _takes(given: Any, count: int) -> bool:
    """Whether a callable can be called with so many arguments; if it does not say, it can."""
    try:
        inspect.signature(given).bind(*[None] * count)
    except TypeError:
        return False
    except ValueError:
        return True
    return True


def _wrong_call(given: Any, name: str) -> str:
    needed = ", ".join(_needed(given))
    wrap = " Wrap a law for the compiled loop in skyrig.control.Function." if len(_needed(given)) == 4 else ""
    return f"controller {name} must be called as {CALL}, but takes ({needed}).{wrap}"


def _source(kind: Any) -> str:
    """The file in which a function, or the call of a class, was written; '' if unknown."""
    law = kind
    if inspect.isclass(kind):
        law = next((vars(each)["__call__"] for each in kind.__mro__ if "__call__" in vars(each)), None)
        law = getattr(law, "method", law)  # as equinox wraps a module's methods
    code = getattr(inspect.unwrap(law) if callable(law) else None, "__code__", None)
    return "" if code is None else str(code.co_filename)
