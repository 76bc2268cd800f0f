"""Files that are no scenarios: each is refused with one sentence, and nothing else comes out."""

import copy
import gzip
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from skyrig.errors import InputError
from skyrig.scenario import Scenario, bundled_text, load, names

BASES = (
    "drop-open-loop",
    "six-dragonflies-box-cut",
    "takeoff-circle-land",
    "three-dragonflies-circle",
    "three-dragonflies-poke",
    "three-mixed-links",
    "winch-reel-up",
)
REQUIRED = (
    "skyrig",
    "name",
    "rig",
    "rig.mechanism",
    "rig.vehicles",
    "rig.payload",
    "rig.cables",
    "rig.cables.length",
    "rig.cables.winch.rate",
    "rig.cables.winch.longest",
    "reference",
    "reference.type",
    "reference.radius",
    "reference.parts",
    "reference.parts.2.period",
    "happenings.0.type",
    "happenings.0.time",
    "happenings.0.impulse",
    "happenings.0.cable",
    "happenings.0.length",
    "start.payload",
    "start.payload.position",
    "start.vehicles.0.position",
    "duration",
)


def values_of(name: str) -> dict[str, Any]:
    return YAML(typ="safe", pure=True).load(bundled_text(name))


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(item, (*path, key))
    else:
        yield path, value


def mappings(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, dict):
        yield path
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        if isinstance(item, dict | list):
            yield from mappings(item, (*path, key))


def changed(values: dict[str, Any], path: tuple[Any, ...], new: Any) -> dict[str, Any]:
    copied = copy.deepcopy(values)
    holder = copied
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = new
    return copied


def without(values: dict[str, Any], path: tuple[Any, ...]) -> dict[str, Any] | None:
    copied = copy.deepcopy(values)
    holder: Any = copied
    try:
        for key in path[:-1]:
            holder = holder[key]
        del holder[path[-1]]
    except (KeyError, IndexError, TypeError):
        return None
    return copied


def mutants() -> list[tuple[str, dict[str, Any]]]:
    """Values that are wrong in one place, each with a name that says where and how."""
    found: list[tuple[str, dict[str, Any]]] = []
    nonsense = ("soon", {"a": 1}, float("nan"), float("inf"), 1e9, -(10**400))
    for base in BASES:
        values = values_of(base)
        for k, (path, value) in enumerate(leaves(values)):
            where = f"{base}:{'.'.join(map(str, path))}"
            if isinstance(value, int | float) and not isinstance(value, bool):
                for wrong in (nonsense[k % 6], nonsense[(k + 3) % 6]):
                    found.append((f"{where}={wrong!r:.20}", changed(values, path, wrong)))
            elif path[-1] not in ("description", "name") or path == ("controller", "name"):
                found.append((f"{where}=misspelt", changed(values, path, f"{value}x")))
                if path != ("verdict", "ground"):  # a height is fine there
                    found.append((f"{where}=number", changed(values, path, 7)))
        for path in mappings(values):
            found.append(
                (f"{base}:{'.'.join(map(str, path))}+unknown", changed(values, (*path, "lenght"), 1))
            )
        for name in REQUIRED:
            path = tuple(int(key) if key.isdigit() else key for key in name.split("."))
            missing = without(values, path)
            # a rig of links has no cables, and a flight may end with its reference
            if missing is not None and not (name == "duration" and base == "winch-reel-up"):
                found.append((f"{base}-{name}", missing))
    return found


