"""Draws docs/rooms.svg: the rooms of the package from the bottom up, and who knows whom, from the imports.

python docs/rooms.py
"""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).parents[1] / "src" / "skyrig"
ROOMS = [
    "vehicles",
    "soft",
    "rigs",
    "elements",
    "statics",
    "planning",
    "sensing",
    "control",
    "sim",
    "flight",
    "scenario",
    "runs",
    "papers",
    "envs",
    "studio",
    "bridges",
    "cli",
]
"""From the bottom up."""
HIGH, WIDE, LEFT, GAP = 26, 118, 20, 12


def known() -> dict[str, dict[str, int]]:
    """How many of each room's files import from each other room."""
    found: dict[str, dict[str, int]] = {room: {} for room in ROOMS}
    for room in ROOMS:
        for path in (ROOT / room).rglob("*.py"):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            names = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
            for other in {name.split(".")[1] for name in names if name.startswith("skyrig.")} & set(ROOMS):
                if other != room:
                    found[room][other] = found[room].get(other, 0) + 1
    return found


def drawing() -> str:
    """The picture as SVG."""
    place = {room: 20 + (HIGH + GAP) * (len(ROOMS) - 1 - k) for k, room in enumerate(ROOMS)}
    height, right = 20 + (HIGH + GAP) * len(ROOMS), LEFT + WIDE
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 520 {height}" font-family="sans-serif">',
        "<style>path{fill:none;stroke:#68a;stroke-opacity:.55} rect{fill:#eef3f8;stroke:#468}"
        " text{font-size:13px;text-anchor:middle}</style>",
    ]
    for room, others in known().items():
        for other, count in sorted(others.items()):
            begin, end = place[room] + HIGH / 2 + 4, place[other] + HIGH / 2 - 4
            out = right + 26 * abs(ROOMS.index(room) - ROOMS.index(other)) + 14
            width = min(0.6 + 0.25 * count, 3.0)
            parts.append(
                f'<path stroke-width="{width:.2f}" d="M{right} {begin:g} C{out} {begin:g} {out} {end:g} '
                f'{right} {end:g}"><title>{room} knows {other} ({count} files)</title></path>'
            )
    for room, top in place.items():
        parts.append(f'<rect x="{LEFT}" y="{top}" width="{WIDE}" height="{HIGH}" rx="4"/>')
        parts.append(f'<text x="{LEFT + WIDE / 2:g}" y="{top + 18}">{room}</text>')
    return "\n".join([*parts, "</svg>", ""])


if __name__ == "__main__":
    Path(__file__).with_name("rooms.svg").write_text(drawing(), encoding="utf-8")
