"""A ROS 2 node in a process of its own, its types written again from ROS 2's interface definitions.

python ros_node.py fly DOMAIN          a controller of one vehicle, by wrenches
python ros_node.py listen DOMAIN N     counts what it hears until N ticks of /clock, then prints JSON
"""

import json
import sys
import time
from dataclasses import dataclass

import numpy as np
from cyclonedds.core import Policy, Qos
from cyclonedds.domain import Domain, DomainParticipant
from cyclonedds.idl import IdlStruct
from cyclonedds.idl.types import array, float64, int32, sequence, uint32
from cyclonedds.pub import DataWriter
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic

CONFIG = """<CycloneDDS><Domain id='any'><General><Interfaces><NetworkInterface name='lo' multicast='false'/>
</Interfaces><AllowMulticast>false</AllowMulticast></General>
<Discovery><Peers><Peer address='127.0.0.1'/></Peers>
<ParticipantIndex>auto</ParticipantIndex><MaxAutoParticipantIndex>60</MaxAutoParticipantIndex></Discovery>
</Domain></CycloneDDS>"""


@dataclass
class Stamp(IdlStruct, typename="builtin_interfaces::msg::dds_::Time_"):
    sec: int32
    nanosec: uint32


@dataclass
class ClockMsg(IdlStruct, typename="rosgraph_msgs::msg::dds_::Clock_"):
    clock: Stamp


@dataclass
class Head(IdlStruct, typename="std_msgs::msg::dds_::Header_"):
    stamp: Stamp
    frame_id: str


@dataclass
class Vec(IdlStruct, typename="geometry_msgs::msg::dds_::Vector3_"):
    x: float64
    y: float64
    z: float64


@dataclass
class Pnt(IdlStruct, typename="geometry_msgs::msg::dds_::Point_"):
    x: float64
    y: float64
    z: float64


@dataclass
class Quat(IdlStruct, typename="geometry_msgs::msg::dds_::Quaternion_"):
    x: float64
    y: float64
    z: float64
    w: float64


@dataclass
class P(IdlStruct, typename="geometry_msgs::msg::dds_::Pose_"):
    position: Pnt
    orientation: Quat


@dataclass
class PC(IdlStruct, typename="geometry_msgs::msg::dds_::PoseWithCovariance_"):
    pose: P
    covariance: array[float64, 36]


@dataclass
class T(IdlStruct, typename="geometry_msgs::msg::dds_::Twist_"):
    linear: Vec
    angular: Vec


@dataclass
class TC(IdlStruct, typename="geometry_msgs::msg::dds_::TwistWithCovariance_"):
    twist: T
    covariance: array[float64, 36]


@dataclass
class Odo(IdlStruct, typename="nav_msgs::msg::dds_::Odometry_"):
    header: Head
    child_frame_id: str
    pose: PC
    twist: TC


@dataclass
class Tr(IdlStruct, typename="geometry_msgs::msg::dds_::Transform_"):
    translation: Vec
    rotation: Quat


@dataclass
class TrS(IdlStruct, typename="geometry_msgs::msg::dds_::TransformStamped_"):
    header: Head
    child_frame_id: str
    transform: Tr


@dataclass
class Tf(IdlStruct, typename="tf2_msgs::msg::dds_::TFMessage_"):
    transforms: sequence[TrS]


@dataclass
class ImuMsg(IdlStruct, typename="sensor_msgs::msg::dds_::Imu_"):
    header: Head
    orientation: Quat
    orientation_covariance: array[float64, 9]
    angular_velocity: Vec
    angular_velocity_covariance: array[float64, 9]
    linear_acceleration: Vec
    linear_acceleration_covariance: array[float64, 9]


@dataclass
class W(IdlStruct, typename="geometry_msgs::msg::dds_::Wrench_"):
    force: Vec
    torque: Vec


@dataclass
class WS(IdlStruct, typename="geometry_msgs::msg::dds_::WrenchStamped_"):
    header: Head
    wrench: W


QOS = Qos(
    Policy.Reliability.Reliable(10 * 10**9),
    Policy.History.KeepAll,
    Policy.DataRepresentation(use_cdrv0_representation=True),
)


def rotation(q: Quat) -> np.ndarray:
    w, x, y, z = q.w, q.x, q.y, q.z
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def vec(it) -> np.ndarray:
    return np.array([it.x, it.y, it.z])


def main() -> None:
    task, domain = sys.argv[1], int(sys.argv[2])
    own = Domain(domain, CONFIG)  # held: its settings go when it goes
    participant = DomainParticipant(domain)
    assert own is not None

    def reader(topic: str, kind) -> DataReader:
        return DataReader(participant, Topic(participant, topic, kind, qos=QOS), qos=QOS)

    heard = {
        "/clock": reader("rt/clock", ClockMsg),
        "/tf": reader("rt/tf", Tf),
        "/vehicle0/imu": reader("rt/vehicle0/imu", ImuMsg),
        "/vehicle0/odometry": reader("rt/vehicle0/odometry", Odo),
        "/payload/odometry": reader("rt/payload/odometry", Odo),
    }
    if task == "listen":
        listen(heard, int(sys.argv[3]))
    else:
        writer = DataWriter(participant, Topic(participant, "rt/vehicle0/cmd_wrench", WS, qos=QOS), qos=QOS)
        fly(heard, writer)


def listen(heard, ticks: int) -> None:
    got: dict[str, list] = {topic: [] for topic in heard}
    end = time.monotonic() + 60
    while len(set(got["/clock"])) < ticks and time.monotonic() < end:
        for topic, it in heard.items():
            for sample in it.take(N=1000):
                if topic == "/clock":
                    stamp = sample.clock
                elif topic == "/tf":
                    stamp = sample.transforms[0].header.stamp
                else:
                    stamp = sample.header.stamp
                got[topic].append(stamp.sec * 10**9 + stamp.nanosec)
                last = sample
        time.sleep(0.001)
    print(json.dumps({"stamps": got, "last": type(last).__name__}))


def fly(heard, writer) -> None:
    """Hold the place where it is first seen, with a load on the cable."""
    mass, load, inertia, home = 0.25, 0.07, np.diag([0.601e-3, 0.589e-3, 1.076e-3]), None
    end, last = time.monotonic() + 60, -1
    while time.monotonic() < end:
        clock = heard["/clock"].take(N=1000)
        own = heard["/vehicle0/odometry"].take(N=1000)
        if not own:
            time.sleep(0.0002)
            continue
        end = time.monotonic() + 20
        it = own[-1]
        stamp = it.header.stamp
        turned = rotation(it.pose.pose.orientation)
        place, rate = vec(it.pose.pose.position), vec(it.twist.twist.angular)
        velocity = turned @ vec(it.twist.twist.linear)
        home = place if home is None else home
        pull = (mass + load) * (4.0 * (home - place) - 3.0 * velocity + [0, 0, 9.81])
        up = turned[:, 2]
        missing = turned.T @ np.cross(up, pull / np.linalg.norm(pull))
        torque = inertia @ (400.0 * missing - 40.0 * rate)
        wrench = W(Vec(0.0, 0.0, float(up @ pull)), Vec(*(float(x) for x in torque)))
        writer.write(WS(Head(stamp, "vehicle0"), wrench))
        last = max([last, *(c.clock.sec for c in clock)])


if __name__ == "__main__":
    main()
