"""A flight live in Foxglove, by its websocket on this machine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from skyrig.bridges import scene
from skyrig.bridges.ros_messages import MAP, nanoseconds_of
from skyrig.errors import InputError
from skyrig.flight.flight import Flight
from skyrig.flight.rig import rig_data
from skyrig.runs.session import Session
from skyrig.scenario import Scenario
from skyrig.tracks import Track

PORT = 8765
FRAMES = 30.0
"""Drawings a second (Hz)."""


class LiveServer:
    """A websocket server that shows a session.

    Args:
        session: What is flown.
        port: Where Foxglove connects: ws://127.0.0.1:PORT.
    """

    def __init__(self, session: Session, port: int = PORT) -> None:
        known = scene.messages()
        import foxglove
        from foxglove.channels import FrameTransformsChannel, SceneUpdateChannel

        self.session, self._known = session, known
        self.rig = rig_data(session.scenario.parts)
        self._context = foxglove.Context()
        try:
            self._server = foxglove.start_server(
                name="skyrig", host="127.0.0.1", port=port, context=self._context
            )
        except Exception as error:  # whatever keeps the SDK from listening
            raise InputError(f"port {port} cannot be listened on: {str(error)[:100]}.") from None
        self.port = self._server.port
        """Where it listens; another than asked for if that was 0."""
        self._frames = FrameTransformsChannel("/tf", context=self._context)
        self._bodies = SceneUpdateChannel("/scene/bodies", context=self._context)
        self._cables = SceneUpdateChannel("/scene/cables", context=self._context)
        self._drawn = -1.0

    def show(self) -> None:
        """The session as it is now; the bodies' shapes go along once a second, for who comes late."""
        now, time = self.session.built.rig.bodies(self.session.state), nanoseconds_of(self.session.time)
        tracks = {group: _track(it) for group, it in now.items()}
        self._frames.log(self._transforms(tracks, time), log_time=time)
        self._cables.log(scene.cables(self.rig, tracks, time), log_time=time)
        if self._drawn < 0 or self.session.time - self._drawn >= 1.0:
            self._bodies.log(scene.bodies(self.rig), log_time=time)
            self._drawn = self.session.time

    def close(self) -> None:
        """Hang up."""
        self._server.stop()

    def _transforms(self, tracks: dict[str, Track], time: int) -> Any:
        known, found = self._known, []
        for group, named in scene.names(self.rig).items():
            for k, name in enumerate(named):
                x, y, z = (float(it) for it in np.asarray(tracks[group].position)[k])
                w, a, b, c = (float(it) for it in np.asarray(tracks[group].attitude)[k])
                found.append(
                    known.FrameTransform(
                        timestamp=known.Timestamp(sec=time // 10**9, nsec=time % 10**9),
                        parent_frame_id=MAP,
                        child_frame_id=name,
                        translation=known.Vector3(x=x, y=y, z=z),
                        rotation=known.Quaternion(x=a, y=b, z=c, w=w),
                    )
                )
        return known.FrameTransforms(transforms=found)


def fly_live(
    scenario: Scenario,
    port: int = PORT,
    pace: float | None = 1.0,
    tell: Callable[[str], None] = lambda sentence: None,
    progress: Callable[[float], None] = lambda time: None,
) -> Flight:
    """Fly a scenario by its own controller while Foxglove may look on."""
    session = Session(scenario, pace=pace)
    live = LiveServer(session, port)
    tell(f"Foxglove: open a connection to ws://127.0.0.1:{live.port}.")
    every = max(round(scenario.spec.loop.control_rate / FRAMES), 1)
    try:
        while not session.done:
            live.show()
            left = len(session.built.control_times) - 1 - session.tick
            session.step(ticks=max(min(every, left), 1))
            progress(session.time)
        live.show()
    finally:
        live.close()
    return session.flight


def _track(bodies: Any) -> Track:
    leaves = (bodies.position, bodies.velocity, bodies.attitude, bodies.rate)
    return Track(*(np.asarray(leaf, dtype=np.float64).T for leaf in leaves))
