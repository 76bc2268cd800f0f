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
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from skyrig import files
from skyrig.errors import InputError
from skyrig.flight import agreement
from skyrig.flight.flight import Cables, Flight, FlightEvent, Impact, Inputs, RigData, Track, Wanted

FORMAT = 1
FILE = "flight.npz"
MOST_ARRAYS, MOST_DIRECTORY = 500, 100_000
"""No flight file has more arrays, nor more bytes in its directory."""

_GROUPS: dict[str, type] = {
    "payload": Track,
    "vehicles": Track,
    "cables": Cables,
    "inputs": Inputs,
    "rig": RigData,
    "reference": Wanted,
    "vehicle_references": Wanted,
    "measured_payload": Track,
    "measured_vehicles": Track,
}
_LISTS: dict[str, type] = {"events": FlightEvent, "impacts": Impact}
_OPTIONAL = ("reference", "vehicle_references", "measured_payload", "measured_vehicles")
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
    """The arrays of the file by name; parts of a part are joined by a dot, as in payload.position."""
    arrays = {
        "format": np.asarray(FORMAT),
        "name": np.asarray(flight.name),
        "scenario": np.asarray(flight.scenario),
        "times": flight.times,
    }
    for name in _JSON:
        arrays[name] = np.asarray(json.dumps(getattr(flight, name), allow_nan=True))
    for name in _GROUPS:
        part = getattr(flight, name)
        if part is not None:
            arrays |= {f"{name}.{each.name}": np.asarray(getattr(part, each.name)) for each in fields(part)}
    arrays |= {f"signals.{name}": value for name, value in flight.signals.items()}
    for name, kind in _LISTS.items():
        arrays |= _columns(name, kind, getattr(flight, name))
    return arrays


def from_arrays(arrays: Mapping[str, np.ndarray], where: str = "flight") -> Flight:
    """The flight that `to_arrays` took apart."""
    version = arrays.get("format")
    if version is None or version.shape != () or version.dtype.kind not in "iu" or int(version) != FORMAT:
        raise InputError(
            f"{where} is not a flight of format {FORMAT}: its format is {reprlib.repr(version)}."
        )
    agreement.check(arrays, where)
    try:
        whole: dict[str, Any] = {"name": str(arrays["name"]), "scenario": str(arrays["scenario"])}
        whole["times"] = arrays["times"]
        for name in _JSON:
            whole[name] = json.loads(str(arrays[name]))
            if not isinstance(whole[name], dict):
                raise TypeError
        for name, kind in _GROUPS.items():
            if name in _OPTIONAL and not any(key.startswith(f"{name}.") for key in arrays):
                continue
            whole[name] = kind(**{each.name: _plain(arrays[f"{name}.{each.name}"]) for each in fields(kind)})
        told = [name for name in arrays if name.startswith("signals.")]
        whole["signals"] = {name.removeprefix("signals."): arrays[name] for name in told}
        for name, kind in _LISTS.items():
            whole[name] = _rows(name, kind, arrays)
    except KeyError as error:
        raise InputError(f"{where} is not a whole flight: it has no {error.args[0]}.") from None
    except (ValueError, TypeError, RecursionError):
        raise InputError(f"{where} is not a flight: its parts are not what they should be.") from None
    return Flight(**whole)


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


def _columns(name: str, kind: type, entries: Sequence[Any]) -> dict[str, np.ndarray]:
    """A list of dataclasses as one array a field; no cable is -1."""
    columns = {}
    for each in fields(kind):
        values = [getattr(entry, each.name) for entry in entries]
        column = np.asarray([-1 if value is None else value for value in values])
        columns[f"{name}.{each.name}"] = column.astype("U1") if not values and each.name == "kind" else column
    return columns


def _rows(name: str, kind: type, arrays: Mapping[str, np.ndarray]) -> tuple[Any, ...]:
    assert is_dataclass(kind)
    columns = {each.name: arrays[f"{name}.{each.name}"] for each in fields(kind)}
    count = len(columns["time"])
    rows = []
    for k in range(count):
        values = {key: _plain(column[k]) for key, column in columns.items()}
        if kind is FlightEvent:
            values["cable"] = None if values["cable"] < 0 else values["cable"]
        rows.append(kind(**values))
    return tuple(rows)


def _plain(value: Any) -> Any:
    """Python's own number or text where there is a single one."""
    return value.item() if np.ndim(value) == 0 else value
