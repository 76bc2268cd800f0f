"""Commands that look at scenarios: `list`, `show`, `check`, `schema`. None of them imports JAX."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from skyrig.errors import InputError

if TYPE_CHECKING:
    from rich.table import Table

    from skyrig.scenario import Scenario

Name = Annotated[str, tyro.conf.arg(metavar="SCENARIO")]
Files = Annotated[tuple[str, ...], tyro.conf.arg(metavar="FILE")]
Changes = Annotated[tuple[str, ...], tyro.conf.arg(name="set", metavar="PATH=VALUE")]


def list_scenarios() -> None:
    """List the bundled scenarios."""
    from skyrig.files import read_yaml
    from skyrig.scenario import bundled_text, names

    table = _table("scenario", "what it shows")
    for name in names():
        head, _, _ = bundled_text(name).partition("\nrig:")  # reading whole files would take a second
        values = read_yaml(head, name)
        table.add_row(name, " ".join(str(values.get("description", "")).split()))
    _print(table)


def show(
    scenario: tyro.conf.Positional[Name],
    /,
    *,
    yaml: bool = False,
    changes: tyro.conf.UseAppendAction[Changes] = (),
) -> None:
    """Show a scenario.

    Args:
        scenario: A bundled scenario's name, or a YAML file.
        yaml: Print it as YAML, ready to be copied and changed.
        changes: Values to change, such as rig.payload.mass=0.3.
    """
    known = changed(scenario, changes)
    if yaml:
        text = known.text if known.text is not None else known.to_yaml()
        sys.stdout.write(text if text.endswith("\n") else text + "\n")
        return
    _print(_summary(known))
    for remark in known.remarks:
        print(remark)


def check(files: tyro.conf.Positional[Files], /) -> None:
    """Check scenario files; the first mistake of each is told in one sentence.

    Args:
        files: YAML files, or names of bundled scenarios.
    """
    from skyrig.scenario import Scenario
    from skyrig.scenario.summary import team

    if not files:
        raise InputError("skyrig check needs the name of at least one file.")
    bad = 0
    for name in files:
        try:
            known = Scenario.load(name)
        except InputError as error:
            print(error, file=sys.stderr)
            bad += 1
            continue
        print(f"{name}: fine, {team(known)}, {known.duration:g} s.")
        for remark in known.remarks:
            print(f"{name}: {remark}")
    if bad:
        sys.exit(2)


def schema() -> None:
    """Print the JSON schema of scenario files, for editors."""
    import json

    from skyrig.scenario import schema as made

    print(json.dumps(made(), indent=2))


def changed(name: str, changes: tuple[str, ...], **others: Any) -> Scenario:
    """A scenario with what the command line says changed; of `others`, None counts as not said."""
    from skyrig.scenario import Scenario
    from skyrig.scenario.overrides import parse_setting

    settings: dict[str, object] = dict(parse_setting(text) for text in changes)
    settings |= {key: value for key, value in others.items() if value is not None}
    return Scenario.load(name).with_overrides(settings)


def _summary(known: Scenario) -> Table:
    from skyrig.scenario.summary import rows

    table = _table(known.name, "")
    for row in rows(known):
        table.add_row(*row)
    return table


def _table(first: str, second: str) -> Table:
    from rich.table import Table

    table = Table(first, second, box=None, pad_edge=False, header_style="bold")
    table.columns[0].no_wrap = True
    return table


def _print(thing: Any) -> None:
    from rich.console import Console

    Console(highlight=False).print(thing)


def folder_of(path: Path) -> Path:
    """The folder that a flight's file or folder stands for."""
    return path if path.suffix != ".npz" else path.parent
