"""Compiled programs that are traced once and kept on disk.

JAX's cache keeps what the compiler made, but to find it there a program must first be traced again, which
takes longer than a short flight. So what tracing gave is kept as well, by all it depends on: skyrig's own
source, the versions of what it stands on, and the kind of every argument. Programs are kept beside JAX's
cache; without that one, or with SKYRIG_KEEP_PROGRAMS=0, nothing is kept. With SKYRIG_KEEP_PROGRAMS set to a
name, what is kept is kept apart, and found again only under that name.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import uuid
import weakref
from collections.abc import Callable, Iterator
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import numpy as np
from jax import export

from skyrig.algebra import traced

SETTINGS = ("jax_enable_x64", "jax_default_matmul_precision", "jax_numpy_dtype_promotion")
"""JAX's settings on which tracing depends."""
KEEP = os.environ.get("SKYRIG_KEEP_PROGRAMS") or "1"
"""Whether programs are kept, as it was asked for when this was imported: "0" for no, or a name."""


class Program:
    """A function of pytrees of arrays, compiled, and kept where all its arguments' classes are skyrig's own.

    Args:
        function: What to compile.
        like: From the same arguments, a tree of the structure that `function` gives; leaves do not matter.
    """

    def __init__(self, function: Callable[..., Any], like: Callable[..., Any]) -> None:
        self._function, self._like = function, like
        self._plain: Any = eqx.filter_jit(function)
        self._known: dict[Any, Any] = {}
        self._flat: dict[Any, Any] = {}
        _made.add(self)

    def __call__(self, *arguments: Any) -> Any:
        """What the function gives for `arguments`; under JAX's transformations it is compiled as usual."""
        leaves, structure = jax.tree.flatten(arguments)
        if traced(*leaves) or not all(isinstance(leaf, (np.ndarray, jax.Array)) for leaf in leaves):
            return self._plain(*arguments)
        program = self._found(arguments, leaves, structure)
        if program is None:
            return self._plain(*arguments)
        return jax.tree.unflatten(jax.tree.structure(self._like(*arguments)), program(*leaves))

    def ready(self, *arguments: Any) -> Callable[..., Any]:
        """The program for arguments of these kinds, from their leaves to those of what it gives.

        For whoever calls it so often that looking it up would count.
        """
        leaves, structure = jax.tree.flatten(arguments)
        program = self._found(arguments, leaves, structure)
        if program is not None:
            return program

        def flat(*leaves: Any) -> tuple[Any, ...]:
            return tuple(jax.tree.leaves(self._function(*jax.tree.unflatten(structure, leaves))))

        return self._flat.setdefault(structure, jax.jit(flat))

    def forget(self) -> None:
        """Let go of what is compiled; what is kept on disk is read again where it is needed."""
        self._known.clear()
        self._flat.clear()

    def _found(self, arguments: Any, leaves: list[Any], structure: Any) -> Any:
        kinds = tuple(_kind(leaf) for leaf in leaves)
        if (structure, kinds) not in self._known:
            self._known[structure, kinds] = self._kept(arguments, leaves, structure, kinds)
        return self._known[structure, kinds]

    def _kept(self, arguments: Any, leaves: list[Any], structure: Any, kinds: tuple[Any, ...]) -> Any:
        """The program for arguments of these kinds, read or made; None where it cannot be kept."""
        folder = _folder()
        names = sorted(set(_classes(arguments)))
        if folder is None or not all(name.startswith("skyrig.") for name in names):
            return None
        where = f"{self._function.__module__}.{self._function.__qualname__}"
        settings = [str(getattr(jax.config, name)) for name in SETTINGS]
        words = "\n".join([_source(), where, *settings, *names, str(structure), *map(str, kinds)])
        path = folder / f"{where}-{hashlib.sha256(words.encode()).hexdigest()[:32]}"
        content = _read(path)
        if content is None:
            content = self._exported(arguments, leaves, structure)
            if content is None:
                return None
            _write(path, content)
        # what is kept is what is flown, the first time too: the same program, the same bits;
        # and it is compiled here: left to jit, arrays that came out of a program would compile it once more
        return jax.jit(export.deserialize(bytearray(content)).call).lower(*leaves).compile()

    def _exported(self, arguments: Any, leaves: list[Any], structure: Any) -> bytes | None:
        wanted = jax.tree.structure(self._like(*arguments))

        def flat(*leaves: Any) -> tuple[Any, ...]:
            given = self._function(*jax.tree.unflatten(structure, leaves))
            assert jax.tree.structure(given) == wanted, (jax.tree.structure(given), wanted)
            return tuple(jax.tree.leaves(given))

        try:
            return bytes(export.export(jax.jit(flat))(*leaves).serialize())
        except (ValueError, NotImplementedError):  # it holds what JAX does not promise to read again
            return None


