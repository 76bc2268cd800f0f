"""Reading YAML people wrote: plain values only, and one sentence when it cannot be read."""

from pathlib import Path

import pytest

from skyrig.errors import InputError
from skyrig.files import bundled_names, read_yaml, read_yaml_file

BOMB = "a: &a [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n" + "".join(
    f"{chr(98 + k)}: &{chr(98 + k)} [{', '.join([f'*{chr(97 + k)}'] * 10)}]\n" for k in range(8)
)


@pytest.mark.parametrize(
    "text, sentence",
    [
        ("mass: [1", "file.yaml, line 1: "),
        ("mass: 1\nmass: 2", "file.yaml, line 2: found duplicate key"),
        ("mass: !!python/object/apply:os.getcwd []", "could not determine a constructor"),
        ("- 1", "file.yaml must hold a mapping"),
        ("", "file.yaml must hold a mapping"),
        ("mass: *other", "file.yaml, line 1: found undefined alias"),
        ("\x00", "file.yaml is not YAML"),
        ("mass: " + "[" * 5000, "file.yaml is not YAML"),
        (BOMB, "holds more than 1000000 values"),
        ("a: &a [*a]", "an alias that contains itself"),
    ],
)
def test_what_cannot_be_read_is_told_in_one_sentence(text: str, sentence: str) -> None:
    with pytest.raises(InputError) as refusal:
        read_yaml(text, "file.yaml")
    assert sentence in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_numbers_are_numbers_however_they_are_written() -> None:
    values = read_yaml("a: 1.0e4\nb: 1e4\nc: 1E-3\nd: &x 2.5\ne: *x", "file.yaml")
    assert values == {"a": 1e4, "b": 1e4, "c": 1e-3, "d": 2.5, "e": 2.5}


def test_files_are_named_when_they_cannot_be_opened(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nothing\.yaml cannot be read: No such file"):
        read_yaml_file(tmp_path / "nothing.yaml")
    (tmp_path / "latin.yaml").write_bytes(b"name: caf\xe9")
    with pytest.raises(InputError, match="it is not UTF-8 text"):
        read_yaml_file(tmp_path / "latin.yaml")
    (tmp_path / "fine.yaml").write_text("name: café", encoding="utf-8")
    assert read_yaml_file(tmp_path / "fine.yaml") == {"name": "café"}


def test_bundled_files_are_listed_in_order() -> None:
    names = bundled_names("payloads")
    assert {"bar", "box", "point-mass", "triangle"} <= set(names)
    assert list(names) == sorted(names)
