"""What may stand in for a scenario's controller: objects, functions, classes, and those that make one."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jax.numpy as jnp
import pytest

from skyrig import InputError
from skyrig.control import Command, Controller
from skyrig.runs.own import load, made, trace

BUILT: Any = SimpleNamespace(weight=3.0)


class Law(Controller):
    weight: float = 1.0

    def __call__(self, memory, t, target, measurement):
        return memory, Command(jnp.ones(1), jnp.zeros((3, 1)))


class Needy(Controller):
    weight: float

    def __call__(self, memory, t, target, measurement):
        return memory, Command(jnp.ones(1), jnp.zeros((3, 1)))


class Lawless(Controller):
    weight: float = 1.0


class Built(Needy):
    @staticmethod
    def build(built):
        return Built(built.weight)


class Initialised(Needy):
    def __init__(self, built):
        self.weight = built.weight


class Stepped:
    def __init__(self, built):
        self.weight = built.weight

    def __call__(self, t, target, seen):
        return [self.weight], [[0, 0, 0]]


class Newly:
    def __new__(cls, built):
        return Law(built.weight)


def stepped(t, target, seen):
    return [1.0], [[0, 0, 0]]


def test_all_that_can_fly_or_make_what_can() -> None:
    one = Law()
    assert made(one, BUILT) is one and made(stepped, BUILT) is stepped
    assert isinstance(made(Law, BUILT), Law) and made(Law, BUILT).weight == 1.0
    for kind in (Built, Initialised, Stepped, Newly):
        assert made(kind, BUILT).weight == 3.0
    assert made(lambda built: Law(built.weight), BUILT).weight == 3.0
    assert made(lambda: stepped, BUILT) is stepped


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (5, "controller must be a callable .* or make one, not 5"),
        (Needy, r"class Needy needs weight: give it a static method build\(built\)"),
        (Lawless, r"class Lawless has no law: write __call__\(self, memory, t, target, measurement\)"),
        (Lawless(), "class Lawless has no law"),
        (lambda memory, t, target, seen: None, "takes .memory, t, target, seen.*skyrig.control.Function"),
        (lambda built: 5, "must make a controller or a callable .*, not 5"),
        (lambda a, b: None, r"must be called as .*, but takes \(a, b\)"),
    ],
)
def test_what_cannot_is_told_in_a_sentence(given: Any, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        made(given, BUILT)


def test_a_trace_is_where_the_law_is_written() -> None:
    for given in (Law, Law(), Stepped, stepped):
        own = trace(given)
        assert own.file is not None and own.file.endswith("test_own_controllers.py")
        assert own.sha256 is not None and len(own.sha256) == 64
    assert (trace(Law()).name, trace(stepped).name) == ("Law", "stepped")
    typed: dict[str, Any] = {}
    exec("def law(t, target, seen): pass", typed)
    assert trace(typed["law"]).file is None


def test_a_name_that_nearly_fits_is_answered_with_the_one_meant(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("def hover(t, target, seen): pass\n")
    with pytest.raises(InputError, match=r"mine.py' has no 'hovr' \(did you mean 'hover'\?\)\.$"):
        load(f"{tmp_path}/mine.py:hovr")
    with pytest.raises(InputError, match=r"mime.py' is none \(did you mean 'mine.py'\?\)\.$"):
        load(f"{tmp_path}/mime.py:hover")
    with pytest.raises(InputError, match="is none.$"):
        load("no/such/folder/mine.py:hover")
