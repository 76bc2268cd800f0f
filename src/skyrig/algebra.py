"""Vector algebra, components first: a vector is (3, ...), a matrix (3, 3, ...), a quaternion (4, ...).

Inside the physics every array carries its components in front and whatever it is repeated over (vehicles,
then flights of a batch) behind, so that batches are contiguous in memory and run in vector instructions.
Arrays that people hand in or get back have xyz last, as usual.
"""

from __future__ import annotations

import contextlib
import functools
import math
import operator
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from functools import lru_cache, wraps
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array

from skyrig.switches import set_dispatch

Made = TypeVar("Made")

set_dispatch()


def dot(a: Array, b: Array) -> Array:
    """Scalar product over the leading axis."""
    return total(a * b)


_WRITTEN_OUT: ContextVar[bool] = ContextVar("written_out", default=False)
SHORT = 8
"""Most terms of a sum that is written out."""


@contextlib.contextmanager
def written_out() -> Iterator[None]:
    """Trace short sums (and maxima, and the like) as terms instead of as reductions.

    At every call XLA's CPU programs allocate memory three times for every reduction in them, some 0.3 us,
    whether it is reached or not. That is most of what calling a program of a single step costs; programs of
    many steps, and batches, are faster with reductions, which XLA turns into better loops.
    """
    before = _WRITTEN_OUT.set(True)
    try:
        yield
    finally:
        _WRITTEN_OUT.reset(before)


def _terms(values: Array, axis: int = 0) -> list[Array] | None:
    """What is to be written out along an axis; None where it shall be a reduction."""
    if not _WRITTEN_OUT.get() or not 0 < values.shape[axis] <= SHORT:
        return None
    return [values[(slice(None),) * axis + (k,)] for k in range(values.shape[axis])]


def total(values: Array, axis: int = 0) -> Array:
    """Sum over an axis; see `written_out`."""
    terms = _terms(values, axis)
    return values.sum(axis) if terms is None else functools.reduce(operator.add, terms)


def anywhere(flags: Array) -> Array:
    """Whether any flag along the leading axis is set; see `written_out`."""
    terms = _terms(flags)
    return jnp.any(flags, axis=0) if terms is None else functools.reduce(operator.or_, terms)


def largest(values: Array) -> Array:
    """The largest along the leading axis; see `written_out`."""
    terms = _terms(values)
    return jnp.max(values, axis=0) if terms is None else functools.reduce(jnp.maximum, terms)


def smallest(values: Array) -> Array:
    """The smallest along the leading axis; see `written_out`."""
    terms = _terms(values)
    return jnp.min(values, axis=0) if terms is None else functools.reduce(jnp.minimum, terms)


def cross(a: Array, b: Array) -> Array:
    """Vector product over the leading axis.

    Here and below components are taken by `unstack`, whose transpose is one `stack`: that of an index is a
    sum of padded arrays, which XLA compiles for minutes where derivatives run backwards.
    """
    (u, v, w), (x, y, z) = jnp.unstack(a), jnp.unstack(b)
    return jnp.stack([v * z - w * y, w * x - u * z, u * y - v * x])


def apply(matrix: Array, vector: Array) -> Array:
    """Matrix times vector."""
    return total(matrix * vector[None], 1)


def apply_transposed(matrix: Array, vector: Array) -> Array:
    """Transposed matrix times vector: for a rotation, from the world into the body."""
    return total(matrix * vector[:, None])


def rotation_matrix(q: Array) -> Array:
    """Rotation body-to-world of a wxyz unit quaternion."""
    w, x, y, z = jnp.unstack(q)
    return jnp.stack(
        [
            jnp.stack([1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)]),
            jnp.stack([2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)]),
            jnp.stack([2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]),
        ]
    )


def upward_axis(q: Array) -> Array:
    """Third column of the rotation matrix: where a vehicle's thrust points in the world."""
    w, x, y, z = jnp.unstack(q)
    return jnp.stack([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)])


def multiply(p: Array, q: Array) -> Array:
    """Quaternion product."""
    a, b, c, d = jnp.unstack(p)
    w, x, y, z = jnp.unstack(q)
    return jnp.stack(
        [
            a * w - b * x - c * y - d * z,
            a * x + b * w + c * z - d * y,
            a * y - b * z + c * w + d * x,
            a * z + b * y - c * x + d * w,
        ]
    )


def attitude_rate(q: Array, rate: Array) -> Array:
    """Time derivative of a quaternion whose body turns at `rate` (rad/s, body frame)."""
    w, x, y, z = jnp.unstack(q)
    a, b, c = jnp.unstack(rate)
    return 0.5 * jnp.stack(
        [-x * a - y * b - z * c, w * a + y * c - z * b, w * b + z * a - x * c, w * c + x * b - y * a]
    )


