"""The tab for hands: command a pose, poke, cut, weaken, push."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from skyrig.errors import InputError
from skyrig.studio.session import corrected
from skyrig.turns import euler_angles

if TYPE_CHECKING:
    from skyrig.studio.panel import Panel

NOBODY = "–"
HANDLE = 0.6
"""How long the arrows of the handle are (m)."""
LIMITS = ((-15.0, 15.0), (-15.0, 15.0), (0.1, 15.0))
"""From where to where the handle goes (m)."""


class HandsTab:
    """What is done to a rig in flight."""

    def __init__(self, panel: Panel) -> None:
        self.panel = panel
        self.studio = panel.studio
        self._handle: Any = None
        gui = panel.studio.server.gui
        self.steer = gui.add_checkbox(
            "Hover at the handle", False, hint="Drag the arrows in the scene: the payload goes there"
        )
        with gui.add_folder("Poke the payload"):
            self.corner: Any = gui.add_dropdown("Where", ("centre",))
            self.impulse = _vector(gui, "Impulse (N s)", (0.0, 0.0, 0.08), 0.01, 10.0)
            poke = gui.add_button("Poke")
        with gui.add_folder("Cut a cable"):
            self.cable: Any = gui.add_dropdown("Cable", (NOBODY,))
            cut = gui.add_button("Cut", color="red")
        with gui.add_folder("Weaken a vehicle", expand_by_default=False):
            self.vehicle: Any = gui.add_dropdown("Vehicle", (NOBODY,))
            self.share = gui.add_slider("Thrust left", 0.0, 1.0, 0.05, 1.0)
            heal = gui.add_button("All back to full")
        with gui.add_folder("Push steadily", expand_by_default=False):
            self.force = _vector(gui, "Force (N)", (0.0, 0.0, 0.0), 0.05, 100.0)
            self.torque = _vector(gui, "Torque (N m)", (0.0, 0.0, 0.0), 0.005, 10.0)
            stop = gui.add_button("No push")
        self.steer.on_update(panel.trying(self._steer))
        poke.on_click(panel.trying(self._poke))
        cut.on_click(panel.trying(self._cut))
        self.share.on_update(panel.trying(self._weaken))
        heal.on_click(panel.trying(self._heal))
        for field in (self.force, self.torque):
            field.on_update(panel.trying(self._push))
        stop.on_click(panel.trying(self._stop))

    def renew(self) -> None:
        """Name the cables, vehicles and corners of another rig."""
        rig = self.studio.shown
        self._drop_handle()
        self.steer.value = False
        if rig is None:
            return
        corners = [f"corner {k}" for k in range(len(rig.payload_corners))]
        points = [f"attachment {k}" for k in range(len(rig.points))]
        self.corner.options = ("centre",) if rig.payload_is_point else (*points, *corners, "centre")
        self.corner.value = self.corner.options[0]
        cables = [k for k, it in zip(rig.columns, rig.tethers, strict=True) if it.name == "cable"]
        self.cable.options = tuple(map(str, cables)) or (NOBODY,)
        self.cable.value = self.cable.options[0]
        self.vehicle.options = tuple(str(k) for k in range(rig.count))
        self.vehicle.value = "0"
        self.share.value = 1.0
        self.force.value = self.torque.value = (0.0, 0.0, 0.0)

    def _flying(self) -> None:
        if self.studio.session.hands is None:
            raise InputError("Only a live flight can be touched: open a scenario first.")

    def _poke(self, event: Any) -> None:
        from skyrig.sim import Poke

        self._flying()
        rig = self.studio.shown
        assert rig is not None
        impulse = np.asarray(self.impulse.value, float)
        if not np.any(impulse):
            raise InputError("The impulse must not be zero (N s).")
        kind, _, number = self.corner.value.partition(" ")
        places = {"corner": rig.payload_corners, "attachment": rig.points}
        point = np.zeros(3) if kind == "centre" else np.asarray(places[kind])[int(number)]
        self.studio.session.do(Poke(0.0, impulse, point, rig.carried or "vehicles"))

    def _cut(self, event: Any) -> None:
        from skyrig.sim import Cut

        self._flying()
        if self.cable.value == NOBODY:
            raise InputError("This rig has no cables to cut.")
        self.studio.session.do(Cut(0.0, int(self.cable.value)))

    def _weaken(self, event: Any) -> None:
        self._flying()
        rig = self.studio.shown
        assert rig is not None

        def weaker(hands: Any) -> Any:
            share = np.ones(rig.count) if hands.share is None else np.array(hands.share)
            share[int(self.vehicle.value)] = self.share.value
            return corrected(hands, share=share)

        self.studio.session.hold(weaker)

    def _heal(self, event: Any) -> None:
        self.share.value = 1.0
        self.studio.session.hold(lambda hands: corrected(hands, share=None))

    def _push(self, event: Any) -> None:
        self._flying()
        force, torque = np.asarray(self.force.value, float), np.asarray(self.torque.value, float)
        self.studio.session.hold(lambda hands: corrected(hands, force=force, torque=torque))

    def _stop(self, event: Any) -> None:
        self.force.value = self.torque.value = (0.0, 0.0, 0.0)
        self.studio.session.hold(lambda hands: corrected(hands, force=None, torque=None))

    # the handle

    def _steer(self, event: Any) -> None:
        if not self.steer.value:
            self._drop_handle()
            self.studio.session.hold(lambda hands: corrected(hands, pose=None))
            return
        self._flying()
        view, scenario = self.studio.session.view(), self.studio.session.scenario
        if scenario is None or scenario.motions.payload is None or view is None:
            self.steer.value = False
            raise InputError("The handle moves the payload's reference, and this scenario has none.")
        rig, frame = self.studio.shown, view.frame
        assert frame.wanted_position is not None and frame.wanted_attitude is not None
        self._handle = self.studio.server.scene.add_transform_controls(
            "/handle",
            scale=HANDLE,
            disable_rotations=rig is None or rig.payload_is_point,
            translation_limits=LIMITS,
            position=frame.wanted_position[0],
            wxyz=frame.wanted_attitude[0],
            depth_test=False,
        )
        self._handle.on_update(lambda _: self._command())
        self._command()

    def _command(self) -> None:
        handle = self._handle
        if handle is not None:
            place = np.clip(np.array(handle.position, float), *np.transpose(LIMITS))
            turn = np.array(handle.wxyz, float)
            pose = (place, euler_angles(turn / np.linalg.norm(turn)))
            self.studio.session.hold(lambda hands: corrected(hands, pose=pose))

    def _drop_handle(self) -> None:
        handle, self._handle = self._handle, None
        if handle is not None:
            handle.remove()


def _vector(gui: Any, label: str, value: tuple[float, float, float], step: float, most: float) -> Any:
    """A field for three numbers of size `most` at most."""
    return gui.add_vector3(label, value, step=step, min=(-most,) * 3, max=(most,) * 3)
