"""Flights as files: one .npz that NumPy alone can read, written whole or not at all."""

from __future__ import annotations

import contextlib
import io
import json
import math
import os
import reprlib
import struct
import uuid
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from skyrig import files
from skyrig.errors import InputError
from skyrig.flight import format_1, format_2
from skyrig.flight.flight import Flight, Impact, Inputs

FORMAT = format_2.FORMAT
"""What is written; older ones can be read."""
FILE = "flight.npz"
MOST_ARRAYS, MOST_DIRECTORY = 500, 100_000
"""No flight file has more arrays, nor more bytes in its directory."""

_READERS: dict[int, Callable[[Mapping[str, np.ndarray], str], dict[str, Any]]] = {
    format_1.FORMAT: format_1.parts,
    format_2.FORMAT: format_2.parts,
}
_JSON = ("metrics", "versions")


def save(flight: Flight, path: Path) -> Path:
    """Write `flight` to `path` (see `Flight.save`) and say where it is."""
    target = path if path.suffix == ".npz" else path / FILE
    stream = io.BytesIO()
    np.savez(
        stream, allow_pickle=False, **to_arrays(flight)
    )  # packed it would be a quarter smaller, and slow
    write_whole(target, stream.getvalue())
    return target


def load(path: Path, most: int | None = None) -> Flight:
    """The flight at `path` (see `Flight.load`), or an `InputError` that says why there is none.

    Args:
        path: The file, or its folder.
        most: How many bytes the file may hold, packed and unpacked, found out before any is read; None is as
            many as it likes.
    """
    with contextlib.suppress(OSError, ValueError):
        path = path / FILE if path.is_dir() else path
    with files.open_regular(path, most) as stream:
        try:
            arrays = _read(stream, path, most)
        except InputError:
            raise
        except OSError as error:
            raise InputError(f"{path} cannot be read: {error.strerror or 'it is damaged'}.") from None
        except Exception:  # whatever unpacks and reads arrays trips over in what somebody made up
            raise InputError(f"{path} is not a flight: NumPy cannot read it.") from None
    return from_arrays(arrays, str(path))


def _read(stream: BinaryIO, path: Path, most: int | None) -> dict[str, np.ndarray]:
    """The arrays in a file, each as large as the file's directory says and none larger."""
    if most is not None:
        _check_directory(stream, path)
    with zipfile.ZipFile(stream) as archive:
        members = archive.infolist()
        size = sum(member.file_size for member in members)
        if most is not None and size > most:
            raise InputError(f"{path} holds {size} bytes once unpacked, but may hold {most} at most.")
        return {member.filename.removesuffix(".npy"): _array(archive, member) for member in members}


def _check_directory(stream: BinaryIO, path: Path) -> None:
    """Whether the directory at a file's end is that of a flight: it is held in memory as a whole."""
    size = stream.seek(0, io.SEEK_END)
    stream.seek(max(size - 42, 0))
    end = stream.read()
    count, length = struct.unpack("<10xHL6x", end[-22:]) if len(end) == 42 else (0, 0)
    if end[-22:-18] != b"PK\5\6" or end[:4] == b"PK\6\7" or count > MOST_ARRAYS or length > MOST_DIRECTORY:
        raise InputError(f"{path} is not a flight: it does not end as skyrig's files do.")


def _array(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> np.ndarray:
    """One array, unless its header promises more than there is."""
    with archive.open(member) as stream:
        version = np.lib.format.read_magic(stream)
        first = version == (1, 0)
        header = np.lib.format.read_array_header_1_0 if first else np.lib.format.read_array_header_2_0
        shape, _, dtype = header(stream)
        if min(shape, default=0) < 0 or math.prod(shape) * dtype.itemsize != member.file_size - stream.tell():
            raise ValueError
    with archive.open(member) as stream:
        return np.lib.format.read_array(stream, allow_pickle=False)


def to_arrays(flight: Flight) -> dict[str, np.ndarray]:
    """The arrays of the file by name; parts of a part are joined by a dot, as in bodies.payload.position."""
    arrays = {
        "format": np.asarray(FORMAT),
        "name": np.asarray(flight.name),
        "scenario": np.asarray(flight.scenario),
        "times": flight.times,
    }
    for name in _JSON:
        arrays[name] = np.asarray(json.dumps(getattr(flight, name), allow_nan=True))
    arrays |= format_2.to_arrays(flight)
    for each in fields(Inputs):
        arrays[f"inputs.{each.name}"] = np.asarray(getattr(flight.inputs, each.name))
    for each in fields(Impact):
        arrays[f"impacts.{each.name}"] = np.asarray([getattr(it, each.name) for it in flight.impacts])
    return arrays


def from_arrays(arrays: Mapping[str, np.ndarray], where: str = "flight") -> Flight:
    """The flight that `to_arrays` took apart, or that an older version did."""
    version = arrays.get("format")
    known = version is not None and version.shape == () and version.dtype.kind in "iu"
    reader = _READERS.get(int(version)) if known and version is not None else None
    if reader is None:
        raise InputError(
            f"{where} is not a flight of format {FORMAT} or older: its format is {reprlib.repr(version)}."
        )
    try:
        parts = reader(arrays, where)
        whole: dict[str, Any] = {"name": str(arrays["name"]), "scenario": str(arrays["scenario"])}
        for name in _JSON:
            whole[name] = json.loads(str(arrays[name]))
            if not isinstance(whole[name], dict):
                raise TypeError
        return Flight(
            **whole,
            **parts,
            times=arrays["times"],
            inputs=Inputs(**{each.name: arrays[f"inputs.{each.name}"] for each in fields(Inputs)}),
            impacts=_impacts(arrays),
        )
    except InputError:
        raise
    except KeyError as error:
        raise InputError(f"{where} is not a whole flight: it has no {error.args[0]}.") from None
    except (ValueError, TypeError, RecursionError):
        raise InputError(f"{where} is not a flight: its parts are not what they should be.") from None


def write_whole(path: Path, content: bytes | str) -> Path:
    """Put `content` at `path` so that nobody ever finds a part of it there, whatever happens meanwhile."""
    data = content.encode("utf-8") if isinstance(content, str) else content
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("xb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(temporary, path)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}.") from None
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
    return path


def _impacts(arrays: Mapping[str, np.ndarray]) -> tuple[Impact, ...]:
    columns = {each.name: arrays[f"impacts.{each.name}"] for each in fields(Impact)}
    rows = range(len(columns["time"]))
    return tuple(Impact(**{name: _plain(column[k]) for name, column in columns.items()}) for k in rows)


def _plain(value: Any) -> Any:
    """Python's own number where there is a single one."""
    return value.item() if np.ndim(value) == 0 else value
