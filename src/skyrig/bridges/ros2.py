"""A session on ROS 2's wire, without ROS.

Every tick is told with its own stamp, and /clock goes with it. With `wait_for` the session flies in lockstep:
it goes on only when every vehicle's command for this very stamp has arrived.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from skyrig.bridges.autopilot import LinkLost
from skyrig.bridges.ros2_wire import Wire
from skyrig.errors import InputError
from skyrig.flight.records import TEAM
from skyrig.runs.session import Session

NAMES = ("cmd_wrench", "cmd_attitude", "cmd_pose")
CONTROL = "/simulation/control"
"""Where nodes say pause, resume or stop."""
AGAIN = 0.2
"""How often the first tick is told until somebody answers (s)."""
MOMENT = 0.0002
"""How long others are let run before it is looked again whether something came (s)."""


class Ros2:
    """A session's topics.

    Args:
        session: What is flown; its scenario has an IMU and batteries.
        wait_for: 'cmd_wrench', 'cmd_attitude' or 'cmd_pose' for lockstep; None to fly on with the latest
            command, or by the scenario's own controller until there is one.
        domain: DDS domain, ROS_DOMAIN_ID.
        network: Whether to leave the choice of interfaces to Cyclone's own settings.
        patience: How long a command is waited for (s).
    """

    def __init__(
        self,
        session: Session,
        wait_for: str | None = None,
        domain: int = 0,
        network: bool = False,
        patience: float = 60.0,
    ) -> None:
        self.wait_for = None if wait_for is None else wait_for.rpartition("/")[2]
        if self.wait_for is not None and self.wait_for not in NAMES:
            raise InputError(f"--wait-for must be {', '.join(NAMES[:-1])} or {NAMES[-1]}, not {wait_for!r}.")
        self.wire = Wire(domain, network)
        from skyrig.bridges import ros2_types
        from skyrig.bridges.ros2_commands import Commands
        from skyrig.bridges.ros2_publisher import Ros2Publisher, stamp_of

        self.session, self.patience = session, patience
        self._stamp_of = stamp_of
        self._publisher = Ros2Publisher(session, self.wire)
        self._commands = Commands(session, self.wire, self._publisher.named[TEAM])
        self._control = self.wire.reader(CONTROL, ros2_types.String)
        self._word = "resume"
        """What nodes said last."""
        self.answered = 0
        """Ticks whose commands all arrived."""

    def fly(self, progress: Callable[[float], None] = lambda time: None) -> str:
        """Fly to the end, or until somebody says stop; why it ended early, or ''."""
        session = self.session
        self.tell()
        try:
            while not session.done and self._goes_on():
                self._step()
                self.tell()
                if session.tick % 25 == 0:
                    progress(session.time)
        except LinkLost as error:
            return str(error)
        return ""

    def tell(self) -> None:
        """Publish this tick."""
        self._publisher.tick()

    def close(self) -> None:
        """Leave the wire."""
        self.wire.close()

    def _goes_on(self) -> bool:
        """Wait while the world shall stand still; whether the flight goes on then."""
        self._listen()
        stood = self._word == "pause"
        while self._word == "pause":
            time.sleep(0.01)
            self._listen()
        if stood:
            self.session.clock_anew()
        return self._word != "stop"

    def _listen(self) -> None:
        for sample in self._control.take(N=100):
            if getattr(sample, "data", None) in ("pause", "resume", "stop"):
                self._word = sample.data

    def _step(self) -> None:
        """One tick, by whoever commands."""
        if self.wait_for is not None:
            self._await(self.wait_for)
            self.answered += 1
            self._commands.fly(self.wait_for)
            return
        self._commands.take()
        word = self._commands.complete()
        if word is None:
            self.session.step()
        else:
            self._commands.fly(word)

    def _await(self, word: str) -> None:
        """Wait for every vehicle's command of this very tick."""
        now = self._stamp_of(self.session.time)
        end, again = time.monotonic() + self.patience, time.monotonic() + AGAIN
        while True:
            self._commands.take()
            late = self._commands.late(word, now)
            if late is None:
                return
            if time.monotonic() > end:
                raise LinkLost(f"/{late}/{word} had nothing for {self.patience:g} s.")
            if self.session.tick == 0 and time.monotonic() > again:
                self.tell()  # whoever comes late has not heard it
                again = time.monotonic() + AGAIN
            time.sleep(MOMENT)
