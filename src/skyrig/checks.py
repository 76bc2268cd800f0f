"""Checks of numbers people hand in, each raising one sentence that names the field.

Plain NumPy on purpose: the command line checks files without importing JAX.
"""

from __future__ import annotations

import difflib
import reprlib
from collections.abc import Collection, Mapping

import numpy as np
import numpy.typing as npt

from skyrig.errors import InputError

Numbers = npt.NDArray[np.float64]


def numbers(field: str, value: object, shape: tuple[int | None, ...] = ()) -> Numbers:
    """`value` as float64 of the given shape (None: any extent), or an `InputError` naming `field`."""
    array = _array(field, value)
    fits = array.ndim == len(shape) and all(
        want in (None, have) for want, have in zip(shape, array.shape, strict=True)
    )
    if not fits and not shape:
        raise InputError(f"{field} must be a single number, not {_short(array)}.")
    if not fits:
        wanted = " x ".join("n" if extent is None else str(extent) for extent in shape)
        have = (
            "shape " + " x ".join(map(str, array.shape))
            if array.ndim
            else "the single number " + _short(array)
        )
        raise InputError(f"{field} must have shape {wanted}, not {have}.")
    if not np.all(np.isfinite(array)):
        raise InputError(f"{field} must be finite, but it holds {_short(array)}.")
    return array


def positive(field: str, value: object, shape: tuple[int | None, ...] = ()) -> Numbers:
    """As `numbers`, and every entry above zero."""
    array = numbers(field, value, shape)
    if np.any(array <= 0):
        raise InputError(f"{field} must be above zero, not {_short(array)}.")
    return array


def nonnegative(field: str, value: object, shape: tuple[int | None, ...] = ()) -> Numbers:
    """As `numbers`, and no entry below zero."""
    array = numbers(field, value, shape)
    if np.any(array < 0):
        raise InputError(f"{field} must not be below zero, but it is {_short(array)}.")
    return array


def unit_quaternion(field: str, value: object, tolerance: float = 1e-6) -> Numbers:
    """A wxyz quaternion (last axis 4) of length one within `tolerance`, returned at length one."""
    array = _array(field, value)
    array = numbers(field, array, (*array.shape[:-1], 4) if array.ndim else (4,))
    length = np.linalg.norm(array, axis=-1, keepdims=True)
    if np.any(np.abs(length - 1) > tolerance):
        raise InputError(
            f"{field} must be a unit quaternion (w, x, y, z), but {_short(array)} has length "
            f"{_short(length)}."
        )
    return array / length


def inertia(field: str, value: object) -> Numbers:
    """A 3x3 inertia (kg m^2) some rigid body can have; three numbers stand for a diagonal.

    It must be symmetric, positive, and no principal moment may exceed the sum of the other two.
    """
    array = _array(field, value)
    matrix = numbers(field, np.diag(array) if array.shape == (3,) else array, (3, 3))
    scale = np.abs(matrix).max()
    if np.abs(matrix - matrix.T).max() > 1e-9 * scale:
        raise InputError(f"{field} must be a symmetric matrix, not {_short(matrix)}.")
    moments = np.asarray(np.linalg.eigvalsh(matrix), dtype=np.float64)
    if moments[0] <= 0:
        raise InputError(f"{field} must have positive principal moments, not {_short(moments)}.")
    if moments[2] > (moments[0] + moments[1]) * (1 + 1e-9):
        raise InputError(
            f"{field} is of no possible body: principal moment {moments[2]:.6g} exceeds the sum of "
            f"{moments[0]:.6g} and {moments[1]:.6g} kg m^2."
        )
    return (matrix + matrix.T) / 2


def text(field: str, value: object) -> str:
    """`value` when it is a piece of text with something in it."""
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"{field} must be text, not {reprlib.repr(value)}.")
    return value


def choice(field: str, value: object, options: Collection[str]) -> str:
    """`value` when it is one of `options`; else the error lists them and names the nearest."""
    if not isinstance(value, str) or value not in options:
        listed = ", ".join(sorted(options))
        raise InputError(f"{field} is {reprlib.repr(value)}{nearest(value, options)}; choose from: {listed}.")
    return value


def names(field: str, value: object, options: Collection[str]) -> tuple[str, ...]:
    """`value` as a tuple when it is a list of which every entry is one of `options`."""
    if not isinstance(value, list | tuple):
        raise InputError(f"{field} must be a list of names, not {reprlib.repr(value)}.")
    return tuple(choice(field, entry, options) for entry in value)


def mapping(
    where: str, value: object, required: Collection[str] = (), optional: Collection[str] | None = ()
) -> Mapping[str, object]:
    """`value` when it maps names to values, has every `required` key and no key that nobody knows.

    With `optional` None any further key will do.
    """
    if not isinstance(value, Mapping):
        raise InputError(f"{where} must be a mapping of names to values, not {reprlib.repr(value)}.")
    for key in value:
        known = None if optional is None else [*required, *optional]
        if known is not None and key not in known:
            raise InputError(f"{where}: there is no field {reprlib.repr(key)}{nearest(key, known)}.")
    for key in required:
        if key not in value:
            raise InputError(f"{where}: the field '{key}' is missing.")
    return value


def nearest(word: object, options: Collection[str]) -> str:
    """` (did you mean 'x'?)` when one of `options` is close to `word`, else nothing; case does not matter."""
    plain = {str(option).lower(): str(option) for option in options}
    near = difflib.get_close_matches(str(word)[:80].lower(), plain, n=1)
    return f" (did you mean '{plain[near[0]]}'?)" if near else ""


def read_only(array: Numbers) -> Numbers:
    """A copy that cannot be written to, for what many places share."""
    copy = array.copy()
    copy.flags.writeable = False
    return copy


def _array(field: str, value: object) -> Numbers:
    """`value` as float64 of whatever shape; text and truth values are not numbers, even if they look it."""
    try:
        array = np.asarray(value)
        if array.dtype.kind not in "iuf":
            raise TypeError
        return array.astype(np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{field} must be numbers, not {reprlib.repr(value)}.") from None


def _short(array: Numbers) -> str:
    """A value as people would write it, cut off when long."""
    text = np.array2string(
        np.squeeze(array),
        separator=", ",
        threshold=12,
        formatter={"float_kind": lambda number: f"{number:.6g}"},
    ).replace("\n", "")
    return text if len(text) <= 160 else text[:157] + "..."
