"""The tab for hands: command a pose, poke, cut, weaken, push."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from skyrig.errors import InputError
from skyrig.planning.reference import quaternion
from skyrig.studio.hands import Hands
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
        self.plain = gui.add_checkbox(
            "Drag pulls",
            False,
            hint="Ctrl-drag (Cmd-drag) always pulls at a body; so does dragging then",
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
        self._commanded: Any = None
        """The pose that the handle shows."""
        self.steer.on_update(panel.trying(self._steer))
        self.plain.on_update(panel.trying(self._plain))
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
        if rig is None:
            return
        corners = [f"corner {k}" for k in range(len(rig.payload_corners))]
        points = [f"attachment {k}" for k in range(len(rig.points))]
        cables = [k for k, it in zip(rig.columns, rig.tethers, strict=True) if it.name == "cable"]
        for field, options in (
            (self.corner, ("centre",) if rig.payload_is_point else (*points, *corners, "centre")),
            (self.cable, tuple(map(str, cables)) or (NOBODY,)),
            (self.vehicle, tuple(str(k) for k in range(rig.count)) or (NOBODY,)),
        ):
            field.options = options
            field.value = options[0]

    def tell(self) -> None:
        """Show what hands do to the rig; a flight that nobody can touch shows none."""
        hands, mirror = self.studio.session.hands or Hands(), self.panel.mirror
        mirror.show(self.steer, hands.pose is not None)
        chosen = self.vehicle.value
        weak = hands.share is not None and chosen != NOBODY
        mirror.show(self.share, float(hands.share[int(chosen)]) if weak and hands.share is not None else 1.0)
        for field, push in ((self.force, hands.force), (self.torque, hands.torque)):
            mirror.show(field, tuple(map(float, push)) if push is not None else (0.0, 0.0, 0.0))
        self._show_handle(hands.pose)

    def _plain(self, event: Any) -> None:
        with self.studio.lock:
            self.studio.pulling.plain = bool(event.target.value)
            if self.studio.rig is not None:
                self.studio.pulling.heed(self.studio.rig)

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
        cable, session = int(self.cable.value), self.studio.session
        view = session.view()
        now = 0.0 if view is None else float(view.frame.times[0])
        if any(it.kind == "cut" and it.index == cable and it.time <= now for it in list(session.events)):
            raise InputError(f"Cable {cable} is cut already.")
        session.do(Cut(0.0, cable))

    def _weaken(self, event: Any) -> None:
        self._flying()
        rig = self.studio.shown
        assert rig is not None

        def weaker(hands: Any) -> Any:
            share = np.ones(rig.count) if hands.share is None else np.array(hands.share)
            share[int(self.vehicle.value)] = self.share.value
            return replace(hands, share=share)

        self.studio.session.hold(weaker, "thrust")

    def _heal(self, event: Any) -> None:
        self._flying()
        self.studio.session.hold(lambda hands: replace(hands, share=None), "thrust")

    def _push(self, event: Any) -> None:
        self._flying()
        force, torque = np.asarray(self.force.value, float), np.asarray(self.torque.value, float)
        self.studio.session.hold(lambda hands: replace(hands, force=force, torque=torque), "push")

    def _stop(self, event: Any) -> None:
        self._flying()
        self.studio.session.hold(lambda hands: replace(hands, force=None, torque=None), "push")

    # the handle

    def _steer(self, event: Any) -> None:
        self._flying()
        session = self.studio.session
        if not self.steer.value:
            session.hold(lambda hands: replace(hands, pose=None), "handle")
            return
        view, scenario = session.view(), session.scenario
        if scenario is None or scenario.motions.payload is None or view is None:
            raise InputError("The handle moves the payload's reference, and this scenario has none.")
        frame = view.frame
        assert frame.wanted_position is not None and frame.wanted_attitude is not None
        pose = (np.array(frame.wanted_position[0]), euler_angles(frame.wanted_attitude[0]))
        session.hold(lambda hands: replace(hands, pose=pose), "handle")

    def _show_handle(self, pose: tuple[Any, Any] | None) -> None:
        """Have the handle where the payload shall go, or have none."""
        if pose is self._commanded:
            return
        self._commanded = pose
        if pose is None:
            handle, self._handle = self._handle, None
            if handle is not None:
                handle.remove()
            return
        turn = np.asarray(quaternion(pose[1]))
        if self._handle is not None:
            self._handle.position, self._handle.wxyz = pose[0], turn
            return
        rig = self.studio.shown
        self._handle = self.studio.server.scene.add_transform_controls(
            "/handle",
            scale=HANDLE,
            disable_rotations=rig is None or rig.payload_is_point,
            translation_limits=LIMITS,
            position=pose[0],
            wxyz=turn,
            depth_test=False,
        )
        self._handle.on_update(lambda event: self._command() if event.client is not None else None)

    def _command(self) -> None:
        """Have the payload go where a viewer dragged the handle to."""
        handle = self._handle
        if handle is not None:
            place = np.clip(np.array(handle.position, float), *np.transpose(LIMITS))
            turn = np.array(handle.wxyz, float)
            pose = self._commanded = (place, euler_angles(turn / np.linalg.norm(turn)))
            self.studio.session.hold(lambda hands: replace(hands, pose=pose), "handle")


def _vector(gui: Any, label: str, value: tuple[float, float, float], step: float, most: float) -> Any:
    """A field for three numbers of size `most` at most."""
    return gui.add_vector3(label, value, step=step, min=(-most,) * 3, max=(most,) * 3)
