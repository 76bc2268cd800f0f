"""The fenced blocks of the documentation's pages."""

import re
from pathlib import Path

FENCE = re.compile(
    r"^(?P<indent> *)```(?P<language>\w+)(?: title=\"(?P<title>[\w.-]+)\")?[^\n]*\n"
    r"(?P<body>.*?)^(?P=indent)```",
    re.M | re.S,
)


def write_files(text: str, folder: Path) -> None:
    """Write the files that a page shows."""
    whole: dict[str, str] = {}
    for match in FENCE.finditer(text):
        if match["title"]:
            body = re.sub(rf"^{match['indent']}", "", match["body"], flags=re.M)
            before = whole.get(match["title"])
            whole[match["title"]] = body if before is None else f"{before}\n\n{body}"
    for name, body in whole.items():
        (folder / name).write_text(body, encoding="utf-8")