def texts() -> list[tuple[str, bytes]]:
    """Whole files that cannot be read: cut off, wrongly encoded, too large, too deep."""
    good = bundled_text("three-dragonflies-circle")
    found: list[tuple[str, bytes]] = []
    for base in BASES:
        text = re.sub(r"#.*", "", bundled_text(base))
        for match in list(re.finditer(r"[{\[]", text))[:6]:
            found.append((f"{base} cut at {match.end()}", text[: match.end()].encode()))
    bomb = "a: &a [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n" + "".join(
        f"{chr(98 + k)}: &{chr(98 + k)} [{', '.join([f'*{chr(97 + k)}'] * 10)}]\n" for k in range(8)
    )
    chain = "a0: &a0 [1]\n" + "".join(f"a{k}: &a{k} [*a{k - 1}]\n" for k in range(1, 3000))
    found += [
        ("utf-16", good.encode("utf-16")),
        ("utf-32", good.encode("utf-32")),
        ("latin-1", good.replace("Three", "Drei Libellen für").encode("latin-1")),
        ("gzip", gzip.compress(good.encode(), mtime=0)),
        ("noise", random.Random(1).randbytes(500)),
        ("zeros", bytes(100)),
        ("nul inside", good.encode().replace(b"dragonfly", b"dragon\x00fly")),
        ("empty", b""),
        ("only a comment", b"# nothing"),
        ("a list", b"- skyrig: 1"),
        ("a scalar", b"skyrig"),
        ("two documents", good.encode() + b"\n---\nskyrig: 1\n"),
        ("tabs", good.replace("  mechanism", "\tmechanism").encode()),
        ("doubled key", good.encode() + b"\nseed: 1\n"),
        ("code", good.encode() + b"\nduration: !!python/object/apply:os.getcwd []\n"),
        ("unknown tag", good.encode() + b"\nduration: !seconds 3\n"),
        ("too large", good.encode() + b"#" * 300_000),
        ("too many values", good.encode() + b"\nhappenings: [" + b"1," * 60_000 + b"1]\n"),
        ("too deep", b"skyrig: " + b"[" * 5000),
        ("deep enough", good.encode() + b"\nhappenings: " + b"[" * 40 + b"]" * 40 + b"\n"),
        ("alias bomb", bomb.encode()),
        ("alias chain", chain.encode()),
        ("alias of itself", b"skyrig: &a [*a]"),
        ("undefined alias", good.encode() + b"\nduration: *length\n"),
        ("key that is no text", good.encode() + b"\n1: 2\n"),
        ("key that is a list", good.encode() + b"\n? [1, 2]\n: 3\n"),
        ("date", good.encode() + b"\nduration: 2024-01-01\n"),
        ("binary", good.encode() + b"\nduration: !!binary aGVsbG8=\n"),
        ("set", good.encode() + b"\nhappenings: !!set {a, b}\n"),
        ("many digits", good.encode() + b"\nduration: " + b"9" * 5000 + b"\n"),
        ("version as text", good.replace("skyrig: 1", "skyrig: '1'").encode()),
        ("version of the future", good.replace("skyrig: 1", "skyrig: 2").encode()),
    ]
    return found


MUTANTS, TEXTS = mutants(), texts()


def assert_one_sentence(message: str, where: str) -> None:
    assert message.startswith(where), message
    assert message.endswith(".") and not message.endswith(".."), message
    assert "\n" not in message and "\r" not in message and "\x00" not in message, message
    assert not re.search(r"[.!?] [A-Z]", message.removeprefix(where)), message
    assert len(message) < 600, message


def test_there_are_three_hundred_of_them() -> None:
    assert len(MUTANTS) + len(TEXTS) >= 300
    assert len({name for name, _ in MUTANTS}) == len(MUTANTS)


@pytest.mark.parametrize("values", [values for _, values in MUTANTS], ids=[name for name, _ in MUTANTS])
def test_a_mutant_is_refused_in_one_sentence(
    values: dict[str, Any], capfd: pytest.CaptureFixture[str], recwarn: pytest.WarningsRecorder
) -> None:
    with pytest.raises(InputError) as refusal:
        Scenario.from_dict(values, "some/file.yaml")
    assert_one_sentence(str(refusal.value), "some/file.yaml")
    assert refusal.value.__cause__ is None
    assert capfd.readouterr() == ("", "") and not recwarn.list


@pytest.mark.parametrize("content", [content for _, content in TEXTS], ids=[name for name, _ in TEXTS])
def test_a_broken_file_is_refused_in_one_sentence(
    content: bytes, tmp_path: Path, capfd: pytest.CaptureFixture[str], recwarn: pytest.WarningsRecorder
) -> None:
    path = tmp_path / "broken.yaml"
    path.write_bytes(content)
    with pytest.raises(InputError) as refusal:
        load(path)
    assert_one_sentence(str(refusal.value), str(path))
    assert capfd.readouterr() == ("", "") and not recwarn.list


def test_a_byte_order_mark_and_windows_line_ends_are_fine(tmp_path: Path) -> None:
    path = tmp_path / "windows.yaml"
    path.write_bytes(b"\xef\xbb\xbf" + bundled_text("figure-8").replace("\n", "\r\n").encode())
    assert load(path).spec == load("figure-8").spec


def test_what_is_no_file_is_told(tmp_path: Path) -> None:
    for path, reason in ((tmp_path, "it is a folder"), (tmp_path / "no.yaml", "there is no such file")):
        with pytest.raises(InputError, match=reason):
            load(path)
    for name in ("three-dragonflies-circel", "\x00", "x" * 5000, "nothing"):
        with pytest.raises(InputError) as refusal:
            load(name)
        assert_one_sentence(str(refusal.value), "'" if len(name) < 60 else "")
    with pytest.raises(InputError, match="did you mean 'three-dragonflies-circle'"):
        load("three-dragonflies-circel")
    assert "three-dragonflies-circle" in names()
