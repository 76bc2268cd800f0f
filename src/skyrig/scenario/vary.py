"""Values drawn by chance: distributions by path, and the rows of changes that many flights differ by.

A distribution turns shares in [0, 1) into values (its inverse distribution function), so plain random
numbers, Latin hypercubes and Sobol sequences all serve. Row i of a draw depends on the seed and on i alone:
however the rows are split between processes or runs, they are the same.
"""

from __future__ import annotations

import math
import re
import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from skyrig import checks, files
from skyrig.errors import InputError
from skyrig.scenario.overrides import overridden, steps_of
from skyrig.scenario.parse import parse
from skyrig.scenario.sentences import nearest, shown

if TYPE_CHECKING:
    from skyrig.scenario.scenario import Scenario

SAMPLERS = ("random", "latin", "sobol")
"""How shares are drawn."""
SEED = "seed"
"""Path of a scenario's own seed, drawn for every row unless something else is said of it."""

_CALL = re.compile(r"\s*([A-Za-z]+)\s*\((.*)\)\s*", re.S)
_LEAST = 2.0**-54
"""Stands for a share of zero where a distribution has no end."""


class Distribution(ABC):
    """Where a value is drawn from."""

    @abstractmethod
    def values(self, shares: npt.NDArray[np.float64]) -> np.ndarray:
        """The values below which these shares, each in [0, 1), of all draws lie; same shape."""


@dataclass(frozen=True)
class Uniform(Distribution):
    """Any number from `low` to `high` alike."""

    low: float
    high: float

    def __post_init__(self) -> None:
        _ordered(self)

    def values(self, shares: npt.NDArray[np.float64]) -> np.ndarray:
        """See `Distribution.values`."""
        return self.low + (self.high - self.low) * shares

    def __str__(self) -> str:
        return f"uniform({_exact(self.low)}, {_exact(self.high)})"


@dataclass(frozen=True)
class LogUniform(Distribution):
    """Any number from `low` to `high`, both above zero, its logarithm alike."""

    low: float
    high: float

    def __post_init__(self) -> None:
        _ordered(self)
        if self.low <= 0:
            raise InputError(f"{self} must have numbers above zero.")

    def values(self, shares: npt.NDArray[np.float64]) -> np.ndarray:
        """See `Distribution.values`."""
        return self.low * (self.high / self.low) ** shares

    def __str__(self) -> str:
        return f"loguniform({_exact(self.low)}, {_exact(self.high)})"


@dataclass(frozen=True)
class Normal(Distribution):
    """The normal distribution of a mean and a standard deviation."""

    mean: float
    deviation: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.mean) and math.isfinite(self.deviation) and self.deviation >= 0):
            raise InputError(f"{self} must have a finite mean and a deviation that is not below zero.")

    def values(self, shares: npt.NDArray[np.float64]) -> np.ndarray:
        """See `Distribution.values`."""
        from scipy.special import ndtri

        return self.mean + self.deviation * ndtri(np.maximum(shares, _LEAST))

    def __str__(self) -> str:
        return f"normal({_exact(self.mean)}, {_exact(self.deviation)})"


@dataclass(frozen=True)
class Choice(Distribution):
    """One of some values (numbers, text, truth values), all alike."""

    options: tuple[Any, ...]

    def __post_init__(self) -> None:
        if not self.options:
            raise InputError("choice() must name at least one value.")

    def values(self, shares: npt.NDArray[np.float64]) -> np.ndarray:
        """See `Distribution.values`."""
        kinds = {type(option) for option in self.options}
        plain = kinds <= {int, float}
        table = np.asarray(self.options) if plain else np.empty(len(self.options), dtype=object)
        if not plain:
            table[:] = self.options
        return table[np.minimum((shares * len(self.options)).astype(int), len(self.options) - 1)]

    def __str__(self) -> str:
        return f"choice({', '.join(map(repr, self.options))})"


_KINDS: dict[str, tuple[type[Distribution], str]] = {
    "uniform": (Uniform, "uniform(low, high)"),
    "loguniform": (LogUniform, "loguniform(low, high)"),
    "normal": (Normal, "normal(mean, deviation)"),
}


def distribution(path: str, given: str | Distribution) -> Distribution:
    """The distribution that `given` is or says, such as uniform(0.1, 0.6), for the value at `path`."""
    if isinstance(given, Distribution):
        return given
    found = _CALL.fullmatch(given) if isinstance(given, str) else None
    kinds = (*_KINDS, "choice")
    if found is None or found[1] not in kinds:
        near = nearest(found[1], kinds) if found else ""
        raise InputError(
            f"{path} must vary by uniform(a, b), loguniform(a, b), normal(mean, deviation) or "
            f"choice(a, b, ...){near}, not {shown(given)}."
        )
    name, values = found[1], _listed(path, found[2])
    if name == "choice":
        return _made(path, Choice, tuple(values))
    kind, form = _KINDS[name]
    if len(values) != 2 or not all(type(value) in (int, float) for value in values):
        raise InputError(f"{path} must vary by {form} with two numbers, not {shown(given)}.")
    return _made(path, kind, *(float(value) for value in values))


