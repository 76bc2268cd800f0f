"""The README and every page of the documentation do what they say.

Blocks with a title are files, written first, a second block of one title going on where the first ended.
Other Python blocks of a page run one after another in one namespace; console lines that begin with `$ skyrig`
run through the installed command. All run in an empty working directory.
"""

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pages import FENCE, write_files

from skyrig.cli import COMMANDS, main
from skyrig.cli.listing import LISTS
from skyrig.files import read_yaml
from skyrig.scenario import bundled_text, names

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


def blocks(text: str, language: str) -> Iterator[tuple[int, str]]:
    """The fenced blocks in `language` without a title: how many lines stand above the body, and the body."""
    for match in FENCE.finditer(text):
        if match["language"] == language and not match["title"]:
            body = re.sub(rf"^{match['indent']}", "", match["body"], flags=re.M)
            yield text.count("\n", 0, match.start("body")), body


def commands(text: str) -> Iterator[list[str]]:
    """The arguments of every `$ skyrig ...` line, a trailing backslash carrying on to the next line."""
    for _, body in blocks(text, "console"):
        for line in body.replace("\\\n", " ").splitlines():
            if line.startswith("$ skyrig"):
                yield shlex.split(line.removeprefix("$ "), comments=True)[1:]


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = page.read_text(encoding="utf-8")

    write_files(text, tmp_path)
    namespace = {"__name__": "__main__"}
    for above, body in blocks(text, "python"):
        # Blank lines on top make a traceback point at the line of the page.
        exec(compile("\n" * above + body, str(page), "exec"), namespace)

    for arguments in commands(text):
        command = [str(Path(sys.executable).with_name("skyrig")), *arguments]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=300)
        assert ran.returncode == 0, f"$ skyrig {shlex.join(arguments)}\n{ran.stdout}{ran.stderr}"


@pytest.mark.slow
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda notebook: notebook.stem)
def test_notebook_runs(notebook: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    cells = [
        it for it in json.loads(notebook.read_text(encoding="utf-8"))["cells"] if it["cell_type"] == "code"
    ]
    assert cells and not any(it["outputs"] for it in cells), "kept without what it printed"
    namespace = {"__name__": "__main__"}
    for number, cell in enumerate(cells):
        exec(compile("".join(cell["source"]), f"{notebook.name}, cell {number}", "exec"), namespace)


def test_every_bundled_scenario_is_in_the_gallery() -> None:
    text = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    for name in names():
        head = read_yaml(bundled_text(name).partition("\nrig:")[0], name)  # whole files take their time
        says = " ".join(str(head["description"]).split())
        assert f"`skyrig fly {name}`<br>{says}" in text, f"python docs/gallery.py {name}"
    pictures = {path.stem: path.stat().st_size for path in (ROOT / "docs" / "gallery").glob("*.webp")}
    assert set(re.findall(r"\(gallery/([\w-]+)\.webp\)", text)) == set(pictures) <= set(names())
    assert sum(pictures.values()) < 5e6


def test_every_page_is_in_the_navigation() -> None:
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    for page in PAGES[1:]:
        assert f": {page.relative_to(ROOT / 'docs').as_posix()}\n" in text, page.name


def test_files_and_pages_that_are_named_are_there() -> None:
    files = [path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*.py") if ".venv" not in path.parts]
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        titled = {match["title"] for match in FENCE.finditer(text) if match["title"]}
        for name in re.findall(r"`([\w/]+\.py)`", text):
            assert name in titled or any(f"/{file}".endswith(f"/{name}") for file in files), (page.name, name)
        for place in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", text):
            assert (page.parent / place).exists(), (page.name, place)


def test_every_command_and_option_is_told_of(capfd: pytest.CaptureFixture[str]) -> None:
    text = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    more = {
        "sweep": "sweeps.md",
        "studio": "studio.md",
        "statics": "statics.md",
        "sitl": "bridges.md",
        "import": "logs.md",
        "ros2": "ros2.md",
    }
    for command in COMMANDS:
        assert f"`skyrig {command}" in text, command
        with pytest.raises(SystemExit):
            main([command, "--help"])
        page = text + (ROOT / "docs" / more.get(command, "cli.md")).read_text(encoding="utf-8")
        for option in set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", capfd.readouterr().out)) - {"--help"}:
            either = (option, f"--no-{option[2:]}", f"--{option.removeprefix('--no-')}")
            assert any(re.search(rf"{each}(?![a-z-])", page) for each in either), (command, option)
    for what in LISTS:
        assert f"| `{what}`" in text, what


def test_blocks_are_found_also_when_indented() -> None:
    text = (
        "a\n\n```python\nx = 1\n```\n\n- item\n\n    ```python title='t'\n    if x:\n        y = 2\n    ```\n"
    )
    assert list(blocks(text, "python")) == [(3, "x = 1\n"), (9, "if x:\n    y = 2\n")]


def test_commands_are_found_and_output_is_left_alone() -> None:
    text = "```console\n$ skyrig fly drop \\\n    --plot  # look\nflown\n$ make fly\n```\n"
    assert list(commands(text)) == [["fly", "drop", "--plot"]]
