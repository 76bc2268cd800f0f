"""One flight that everybody at the page shares: a live simulation or a recorded flight."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from skyrig import checks
from skyrig.errors import InputError
from skyrig.flight.flight import Flight, FlightEvent
from skyrig.flight.frames import Frames, of_flight
from skyrig.flight.verdict import Verdict, verdict
from skyrig.scenario import Scenario
from skyrig.studio.engine import BROKEN, COMPILING, ENDED, MOST_EVENTS, READY, Engine
from skyrig.studio.past import Undo

if TYPE_CHECKING:
    from skyrig.studio.hands import Hands

MOST_ACTS = 20
"""Pokes and cuts that wait while nothing flies."""
ONE_ACT = 1.0
"""The same thing done again within this time (s) is taken back together: dragging is done many times."""


@dataclass(frozen=True, eq=False)
class View:
    """What there is to be shown at one moment."""

    number: int
    """Which flight this is; it changes when another is opened or the flight begins anew."""
    status: str
    """'empty', 'compiling', 'ready', 'ended' or 'broken'."""
    message: str
    """What went wrong or could not be done, the latest of it; empty if nothing."""
    frame: Frames
    """One moment."""
    span: tuple[float, float]
    """From when to when can be looked at (s)."""
    playing: bool
    scrubbing: bool
    """Whether an earlier moment than the latest is shown."""
    speed: float
    pace: float
    """Simulated over real time lately; NaN while paused."""
    lag: float
    """Real time given up because the simulation could not keep pace (s)."""
    verdict: Verdict | None = None
    """What went wrong, by the moment shown; None if nothing did."""
    waiting: int = 0
    """Pokes and cuts that are done when the flight goes on."""
    branched: int = 0
    """How often flights have gone on from an earlier moment."""


class StudioSession(Engine):
    """A flight with a clock; every method may be called from any thread."""

    about = ""
    """What the flight is, in a few words."""

    # what people do

    def open(self, scenario: Scenario, play: bool = False, until: float = 0.0) -> None:
        """Fly another scenario, from its start, once it is compiled; up to `until` (s) as fast as it goes."""
        with self.lock:
            self._ahead = until
            self._wanted = (scenario, play, True)
            self.status, self.message = COMPILING, ""

    def reset(self) -> None:
        """Begin anew, paused."""
        with self.lock:
            if self.recorded is not None:
                self.cursor, self.playing = float(self.recorded.times[0]), False
            elif self.scenario is not None and self.status != COMPILING:
                self._wanted = (self.scenario, False, False)

    def show(self, flight: Flight, about: str = "") -> None:
        """Open a recorded flight, or moments that nobody flew: `about` says what, and none is judged."""
        frames = of_flight(flight)
        with self.lock:
            self._wanted = None
            self._forget()
            self.flight, self.recorded, self.history = flight, frames, None
            self.scenario = None
            self._live = None
            self.events = deque(flight.events[-MOST_EVENTS:], maxlen=MOST_EVENTS)
            said = None if about else verdict(flight)
            self.verdict = None if said is None or said.flew else said
            self.about = about or "A recorded flight"
            self.cursor, self.playing, self.status, self.message = float(frames.times[0]), False, READY, ""

    def play(self, playing: bool = True) -> None:
        """Go on from the moment shown, past the scenario's end too, or pause; a table begins anew there."""
        with self.lock:
            if playing and self.recorded is not None and self.cursor is not None:
                at_end = self.cursor >= self.recorded.times[-1] - 1e-9
                self.cursor = float(self.recorded.times[0]) if at_end else self.cursor
            elif playing and self._live is not None and self._live.open_loop and self._at_end:
                self._wanted = (self._live.built.scenario, True, False)
            elif playing:
                self._from_here()
            self.playing = playing
            self._owed = 0.0
            self._paces.clear()

    def step(self) -> None:
        """Pause, and fly one control tick from the moment shown."""
        with self.lock:
            self.playing = False
            if self.recorded is not None and self.cursor is not None:
                row = int(np.searchsorted(self.recorded.times, self.cursor + 1e-9, side="right"))
                self.cursor = float(self.recorded.times[min(row, len(self.recorded) - 1)])
            elif self._live is not None and self._live.open_loop and self._at_end:
                raise InputError("The scenario says no more: press Reset, or Play to begin anew.")
            else:
                self._from_here()
                self._steps += 1

    def skip(self, seconds: float) -> None:
        """Pause, and fly on by `seconds` as fast as it goes."""
        with self.lock:
            self.playing, self.cursor = False, None
            if self._live is not None:
                self._steps += max(round(seconds * self._live.rate), 0)
                self._beyond = not self._live.open_loop

    @property
    def _at_end(self) -> bool:
        """Whether the flight has come to its scenario's end, and that is what is shown."""
        return self.status == ENDED and self.cursor is None

    def _from_here(self) -> None:
        """Have what comes next come after the moment shown."""
        if self._live is None or self.latest is None:
            return
        if self.cursor is not None and self.cursor < self.latest.times[0] - 1e-9:
            self._go_back(self.cursor)
        elif self.status == BROKEN:
            raise InputError(
                "The flight stopped here: drag the time back to before and press Play, or Reset."
            )
        self.cursor = None
        if self.status == ENDED and not self._live.open_loop:
            self.status, self._beyond = READY, True

    @property
    def skipping(self) -> bool:
        """Whether there is something left to be flown while paused."""
        return self._steps > 0

    def set_speed(self, speed: float) -> None:
        """Let `speed` seconds of flight pass in one of real time."""
        with self.lock:
            self.speed = float(checks.positive("The speed", speed))
            self.play(self.playing)

    def scrub(self, moment: float) -> None:
        """Pause, and look at what was at `moment` (s); the present is no looking back."""
        with self.lock:
            at = float(checks.numbers("The moment", moment))
            self.playing = False
            if self.recorded is not None:
                self.cursor = float(np.clip(at, self.recorded.times[0], self.recorded.times[-1]))
            elif self.history is not None and self.latest is not None:
                self.cursor = None if at >= self.latest.times[0] - 1e-9 else max(at, self.history.span[0])

    def look_at(self, cursor: float | None, playing: bool) -> None:
        """Come back from looking elsewhere: to a moment (s), or None for the present, and play on or not."""
        with self.lock:
            self.cursor, self.playing = cursor, playing
            self._owed = 0.0

    def do(self, act: Any) -> None:
        """Poke or cut at the moment shown, as soon as the simulation goes on."""
        with self.lock:
            if len(self._acts) >= MOST_ACTS:
                raise InputError(f"{MOST_ACTS} pokes and cuts wait to be done already: let it fly on first.")
            self._from_here()
            self._remember(f"{type(act).__name__.lower()}", alone=True)
            self._acts.append(act)

    def hold(self, change: Callable[[Hands], Hands], what: str = "hands") -> None:
        """Change what hands do to the rig from the moment shown on.

        `what` says it in a word; empty, it is part of what was done before, and is taken back with that.
        """
        with self.lock:
            if self._live is not None:
                self._from_here()
                if what:
                    self._remember(what)
                self._live.hands = change(self._live.hands)

    def undo(self) -> None:
        """Take back what was done by hand last, and go on from before it."""
        with self.lock:
            if self._live is None or not self._undo:
                raise InputError("Nothing was done by hand that could be taken back.")
            before = self._undo.pop()
            self.playing = False
            self._go_back(before.time, before.hands, list(before.acts))

    def _remember(self, what: str, alone: bool = False) -> None:
        """Keep what is now, for `undo`."""
        assert self._live is not None
        clock, last = time.monotonic(), self._undo[-1] if self._undo else None
        if last is None or alone or last.what != what or clock - last.clock > ONE_ACT:
            self._undo.append(Undo(what, self._live.time, self._live.hands, list(self._acts), clock))

    def tell(self, text: str) -> None:
        """Say what could not be done in place of what was said before; nothing takes that back.

        Why a flight stopped stands there until something else could not be done.
        """
        with self.lock:
            if text or self.status != BROKEN:
                self.message = text

    @property
    def hands(self) -> Hands | None:
        """What hands do to the rig; None without a simulation."""
        live = self._live
        return None if live is None else live.hands

    # what people see

    def view(self) -> View | None:
        """What there is to be shown now; None before there is anything."""
        with self.lock:
            if self.recorded is not None:
                span = (float(self.recorded.times[0]), float(self.recorded.times[-1]))
                frame = self.recorded.at(self.cursor if self.cursor is not None else span[1])
            elif self.history is not None and self.latest is not None:
                span = (self.history.span[0], float(self.latest.times[0]))
                frame = self.latest
                if self.cursor is not None and self.cursor < span[1] - 1e-9:
                    at = max(self.cursor, span[0])
                    frame = self.history.frames(at - 0.05, at, None)[-1:]
            else:
                return None
            return View(
                self.number,
                self.status,
                self.message,
                frame,
                span,
                self.playing,
                self.cursor is not None,
                self.speed,
                self._pace(),
                self.lag,
                self.verdict,
                len(self._acts),
                self.branched,
            )

    def lately(self, until: float, seconds: float, most: int) -> Frames | None:
        """Frames of the `seconds` before `until` (s), `most` of them at most."""
        with self.lock:
            if self.recorded is not None:
                rows = np.flatnonzero(
                    (self.recorded.times >= until - seconds - 1e-9) & (self.recorded.times <= until + 1e-9)
                )
                rows = rows[:: -max(-(-len(rows) // most), 1)][::-1]
                return self.recorded[rows]
            return None if self.history is None else self.history.frames(until - seconds, until, most)

    def everything(self) -> tuple[Frames, tuple[FlightEvent, ...]] | None:
        """All frames there are, and the events."""
        with self.lock:
            frames = self.recorded if self.history is None else self.history.frames()
            return None if frames is None else (frames, tuple(self.events))

    def flown(self) -> Flight:
        """What was flown, up to the moment shown, as `skyrig fly` records it; or the recorded flight.

        Raises:
            InputError: If nothing was flown.
        """
        with self.lock:
            if self.flight is not None:
                return self.flight
            if self._live is None or self._past is None:
                raise InputError("There is nothing to save yet.")
            live, pieces = self._live, self._past.pieces
            until = np.inf if self.cursor is None else self.cursor + 1e-9
        return live.flight([it for it in pieces if it.times[-1] <= until])

    def _pace(self) -> float:
        if not self.playing or len(self._paces) < 5:
            return float("nan")
        (since, then), (until, now) = self._paces[0], self._paces[-1]
        return (now - then) / max(until - since, 1e-9)
