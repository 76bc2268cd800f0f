"""One flight that everybody at the page shares: a live simulation or a recorded flight, and its clock.

The simulation has a thread to itself. Pages only ever ask for the latest `View`, so however many there are,
they cannot slow it.
"""

from __future__ import annotations

import threading
import time
import traceback
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from skyrig.errors import FlightDiverged, InputError
from skyrig.flight.flight import Flight, FlightEvent
from skyrig.flight.frames import Frames, of_flight
from skyrig.scenario import Scenario
from skyrig.studio.history import History

if TYPE_CHECKING:
    from skyrig.scenario.build import Built
    from skyrig.studio.live import Hands, Live

WAIT = 1 / 120
"""How often the clock looks (s)."""
MOST_BEHIND = 0.25
"""Real time (s) that a simulation may fall behind before it gives up catching up."""
MOST_EVENTS = 400
"""Events kept for the log."""
EMPTY, COMPILING, READY, ENDED, BROKEN = "empty", "compiling", "ready", "ended", "broken"


@dataclass(frozen=True, eq=False)
class View:
    """What there is to be shown at one moment."""

    number: int
    """Which flight this is; it changes when another is opened or the flight begins anew."""
    status: str
    """'empty', 'compiling', 'ready', 'ended' or 'broken'."""
    message: str
    """What went wrong, if anything did."""
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


