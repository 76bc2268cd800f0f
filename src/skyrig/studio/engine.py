"""The threads behind a page: one that flies or plays back against the clock, one that compiles.

The simulation has a thread to itself. Pages only ever look at what it left last, so however many there are,
they cannot slow it.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from typing import TYPE_CHECKING, Any

from skyrig.errors import FlightDiverged
from skyrig.flight.flight import Flight, FlightEvent
from skyrig.flight.frames import Frames
from skyrig.flight.rig import rig_data
from skyrig.flight.verdict import Verdict
from skyrig.scenario import Scenario
from skyrig.studio.hands import Hands
from skyrig.studio.history import History
from skyrig.studio.judge import Judge
from skyrig.studio.past import Moment, Past, Undo
from skyrig.studio.telling import reason

if TYPE_CHECKING:
    from skyrig.scenario.build import Built
    from skyrig.studio.live import Live

WAIT = 1 / 120
"""How often the clock looks (s)."""
SLICE = 1 / 60
"""Real time (s) that is flown at once at least: every chunk costs as much again as some ticks."""
MOST_BEHIND = 0.25
"""Real time (s) that a simulation may fall behind before it gives up catching up."""
MOST_EVENTS = 400
"""Events kept for the log."""
MOST_UNDONE = 50
"""Things done by hand that can be taken back."""
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
        self.branched = 0
        """How often a flight went on from an earlier moment."""
        self.lag = 0.0
        self.verdict: Verdict | None = None
        """What went wrong in the flight on show; None while nothing did."""
        self.history: History | None = None
        self.latest: Frames | None = None
        """The present of a live flight, which its history may pass over."""
        self._live: Live | None = None
        self._past: Past | None = None
        self._judge: Judge | None = None
        self._beyond = False
        """Whether the flight goes on past its scenario's end."""
        self._happened = 0
        """Events of the live flight, those no longer kept included."""
        self._acts: list[Any] = []
        self._undo: deque[Undo] = deque(maxlen=MOST_UNDONE)
        self._steps = 0
        self._ahead = 0.0
        """How far what is compiled now is flown at once (s)."""
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
            if self.turn(elapsed):
                last = time.perf_counter()

    def turn(self, elapsed: float) -> bool:
        """Make what is wanted, or fly or play back for `elapsed` (s of real time); whether it made any."""
        made = self._wanted is not None
        try:
            if made:
                self._make()
            elif self.recorded is not None:
                self._play_back(elapsed)
            else:
                self._fly_on(elapsed)
        except Exception as error:  # the page must say so; the thread lives on for the next scenario
            message = reason(error, "The simulation stopped")
            with self.lock:
                self.playing, self.status, self.message = False, BROKEN, message
        return made

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
            message = reason(error, "That cannot be flown")
            with self.lock:
                self.status, self.message = was, message
            return
        with self.lock:
            self._forget()
            self.scenario, self.flight, self.recorded = scenario, None, None
            self._live, self.history, self.cursor = live, History(first), None
            self._judge = Judge(rig_data(scenario.parts), scenario.spec.verdict)
            self._past = Past(Moment(0.0, first, live.saved(), None, 0))
            self.latest = first
            self.events.clear()
            self.playing, self.status, self.message = False, COMPILING, ""
            if new:
                self._uncompiled = (self.number, built, play)
            else:
                self.status, self.playing = READY, play

    def _compile(self) -> None:
        """Compile in a thread of its own: whoever opens something else need not wait."""
        while not self._over.wait(0.02):
            self.compile_one()

    def compile_one(self) -> None:
        """Compile what is open, if it is not."""
        from skyrig.studio.live import Live

        with self.lock:
            wanted, self._uncompiled = self._uncompiled, None
        if wanted is None:
            return
        number, built, play = wanted
        status, message = READY, ""
        try:
            Live(built).advance(1)
        except Exception as error:
            status, message = BROKEN, reason(error, "The simulation cannot be compiled")
        with self.lock:
            if number == self.number and self._wanted is None:
                self.status, self.message = status, message or self.message
                self.playing = play and status == READY
                if self._live is not None and status == READY:
                    self._steps, self._ahead = round(self._ahead * self._live.rate), 0.0

    def _forget(self) -> None:
        self.number += 1
        self._acts.clear()
        self._beyond, self.verdict, self._happened = False, None, 0
        self._undo.clear()
        self._steps, self._owed, self.lag = 0, 0.0, 0.0
        self._paces.clear()

    def _fly_on(self, elapsed: float) -> None:
        with self.lock:
            live = self._live
            if live is None or self.status in (BROKEN, COMPILING, ENDED):
                self._steps = 0
                return
            ticks = self._steps
            if self.playing and self.cursor is None:
                self._owed += elapsed * self.speed
                due = int(self._owed * live.rate)
                ticks += due if due >= SLICE * self.speed * live.rate else 0
            left = live.built.duration - live.time
            if left <= 1e-9 and not self._beyond:
                if self.playing and self.repeat:
                    self._wanted = (live.built.scenario, True, False)
                else:
                    self.playing, self.status = False, ENDED
                return
            if not self._beyond:
                ticks = min(ticks, max(round(left * live.rate), 1))
        began = time.perf_counter()
        while ticks > 0 and live is self._live:
            ticks -= self._fly_chunk(live, ticks)
            if time.perf_counter() - began > MOST_BEHIND:
                break
        with self.lock:
            if self.playing:
                self._paces.append((time.perf_counter(), live.time))
            over = self._owed / self.speed - MOST_BEHIND
            if over > 0:
                self.lag += over
                self._owed = MOST_BEHIND * self.speed

    def _fly_chunk(self, live: Live, ticks: int) -> int:
        """Fly up to `ticks` control ticks, keep what came of it, and say how many were flown at most."""
        from skyrig.studio.live import TICKS

        with self.lock:
            acts, self._acts = self._acts[:1], self._acts[1:]  # two at once could be at two places
        before = live.tick
        frames, found = self._advance(live, min(ticks, TICKS), acts)
        paid = live.tick - before
        with self.lock:
            if live is not self._live:
                return ticks
            assert self.history is not None and self._past is not None and self._judge is not None
            self.history.append(frames)
            self.latest = frames[-1:]
            self.events.extend(found)
            self._happened += len(found)
            stepped = min(paid, self._steps)
            self._steps -= stepped
            self._owed = max(self._owed - (paid - stepped) / live.rate, 0.0)
            wrong = self._judge.look(frames, self.events)
            held = self._judge.held
            self._past.keep(Moment(live.time, self.latest, live.saved(), held, self._happened, live.piece))
            if wrong is not None and self.verdict is None:  # it stops once; who plays on has seen it
                self.verdict, self.playing, self._steps = wrong, False, 0
                return ticks
        return paid

    def _go_back(self, time: float, hands: Any = None, acts: list[Any] | None = None) -> None:
        """Have the live flight go on from the latest moment kept that is not after `time` (s).

        With `hands` or those of then, and with `acts` still to be done.
        """
        assert self._live is not None and self._past is not None
        assert self.history is not None and self._judge is not None
        then = self._past.back_to(time)
        live = self._live.twin()  # the thread that flies may be in the middle of a chunk: it is not kept
        live.restore(then.saved)
        live.hands = live.hands if hands is None else hands
        self._live, self._judge.held = live, then.held
        self.history.forget_after(then.time)
        self.latest, self.cursor, self._acts, self._steps = then.frame, None, acts or [], 0
        for _ in range(min(self._happened - then.events, len(self.events))):
            self.events.pop()
        self._happened = then.events
        if self.verdict is not None and (self.verdict.time or 0.0) > then.time:
            self.verdict = None
        if self.status in (ENDED, BROKEN):
            self.status, self.message = READY, ""
        self._beyond = self._beyond and then.time >= live.built.duration - 1e-9
        self.branched += 1

    def _advance(self, live: Live, ticks: int, acts: list[Any]) -> tuple[Frames, list[FlightEvent]]:
        """Fly on; what hands do beyond what can be simulated is not done, so that the flight goes on."""
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
