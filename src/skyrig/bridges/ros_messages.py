"""ROS 2 messages of a rig, made and coded by rosbags: names and frames after REP 103 and 105.

The world is `map`, each body its own frame: `payload`, `vehicle0`. Quaternions are xyzw there.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import numpy as np

from skyrig.errors import InputError
from skyrig.turns import conjugate, turn

MAP = "map"
NEED = "logs need what is not installed: pip install 'skyrig[logs]'."


@cache
def store() -> Any:
    """Definitions of ROS 2's common messages."""
    try:
        from rosbags.typesys import Stores, get_typestore
    except ImportError:
        raise InputError(NEED) from None
    return get_typestore(Stores.ROS2_HUMBLE)


def definition(kind: str) -> str:
    """The text of a message's definition, those it is made of included."""
    return str(store().generate_msgdef(kind, ros_version=2)[0])


def coded(message: Any) -> bytes:
    """A message as ROS 2 writes it (CDR, little endian)."""
    return bytes(store().serialize_cdr(message, message.__msgtype__))


def _make(kind: str, *fields: Any) -> Any:
    return store().types[kind](*fields)


def stamp(time: float) -> Any:
    """Seconds as seconds and nanoseconds."""
    nanoseconds = nanoseconds_of(time)
    return _make("builtin_interfaces/msg/Time", nanoseconds // 10**9, nanoseconds % 10**9)


def nanoseconds_of(time: float) -> int:
    """Seconds in nanoseconds."""
    return round(time * 1e9)


def header(time: float, frame: str = MAP) -> Any:
    """When, and in which frame."""
    return _make("std_msgs/msg/Header", stamp(time), frame)


def vector(values: Any) -> Any:
    """Three numbers."""
    return _make("geometry_msgs/msg/Vector3", *(float(it) for it in values))


def _point(values: Any) -> Any:
    return _make("geometry_msgs/msg/Point", *(float(it) for it in values))


def _quaternion(wxyz: Any) -> Any:
    w, x, y, z = (float(it) for it in wxyz)
    return _make("geometry_msgs/msg/Quaternion", x, y, z, w)


def pose(position: Any, attitude: Any) -> Any:
    """Where, and how turned."""
    return _make("geometry_msgs/msg/Pose", _point(position), _quaternion(attitude))


def pose_stamped(time: float, position: Any, attitude: Any) -> Any:
    """A pose in the world at a time."""
    return _make("geometry_msgs/msg/PoseStamped", header(time), pose(position, attitude))


def odometry(time: float, frame: str, position: Any, velocity: Any, attitude: Any, rate: Any) -> Any:
    """A body: its pose in the world, its velocity and rate in its own frame, as nav_msgs has it."""
    own = turn(conjugate(np.asarray(attitude)), np.asarray(velocity))
    twist = _make("geometry_msgs/msg/Twist", vector(own), vector(rate))
    none = np.zeros(36)
    where = _make("geometry_msgs/msg/PoseWithCovariance", pose(position, attitude), none)
    moves = _make("geometry_msgs/msg/TwistWithCovariance", twist, none)
    return _make("nav_msgs/msg/Odometry", header(time), frame, where, moves)


def transforms(time: float, frames: list[tuple[str, Any, Any]]) -> Any:
    """Where frames are in the world: name, position and attitude of each."""
    found = [
        _make(
            "geometry_msgs/msg/TransformStamped",
            header(time),
            name,
            _make("geometry_msgs/msg/Transform", vector(position), _quaternion(attitude)),
        )
        for name, position, attitude in frames
    ]
    return _make("tf2_msgs/msg/TFMessage", found)


def vector_stamped(time: float, frame: str, values: Any) -> Any:
    """A vector in a frame at a time."""
    return _make("geometry_msgs/msg/Vector3Stamped", header(time, frame), vector(values))


def wrench(time: float, frame: str, force: Any, torque: Any) -> Any:
    """A force (N) and a torque (N m) in a frame at a time."""
    both = _make("geometry_msgs/msg/Wrench", vector(force), vector(torque))
    return _make("geometry_msgs/msg/WrenchStamped", header(time, frame), both)


def numbers(values: Any) -> Any:
    """A row of numbers."""
    layout = _make("std_msgs/msg/MultiArrayLayout", [], 0)
    return _make("std_msgs/msg/Float64MultiArray", layout, np.asarray(values, dtype=np.float64))


def event_text(event: Any) -> str:
    """An event of a flight as JSON."""
    told = {"kind": event.kind, "owner": event.owner, "index": event.index, "value": event.value}
    return json.dumps({"time": event.time, **told, "unit": event.unit})


def text(words: str) -> Any:
    """Words."""
    return _make("std_msgs/msg/String", words)