def normalised(q: Array) -> Array:
    """A quaternion at length one."""
    return q / jnp.sqrt(dot(q, q))


_HALVINGS = 3
_SINC = tuple((-1) ** k / math.factorial(2 * k + 1) for k in range(8))
_VERSINE = tuple((-1) ** k / math.factorial(2 * k + 2) for k in range(8))


def turn_by(vector: Array) -> Array:
    """The quaternion of a rotation vector (3, ...) (rad): its length is the angle, at most a turn or two.

    Sine and cosine of half the angle are series of an eighth of it, doubled three times by
    sinc 2y = sinc y cos y and 1 - cos 2y = 2 (1 - cos y) (1 + cos y), which loses no digits: unlike a
    library's sine it runs in vector instructions, and unlike sin(x)/x it is smooth at zero.
    """
    square = dot(vector, vector) / 4 / 4**_HALVINGS
    sinc, versine = _polynomial(_SINC, square), square * _polynomial(_VERSINE, square)
    for _ in range(_HALVINGS):
        sinc, versine = sinc * (1 - versine), 2 * versine * (2 - versine)
    return jnp.concatenate([(1 - versine)[None], sinc / 2 * vector])


def _polynomial(coefficients: Sequence[float], x: Array) -> Array:
    total = jnp.full_like(x, coefficients[-1])
    for each in coefficients[-2::-1]:
        total = total * x + each
    return total


def computed_once(tree: Made) -> Made:
    """`tree` as it is, worked out here for all who use it.

    Else XLA computes cheap expressions again for each of their users, and for each of theirs: a long chain of
    small steps, such as a controller, then costs many times its arithmetic. A barrier alone does not help,
    since XLA takes barriers away before it fuses: what stays is a loop, here one that never turns.
    """
    leaves, structure = jax.tree.flatten(tree)
    return jax.tree.unflatten(structure, _through_a_loop([jnp.asarray(leaf) for leaf in leaves]))


@jax.custom_jvp
def _through_a_loop(leaves: list[Array]) -> list[Array]:
    numbers = [leaf for leaf in leaves if leaf.size and jnp.issubdtype(leaf.dtype, jnp.inexact)]
    if not numbers:
        return jax.lax.optimization_barrier(leaves)
    some = numbers[0][(0,) * numbers[0].ndim]

    def same(carry: tuple[Array, list[Array]]) -> tuple[Array, list[Array]]:
        flag, values = jax.lax.optimization_barrier(carry)
        return jnp.zeros_like(flag), values

    # it turns never, or once where a state is no number any more; XLA cannot know
    return jax.lax.while_loop(lambda carry: carry[0], same, (some != some, leaves))[1]


@_through_a_loop.defjvp
def _(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[Any, Any]:
    return _through_a_loop(*primals), tangents[0]


def as_jax(value: Any, dtype: Any = None) -> Array:
    """`value` as a JAX array.

    Numbers from the host are moved, not computed with: unlike `jax.numpy.asarray` this compiles nothing, and
    compiling for a few dozen arrays of different shapes is most of a second. Small arrays are moved once:
    thousands of rigs have most of their numbers in common, and JAX's arrays do not change.
    """
    if isinstance(value, jax.Array):
        return value if dtype is None or value.dtype == dtype else value.astype(dtype)
    array = np.asarray(value, dtype)
    if array.nbytes <= SMALL:
        return _moved(array.tobytes(), array.shape, array.dtype.str)
    return jax.device_put(array)


SMALL = 512
"""Arrays of up to this many bytes are moved once."""


@lru_cache(maxsize=8192)
def _moved(content: bytes, shape: tuple[int, ...], dtype: str) -> Array:
    # at once, even while something is traced: what is kept must not belong to a trace
    with jax.ensure_compile_time_eval():
        return jax.device_put(np.frombuffer(content, dtype).reshape(shape))


def by_content(function: Callable[..., Made]) -> Callable[..., Made]:
    """A function of one small NumPy array (and what can be hashed), computed once for each content.

    Thousands of rigs and controllers have most of their geometry in common. An array it returns is read-only.
    """

    @lru_cache(maxsize=512)
    def kept(content: bytes, shape: tuple[int, ...], *rest: Any) -> Made:
        made = function(np.frombuffer(content).reshape(shape), *rest)
        if isinstance(made, np.ndarray):
            made.flags.writeable = False
        return made

    @wraps(function)
    def call(array: Any, *rest: Any) -> Made:
        numbers = np.asarray(array, dtype=float)
        return kept(numbers.tobytes(), numbers.shape, *rest)

    return call


def traced(*values: object) -> bool:
    """Whether any of the values is known only while JAX traces (so that it cannot be checked or printed)."""
    return any(isinstance(value, Tracer) for value in values)
