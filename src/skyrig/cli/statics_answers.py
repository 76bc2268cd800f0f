"""The answers of `skyrig statics`, as tables for people and as plain numbers for programs."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from skyrig.cli.scenarios import new_table, print_table
from skyrig.errors import InputError

if TYPE_CHECKING:
    from skyrig.statics import Configuration, Limits, Pose, Team
    from skyrig.statics.stories import Story


@dataclass
class StaticsQuestion:
    """What the command line said."""

    team: Team
    pose: Pose
    limits: Limits
    criterion: str
    coordinates: tuple[float, float, float] | None
    hooks: tuple[tuple[float, float, float], ...]
    samples: int
    out: Path | None
    name: str
    studio: bool = False
    """Whether the answer is to be looked at in the studio."""
    story: Story | None = None
    """What there is to see."""

    def configuration(self) -> Configuration:
        """By coordinates or by criterion."""
        from skyrig.statics import inverse, three

        if self.coordinates is not None:
            return three(self.team, self.pose, self.coordinates)
        return inverse(self.team, self.pose, self.criterion, self.limits)

    def places(self) -> Any:
        """(n, 3) the hooks that were given, or those of the configuration."""
        hooks = np.array(self.hooks) if self.hooks else self.configuration().hooks
        if len(hooks) != self.team.count:
            raise InputError(
                f"--hook must be given once for each of the {self.team.count} cables, not {len(hooks)}."
            )
        return hooks

    def drawn(self, held: Configuration, name: str, mode: int | None = None) -> None:
        """A picture of a configuration, where a folder was named."""
        if self.out is not None:
            from skyrig.statics.pictures import draw_configuration

            draw_configuration(held, self.out / f"{name}.png", mode, self.name)


def _inverse(asked: StaticsQuestion, show: bool) -> dict[str, Any]:
    from skyrig.statics import stability

    held = asked.configuration()
    rows = held.table()
    asked.drawn(held, "inverse")
    if asked.studio:
        from skyrig.statics.direct import equilibrium
        from skyrig.statics.stories import equilibria

        asked.story = equilibria([equilibrium(held)])
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


def _stability(asked: StaticsQuestion, show: bool) -> dict[str, Any]:
    from skyrig.statics import spherical, stability

    held = asked.configuration()
    known = stability(held)
    for k in range(len(known.squares)):
        asked.drawn(held, f"mode-{k + 1}", k)
    if asked.studio:
        from skyrig.statics.stories import modes

        asked.story = modes(held)
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


def _direct(asked: StaticsQuestion, show: bool) -> dict[str, Any]:
    from skyrig.statics import direct

    hooks = asked.places()
    found = direct(asked.team, hooks)
    if asked.studio:
        from skyrig.statics.stories import equilibria

        asked.story = equilibria(found)
    rows = [_row(it) for it in found]
    if show:
        _print_equilibria(rows)
    return {"hooks": hooks.tolist(), "equilibria": rows}


def _rest(asked: StaticsQuestion, show: bool) -> dict[str, Any]:
    from skyrig.statics.relaxation import resting
    from skyrig.statics.stories import equilibria

    hooks = asked.places()
    found = resting(asked.team, hooks)
    if asked.studio:
        asked.story = equilibria([found.equilibrium])
    row = _row(found.equilibrium)
    if show:
        _print_equilibria([row])
        print(
            "No state has less energy: the cone program is exact here."
            if found.exact
            else "The lowest that a search found: the cone program is not exact here, "
            f"the payload shrinks by {found.shrunk:.3g} of its size in it."
        )
    return {"hooks": hooks.tolist(), "exact": found.exact, "shrunk": found.shrunk, "equilibrium": row}


def _row(it: Any) -> dict[str, Any]:
    """An equilibrium in plain numbers."""
    return {
        "energy": it.energy,
        "stable": it.stable,
        "lowest": it.lowest,
        "position": it.pose.position.tolist(),
        "attitude": it.pose.attitude.tolist(),
        "tension": it.tension.tolist(),
        "slack": np.flatnonzero(~it.taut).tolist(),
        "hits": it.hits,
    }


def _print_equilibria(rows: list[dict[str, Any]]) -> None:
    from skyrig.turns import euler_angles

    table = new_table("energy (J)", "", "x, y, z (m)", "roll, pitch, yaw (deg)", "tensions (N)", "slack")
    for row in rows:
        angles = np.degrees(euler_angles(np.array([row["attitude"]]))[0])
        word = "lowest" if row["lowest"] else "stable" if row["stable"] else "unstable"
        shown = [" ".join(f"{it:.3f}" for it in row["position"]), " ".join(f"{it:.1f}" for it in angles)]
        shown += [" ".join(f"{it:.3f}" for it in row["tension"]), " ".join(map(str, row["slack"]))]
        table.add_row(f"{row['energy']:.4f}", word, *shown)
    print_table(table)


def _wrench(asked: StaticsQuestion, show: bool) -> dict[str, Any]:
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


def _workspace(asked: StaticsQuestion, show: bool) -> dict[str, Any]:
    from skyrig.statics import workspace

    found = workspace(asked.team, asked.pose, asked.limits, asked.samples)
    volume, error = found.volume
    calm = found.static_volume
    if show:
        table = new_table("limit", "samples that keep to it")
        for name, share in found.shares().items():
            table.add_row(name, f"{100 * share:.2f} %")
        table.add_row("all", f"{100 * found.share:.2f} %")
        print_table(table)
        where, count = ", ".join(found.names), len(found.samples)
        print(f"Volume in ({where}): {calm[0]:.4g} ± {calm[1]:.2g}, of {count} samples.")
        if asked.limits.push:
            print(f"Wrench-feasible, with a push of {asked.limits.push:g} N: {volume:.4g} ± {error:.2g}.")
        if found.trouble is not None:
            print(f"Of these samples {found.trouble}")
    if asked.studio:
        from skyrig.statics.stories import ways

        if found.trouble is not None:
            raise InputError(f"there is nothing to see: of these samples {found.trouble}")
        asked.story = ways(found)
    if asked.out is not None:
        _write_workspace(asked, found)
    return {
        "volume": volume,
        "error": error,
        "static_volume": calm[0],
        "static_error": calm[1],
        "trouble": found.trouble,
        "shares": found.shares(),
        "box": found.box.tolist(),
    }


def _write_workspace(asked: StaticsQuestion, found: Any) -> None:
    """The valid samples as tables (CSV, and NPZ for programs) and as a picture."""
    assert asked.out is not None
    columns = {name: values[found.valid] for name, values in found.table().items()}
    stream = io.StringIO()
    rows = np.stack(list(columns.values()), axis=1)
    np.savetxt(stream, rows, "%.6g", ",", header=",".join(columns), comments="")
    write(asked.out / "workspace.csv", stream.getvalue())
    packed = io.BytesIO()
    np.savez_compressed(packed, **columns)
    write(asked.out / "workspace.npz", packed.getvalue())
    if found.samples.shape[1] == 3:
        from skyrig.statics.pictures import draw_workspace

        marks = None if asked.coordinates is None else np.array([asked.coordinates])
        draw_workspace(found, asked.out / "workspace.png", marks, asked.name)


def write(path: Path, content: str | bytes) -> None:
    """A whole file, or none: an `InputError` says why."""
    from skyrig.flight.storage import write_whole

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, content)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}.") from None


ANSWERS = {
    "inverse": _inverse,
    "direct": _direct,
    "rest": _rest,
    "stability": _stability,
    "wrench": _wrench,
    "workspace": _workspace,
}
"""By what is asked for; each is told whether to print tables."""
