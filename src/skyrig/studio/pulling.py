"""Pulling at bodies with the mouse: a spring from where one took hold to where the pointer is."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from skyrig.studio.hands import Pull
from skyrig.studio.telling import reason
from skyrig.turns import conjugate, turn

if TYPE_CHECKING:
    from skyrig.studio.app import Studio
    from skyrig.studio.scene import RigScene

MODIFIER = "cmd/ctrl"
"""Held while one drags: without it, dragging turns the view."""


class Pulling:
    """Lets viewers pull at the bodies of the rig on show, one viewer at a time."""

    def __init__(self, studio: Studio) -> None:
        self.studio = studio
        self.plain = False
        """Whether plain dragging pulls too, which phones have no other way to."""

    def heed(self, scene: RigScene) -> None:
        """Have a rig's bodies heed the mouse."""
        for (group, index), nodes in scene.solids.items():
            for node in nodes:
                node.remove_drag_callback("all")
                for modifier in (MODIFIER, None) if self.plain else (MODIFIER,):
                    node.on_drag("left", modifier=modifier)(self._heard(group, index))

    def _heard(self, group: str, index: int) -> Any:
        async def heard(event: Any) -> None:  # such are done in order, one after the other
            try:
                if event.phase == "end":
                    self._let_go(event.client_id)
                else:
                    self._pull(event, group, index)
            except Exception as error:
                self.studio.panel.say(reason(error, "That did not work"))

        return heard

    def _pull(self, event: Any, group: str, index: int) -> None:
        session, rig = self.studio.session, self.studio.shown
        hands, view = session.hands, session.view()
        if hands is None or rig is None or view is None:
            self.studio.panel.say("Only a live flight can be touched: open a scenario first.")
            return
        held = hands.pull
        if event.phase == "start" and held is None:
            poses = view.frame.bodies[group]
            at, how = poses.position[0, index], poses.attitude[0, index]
            point = turn(conjugate(how), np.asarray(event.start_position, float) - at)
            reach = 2.0 * float(np.max(rig.vehicle_radius, initial=0.5))
            point = point if np.linalg.norm(point) < max(reach, _size(rig)) else np.zeros(3)
            mass = float(rig.mass[group][index])
            pull = Pull(group, index, point, np.asarray(event.end_position, float), mass, event.client_id)
            session.hold(lambda now: replace(now, pull=pull), "pull")
        elif held is not None and held.who == event.client_id:
            pull = replace(held, goal=np.asarray(event.end_position, float))
            session.hold(lambda now: replace(now, pull=pull), "")

    def _let_go(self, who: int) -> None:
        hands = self.studio.session.hands
        if hands is not None and hands.pull is not None and hands.pull.who == who:
            self.studio.session.hold(lambda now: replace(now, pull=None), "")


def _size(rig: Any) -> float:
    """How far from its centre what is carried reaches (m)."""
    return 1.5 * float(np.max(np.linalg.norm(rig.payload_corners, axis=1), initial=0.1))
