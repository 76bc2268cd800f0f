"""Commands that look at scenarios or begin one: `show`, `new`, `check`, `schema`. None imports JAX."""

from __future__ import annotations

import reprlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from skyrig.errors import InputError

if TYPE_CHECKING:
    from rich.table import Table

    from skyrig.scenario import Scenario

Name = Annotated[str, tyro.conf.arg(metavar="SCENARIO")]
Like = Annotated[str | None, tyro.conf.arg(metavar="SCENARIO", help_behavior_hint="")]
File = Annotated[str, tyro.conf.arg(metavar="FILE")]
Files = Annotated[tuple[str, ...], tyro.conf.arg(metavar="FILE")]
Amount = Annotated[int | None, tyro.conf.arg(metavar="N", help_behavior_hint="")]
Seconds = Annotated[float | None, tyro.conf.arg(metavar="S", help_behavior_hint="")]
Rate = Annotated[float | None, tyro.conf.arg(metavar="HZ", help_behavior_hint="")]
Changes = Annotated[tuple[str, ...], tyro.conf.arg(name="set", metavar="PATH=VALUE")]


def show(
    scenario: tyro.conf.Positional[Name],
    /,
    *,
    yaml: bool = False,
    changes: tyro.conf.UseAppendAction[Changes] = (),
    strict: bool = False,
) -> None:
    """Show a scenario, or a bundled vehicle: its airframe, mixer and hover.

    Args:
        scenario: A bundled scenario's name, a YAML file, or a bundled vehicle's name.
        yaml: Print it as YAML, ready to be copied and changed.
        changes: Values to change, such as rig.payload.mass=0.3.
        strict: Take warnings for errors.
    """
    from skyrig.vehicles import airframe_names

    if scenario in airframe_names():
        from skyrig.cli.vehicles import show_vehicle

        if changes or yaml:
            raise InputError(f"{scenario} is a vehicle: --set and --yaml go with a scenario.")
        show_vehicle(scenario)
        return
    _maybe_a_vehicle(scenario)
    known = changed(scenario, changes)
    heed(known, strict)
    if yaml:
        text = known.text if known.text is not None else known.to_yaml()
        sys.stdout.write(text if text.endswith("\n") else text + "\n")
        return
    print_table(_summary(known))


def _maybe_a_vehicle(name: str) -> None:
    """Refuse a name that is nearly a vehicle's and no scenario's."""
    from skyrig.checks import nearest
    from skyrig.scenario import names
    from skyrig.vehicles import airframe_names

    near = nearest(name, airframe_names())
    if near and not nearest(name, names()) and "." not in name and not Path(name).exists():
        raise InputError(f"{reprlib.repr(name)} is neither a vehicle{near} nor a scenario.")


def new(file: tyro.conf.Positional[File], /, *, like: Like = None) -> None:
    """Write a new scenario file to change as you like: a bundled one, on a floor that bodies stand on.

    Args:
        file: Where to; its name is the scenario's.
        like: A bundled scenario's name, or a YAML file, to begin with; three-dragonflies-circle if left out.
    """
    from skyrig.flight.storage import write_whole
    from skyrig.scenario import DEFAULT, Scenario
    from skyrig.scenario.floor import begun

    path = Path(file)
    if path.suffix not in (".yaml", ".yml"):
        raise InputError(f"{path} must end in .yaml, as scenario files do.")
    if path.exists():
        raise InputError(f"{path} is there already: choose another name.")
    if not path.parent.is_dir():
        raise InputError(f"{path} cannot be written: there is no folder {path.parent}.")
    write_whole(path, begun(Scenario.load(like or DEFAULT), path))
    print(f"Wrote {path}. Next: skyrig fly {path}")


def check(files: tyro.conf.Positional[Files], /, *, strict: bool = False) -> None:
    """Check scenario files: the first mistake of each, and warnings of what is odd, in one sentence each.

    Args:
        files: YAML files, or names of bundled scenarios.
        strict: Take warnings for errors.
    """
    from skyrig.scenario import Scenario
    from skyrig.scenario.summary import team

    if not files:
        raise InputError("skyrig check needs the name of at least one file.")
    bad = 0
    for name in files:
        try:
            known = Scenario.load(name)
            heed(known, strict)
        except InputError as error:
            print(error, file=sys.stderr)
            bad += 1
            continue
        verdict = "can be flown, but deserves a second look" if known.remarks else "fine"
        print(f"{name}: {verdict}, {team(known)}, {known.duration:g} s.")
    if bad:
        sys.exit(2)


def schema() -> None:
    """Print the JSON schema of scenario files, for editors."""
    import json

    from skyrig.scenario import schema as made

    print(json.dumps(made(), indent=2))


def heed(known: Scenario, strict: bool) -> None:
    """Print a scenario's remarks to the error stream as warnings, or refuse them all if `strict`."""
    if strict and known.remarks:
        raise InputError("\n".join(f"{known.where}: {remark}" for remark in known.remarks))
    for remark in known.remarks:
        print(f"{known.where}: warning: {remark}", file=sys.stderr)


def changed(name: str, changes: tuple[str, ...], **others: Any) -> Scenario:
    """A scenario with what the command line says changed; of `others`, None counts as not said.

    A shorter duration leaves out what would happen later, and says so on the error stream.
    """
    from skyrig.scenario import Scenario
    from skyrig.scenario.overrides import parse_setting

    settings: dict[str, object] = dict(parse_setting(text) for text in changes)
    settings |= {key: value for key, value in others.items() if value is not None}
    given, seconds = Scenario.load(name), settings.get("duration")
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        return given.with_overrides(settings)
    known, notes = given.lasting(seconds, settings)
    for sentence in notes:
        print(f"{known.where}: {sentence}", file=sys.stderr)
    return known


def _summary(known: Scenario) -> Table:
    from skyrig.scenario.summary import rows

    table = new_table(known.name, "")
    for row in rows(known):
        table.add_row(*row)
    return table


def new_table(first: str, *others: str) -> Table:
    """An empty table with these headings, its first column never broken."""
    from rich.table import Table

    table = Table(first, *others, box=None, pad_edge=False, header_style="bold")
    table.columns[0].no_wrap = True
    return table


def print_table(table: Table) -> None:
    """Print a table as wide as the terminal."""
    from rich.console import Console

    Console(highlight=False).print(table)


def folder_of(path: Path) -> Path:
    """The folder that a flight's file or folder stands for."""
    return path if path.suffix != ".npz" else path.parent
