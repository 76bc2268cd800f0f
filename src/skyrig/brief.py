"""Short texts of large things, for consoles and notebooks: arrays by their type and shape."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from html import escape
from typing import Any

LONGEST = 60
"""A text within a text is cut after so many characters."""
MOST = 4
"""Entries of a list or dictionary that are shown."""


def brief(self: Any) -> str:
    """A dataclass as `Name(field=value, ...)`, its arrays by type and shape, on a line or a few.

    To be a class's `__repr__`.
    """
    parts = [f"{each.name}={_value(getattr(self, each.name))}" for each in fields(self) if each.repr]
    return f"{type(self).__name__}({', '.join(parts)})"


def _value(value: Any) -> str:
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        return f"{value.dtype}[{','.join(str(size) for size in value.shape)}]"
    if isinstance(value, Mapping):
        return (
            f"{{{_some([f'{key!r}: {_value(own)}' for key, own in list(value.items())[:MOST]], len(value))}}}"
        )
    if isinstance(value, (list, tuple)):
        return f"[{_some([_value(own) for own in value[:MOST]], len(value))}]"
    if is_dataclass(value) and not isinstance(value, type):
        text = repr(value) if type(value).__repr__ is brief else f"{type(value).__name__}(...)"
        return text
    text = repr(value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 4]}...{text[-1]}"


def _some(parts: list[str], count: int) -> str:
    return ", ".join([*parts, *([f"... {count} in all"] if count > len(parts) else [])])


def html_table(head: Sequence[str], rows: Sequence[Sequence[str]], words: bool = False) -> str:
    """A table as HTML, every text escaped: numbers flush right, words flush left.

    Args:
        head: Titles of the columns; no line of titles if all are empty.
        rows: The cells, line by line.
        words: Whether all cells are words, though some begin with a number.
    """
    lines = ["<table>"]
    if any(head):
        numeric = [not words and any(_is_number(row[k]) for row in rows) for k in range(len(head))]
        cells = [_cell("th", text, right) for text, right in zip(head, numeric, strict=True)]
        lines.append(f"<tr>{''.join(cells)}</tr>")
    for row in rows:
        lines.append(f"<tr>{''.join(_cell('td', text, not words and _is_number(text)) for text in row)}</tr>")
    return "\n".join([*lines, "</table>"])


def _cell(kind: str, text: str, right: bool) -> str:
    return f'<{kind} style="text-align:{"right" if right else "left"}">{escape(text)}</{kind}>'


def _is_number(text: str) -> bool:
    return text.lstrip("-")[:1].isdigit()
