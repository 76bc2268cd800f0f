"""A page of text, tables and pictures, written as Markdown and as one HTML file that needs nothing else."""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from skyrig.flight.storage import write_whole

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #222 }
body { max-width: 62rem; margin: 2rem auto; padding: 0 1rem }
h1, h2, h3 { line-height: 1.2 } h2 { margin-top: 2.4rem }
table { border-collapse: collapse; font-variant-numeric: tabular-nums }
td, th { padding: .15rem .9rem .15rem 0; border-bottom: 1px solid #ddd }
td, th { text-align: left; vertical-align: top }
img { max-width: 100%; height: auto } pre { background: #f5f5f5; padding: .8rem; overflow-x: auto }
figure { margin: 1.5rem 0 } figcaption { color: #444 }
@media print { body { margin: 0; max-width: none } h2, h3 { break-after: avoid } }
@media print { img, tr { break-inside: avoid } }
"""


@dataclass(frozen=True)
class Heading:
    """A heading, 1 for the page's title."""

    level: int
    text: str


@dataclass(frozen=True)
class Text:
    """A paragraph; `code` and **strong** words are marked as in Markdown."""

    text: str


@dataclass(frozen=True)
class Items:
    """A list of short paragraphs."""

    entries: Sequence[str]


@dataclass(frozen=True)
class PageTable:
    """Rows of text under a head."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Code:
    """Lines as they are typed."""

    text: str


@dataclass(frozen=True)
class Picture:
    """A PNG, which Markdown expects at `path` beside it."""

    path: str
    image: bytes
    caption: str


Block = Heading | Text | Items | PageTable | Code | Picture


def write(blocks: Sequence[Block], folder: Path, name: str) -> tuple[Path, Path]:
    """Write `name`.md with its pictures, and `name`.html, to `folder`; each file whole or not at all."""
    for block in blocks:
        if isinstance(block, Picture):
            write_whole(folder / block.path, block.image)
    page = write_whole(folder / f"{name}.md", markdown(blocks))
    return page, write_whole(folder / f"{name}.html", html(blocks))


def markdown(blocks: Sequence[Block]) -> str:
    """The page as Markdown."""
    return "\n\n".join(_markdown(block) for block in blocks) + "\n"


def html(blocks: Sequence[Block]) -> str:
    """The page as HTML, pictures inside; every text in it is escaped."""
    title = next((block.text for block in blocks if isinstance(block, Heading)), "")
    head = f'<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
    parts = ["<!doctype html>", head, f"<style>{_STYLE}</style></head><body>"]
    return "\n".join([*parts, *(_html(block) for block in blocks), "</body></html>", ""])


def _markdown(block: Block) -> str:
    match block:
        case Heading(level, text):
            return f"{'#' * level} {text}"
        case Text(text):
            return text
        case Items(entries):
            return "\n".join(f"- {entry}" for entry in entries)
        case Code(text):
            return f"```sh\n{text}\n```"
        case Picture(path, _, caption):
            return f"![{caption.split('.')[0]}]({path})\n\n*{caption}*"
        case PageTable(head, rows):
            lines = [head, ["---"] * len(head), *rows]
            return "\n".join("| " + " | ".join(_cell(cell) for cell in line) + " |" for line in lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _html(block: Block) -> str:
    match block:
        case Heading(level, text):
            return f"<h{level}>{_inline(text)}</h{level}>"
        case Text(text):
            return f"<p>{_inline(text)}</p>"
        case Items(entries):
            return "<ul>" + "".join(f"<li>{_inline(entry)}</li>" for entry in entries) + "</ul>"
        case Code(text):
            return f"<pre>{escape(text)}</pre>"
        case Picture(_, image, caption):
            source = base64.b64encode(image).decode("ascii")
            shown = f'<img alt="{escape(caption)}" src="data:image/png;base64,{source}">'
            return f"<figure>{shown}<figcaption>{_inline(caption)}</figcaption></figure>"
        case PageTable(head, rows):
            lines = ["<tr>" + "".join(f"<th>{_inline(cell)}</th>" for cell in head) + "</tr>"]
            lines += ["<tr>" + "".join(f"<td>{_inline(cell)}</td>" for cell in row) + "</tr>" for row in rows]
            return "\n".join(["<table>", *lines, "</table>"])


def _inline(text: str) -> str:
    """Escaped text with code and strong words marked."""
    marked = re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text, quote=False))
    return re.sub(r"\*\*([^*]+)\*\*", r"<strong>\1</strong>", marked)
