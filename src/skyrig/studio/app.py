"""The studio: a page in the browser where a rig is seen, steered and poked."""

from __future__ import annotations

import contextlib
import io
import logging
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from skyrig.flight.flight import Flight
from skyrig.flight.frames import Frames
from skyrig.flight.rig import RigData, rig_data
from skyrig.scenario import Scenario
from skyrig.studio import links, readouts
from skyrig.studio.camera import Cameras
from skyrig.studio.charts import POINTS, SECONDS, Charts
from skyrig.studio.door import FIELDS, Door, serve
from skyrig.studio.ground import make_up, reference_path
from skyrig.studio.inbox import Inbox
from skyrig.studio.look import Look
from skyrig.studio.opening import free_port, is_flight
from skyrig.studio.overlays import FlightOverlay, laid
from skyrig.studio.pulling import Pulling
from skyrig.studio.scene import RigScene, struck
from skyrig.studio.session import StudioSession, View
from skyrig.studio.telling import complain, reason
from skyrig.studio.traces import usual

RATE = 30.0
"""How often the scene is drawn (Hz)."""
SLOWER = 5
"""Every so many drawings numbers and plots follow."""
TRAIL = 12.0
"""How long a trail is (s)."""


class Studio:
    """One page, one flight, any number of viewers.

    Args:
        host: Address to listen on; 127.0.0.1 is this machine alone.
        port: Port to listen on; the next free one is taken if it is not.
        folders: Where recorded flights are looked for; the page opens no file outside of them.
    """

    def __init__(
        self, host: str = "127.0.0.1", port: int = 8080, folders: Sequence[Path] = (Path("flights"),)
    ) -> None:
        from skyrig.studio.panel import Panel

        free = free_port(host, port)
        # browsers open connections ahead of need and drop them, each worth a traceback to the library
        logging.getLogger("websockets.server").setLevel(logging.CRITICAL)
        self.inbox, self.door = Inbox(), Door(host)
        self.server = serve(host, free, self.door, self.inbox.look)
        self.session = StudioSession()
        self.folders = tuple(folders)
        self.look = Look()
        self.lock = threading.RLock()
        self.rig: RigScene | None = None
        self.overlays: list[FlightOverlay] = []
        """Other flights that are drawn over the one on show, and plotted beside it."""
        self._laid = 0
        self.file: str | Path | None = None
        """Where the flight on show came from."""
        self.charts: Charts | None = None
        self.plots: tuple[str, ...] | None = None
        """What is plotted, by name; None for the usual."""
        self._number = -1
        self.drawn = 0
        """How many times the scene was drawn."""
        self._logged: tuple[Any, ...] = ()
        self._charted: tuple[Any, ...] = ()
        self._texts: dict[int, str] = {}
        self.path: np.ndarray | None = None
        """Where what is carried shall go (m)."""
        self.first: Frames | None = None
        """A frame of what is on show."""
        self._source: tuple[Any, Any] | None = None
        """What the rig on show was made of, and its scenario."""
        self._retired: list[tuple[int, Charts]] = []
        """Plots to be removed, and since which drawing: pages may still be busy with their last data."""
        self._over = threading.Event()
        self.cameras = Cameras(self.server)
        self.dress(self.look, always=True)
        self.pulling = Pulling(self)
        self.panel = Panel(self)
        self.inbox.fields, self.inbox.refuse = getattr(self.server.gui, FIELDS), self.panel.refuse
        self.door.visited = lambda query: threading.Thread(target=self.follow, args=(query,)).start()
        self._thread = threading.Thread(target=self._run, name="painter", daemon=True)

    @property
    def address(self) -> str:
        """Where the page is, token included."""
        host = self.server.get_host()
        host = "localhost" if host in ("0.0.0.0", "::") else f"[{host}]" if ":" in host else host
        token = f"/{self.door.token}" if self.door.token else ""
        return f"http://{host}:{self.server.get_port()}{token}"

    @property
    def shown(self) -> RigData | None:
        """The rig on show."""
        return None if self.rig is None else self.rig.rig

    def begin(self) -> None:
        """Start simulating and drawing."""
        self.session.begin()
        self._thread.start()

    def close(self) -> None:
        """End everything, once."""
        self._over.set()
        self.session.close()
        if self._thread.is_alive():
            self._thread.join(timeout=2.0)
        with contextlib.redirect_stdout(io.StringIO()):
            self.server.stop()
        for worker in self._workers:
            worker.join(timeout=0.5 / len(self._workers))

    @property
    def busy(self) -> bool:
        """Whether, after all was closed, something is still compiled or done for a viewer."""
        return self.session.alive or any(worker.is_alive() for worker in self._workers)

    @property
    def _workers(self) -> Sequence[threading.Thread]:
        """The threads in which viser does what viewers ask for."""
        return tuple(self.server._thread_executor._threads)

    def open(self, what: str | Path, play: bool = False) -> None:
        """Open a scenario by name or file, or a flight by folder or .npz file."""
        if is_flight(what):
            self.show(Flight.load(what), what)
            self.session.play(play)
        else:
            self.session.open(Scenario.load(what), play)

    def show(self, flight: Flight, file: str | Path | None = None, about: str = "") -> None:
        """Open a recorded flight, which is in that file if it is in one; `about` says what nobody flew."""
        self.session.show(flight, about)
        self.file = file

    def follow(self, query: str) -> None:
        """Show what a link leads to, or say on the page why not; `query` is what follows its ?."""
        try:
            links.follow(self, query)
        except Exception as error:
            self.panel.say(reason(error, "The link cannot be followed"))

    def overlay(self, flight: Flight | None) -> None:
        """Show one more flight beside the first, or no others any more."""
        with self.lock:
            if flight is None:
                for it in self.overlays:
                    it.scene.remove()
                self.overlays = []
            else:
                self._laid += 1
                self.overlays.append(laid(self.server, f"/other{self._laid}", flight, self.overlays))
            self._texts.clear()
            self.redo_charts()

    def choose(self, names: Sequence[str] | None) -> None:
        """Plot what has these names, or the usual."""
        with self.lock:
            self.plots = None if names is None else tuple(dict.fromkeys(names))
            self.redo_charts()

    @property
    def plotted(self) -> tuple[str, ...]:
        """What is plotted, by name."""
        if self.plots is not None or self.rig is None or self.first is None:
            return self.plots or ()
        return usual(self.first, self.rig.rig)

    def dress(self, look: Look, always: bool = False) -> None:
        """Have everything look like that; turning dark or light, or `always`, the page is made up anew."""
        other, self.look = look.dark != self.look.dark, look
        if not (other or always):
            return
        make_up(self.server, look.dark)
        if self.rig is not None:
            self.rig.dress(look.dark)
        self._texts.clear()
        self.redo_charts()

    # drawing

    def _run(self) -> None:
        due, trouble = time.perf_counter(), ""
        while not self._over.is_set():
            due = max(due + 1 / RATE, time.perf_counter() - 0.5)
            try:
                with self.lock, self.server.atomic():
                    self._draw()
            except Exception as error:  # one bad drawing must not end the page
                if self._over.is_set():
                    return
                if str(error) != trouble:  # nor fill the terminal
                    trouble = str(error)
                    complain(error)
            self._over.wait(max(due - time.perf_counter(), 0.002))

    def _draw(self) -> None:
        view = self.session.view()
        self.drawn += 1
        if self._retired and self.drawn - self._retired[0][0] > 3 * RATE:
            self._retired.pop(0)[1].remove()
        if view is not None and view.number != self._number:
            self._renew(view)
        if view is None or self.rig is None:
            self.panel.tell(view)
            return
        frame, now = view.frame, float(view.frame.times[0])
        events = list(self.session.events)
        past = [event for event in events if event.time <= now + 1e-9]
        cut = set(self.rig.rig.severed(past, now))
        hands = self.session.hands
        speeds = self._speeds(now) if self.look.velocities else None
        pull = None if hands is None or view.scrubbing else hands.pull
        self.rig.draw(frame, cut, struck(self.rig.rig, past, now), self.look, speeds, pull)
        for it in self.overlays:
            it.draw(now, self.look)
        self.cameras.follow(frame.place[0], self.look.follow)
        if self.drawn % 3 == 0:
            trail = self.session.lately(now, TRAIL, 150)
            if trail is not None:
                self.rig.draw_trail(trail.place, self.look.trail)
        if self.drawn % SLOWER == 0:
            self._write(view, cut, past)

    def _speeds(self, now: float) -> dict[str, np.ndarray]:
        """How fast bodies go at a moment, by group (m/s): what the last two frames before it differ by."""
        lately = self.session.lately(now, 0.1, 10**6)
        if lately is None or len(lately) < 2:
            return {}
        passed = float(np.diff(lately.times[-2:])[0])
        return {group: np.diff(it.position[-2:], axis=0)[0] / passed for group, it in lately.bodies.items()}

    def _write(self, view: View, cut: set[int], past: list[Any]) -> None:
        """Numbers, plots and the log."""
        now = float(view.frame.times[0])
        self.panel.tell(view)
        lately = self.session.lately(now, SECONDS, POINTS)
        beside = readouts.beside(now, lately, self.shown, self.plotted, self.overlays)
        self.put(self.panel.numbers, readouts.numbers(view, self.shown, cut) + beside)
        if self._logged != (view.number, view.branched, len(past)):
            self._logged = (view.number, view.branched, len(past))
            self.put(self.panel.log, readouts.log(past))
        if self.charts is not None and self._charted != (view.number, view.branched, now):
            self._charted = (view.number, view.branched, now)
            self.charts.draw(lately, [event.time for event in past])
        if self.rig is not None:
            self.rig.draw_path(self.path, self.look.path)

    def put(self, handle: Any, text: str) -> None:
        """Change a text on the page if it is another."""
        if self._texts.get(id(handle)) != text:
            self._texts[id(handle)] = text
            handle.content = text

    def _renew(self, view: View) -> None:
        """Draw another rig, or the same one from its start."""
        flight, scenario = self.session.flight, self.session.scenario
        parts = None if scenario is None else scenario.parts
        source = (parts if flight is None else flight.rig, scenario)
        known = self._source is not None and all(a is b for a, b in zip(source, self._source, strict=True))
        same_rig = self.rig is not None and self._source is not None and self._source[0] is source[0]
        self._number, self._source, self.first = view.number, source, view.frame
        if not same_rig:
            if self.rig is not None:
                self.rig.remove()
            # a name of its own: pages that still draw the last one under that name would mix the two up
            rig = rig_data(parts) if parts is not None else flight.rig if flight is not None else None
            assert rig is not None
            self.rig = RigScene(self.server, f"/rig{view.number}", rig)
            self.rig.dress(self.look.dark)
            self.pulling.heed(self.rig)
            self.panel.hands.renew()
        if not known and self.rig is not None:
            self.path = reference_path(scenario, flight)
            self.cameras.frame_up(view.frame, self.rig.rig, self.path)
            self.panel.scenario.renew()
        self.redo_charts()

    def redo_charts(self) -> None:
        """Plots with as many lines as signals have owners, in the page's colours."""
        if self.rig is None or self.first is None:
            return
        if self.charts is not None:
            self.charts.hide()
            self._retired.append((self.drawn, self.charts))
        self._charted = ()
        with self.panel.plots:
            self.charts = Charts(
                self.server, self.first, self.rig.rig, self.plotted, self.overlays, self.look.dark
            )
        self.panel.signals.renew()
