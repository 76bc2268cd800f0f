"""The command that looks at a payload at rest: `statics`."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import tyro

from skyrig import checks
from skyrig.cli.scenarios import Changes, Name, changed, new_table, print_table
from skyrig.errors import InputError

if TYPE_CHECKING:
    from skyrig.statics import Configuration, Limits, Pose, Team

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
    samples: Amount = 200_000,
    out: Directory = None,
    as_json: Annotated[bool, tyro.conf.arg(name="json")] = False,
    changes: tyro.conf.UseAppendAction[Changes] = (),
) -> None:
    """Where vehicles must be to hold a payload, whether it stays there, and what the team can hold.

    Args:
        what: inverse (where the vehicles must be), direct (where the payload hangs under vehicles that hold
            still), stability (natural frequencies and modes), wrench (what the team can hold at the pose,
            also after a loss) or workspace (all ways to hold the pose).
        scenario: A bundled scenario's name, or a YAML file, for its team.
        at: Where the payload's centre of mass is (m).
        roll: Of the payload about x (rad).
        pitch: Of the payload about y (rad).
        yaw: Of the payload about z (rad).
        criterion: How to choose among configurations: effort, equal, margin or stiffness.
        coordinates: Three robots by x1, y1, y2 of Michael, Fink and Kumar, instead of a criterion.
        hook: For direct: where a cable's upper end is (m), once for each cable; else those of inverse.
        force: A constant force on the payload, such as wind (N).
        tension_max: Most tension of a cable, besides what thrust allows.
        separation: Least distance between vehicles; the sum of their radii if left out.
        samples: For workspace: how many configurations to try.
        out: Folder to write pictures and tables to.
        as_json: Print numbers for other programs instead of tables.
        changes: Values to change, such as rig.payload.mass=0.3.
    """
    from skyrig.statics import Limits, Pose, Team

    checks.choice("skyrig statics WHAT", what, ANSWERS)
    known = changed(scenario, changes)
    team = Team.of_parts(known.parts, force=force)
    pose = Pose.turned(roll, pitch, yaw, at)
    limits = Limits(tension_max=tension_max, separation=separation)
    asked = Asked(team, pose, limits, criterion, coordinates, hook, samples, out, known.name)
    answer = ANSWERS[what](asked, not as_json)
    if as_json:
        print(json.dumps(answer, indent=1))
    if out is not None:
        _write(out / f"{what}.json", json.dumps(answer, indent=1) + "\n")
        print(f"Written to {out}.") if not as_json else None


class Asked:
    """What the command line said."""

    def __init__(
        self,
        team: Team,
        pose: Pose,
        limits: Limits,
        criterion: str,
        coordinates: tuple[float, float, float] | None,
        hooks: tuple[tuple[float, float, float], ...],
        samples: int,
        out: Path | None,
        name: str,
    ) -> None:
        """Keep it."""
        self.team, self.pose, self.limits, self.criterion = team, pose, limits, criterion
        self.coordinates, self.hooks, self.samples, self.out, self.name = (
            coordinates,
            hooks,
            samples,
            out,
            name,
        )

    def configuration(self) -> Configuration:
        """By coordinates or by criterion."""
        from skyrig.statics import inverse, three

        if self.coordinates is not None:
            return three(self.team, self.pose, self.coordinates)
        return inverse(self.team, self.pose, self.criterion, self.limits)

    def drawn(self, held: Configuration, name: str, mode: int | None = None) -> None:
        """A picture of a configuration, where a folder was named."""
        if self.out is not None:
            from skyrig.statics.pictures import draw_configuration

            draw_configuration(held, self.out / f"{name}.png", mode, self.name)


def _inverse(asked: Asked, show: bool) -> dict[str, Any]:
    from skyrig.statics import stability

    held = asked.configuration()
    rows = held.table()
    asked.drawn(held, "inverse")
    if show:
        table = new_table("vehicle", "tension (N)", "thrust (N)", "lean (deg)", "x (m)", "y (m)", "z (m)")
        for row in rows:
            lean = np.degrees(row["lean"])
            numbers = (row["tension"], row["thrust"], lean, row["x"], row["y"], row["z"])
            table.add_row(str(row["vehicle"]), *(f"{number:.3f}" for number in numbers))
        print_table(table)
    known = None if asked.team.moment.any() else stability(held)
    if show:
        least = held.separation.min()
        apart = "" if not np.isfinite(least) else f" Vehicles are at least {least:.3f} m apart."
        verdict = "" if known is None else f" The pose is {'stable' if known.stable else 'not stable'}."
        print(f"Margin {held.margin:.3g} N, residual {held.residual:.1e}.{apart}{verdict}")
    return {"vehicles": rows, "margin": held.margin, "residual": held.residual, "hooks": held.hooks.tolist()}


def _stability(asked: Asked, show: bool) -> dict[str, Any]:
    from skyrig.statics import spherical, stability

    held = asked.configuration()
    known = stability(held)
    for k in range(len(known.squares)):
        asked.drawn(held, f"mode-{k + 1}", k)
    if show:
        table = new_table("mode", "frequency (Hz)", "dx, dy, dz (m)", "turns about x, y, z (rad)")
        for k, hertz in enumerate(known.frequencies):
            shape = known.modes[:, k] / np.abs(known.modes[:, k]).max()
            words = [" ".join(f"{number: .2f}" for number in part) for part in (shape[:3], shape[3:])]
            table.add_row(str(k + 1), "runs away" if np.isnan(hertz) else f"{hertz:.4f}", *words)
        print_table(table)
        print(
            "The payload stays there." if known.stable else "The payload does not stay there, or is neutral."
        )
    try:
        angles = np.linalg.eigvalsh(spherical(held)).tolist()
        told = "Eigenvalues of the Hessian in phi1, theta1, phi2 (J): " + ", ".join(
            f"{it:.3g}" for it in angles
        )
    except InputError as error:
        angles, told = None, f"In phi1, theta1, phi2: {error}"
    if show and asked.team.count == 3:
        print(told)
    frequencies = [None if np.isnan(it) else float(it) for it in known.frequencies]
    found = {"stable": known.stable, "frequencies": frequencies, "squares": known.squares.tolist()}
    return found | {"modes": known.modes.T.tolist(), "spherical": angles}


def _direct(asked: Asked, show: bool) -> dict[str, Any]:
    from skyrig.statics import direct
    from skyrig.turns import euler_angles

    hooks = np.array(asked.hooks) if asked.hooks else asked.configuration().hooks
    if len(hooks) != asked.team.count:
        raise InputError(
            f"--hook must be given once for each of the {asked.team.count} cables, not {len(hooks)}."
        )
    rows = []
    for it in direct(asked.team, hooks):
        rows.append(
            {
                "energy": it.energy,
                "stable": it.stable,
                "lowest": it.lowest,
                "position": it.pose.position.tolist(),
                "attitude": it.pose.attitude.tolist(),
                "tension": it.tension.tolist(),
                "slack": np.flatnonzero(~it.taut).tolist(),
                "hits": it.hits,
            }
        )
    if show:
        table = new_table("energy (J)", "", "x, y, z (m)", "roll, pitch, yaw (deg)", "tensions (N)", "slack")
        for row in rows:
            angles = np.degrees(euler_angles(np.array([row["attitude"]]))[0])
            word = "lowest" if row["lowest"] else "stable" if row["stable"] else "unstable"
            shown = [" ".join(f"{it:.3f}" for it in row["position"]), " ".join(f"{it:.1f}" for it in angles)]
            shown += [" ".join(f"{it:.3f}" for it in row["tension"]), " ".join(map(str, row["slack"]))]
            table.add_row(f"{row['energy']:.4f}", word, *shown)
        print_table(table)
    return {"hooks": hooks.tolist(), "equilibria": rows}


def _wrench(asked: Asked, show: bool) -> dict[str, Any]:
    from skyrig.statics import aimed_margin, held_margin, losses, reach, tension_limit

    held = asked.configuration()
    names = ("force x", "force y", "force z", "moment x", "moment y", "moment z")[: asked.team.freedoms]
    reached = {}
    for k, name in enumerate(names):
        both = [reach(asked.team, asked.pose, sign * np.eye(len(names))[k]) for sign in (-1.0, 1.0)]
        reached[name] = [-both[0], both[1]]
    margins = {"held": held_margin(held), "aimed": aimed_margin(asked.team, asked.pose)}
    after = losses(asked.team, asked.pose)
    if show:
        table = new_table("push on the payload", "at least", "at most", "")
        for name, (low, high) in reached.items():
            table.add_row(name, f"{low:.3f}", f"{high:.3f}", "N" if name.startswith("force") else "N m")
        print_table(table)
        print(
            f"In every direction: {margins['aimed']:.3g} N if vehicles may move, "
            f"{margins['held']:.3g} N if not."
        )
        for it in after:
            print(f"Without vehicle {it.vehicle}: {it.note}")
    lost = [{"vehicle": it.vehicle, "margin": it.margin, "note": it.note} for it in after]
    limit = tension_limit(held).tolist()
    return {"reach": reached, "margins": margins, "losses": lost, "tension_limit": limit}


def _workspace(asked: Asked, show: bool) -> dict[str, Any]:
    from skyrig.statics import workspace

    found = workspace(asked.team, asked.pose, asked.limits, asked.samples)
    volume, error = found.volume
    if show:
        table = new_table("limit", "samples that keep to it")
        for name, share in found.shares().items():
            table.add_row(name, f"{100 * share:.2f} %")
        table.add_row("all", f"{100 * found.share:.2f} %")
        print_table(table)
        where = ", ".join(found.names)
        print(f"Volume in ({where}): {volume:.4g} ± {error:.2g}, of {len(found.samples)} samples.")
    if asked.out is not None:
        columns = {name: values[found.valid] for name, values in found.table().items()}
        stream = io.StringIO()
        rows = np.stack(list(columns.values()), axis=1)
        np.savetxt(stream, rows, "%.6g", ",", header=",".join(columns), comments="")
        _write(asked.out / "workspace.csv", stream.getvalue())
        if found.samples.shape[1] == 3:
            from skyrig.statics.pictures import draw_workspace

            marks = None if asked.coordinates is None else np.array([asked.coordinates])
            draw_workspace(found, asked.out / "workspace.png", marks, asked.name)
    return {"volume": volume, "error": error, "shares": found.shares(), "box": found.box.tolist()}


def _write(path: Path, text: str) -> None:
    from skyrig.flight.storage import write_whole

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, text)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}.") from None


ANSWERS = {
    "inverse": _inverse,
    "direct": _direct,
    "stability": _stability,
    "wrench": _wrench,
    "workspace": _workspace,
}
