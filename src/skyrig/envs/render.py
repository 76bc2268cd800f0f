"""What an environment looks like: one flight as a picture, drawn without a screen."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from skyrig.envs.catalogue import CATALOGUE
from skyrig.envs.environment import Environment, EnvState
from skyrig.envs.vectorised import Many
from skyrig.errors import InputError
from skyrig.flight.colours import GREY, REFERENCE
from skyrig.flight.frames import Frames, Poses
from skyrig.flight.outlines import draw
from skyrig.flight.rig import RigData, rig_data, sketched
from skyrig.rigs.protocol import no_loads
from skyrig.scenario import Scenario

MODES = ["rgb_array"]
"""How Gymnasium may ask for pictures."""
PIXELS = 480
"""Width and height of a picture."""
ARM = 0.1
"""Of vehicles of which only the dynamics are known (m)."""


class Pictures:
    """Pictures of the flights of an environment.

    Args:
        environment: The environment.
        mode: "rgb_array", or None for no pictures.
        task: Name of the task it was built for, if it was by name.
        scenario: The scenario it was built from, if one was given.
    """

    def __init__(self, environment: Environment, mode: str | None, task: str | None, scenario: Any) -> None:
        if mode is not None and mode not in MODES:
            raise InputError(f"render_mode must be {' or '.join(MODES)}, or None, not {mode!r}.")
        self.mode = mode
        self._environment, self._looks = environment, (task, scenario)
        self._outline: RigData | None = None

    def of(self, many: Many, index: int = 0) -> npt.NDArray[np.uint8]:
        """One of the flights under way."""
        if self._outline is None:
            self._outline = outline_of(self._environment, *self._looks)
        return picture(self._environment, many.state(index), self._outline)


def outline_of(environment: Environment, task: str | None, scenario: Any) -> RigData:
    """What the rig of an environment looks like.

    Args:
        environment: The environment.
        task: Name of its task, whose scenario says what is flown where `scenario` is None.
        scenario: The scenario it was built from; with neither, only what the dynamics know is drawn.
    """
    if scenario is None and task in CATALOGUE:
        scenario = CATALOGUE[task].scenario
    if scenario is not None:
        known = scenario if isinstance(scenario, Scenario) else Scenario.load(scenario)
        return rig_data(known.parts)
    plants, count = environment.plants, environment.count
    hooks, points = np.asarray(plants.hook)[..., 0].T, np.asarray(plants.attachment)[..., 0].T
    thick = np.array([0.0, 0.0, 0.01])
    return sketched(
        payload_mass=1.0,
        payload_is_point=not points.any(),
        payload_corners=np.concatenate([points - thick, points + thick]),
        vehicle_mass=np.ones(count),
        vehicle_radius=np.full(count, 1.6 * ARM),
        vehicle_thrust_max=np.ones(count),
        attachments=points,
        hooks=hooks,
    )


def picture(environment: Environment, state: EnvState, outline: RigData) -> npt.NDArray[np.uint8]:
    """One flight at one moment, (480, 480, 3): the rig, where its load is wanted, what is in its way."""
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator
    from mpl_toolkits.mplot3d.art3d import Line3DCollection

    wanted = np.asarray(environment.task.wanted(state.task, state.tick).position, dtype=float)
    lines = environment.task.drawn(state.task)
    with matplotlib.rc_context({"font.size": 7}):
        figure = Figure(figsize=(4.8, 4.8), dpi=PIXELS / 4.8)
        canvas = FigureCanvasAgg(figure)
        axes: Any = figure.add_axes((0.02, 0.07, 0.88, 0.88), projection="3d")
        half = float(np.clip(environment.task.arena / 2, 0.5, 2.0))
        for centre, limit in zip(wanted, (axes.set_xlim, axes.set_ylim, axes.set_zlim), strict=True):
            limit(centre - half, centre + half)
        axes.set_box_aspect((1, 1, 1))
        axes.plot(*wanted[:, None], marker="+", markersize=14, markeredgewidth=3, color=REFERENCE)
        if len(lines):
            axes.add_collection3d(Line3DCollection(lines, colors=GREY, linewidths=2.0))
        draw(axes, outline, _frame(environment, state))
        time = float(state.tick) * environment.period
        figure.text(0.03, 0.94, f"{time:.2f} s", fontsize=10)
        for name, axis in zip("xyz", (axes.xaxis, axes.yaxis, axes.zaxis), strict=True):
            axis.set_major_locator(MaxNLocator(5))
            axis.set_label_text(f"{name} (m)")
        canvas.draw()
        return np.asarray(canvas.buffer_rgba())[..., :3].copy()


def _frame(environment: Environment, state: EnvState) -> Frames:
    """The moment as what is drawn."""
    rig = environment.plants.pick(state.plant).rig
    groups = {
        name: Poses(*(np.asarray(leaf, dtype=float).T[None] for leaf in (it.position, it.attitude)))
        for name, it in rig.bodies(state.rig).items()
    }
    # how lines run does not depend on the thrust
    signals = rig.signals(0.0, state.rig, no_loads(rig.count, rig.like(state.rig)))
    shown = {name: np.asarray(it)[None] for name, it in signals.items()}
    return Frames(np.zeros(1), groups, np.zeros((1, rig.count)), shown)
