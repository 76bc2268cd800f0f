"""Writes docs/gallery.md and its pictures: every bundled scenario, flown and drawn at a few moments.

python docs/gallery.py          # all of them; some minutes, most of them to compile
python docs/gallery.py NAME ... # only these pictures; the page is written anew in any case
"""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from PIL import Image

from skyrig.flight import outlines
from skyrig.flight.colours import PAYLOAD, REFERENCE
from skyrig.flight.flight import Flight
from skyrig.flight.frames import of_rows
from skyrig.flight.path_plot import moments
from skyrig.flight.records import TEAM, ordered
from skyrig.flight.rig import RigData
from skyrig.scenario import Scenario, load, names

PLACE = Path(__file__).with_name("gallery")
PAGE = Path(__file__).with_name("gallery.md")
COLUMNS = 3
UNTIL = {"six-multilift-figure-8": 6.0, "one-dragonfly-hover": 4.0, "three-dragonflies-poke": 4.0}
"""How long to fly for the picture, where the whole flight says less or takes long (s)."""
AT = {"three-dragonflies-poke": (2.15,), "drop-open-loop": (0.0, 0.21, 0.5)}
"""The moments to draw, where those far apart in space are not the telling ones (s)."""
HEAD = """# Gallery

Every bundled scenario, flown and drawn at a few moments, with the path of what is carried (dark) and where it was wanted
(pale). Each name flies as it is: `skyrig fly NAME` writes numbers, pictures and a report, `skyrig studio NAME` shows it in
a browser, and `skyrig show NAME --yaml` prints the file to begin your own with.

`python docs/gallery.py` wrote this page, pictures and all.
"""


def kind(scenario: Scenario) -> str:
    """Under which heading a scenario stands."""
    spec = scenario.spec
    mechanism = type(spec.rig).__struct_config__.tag
    if mechanism != "cables":
        return {
            "links": "Fixed by rigid links",
            "elastic": "On elastic cables",
            "gripper": "In soft fingers",
        }.get(str(mechanism), str(mechanism))
    if isinstance(spec.reference, dict) and spec.reference.get("type") == "lift":
        return "From the floor to the floor"
    if spec.happenings:
        return "On cables, when something happens"
    return "One vehicle, one cable" if scenario.parts.count == 1 else "Teams on cables"


def picture(flight: Flight, at: tuple[float, ...] | None) -> bytes:
    """The rig at a few moments and the way it took, as a small WebP."""
    carried = ordered(flight.bodies)[0]
    figure = Figure(figsize=(5.0, 4.0), dpi=220)
    axes: Any = figure.add_axes((0.0, 0.0, 1.0, 1.0), projection="3d")
    axes.set_axis_off()
    axes.view_init(elev=24, azim=-55)
    rows = moments(flight.times, flight.bodies[carried].position[:, 0])
    if at is not None:
        rows = [int(np.searchsorted(flight.times, moment)) for moment in at]
    for group, poses in flight.references.items():
        for each in poses.position.swapaxes(0, 1):
            axes.plot(*each.T, color=REFERENCE, linewidth=1.5 if group == TEAM else 3.0)
    for each in flight.bodies[carried].position.swapaxes(0, 1):
        axes.plot(*each.T, color=PAYLOAD, linewidth=0.9)
    for row in rows:
        gone = flight.rig.severed(flight.events, float(flight.times[row]) - 1e-9)
        outlines.draw(axes, flight.rig, of_rows(flight, np.array([row])), gone)
    _fit(axes, [part.position[rows] for part in flight.bodies.values()], flight.rig)
    stream = io.BytesIO()
    figure.savefig(stream, format="png", facecolor="white")
    image = _trimmed(Image.open(stream).convert("RGB"))
    out = io.BytesIO()
    image.save(out, "WEBP", quality=82, method=6)
    return out.getvalue()


def _fit(axes: Any, places: list[np.ndarray], rig: RigData) -> None:
    """Limits around all that is drawn, a metre as long in every direction."""
    lines = [np.stack(line.get_data_3d(), axis=1) for line in axes.lines]
    points = np.concatenate([*lines, *(it.reshape(-1, 3) for it in places)])
    around = 1.1 * float(np.max(rig.vehicle_radius, initial=0.02))
    low, high = points.min(0) - around, points.max(0) + around
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), zlim=(low[2], high[2]))
    axes.set_box_aspect((high - low) / np.linalg.norm(high - low), zoom=1.35)


def _trimmed(image: Any, size: tuple[int, int] = (560, 360), margin: int = 16) -> Any:
    """What is not white, in the middle of a picture of one size for all."""
    rows, columns = np.nonzero((np.asarray(image) < 250).any(axis=2))
    image = image.crop((columns.min(), rows.min(), columns.max() + 1, rows.max() + 1))
    image.thumbnail((size[0] - 2 * margin, size[1] - 2 * margin), Image.Resampling.LANCZOS)
    framed = Image.new("RGB", size, "white")
    framed.paste(image, ((size[0] - image.width) // 2, (size[1] - image.height) // 2))
    return framed


def page() -> str:
    """The page, a table of three columns under each heading."""
    found: dict[str, list[Scenario]] = {}
    for name in names():
        scenario = load(name)
        found.setdefault(kind(scenario), []).append(scenario)
    parts = [HEAD]
    for heading in sorted(found, key=lambda it: (-len(found[it]), it)):
        parts += [f"\n## {heading}\n", "|" + " |" * COLUMNS, "|" + "---|" * COLUMNS]
        shown = [_cell(scenario) for scenario in found[heading]]
        shown += [""] * (-len(shown) % COLUMNS)
        parts += ["| " + " | ".join(shown[k : k + COLUMNS]) + " |" for k in range(0, len(shown), COLUMNS)]
    return "\n".join(parts) + "\n"


def _cell(scenario: Scenario) -> str:
    name, says = scenario.name, " ".join(scenario.spec.description.split())
    return f"![{says}](gallery/{name}.webp)<br>`{name}`<br>{says}"


def main(chosen: list[str]) -> None:
    """Draw the chosen scenarios, or all, and write the page."""
    from skyrig.runs import fly

    PLACE.mkdir(exist_ok=True)
    for name in chosen or names():
        scenario = load(name)
        until = min(UNTIL.get(name, scenario.duration), scenario.duration)
        flight = fly(scenario.lasting(until)[0])
        (PLACE / f"{name}.webp").write_bytes(picture(flight, AT.get(name)))
        print(name, flight.verdict.line, flush=True)
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