_made: weakref.WeakSet[Program] = weakref.WeakSet()


def forget() -> None:
    """Let go of all that is compiled in this process, JAX's own programs too."""
    for program in _made:
        program.forget()
    jax.clear_caches()


class Shapes:
    """Shapes and structure of what a function gives, found out once for each kind of arguments.

    Args:
        function: What to look at.
        then: What to make of the shapes, if anything, once too.
    """

    def __init__(self, function: Callable[..., Any], then: Callable[[Any], Any] | None = None) -> None:
        self._function, self._then = function, then
        self._known: dict[Any, Any] = {}

    def __call__(self, *arguments: Any) -> Any:
        """A tree of `jax.ShapeDtypeStruct`; what is no array in `arguments` must be hashable."""
        leaves, structure = jax.tree.flatten(arguments)
        kinds = tuple(_kind(leaf) if hasattr(leaf, "dtype") else leaf for leaf in leaves)
        if (structure, kinds) not in self._known:
            shapes = eqx.filter_eval_shape(self._function, *arguments)
            self._known[structure, kinds] = shapes if self._then is None else self._then(shapes)
        return self._known[structure, kinds]


def _kind(leaf: Any) -> tuple[Any, ...]:
    return leaf.shape, leaf.dtype, getattr(leaf, "weak_type", False)


def _classes(tree: Any) -> Iterator[str]:
    """The classes of all nodes but Python's own, and of leaves that are no arrays, by their full names."""
    children = jax.tree.leaves(tree, is_leaf=lambda node: node is not tree)
    leaf = len(children) == 1 and children[0] is tree
    if not leaf and hasattr(tree, "layout") and hasattr(tree, "tree"):  # packed: what is in it counts
        yield from _classes(tree.tree())
    if leaf and isinstance(tree, (np.ndarray, jax.Array)):
        return
    if leaf or type(tree) not in (tuple, list, dict, type(None)):
        yield f"{type(tree).__module__}.{type(tree).__qualname__}"
    if not leaf:
        for child in children:
            yield from _classes(child)


def _folder() -> Path | None:
    """Where programs are kept."""
    settings: Any = jax.config  # its names are made at run time
    base = settings.jax_compilation_cache_dir
    if not base or KEEP == "0" or "://" in base:
        return None
    ours = Path(base).parent / "programs" if Path(base).parent.name == "skyrig" else Path(base) / "skyrig"
    return ours if KEEP == "1" else ours / KEEP


@cache
def _source() -> str:
    """A fingerprint of skyrig's source and of what it stands on."""
    digest = hashlib.sha256()
    versions = [version(name) for name in ("jax", "jaxlib", "equinox", "numpy")]
    digest.update(" ".join((*versions, platform.python_version())).encode())
    base = Path(__file__).parent
    for path in sorted(base.rglob("*.py")):
        digest.update(str(path.relative_to(base)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def _read(path: Path) -> bytes | None:
    """What is kept in a file; None where there is none or it is damaged."""
    try:
        whole = path.read_bytes()
    except OSError:
        return None
    mark, content = whole[:32], whole[32:]
    return content if hashlib.sha256(content).digest() == mark else None


def _write(path: Path, content: bytes) -> None:
    """Keep a program, with a mark that tells whether it is whole, if the disk allows."""
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_bytes(hashlib.sha256(content).digest() + content)
        os.replace(temporary, path)
    with contextlib.suppress(OSError):
        temporary.unlink(missing_ok=True)
