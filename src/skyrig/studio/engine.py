"""The threads behind a page: one that flies or plays back against the clock, one that compiles.

The simulation has a thread to itself. Pages only ever look at what it left last, so however many there are,
they cannot slow it.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from typing import TYPE_CHECKING, Any

from skyrig.errors import FlightDiverged, InputError
from skyrig.flight.flight import Flight, FlightEvent
from skyrig.flight.frames import Frames
from skyrig.scenario import Scenario
from skyrig.studio.history import History
from skyrig.studio.telling import complain

if TYPE_CHECKING:
    from skyrig.scenario.build import Built
    from skyrig.studio.live import Live

WAIT = 1 / 120
"""How often the clock looks (s)."""
MOST_BEHIND = 0.25
"""Real time (s) that a simulation may fall behind before it gives up catching up."""
MOST_EVENTS = 400
"""Events kept for the log."""
EMPTY, COMPILING, READY, ENDED, BROKEN = "empty", "compiling", "ready", "ended", "broken"


class Engine:
    """A flight and its clock."""

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
        self.latest: Frames | None = None
        """The present of a live flight, which its history may pass over."""
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
            except (FlightDiverged, InputError) as error:
                self._stop(str(error))
            except Exception as error:  # the page must say so; the thread lives on for the next scenario
                self._stop(f"The simulation stopped: {complain(error)}.")

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
        except Exception as error:
            known = isinstance(error, InputError)
            told = str(error) if known else f"That cannot be flown: {complain(error)}."
            with self.lock:
                self.status, self.message = was, told
            return
        with self.lock:
            self._forget()
            self.scenario, self.flight, self.recorded = scenario, None, None
            self._live, self.history, self.cursor = live, History(first), None
            self.latest = first
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
                status, message = BROKEN, f"The simulation cannot be compiled: {complain(error)}."
            with self.lock:
                if number == self.number and self._wanted is None:
                    self.status, self.message = status, message or self.message
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
                acts, self._acts = self._acts[:1], self._acts[1:]  # two at once could be at two places
            if live.open_loop:
                ticks = min(ticks, max(round((live.built.duration - live.time) * live.rate), 1))
            before = live.tick
            frames, found = self._advance(live, min(ticks, TICKS), acts)
            ticks -= live.tick - before
            with self.lock:
                if live is not self._live:
                    return
                assert self.history is not None
                self.history.append(frames)
                self.latest = frames[-1:]
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

    def _advance(self, live: Live, ticks: int, acts: list[Any]) -> tuple[Frames, list[FlightEvent]]:
        """Fly on; what hands do beyond what can be simulated is not done, so that the flight goes on."""
        from skyrig.studio.live import Hands

        asked, undone, why = acts, [], ""
        while True:
            hands = live.hands
            try:
                flown = live.advance(ticks, acts, hands)
                break
            except FlightDiverged as error:
                if not acts and hands.idle:
                    raise
                undone.append("it was not done" if acts else "all hands are off")
                why = why or str(error)
            with self.lock:
                if not acts and live.hands is hands:  # if not, somebody changed them meanwhile
                    live.hands = Hands()
            acts = []
        with self.lock:
            if live is self._live and (asked or undone):  # what was told of an earlier one is over
                self.message = f"That was too much, so {' and '.join(undone)}: {why}" if undone else ""
        return flown

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
