"""A session on ROS 2's wire, without ROS: topics by DDS (Cyclone), under the names that ROS 2 gives them.

Every tick is told with its own stamp, and /clock goes with it. With `wait_for` the session flies in lockstep:
it goes on only when every vehicle's command for this very stamp has arrived.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from skyrig.bridges.autopilot import LinkLost
from skyrig.bridges.ros_messages import MAP
from skyrig.bridges.scene import names
from skyrig.errors import InputError
from skyrig.flight.records import TEAM
from skyrig.flight.rig import rig_data
from skyrig.runs.session import Session
from skyrig.sensing.sensor import Numbers
from skyrig.turns import conjugate, multiply, turn, vector_of

WRENCH, ATTITUDE = "cmd_wrench", "cmd_attitude"
COMMANDS = (WRENCH, ATTITUDE)
DEPTH = 1000
"""Samples that are kept for readers that are behind."""
STIFFNESS = 8.0
"""Body rate over missing turn, where attitudes are commanded (1/s)."""
DRAWN, SHOWN = 1 / 30, 1.0
"""How often cables are drawn, and bodies (s)."""
AGAIN = 0.2
"""How often the first tick is told until somebody answers (s)."""
LOOPBACK = """
<General><Interfaces><NetworkInterface name="lo" multicast="false"/></Interfaces>
<AllowMulticast>false</AllowMulticast></General>
<Discovery><Peers><Peer address="127.0.0.1"/></Peers><ParticipantIndex>auto</ParticipantIndex>
<MaxAutoParticipantIndex>60</MaxAutoParticipantIndex></Discovery>
"""
"""Cyclone on this machine alone: no other interface, no multicast."""


class Ros2:
    """A session's topics.

    Args:
        session: What is flown; its scenario has an IMU.
        wait_for: 'cmd_wrench' or 'cmd_attitude' for lockstep; None to fly on with the latest command, or by
            the scenario's own controller until there is one.
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
        if wait_for is not None and wait_for.rpartition("/")[2] not in COMMANDS:
            raise InputError(f"--wait-for must be {WRENCH} or {ATTITUDE}, not {wait_for!r}.")
        try:
            from cyclonedds.core import Policy, Qos
            from cyclonedds.domain import Domain, DomainParticipant
        except ImportError:
            raise InputError(
                "ROS 2 needs cyclonedds, which is not installed: pip install 'skyrig[ros2]'."
            ) from None
        from skyrig.bridges import ros2_markers, ros2_types

        self.types: Any = ros2_types
        self._draw: Any = ros2_markers
        self.session, self.patience = session, patience
        self.wait_for = None if wait_for is None else wait_for.rpartition("/")[2]
        self.answered = 0
        """Ticks whose commands all arrived."""
        seconds = 10 * 10**9
        self._qos = Qos(
            Policy.Reliability.Reliable(seconds),
            Policy.Durability.Volatile,
            Policy.History.KeepLast(DEPTH),
            Policy.DataRepresentation(use_cdrv0_representation=True),
        )
        own = f"<CycloneDDS><Domain id='any'>{LOOPBACK}</Domain></CycloneDDS>"
        self._domain = None if network else Domain(domain, own)
        self._participant: Any = DomainParticipant(domain)
        self._writers: dict[str, Any] = {}
        frames = session.built.team.airframes
        self._most = np.array([frame.total_thrust_max for frame in frames])
        self._rig = rig_data(session.scenario.parts)
        self._named = names(self._rig)
        self._due = {"drawn": 0.0, "shown": 0.0}
        """When cables, and bodies and batteries, are told next (s)."""
        team = self._named[TEAM]
        kinds = {WRENCH: ros2_types.WrenchStamped, ATTITUDE: ros2_types.AttitudeTarget}
        self._readers = {
            word: [self._reader(f"/{name}/{word}", kind) for name in team] for word, kind in kinds.items()
        }
        self._latest: dict[str, list[Any]] = {word: [None] * len(team) for word in COMMANDS}

    def fly(self, progress: Callable[[float], None] = lambda time: None) -> str:
        """Fly to the end; why it ended early, or ''."""
        session = self.session
        self.tell()
        try:
            while not session.done:
                self._step()
                self.tell()
                if session.tick % 25 == 0:
                    progress(session.time)
        except LinkLost as error:
            return str(error)
        return ""

    def tell(self) -> None:
        """Publish this tick."""
        it, session = self.types, self.session
        truth, stamp = session.truth, self._stamp(session.time)
        header = it.Header(stamp, MAP)
        frames = []
        for group, named in self._named.items():
            track = truth.bodies[group]
            for k, name in enumerate(named):
                place, velocity, turned, rate = (np.asarray(leaf)[k] for leaf in vars(track).values())
                spot, quaternion = self._floats(place), self._quaternion(turned)
                own = turn(conjugate(turned), velocity)
                pose = it.PoseWithCovariance(it.Pose(it.Point(*spot), quaternion), [0.0] * 36)
                twist = it.Twist(it.Vector3(*self._floats(own)), it.Vector3(*self._floats(rate)))
                told = it.Odometry(header, name, pose, it.TwistWithCovariance(twist, [0.0] * 36))
                self._write(f"/{name}/odometry", told)
                self._write(f"/{name}/pose", it.PoseStamped(header, pose.pose))
                moved = it.Transform(it.Vector3(*spot), quaternion)
                frames.append(it.TransformStamped(header, name, moved))
        for k, name in enumerate(self._named[TEAM]):
            self._write(f"/{name}/imu", self._imu(stamp, name, k))
        layout = it.ArrayLayout([], 0)
        self._write("/signals/cable/tension", it.Float64MultiArray(layout, self._floats(truth.tension)))
        self._write("/tf", it.TFMessage(frames))
        self._now_and_then(truth, stamp)
        self._write("/clock", it.Clock(stamp))  # last: whoever has it has all

    def _now_and_then(self, truth: Any, stamp: Any) -> None:
        """What need not be told at every tick: drawings, and that there are no batteries."""
        now, markers = self.session.time, []
        if self._is_due("shown", now, SHOWN):
            markers += self._draw.bodies(self._rig, stamp)
            for name in self._named[TEAM]:
                self._write(f"/{name}/battery", self._battery(stamp, name))
        if self._is_due("drawn", now, DRAWN):
            markers += self._draw.cables(self._rig, truth.bodies, stamp)
        if markers:
            self._write("/markers", self.types.MarkerArray(markers))

    def _is_due(self, what: str, now: float, period: float) -> bool:
        due = now >= self._due[what] - 1e-9 or now == 0.0
        if due:
            self._due[what] = now + period
        return due

    def _battery(self, stamp: Any, name: str) -> Any:
        """None: rotors here draw on nothing that runs out."""
        blank = [math.nan] * 7
        return self.types.BatteryState(self.types.Header(stamp, name), *blank, 0, 0, 0, False, [], [], "", "")

    def close(self) -> None:
        """Leave the wire."""
        self._writers, self._readers = {}, {}
        self._participant = self._domain = None

    def _step(self) -> None:
        """One tick, by whoever commands."""
        if self.wait_for is not None:
            self._await(self.wait_for)
            self.answered += 1
            self._fly(self.wait_for)
            return
        for word in COMMANDS:
            self._take(word)
        word = next((it for it in COMMANDS if all(one is not None for one in self._latest[it])), None)
        if word is None:
            self.session.step()
        else:
            self._fly(word)

    def _fly(self, word: str) -> None:
        given = self._latest[word]
        if word == WRENCH:
            thrust = np.array([one.wrench.force.z for one in given])
            torque = [[one.wrench.torque.x, one.wrench.torque.y, one.wrench.torque.z] for one in given]
            self.session.step((thrust, np.array(torque)))
            return
        truth = self.session.truth.vehicles
        wanted = np.array(
            [[one.orientation.w, one.orientation.x, one.orientation.y, one.orientation.z] for one in given]
        )
        missing = vector_of(multiply(conjugate(np.asarray(truth.attitude)), wanted))
        thrust = self._most * np.clip([one.thrust for one in given], 0.0, 1.0)
        self.session.step(thrust=thrust, rates=STIFFNESS * missing)

    def _await(self, word: str) -> None:
        """Wait for every vehicle's command of this very tick."""
        now = self._stamp(self.session.time)
        end, again = time.monotonic() + self.patience, time.monotonic() + AGAIN
        while True:
            self._take(word)
            late = [
                name
                for name, one in zip(self._named[TEAM], self._latest[word], strict=True)
                if one is None or (one.header.stamp.sec, one.header.stamp.nanosec) != (now.sec, now.nanosec)
            ]
            if not late:
                return
            if time.monotonic() > end:
                raise LinkLost(f"/{late[0]}/{word} had nothing for {self.patience:g} s.")
            if self.session.tick == 0 and time.monotonic() > again:
                self.tell()  # whoever comes late has not heard it
                again = time.monotonic() + AGAIN
            self._rest()

    def _rest(self) -> None:
        """Let others run for a moment."""
        time.sleep(0.0002)

    def _take(self, word: str) -> None:
        """Keep the latest good command of every vehicle."""
        for k, reader in enumerate(self._readers[word]):
            for sample in reader.take(N=100):
                if hasattr(sample, "header") and _finite(sample):
                    self._latest[word][k] = sample

    def _imu(self, stamp: Any, name: str, k: int) -> Any:
        it, values = self.types, self.session.sensors["imu"].values
        gyro, accel = (self._floats(values[f"imu.{word}"][k]) for word in ("gyro", "accel"))
        unknown = [-1.0, *[0.0] * 8]  # as sensor_msgs says that there is no attitude
        header = it.Header(stamp, name)
        blank = it.Quaternion(0.0, 0.0, 0.0, 1.0)
        none = [0.0] * 9
        return it.Imu(header, blank, unknown, it.Vector3(*gyro), none, it.Vector3(*accel), none)

    def _write(self, topic: str, message: Any) -> None:
        if topic not in self._writers:
            from cyclonedds.pub import DataWriter
            from cyclonedds.topic import Topic

            place = Topic(self._participant, f"rt{topic}", type(message), qos=self._qos)
            self._writers[topic] = DataWriter(self._participant, place, qos=self._qos)
        self._writers[topic].write(message)

    def _reader(self, topic: str, kind: Any) -> Any:
        from cyclonedds.sub import DataReader
        from cyclonedds.topic import Topic

        return DataReader(
            self._participant, Topic(self._participant, f"rt{topic}", kind, qos=self._qos), qos=self._qos
        )

    def _stamp(self, seconds: float) -> Any:
        nanoseconds = round(seconds * 1e9)
        return self.types.Time(nanoseconds // 10**9, nanoseconds % 10**9)

    def _quaternion(self, wxyz: Numbers) -> Any:
        w, x, y, z = self._floats(wxyz)
        return self.types.Quaternion(x, y, z, w)

    @staticmethod
    def _floats(values: Any) -> list[float]:
        return [float(it) for it in values]


def _finite(sample: Any) -> bool:
    """Whether all numbers of a command are numbers, and an attitude is one."""
    wrench = getattr(sample, "wrench", None)
    if wrench is not None:
        parts = [*vars(wrench.force).values(), *vars(wrench.torque).values()]
        return bool(np.isfinite(parts).all())
    parts = [*vars(sample.orientation).values(), sample.thrust]
    return bool(np.isfinite(parts).all() and abs(np.linalg.norm(parts[:4]) - 1.0) < 1e-3)