def parse_vary(text: str) -> tuple[str, Distribution]:
    """`path=distribution` from the command line."""
    path, equals, rest = text.partition("=")
    if not equals or not path.strip():
        raise InputError(
            f"--vary {shown(text)} must be path=distribution, such as rig.payload.mass=uniform(0.1,0.6)."
        )
    return path.strip(), distribution(path.strip(), rest)


def distributions(
    scenario: Scenario, vary: Mapping[str, str | Distribution] | None
) -> dict[str, Distribution]:
    """What `vary` says by path, refused where no value that it may take can stand at its path."""
    known = {path: distribution(path, given) for path, given in (vary or {}).items()}
    for path, drawn in known.items():
        steps_of(path)
        check_path(scenario, path, drawn.values(np.array([0.5, 0.05, 0.95])).tolist())
    return known


def check_path(scenario: Scenario, path: str, values: Sequence[object]) -> None:
    """Refuse a path at which none of `values` can stand."""
    first: InputError | None = None
    for value in values:
        try:
            changed = overridden(scenario.values, {path: value}, scenario.parts.count, scenario.where)
            parse(changed, scenario.where)
            return
        except InputError as error:
            first = first or error
    if first is not None:
        raise first


def random_shares(columns: int, seed: int, start: int, stop: int, stream: int = 0) -> npt.NDArray[np.float64]:
    """Random shares (stop - start, columns) of rows `start` to `stop`; each row is the same in any range."""
    # a counter-based generator: every row owns a range of counters, four numbers to each
    blocks = max(-(-columns // 4), 1)
    made = np.random.Philox(key=[seed, stream], counter=start * blocks)
    return np.random.Generator(made).random((stop - start, 4 * blocks))[:, :columns]


def shares(sampler: str, columns: int, n: int, seed: int) -> npt.NDArray[np.float64]:
    """Shares (n, columns) in [0, 1): at random, as a Latin hypercube, or as a scrambled Sobol sequence."""
    checks.choice("sampler", sampler, SAMPLERS)
    if sampler == "random" or columns == 0:
        return random_shares(columns, seed, 0, n)
    from scipy.stats import qmc

    if sampler == "latin":
        return qmc.LatinHypercube(columns, rng=np.random.default_rng(seed)).random(n)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a number of rows that is no power of two is as good as it can be
        return qmc.Sobol(columns, rng=np.random.default_rng(seed)).random(n)


def seeds(seed: int, start: int, stop: int) -> npt.NDArray[np.int64]:
    """Scenario seeds of rows `start` to `stop`, from a stream of their own."""
    return (random_shares(1, seed, start, stop, stream=1)[:, 0] * 2**32).astype(np.int64)


def drawn(
    scenario: Scenario,
    vary: Mapping[str, str | Distribution] | None,
    n: int,
    seed: int = 0,
    sampler: str = "random",
) -> dict[str, np.ndarray]:
    """Columns of `n` values by path, `seed` last unless it varies already.

    Args:
        scenario: What is varied.
        vary: Distributions by path, the same paths as for `Scenario.with_overrides`.
        n: How many rows.
        seed: Of all that is drawn.
        sampler: One of `SAMPLERS`.
    """
    check_seed(seed)
    if type(n) is not int or n < 1:
        raise InputError(f"n must be a whole number of at least 1, not {shown(n)}.")
    known = distributions(scenario, vary)
    units = shares(sampler, len(known), n, seed)
    columns = {path: each.values(units[:, k]) for k, (path, each) in enumerate(known.items())}
    if SEED not in columns:
        columns[SEED] = seeds(seed, 0, n)
    return columns


def check_seed(seed: object) -> None:
    """Refuse a seed that is none."""
    if type(seed) is not int or not 0 <= seed < 2**32:
        raise InputError(f"seed must be a whole number from 0 to {2**32 - 1}, not {shown(seed)}.")


def changes(
    columns: Mapping[str, np.ndarray], start: int = 0, stop: int | None = None
) -> list[dict[str, Any]]:
    """Rows `start` to `stop` of columns as changes by path, in Python's own numbers."""
    lists = [column[start:stop].tolist() for column in columns.values()]
    return [dict(zip(columns, row, strict=True)) for row in zip(*lists, strict=True)]


def varied(
    scenario: Scenario, vary: Mapping[str, str | Distribution] | None, n: int, seed: int = 0
) -> list[dict[str, Any]]:
    """Changes for `n` flights, each to be given to `Scenario.with_overrides`; row i depends on seed and i."""
    return changes(drawn(scenario, vary, n, seed))


def _exact(number: float) -> str:
    """The shortest text that is read as this very number again."""
    return repr(float(number)).removesuffix(".0")


def _ordered(drawn: Uniform | LogUniform) -> None:
    if not (math.isfinite(drawn.low) and math.isfinite(drawn.high) and drawn.low <= drawn.high):
        raise InputError(f"{drawn} must have finite numbers, the first not above the second.")


def _listed(path: str, text: str) -> list[Any]:
    try:
        values = files.read_yaml(f"value: [{text}]", path)["value"]
        if isinstance(values, list) and all(isinstance(it, int | float | str | bool) for it in values):
            return values
    except InputError:
        pass
    raise InputError(f"{path} must vary by numbers or words in its brackets, not {shown(text)}.")


def _made(path: str, kind: Any, *arguments: Any) -> Distribution:
    try:
        return kind(*arguments)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
