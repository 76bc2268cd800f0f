"""A vehicle on the terminal: its airframe from above, its mixer, what it can do. It imports no JAX."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from skyrig.cli.scenarios import new_table, print_table
from skyrig.vehicles import Airframe, airframe

if TYPE_CHECKING:
    from rich.table import Table

WIDE, HIGH = 41, 17
"""Letters of the drawing."""


def show_vehicle(name: str) -> None:
    """Print a bundled vehicle."""
    frame = airframe(name)
    print(drawing(frame))
    for table in (_numbers(frame), _mixer(frame)):
        print_table(table)
        print()


def drawing(frame: Airframe) -> str:
    """The airframe from above, forward to the top: each rotor by its number and how its propeller turns."""
    canvas = [[" "] * WIDE for _ in range(HIGH)]
    reach = frame.arm * 1.15
    middle = (HIGH // 2, WIDE // 2)

    def spot(x: float, y: float) -> tuple[int, int]:
        return round(middle[0] - x / reach * (HIGH // 2)), round(middle[1] - y / reach * (WIDE // 2))

    for hub in frame.rotor_positions:
        for share in np.linspace(0.1, 0.85, 24):
            row, column = spot(*(share * hub[:2]))
            canvas[row][column] = "."
    canvas[middle[0]][middle[1]] = "+"
    taken: dict[tuple[int, int], list[str]] = {}
    for k, (hub, spin) in enumerate(zip(frame.rotor_positions, frame.spin, strict=True)):
        taken.setdefault(spot(*hub[:2]), []).append(f"{k}{'cw' if spin > 0 else 'ccw'}")
    for (row, column), words in taken.items():
        text = "/".join(words)
        start = min(max(column - len(text) // 2, 0), WIDE - len(text))
        canvas[row][start : start + len(text)] = text
    lines = ["".join(row).rstrip() for row in canvas]
    return "\n".join([f"{frame.name}, from above, forward up", *lines])


def _numbers(frame: Airframe) -> Table:
    from skyrig.vehicles.authority import hover

    still = hover(frame)
    table = new_table("what", "")
    table.add_row("mass", f"{frame.mass:g} kg")
    table.add_row("rotors", f"{frame.rotor_count}, arm {frame.arm:g} m")
    thrust = f"{frame.total_thrust_min:.3g} to {frame.total_thrust_max:.4g} N"
    table.add_row("thrust", f"{thrust}, {frame.thrust_to_weight:.2f} of its weight")
    table.add_row("rank", f"{np.linalg.matrix_rank(frame.wrenches, tol=1e-9)} of 6 forces and moments")
    table.add_row("gives up first", frame.gives_up)
    if still.possible:
        share = still.speeds.max() / frame.speed_max
        speeds = f"{still.speeds.min():.0f} to {still.speeds.max():.0f} rad/s"
        table.add_row("hover", f"{speeds}, {100 * share:.0f} % of the greatest")
        turns = ", ".join(f"{m:.3g}" for m in still.moments)
        quick = ", ".join(f"{a:.3g}" for a in still.accelerations)
        table.add_row("moments in hover", f"roll, pitch, yaw up to {turns} N m ({quick} rad/s^2)")
        left = [hover(frame, (k,)) for k in range(frame.rotor_count)]
        table.add_row("may lose and hover", _which([it.possible and it.stays for it in left]))
        table.add_row("may lose and stay", f"{_which([it.stays for it in left])}, yaw given up")
    else:
        table.add_row("hover", "not possible")
    return table


def _which(rotors: list[bool]) -> str:
    """Some of the rotors, in words."""
    chosen = [str(k) for k, it in enumerate(rotors) if it]
    words = "none" if not chosen else "any" if len(chosen) == len(rotors) else ", ".join(chosen)
    return f"{words} of its rotors"


def _mixer(frame: Airframe) -> Table:
    """What a newton of each rotor does; axes and shares only where rotors have some of their own."""
    table = new_table("rotor", "x", "y", "z (m)", "Fz (N)", "Mx", "My", "Mz (N m)")
    for column in table.columns[1:]:
        column.justify = "right"
    if not frame.plain:
        table.add_column("axis")
        table.add_column("share")
    for k in range(frame.rotor_count):
        numbers = (*frame.rotor_positions[k], *frame.mixing[:, k])
        row = [f"{round(each, 6) + 0.0:.4g}" for each in numbers]
        if not frame.plain:
            axis = " ".join(f"{each:.2f}" for each in frame.axes[k])
            row += [axis.replace(" ", "\N{NO-BREAK SPACE}"), f"{frame.shares[k]:g}"]
        table.add_row(str(k), *row)
    return table
