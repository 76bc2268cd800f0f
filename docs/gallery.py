"""Writes docs/gallery.md and its pictures: every bundled scenario, flown and drawn at a few moments.

python docs/gallery.py                  # all of them; some minutes, most of them to compile
python docs/gallery.py NAME ...         # only these pictures; the page is written anew in any case
python docs/gallery.py --start NAME ... # these as they begin, without flying them
"""

from __future__ import annotations

import io
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from PIL import Image

from skyrig.flight import outlines
from skyrig.flight.colours import PAYLOAD, REFERENCE
from skyrig.flight.flight import Flight
from skyrig.flight.frames import Frames, of_rows
from skyrig.flight.path_plot import moments
from skyrig.flight.records import ordered
from skyrig.flight.rig import RigData, rig_data
from skyrig.scenario import Scenario, load, names

PLACE = Path(__file__).with_name("gallery")
PAGE = Path(__file__).with_name("gallery.md")
COLUMNS = 3
SIZE, MARGIN = (560, 360), 16
"""Of a picture (pixels)."""
UNTIL = {
    "six-multilift-figure-8": 6.0,
    "one-dragonfly-hover": 4.0,
    "three-dragonflies-poke": 4.0,
    "soft-carry": 6.4,
}
"""How long to fly for the picture, where the whole flight says less or takes long (s)."""
AT = {
    "three-dragonflies-poke": (2.15,),
    "drop-open-loop": (0.0, 0.21, 0.5),
    "soft-grasp": (4.4,),  # held, and lifted
    "soft-carry": (6.3,),
}
"""The moments to draw, where those far apart in space are not the telling ones (s)."""
MECHANISMS = {
    "links": "Fixed by rigid links",
    "elastic": "On elastic cables",
    "gripper": "In soft fingers",
}
HEAD = """# Gallery

Every bundled scenario, drawn at a few moments of its flight or as it begins, with the path of what is
carried (dark) and where it is wanted (pale). The command below each picture flies it and writes numbers,
plots and a report; `skyrig studio NAME` shows it live in a browser, and `skyrig show NAME --yaml` prints the
file to begin your own with.

`python docs/gallery.py` writes this page, pictures and all.
"""


def kind(scenario: Scenario) -> str:
    """Under which heading a scenario stands."""
    spec = scenario.spec
    mechanism = str(type(spec.rig).__struct_config__.tag)
    if mechanism != "cables":
        return MECHANISMS.get(mechanism, mechanism)
    if isinstance(spec.reference, dict) and spec.reference.get("type") == "lift":
        return "From the floor to the floor"
    if spec.happenings:
        return "On cables, when something happens"
    return "One vehicle, one cable" if scenario.parts.count == 1 else "Teams on cables"


def flown(name: str) -> bytes:
    """The picture of a scenario's flight."""
    from skyrig.runs import fly

    scenario = load(name)
    flight = fly(scenario.lasting(min(UNTIL.get(name, scenario.duration), scenario.duration))[0])
    return of_flight(flight, AT.get(name))


def of_flight(flight: Flight, at: Sequence[float] | None = None) -> bytes:
    """A flight at a few moments: those given (s), or some that are far apart in space."""
    way = flight.bodies[ordered(flight.bodies)[0]].position
    rows = moments(flight.times, way[:, 0])
    if at is not None:
        rows = [int(np.searchsorted(flight.times, moment)) for moment in at]
    shown = [(of_rows(flight, np.array([row])), flight.times[row]) for row in rows]
    rigs = [(frame, flight.rig.severed(flight.events, float(time) - 1e-9)) for frame, time in shown]
    wanted = [each for it in flight.references.values() for each in it.position.swapaxes(0, 1)]
    return picture(flight.rig, rigs, wanted, way.swapaxes(0, 1))


def begun(name: str) -> bytes:
    """The picture of a scenario as it begins, with the path that is wanted."""
    from skyrig.studio.live import Live

    scenario = load(name)
    motions = [it for it in (scenario.motions.payload, *(scenario.motions.vehicles or ())) if it is not None]
    times = np.linspace(0.0, scenario.duration, 400)
    wanted = [np.asarray(motion.sample(times).position)[:, 0] for motion in motions]
    built = scenario.build()
    frame = Live(built).start()
    if built.hover is not None:  # then every cable pulls
        pulls = {name: np.ones_like(it) for name, it in frame.signals.items() if name.endswith(".taut")}
        frame = replace(frame, signals={**frame.signals, **pulls})
    return picture(rig_data(scenario.parts), [(frame, ())], wanted, ())


def picture(
    rig: RigData,
    shown: Sequence[tuple[Frames, Any]],
    wanted: Iterable[np.ndarray],
    way: Iterable[np.ndarray],
) -> bytes:
    """A rig at some moments, each with the tethers that are cut by then, and paths (m), as a small WebP."""
    figure = Figure(figsize=(5.0, 4.0), dpi=220)
    axes: Any = figure.add_axes((0.0, 0.0, 1.0, 1.0), projection="3d")
    axes.set_axis_off()
    axes.view_init(elev=24, azim=-55)
    for each in wanted:
        axes.plot(*each.T, color=REFERENCE, linewidth=3.0)
    for each in way:
        axes.plot(*each.T, color=PAYLOAD, linewidth=0.9)
    for frame, gone in shown:
        outlines.draw(axes, rig, frame, gone)
    places = [poses.position.reshape(-1, 3) for frame, _ in shown for poses in frame.bodies.values()]
    _fit(axes, places, rig)
    stream = io.BytesIO()
    figure.savefig(stream, format="png", facecolor="white")
    out = io.BytesIO()
    _trimmed(Image.open(stream).convert("RGB")).save(out, "WEBP", quality=82, method=6)
    return out.getvalue()


def _fit(axes: Any, places: list[np.ndarray], rig: RigData) -> None:
    """Limits around all that is drawn, a metre as long in every direction."""
    points = np.concatenate([*(np.stack(line.get_data_3d(), axis=1) for line in axes.lines), *places])
    around = 1.1 * float(np.max(rig.vehicle_radius, initial=0.02))
    low, high = points.min(0) - around, points.max(0) + around
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), zlim=(low[2], high[2]))
    axes.set_box_aspect((high - low) / np.linalg.norm(high - low), zoom=0.8)


def _trimmed(image: Any) -> Any:
    """What is not white, in the middle of a picture of one size for all."""
    rows, columns = np.nonzero((np.asarray(image) < 250).any(axis=2))
    image = image.crop((columns.min(), rows.min(), columns.max() + 1, rows.max() + 1))
    image.thumbnail((SIZE[0] - 2 * MARGIN, SIZE[1] - 2 * MARGIN), Image.Resampling.LANCZOS)
    framed = Image.new("RGB", SIZE, "white")
    framed.paste(image, ((SIZE[0] - image.width) // 2, (SIZE[1] - image.height) // 2))
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
    shown = f"![{says}](gallery/{name}.webp)<br>" if (PLACE / f"{name}.webp").exists() else ""
    return f"{shown}`skyrig fly {name}`<br>{says}"


def main(arguments: list[str]) -> None:
    """Draw the chosen scenarios, or all, and write the page."""
    PLACE.mkdir(exist_ok=True)
    draw = begun if "--start" in arguments else flown
    for name in [it for it in arguments if not it.startswith("--")] or names():
        (PLACE / f"{name}.webp").write_bytes(draw(name))
        print(name, flush=True)
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
