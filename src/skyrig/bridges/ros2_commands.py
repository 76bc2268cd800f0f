"""What nodes ask of vehicles on ROS 2's wire: wrenches, attitudes with thrusts, or places with yaws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np

from skyrig import control
from skyrig.algebra import as_jax
from skyrig.bridges import ros2_types as it
from skyrig.bridges.ros2_wire import Wire
from skyrig.control.interface import Target
from skyrig.control.position_loop import PositionNominal
from skyrig.runs.asked import AskedController
from skyrig.runs.session import Session
from skyrig.sensing.sensor import Numbers
from skyrig.turns import conjugate, euler_angles, multiply, vector_of

STIFFNESS = 8.0
"""Body rate over missing turn, where attitudes are commanded (1/s)."""


@runtime_checkable
class CommandKind(Protocol):
    """One kind of commands, of all vehicles."""

    type: Any
    """Of the messages."""

    def good(self, sample: Any) -> bool:
        """Whether a message is one that can be flown."""
        ...

    def fly(self, samples: Sequence[Any]) -> None:
        """A tick by the latest message of each vehicle."""
        ...


class WrenchCommands:
    """Thrust (N) and moments (N m)."""

    type = it.WrenchStamped

    def __init__(self, session: Session) -> None:
        self._session = session

    def good(self, sample: Any) -> bool:
        """Whether all numbers are finite."""
        return _finite(sample.wrench.force, sample.wrench.torque)

    def fly(self, samples: Sequence[Any]) -> None:
        """A tick with these, held."""
        thrust = np.array([one.wrench.force.z for one in samples])
        self._session.step((thrust, np.array([_xyz(one.wrench.torque) for one in samples])))


class AttitudeCommands:
    """Attitudes, and thrusts as shares of the most."""

    type = it.AttitudeTarget

    def __init__(self, session: Session) -> None:
        self._session = session
        self._most = np.array([frame.total_thrust_max for frame in session.built.team.airframes])

    def good(self, sample: Any) -> bool:
        """Whether the attitude is one and the thrust a number."""
        return _is_attitude(sample.orientation) and bool(np.isfinite(sample.thrust))

    def fly(self, samples: Sequence[Any]) -> None:
        """A tick by a loop that turns vehicles there."""
        now = np.asarray(self._session.truth.vehicles.attitude)
        missing = vector_of(multiply(conjugate(now), _wxyz([one.orientation for one in samples])))
        thrust = self._most * np.clip([one.thrust for one in samples], 0.0, 1.0)
        self._session.step(thrust=thrust, rates=STIFFNESS * missing)


class PoseCommands:
    """Places and yaws, which the controller called 'vehicle' holds."""

    type = it.PoseStamped

    def __init__(self, session: Session) -> None:
        self._session = session
        self._controller: AskedController | None = None

    def good(self, sample: Any) -> bool:
        """Whether it is a pose."""
        return _finite(sample.pose.position) and _is_attitude(sample.pose.orientation)

    def fly(self, samples: Sequence[Any]) -> None:
        """A tick by geometric control of every vehicle; what hangs on it is a weight it knows of."""
        if self._controller is None:
            built, loop = self._session.built, self._session.scenario.spec.loop
            clock = {"period": 1 / loop.control_rate, "lag": loop.rotor_lag, "delay": loop.delay}
            team = built.believed
            law = control.build("vehicle", team.rig, team.airframes, **clock)
            self._controller = AskedController(self._session, law)
        places = np.array([_xyz(one.pose.position) for one in samples])
        yaw = euler_angles(_wxyz([one.pose.orientation for one in samples]))[:, 2]
        self._session.step(self._controller(_at_rest(places, yaw)))


KINDS: Mapping[str, Any] = {
    "cmd_wrench": WrenchCommands,
    "cmd_attitude": AttitudeCommands,
    "cmd_pose": PoseCommands,
}
"""By the last part of a topic's name; where nodes send several kinds, the first of them counts."""


class Commands:
    """The latest of every kind and vehicle.

    Args:
        session: What is flown.
        wire: Where commands come from.
        team: The vehicles' names.
    """

    def __init__(self, session: Session, wire: Wire, team: Sequence[str]) -> None:
        self._team = tuple(team)
        self._kinds: dict[str, CommandKind] = {word: make(session) for word, make in KINDS.items()}
        self._readers = {
            word: [wire.reader(f"/{name}/{word}", kind.type) for name in team]
            for word, kind in self._kinds.items()
        }
        self._latest: dict[str, list[Any]] = {word: [None] * len(self._team) for word in KINDS}

    def take(self) -> None:
        """Keep the latest good command of every vehicle."""
        for word, kind in self._kinds.items():
            for k, reader in enumerate(self._readers[word]):
                for sample in reader.take(N=100):
                    if hasattr(sample, "header") and kind.good(sample):
                        self._latest[word][k] = sample

    def complete(self) -> str | None:
        """The first kind that every vehicle has been sent; None if there is none."""
        return next((word for word, them in self._latest.items() if None not in them), None)

    def late(self, word: str, stamp: Any) -> str | None:
        """The first vehicle without a command of that kind that bears this stamp; None if all have one."""
        for name, one in zip(self._team, self._latest[word], strict=True):
            if one is None or (one.header.stamp.sec, one.header.stamp.nanosec) != (stamp.sec, stamp.nanosec):
                return name
        return None

    def fly(self, word: str) -> None:
        """A tick by the latest of a kind."""
        self._kinds[word].fly(self._latest[word])


def _at_rest(places: Numbers, yaw: Numbers) -> Target:
    """A target for vehicles that shall be at places and stay there, (n, 3) m and (n,) rad."""
    n = len(places)
    position = np.zeros((4, 3, n))
    position[0] = places.T
    heading = np.stack([np.cos(yaw), np.sin(yaw), np.zeros(n)])
    parts = position, heading, np.zeros(n), np.zeros((2, 3, n))
    return Target(None, None, PositionNominal(*(as_jax(part) for part in parts)))


def _xyz(thing: Any) -> tuple[float, float, float]:
    return thing.x, thing.y, thing.z


def _wxyz(quaternions: Sequence[Any]) -> Numbers:
    found = np.array([[q.w, q.x, q.y, q.z] for q in quaternions])
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def _finite(*vectors: Any) -> bool:
    return bool(np.isfinite([_xyz(it) for it in vectors]).all())


def _is_attitude(quaternion: Any) -> bool:
    size = np.linalg.norm([*_xyz(quaternion), quaternion.w])
    return bool(abs(size - 1.0) < 1e-3)
