"""The command that looks at a payload at rest: `statics`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import tyro

from skyrig import checks
from skyrig.cli.scenarios import Changes, Name, changed
from skyrig.errors import InputError

What = Annotated[str, tyro.conf.arg(metavar="WHAT")]
Radians = Annotated[float, tyro.conf.arg(metavar="RAD")]
Newtons = Annotated[float | None, tyro.conf.arg(metavar="N", help_behavior_hint="")]
Metres = Annotated[float | None, tyro.conf.arg(metavar="M", help_behavior_hint="")]
Triple = Annotated[tuple[float, float, float], tyro.conf.arg(metavar="X Y Z")]
Places = Annotated[tuple[tuple[float, float, float], ...], tyro.conf.arg(name="hook", metavar="X Y Z")]
Coordinates = Annotated[
    tuple[float, float, float] | None, tyro.conf.arg(metavar="X1 Y1 Y2", help_behavior_hint="")
]
Word = Annotated[str, tyro.conf.arg(metavar="NAME")]
Directory = Annotated[Path | None, tyro.conf.arg(metavar="DIR", help_behavior_hint="")]
Amount = Annotated[int, tyro.conf.arg(metavar="N")]
File = Annotated[Path | None, tyro.conf.arg(metavar="FILE", help_behavior_hint="")]
Force = Annotated[float, tyro.conf.arg(metavar="N")]

MOMENT, SECONDS = 6.0, 6.0
"""Which moment of a story is pictured, and how long a film is (s)."""


def statics(
    what: tyro.conf.Positional[What],
    scenario: tyro.conf.Positional[Name],
    /,
    *,
    at: Triple = (0.0, 0.0, 1.0),
    roll: Radians = 0.0,
    pitch: Radians = 0.0,
    yaw: Radians = 0.0,
    criterion: Word = "margin",
    coordinates: Coordinates = None,
    hook: tyro.conf.UseAppendAction[Places] = (),
    force: Triple = (0.0, 0.0, 0.0),
    tension_max: Newtons = None,
    separation: Metres = None,
    push: Force = 0.0,
    samples: Amount = 200_000,
    out: Directory = None,
    studio: bool = False,
    picture: File = None,
    as_json: Annotated[bool, tyro.conf.arg(name="json")] = False,
    changes: tyro.conf.UseAppendAction[Changes] = (),
) -> None:
    """Where vehicles must be to hold a payload, whether it stays there, and what the team can hold.

    Args:
        what: inverse (where the vehicles must be), direct (where the payload can hang under vehicles that
            hold still), rest (where it hangs lowest), stability (natural frequencies and modes), wrench (what
            the team can hold at the pose, also after a loss) or workspace (all ways to hold the pose).
        scenario: A bundled scenario's name, or a YAML file, for its team.
        at: Where the payload's centre of mass is (m).
        roll: Of the payload about x (rad).
        pitch: Of the payload about y (rad).
        yaw: Of the payload about z (rad).
        criterion: How to choose among configurations: effort, equal, margin or stiffness.
        coordinates: Three robots by x1, y1, y2 of Michael, Fink and Kumar, instead of a criterion.
        hook: For direct and rest: where a cable's upper end is (m), once for each cable; else as in inverse.
        force: A constant force on the payload, such as wind (N).
        tension_max: Most tension of a cable, besides what thrust allows.
        separation: Least distance between vehicles; the sum of their radii if left out.
        push: A force on the payload, from any side, that must be held too.
        samples: For workspace: how many configurations to try.
        out: Folder to write pictures and tables to.
        studio: Look at it in the studio: equilibria, modes that swing, ways to hold the pose.
        picture: Draw what the studio shows to this .png (or film it to this .gif or .mp4) without a window.
        as_json: Print numbers for other programs instead of tables.
        changes: Values to change, such as rig.payload.mass=0.3.
    """
    from skyrig.cli.statics_answers import ANSWERS, StaticsQuestion, write
    from skyrig.statics import Limits, Pose, Team

    checks.choice("skyrig statics WHAT", what, ANSWERS)
    seen = studio or picture is not None
    if seen:
        _check_seen(what, picture)
    known = changed(scenario, changes)
    team = Team.of_parts(known.parts, force=force)
    pose = Pose.turned(roll, pitch, yaw, at)
    limits = Limits(tension_max=tension_max, separation=separation, push=push)
    asked = StaticsQuestion(team, pose, limits, criterion, coordinates, hook, samples, out, known.name, seen)
    answer = ANSWERS[what](asked, not as_json)
    if as_json:
        print(json.dumps(answer, indent=1))
    if out is not None:
        write(out / f"{what}.json", json.dumps(answer, indent=1) + "\n")
        print(f"Written to {out}.") if not as_json else None
    if seen:
        _show(known, asked.story, picture)


def _check_seen(what: str, picture: Path | None) -> None:
    """Refuse what the studio cannot show before anything is computed."""
    from skyrig.cli.studio import check_picture

    if what == "wrench":
        raise InputError("--studio has nothing to show for wrench: choose another WHAT.")
    if picture is not None:
        check_picture(picture, MOMENT, SECONDS)


def _show(scenario: Any, story: Any, picture: Path | None) -> None:
    """Open the studio with an answer, or draw what it would show."""
    from skyrig.cli.studio import serve
    from skyrig.runs.stills import still_flight
    from skyrig.studio.app import Studio

    flight = still_flight(scenario, story)
    page = Studio()

    def opened() -> None:
        page.show(flight, about="What statics found: nobody flew it")
        page.session.repeat = picture is None  # modes swing until somebody stops them
        page.session.play(picture is None)

    serve(page, opened, picture=picture, at=MOMENT, seconds=SECONDS)