class Session:
    """A flight with a clock; every method may be called from any thread."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.scenario: Scenario | None = None
        self.flight: Flight | None = None
        self.recorded: Frames | None = None
        self.events: deque[FlightEvent] = deque(maxlen=MOST_EVENTS)
        self.number = 0
        self.status, self.message = EMPTY, ""
        self.playing, self.speed, self.repeat = False, 1.0, False
        self.cursor: float | None = None
        self.lag = 0.0
        self.history: History | None = None
        self._live: Live | None = None
        self._acts: list[Any] = []
        self._steps = 0
        self._owed = 0.0
        self._paces: deque[tuple[float, float]] = deque(maxlen=60)
        self._wanted: tuple[Scenario, bool, bool] | None = None
        self._over = threading.Event()
        self._uncompiled: tuple[int, Built, bool] | None = None
        self._threads = [
            threading.Thread(target=target, name=name, daemon=True)
            for name, target in (("simulation", self._run), ("compiler", self._compile))
        ]

    # what people do

    def begin(self) -> None:
        """Start the threads."""
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """End them."""
        self._over.set()
        for thread in self._threads:
            if thread.is_alive():
                thread.join(timeout=2.0)

    @property
    def alive(self) -> bool:
        """Whether a thread still works on something."""
        return any(thread.is_alive() for thread in self._threads)

    def open(self, scenario: Scenario, play: bool = False) -> None:
        """Fly another scenario, from its start, once it is compiled."""
        with self.lock:
            self._wanted = (scenario, play, True)
            self.status, self.message = COMPILING, ""

    def reset(self) -> None:
        """Begin anew, paused."""
        with self.lock:
            if self.recorded is not None:
                self.cursor, self.playing = float(self.recorded.times[0]), False
            elif self.scenario is not None and self.status != COMPILING:
                self._wanted = (self.scenario, False, False)

    def show(self, flight: Flight) -> None:
        """Open a recorded flight."""
        frames = of_flight(flight)
        with self.lock:
            self._wanted = None
            self._forget()
            self.flight, self.recorded, self.history = flight, frames, None
            self.scenario = None
            self._live = None
            self.events = deque(flight.events[-MOST_EVENTS:], maxlen=MOST_EVENTS)
            self.cursor, self.playing, self.status, self.message = float(frames.times[0]), False, READY, ""

    def play(self, playing: bool = True) -> None:
        """Go on, or pause."""
        with self.lock:
            if playing and self.recorded is None:
                self.cursor = None
            if playing and self.recorded is not None and self.cursor is not None:
                at_end = self.cursor >= self.recorded.times[-1] - 1e-9
                self.cursor = float(self.recorded.times[0]) if at_end else self.cursor
            self.playing = playing
            self._owed = 0.0
            self._paces.clear()

    def step(self) -> None:
        """Pause, and fly one control tick."""
        with self.lock:
            self.playing = False
            if self.recorded is not None and self.cursor is not None:
                row = int(np.searchsorted(self.recorded.times, self.cursor + 1e-9, side="right"))
                self.cursor = float(self.recorded.times[min(row, len(self.recorded) - 1)])
            else:
                self.cursor = None
                self._steps += 1

    def skip(self, seconds: float) -> None:
        """Pause, and fly on by `seconds` as fast as it goes."""
        with self.lock:
            self.playing, self.cursor = False, None
            if self._live is not None:
                self._steps += max(round(seconds * self._live.rate), 0)

    @property
    def skipping(self) -> bool:
        """Whether there is something left to be flown while paused."""
        return self._steps > 0

    def scrub(self, moment: float) -> None:
        """Pause, and look at what was at `moment` (s)."""
        with self.lock:
            self.playing, self.cursor = False, float(moment)

    def do(self, act: Any) -> None:
        """Poke or cut as soon as the simulation goes on."""
        with self.lock:
            self._acts.append(act)

    def hold(self, change: Callable[[Hands], Hands]) -> None:
        """Change what hands do to the rig."""
        with self.lock:
            if self._live is not None:
                self._live.hands = change(self._live.hands)

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
            elif self.history is not None:
                span = self.history.span
                at = span[1] if self.cursor is None else min(max(self.cursor, span[0]), span[1])
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

    # what the thread does

    def _run(self) -> None:
        last = time.perf_counter()
        while not self._over.wait(WAIT):
            now = time.perf_counter()
            elapsed, last = now - last, now
            try:
                if self._wanted is not None:
                    self._make()
                    last = time.perf_counter()
                elif self.recorded is not None:
                    self._play_back(elapsed)
                else:
                    self._fly_on(elapsed)
            except FlightDiverged as error:
                self._stop(str(error))
            except InputError as error:
                self._stop(str(error))
            except Exception as error:  # the page must say so; the thread lives on for the next scenario
                traceback.print_exc()
                self._stop(f"The simulation stopped: {error}")

    def _stop(self, message: str) -> None:
        with self.lock:
            self.playing, self.status, self.message = False, BROKEN, message

    def _make(self) -> None:
        """Build and compile what is wanted; what was there stays if that cannot be."""
        from skyrig.studio.live import Live

        with self.lock:
            if self._wanted is None:
                return
            scenario, play, new = self._wanted
            self._wanted = None
            was = (self.status if self.status != COMPILING else READY) if self._live is not None else EMPTY
        try:
            built = scenario.build() if new or self._live is None else self._live.built
            live = Live(built)
            first = live.start()
        except InputError as error:
            with self.lock:
                self.status, self.message = was, str(error)
            return
        with self.lock:
            self._forget()
            self.scenario, self.flight, self.recorded = scenario, None, None
            self._live, self.history, self.cursor = live, History(first), None
            self.events.clear()
            self.playing, self.status, self.message = False, COMPILING, ""
            if new:
                self._uncompiled = (self.number, built, play)
            else:
                self.status, self.playing = READY, play

    def _compile(self) -> None:
        """Compile what is open, in a thread of its own: whoever opens something else need not wait."""
        from skyrig.studio.live import Live

        while not self._over.wait(0.02):
            with self.lock:
                wanted, self._uncompiled = self._uncompiled, None
            if wanted is None:
                continue
            number, built, play = wanted
            status, message = READY, ""
            try:
                Live(built).advance(1)
            except (FlightDiverged, InputError) as error:
                status, message = BROKEN, str(error)
            except Exception as error:
                traceback.print_exc()
                status, message = BROKEN, f"The simulation cannot be compiled: {error}"
            with self.lock:
                if number == self.number and self._wanted is None:
                    self.status, self.message = status, message
                    self.playing = play and status == READY

    def _forget(self) -> None:
        self.number += 1
        self._acts.clear()
        self._steps, self._owed, self.lag = 0, 0.0, 0.0
        self._paces.clear()

    def _fly_on(self, elapsed: float) -> None:
        from skyrig.studio.live import TICKS

        with self.lock:
            live = self._live
            if live is None or self.status in (BROKEN, COMPILING, ENDED):
                self._steps = 0
                return
            ticks = self._steps
            if self.playing and self.cursor is None:
                self._owed += elapsed * self.speed
                ticks += int(self._owed * live.rate)
            ended = live.open_loop and live.time >= live.built.duration - 1e-9
            repeat = self.repeat and live.time >= live.built.duration - 1e-9
        if repeat and self.playing:
            with self.lock:
                self._wanted = (live.built.scenario, True, False)
            return
        if ended:
            with self.lock:
                self.playing, self.status = False, ENDED
            return
        began = time.perf_counter()
        while ticks > 0 and live is self._live:
            with self.lock:
                acts, self._acts = self._acts, []
            if live.open_loop:
                ticks = min(ticks, max(round((live.built.duration - live.time) * live.rate), 1))
            before = live.tick
            frames, found = live.advance(min(ticks, TICKS), acts)
            ticks -= live.tick - before
            with self.lock:
                if live is not self._live:
                    return
                assert self.history is not None
                self.history.append(frames)
                self.events.extend(found)
                paid = live.tick - before
                stepped = min(paid, self._steps)
                self._steps -= stepped
                self._owed = max(self._owed - (paid - stepped) / live.rate, 0.0)
            if time.perf_counter() - began > MOST_BEHIND:
                break
        with self.lock:
            if self.playing:
                self._paces.append((time.perf_counter(), live.time))
            over = self._owed / self.speed - MOST_BEHIND
            if over > 0:
                self.lag += over
                self._owed = MOST_BEHIND * self.speed

    def _play_back(self, elapsed: float) -> None:
        with self.lock:
            if not self.playing or self.recorded is None or self.cursor is None:
                return
            self.cursor += elapsed * self.speed
            self._paces.append((time.perf_counter(), self.cursor))
            if self.cursor >= self.recorded.times[-1]:
                begin, end = float(self.recorded.times[0]), float(self.recorded.times[-1])
                self.cursor = begin if self.repeat else end
                self.playing = self.repeat

    def _pace(self) -> float:
        if not self.playing or len(self._paces) < 5:
            return float("nan")
        (since, then), (until, now) = self._paces[0], self._paces[-1]
        return (now - then) / max(until - since, 1e-9)


def corrected(hands: Hands, **changes: Any) -> Hands:
    """`hands` doing something else as well."""
    return replace(hands, **changes)
