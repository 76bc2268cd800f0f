"""A ROS 2 node in a process of its own, with types of its own (`ros_types.py`).

python ros_node.py fly DOMAIN          a controller of one vehicle, by wrenches
python ros_node.py steer DOMAIN        the same: position and yaw reference in, attitude and thrust out
python ros_node.py lead DOMAIN         a planner: sends the vehicle half a metre up, nose to the left
python ros_node.py listen DOMAIN N     takes every topic until N ticks of /clock, then prints JSON
"""

import json
import sys
import time

import numpy as np
from cyclonedds.core import Policy, Qos
from cyclonedds.domain import Domain, DomainParticipant
from cyclonedds.pub import DataWriter
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic
from ros_types import EVERY, VS, WS, Att, Head, Odo, P, Pnt, PoS, Quat, Str, Vec, W

CONFIG = """<CycloneDDS><Domain id='any'><General><Interfaces><NetworkInterface name='lo' multicast='false'/>
</Interfaces><AllowMulticast>false</AllowMulticast></General>
<Discovery><Peers><Peer address='127.0.0.1'/></Peers>
<ParticipantIndex>auto</ParticipantIndex><MaxAutoParticipantIndex>60</MaxAutoParticipantIndex></Discovery>
</Domain></CycloneDDS>"""


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

    wanted = EVERY if task == "listen" else {"/clock": EVERY["/clock"], "/vehicle0/odometry": Odo}
    heard = {topic: reader(f"rt{topic}", kind) for topic, kind in wanted.items()}

    def writer(topic: str, kind) -> DataWriter:
        return DataWriter(participant, Topic(participant, topic, kind, qos=QOS), qos=QOS)

    if task == "listen":
        listen(heard, int(sys.argv[3]))
    elif task == "fly":
        fly(heard, writer("rt/vehicle0/cmd_wrench", WS))
    elif task == "lead":
        lead(heard, writer("rt/vehicle0/cmd_pose", PoS), writer("rt/simulation/control", Str))
    else:
        goals = reader("rt/vehicle0/reference", PoS), reader("rt/vehicle0/reference_velocity", VS)
        steer(heard, goals, writer("rt/vehicle0/cmd_attitude", Att))


def listen(heard, ticks: int) -> None:
    got: dict[str, list] = {topic: [] for topic in heard}
    end = time.monotonic() + 60
    while len({told(it) for it in got["/clock"]}) < ticks and time.monotonic() < end:
        for topic, it in heard.items():
            got[topic] += it.take(N=1000)
        time.sleep(0.001)
    tension = [list(it.data) for it in got["/signals/cable/tension"]]
    events = [json.loads(it.data)["kind"] for it in got["/events"]]
    drawn = sorted({one.ns for them in got["/markers"] for one in them.markers})
    power = [[it.present, it.voltage, it.current] for it in got["/vehicle0/battery"]]
    places = [[p.x, p.y, p.z] for p in (it.pose.position for it in got["/payload/pose"])]
    stamps = {topic: [told(it) for it in them] for topic, them in got.items()}
    values = {"tension": tension, "events": events, "drawn": drawn, "power": power, "places": places}
    print(json.dumps({"stamps": stamps, **values}))


def told(sample) -> int | None:
    """When a sample is of (ns); None if it does not say."""
    if hasattr(sample, "clock"):
        stamp = sample.clock
    elif hasattr(sample, "transforms"):
        stamp = sample.transforms[0].header.stamp
    elif hasattr(sample, "header"):
        stamp = sample.header.stamp
    else:
        return None
    return stamp.sec * 10**9 + stamp.nanosec


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


def each_tick(reader):
    """The latest message, as soon as there is one, until nothing comes for 20 s."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        got = reader.take(N=1000)
        if got:
            end = time.monotonic() + 20
            yield got[-1]
        time.sleep(0.0002)


def attitude(z: np.ndarray, yaw: float) -> Quat:
    """Of a body whose z axis points there and whose nose has that heading."""
    z = z / np.linalg.norm(z)
    y = np.cross(z, [np.cos(yaw), np.sin(yaw), 0.0])
    y /= np.linalg.norm(y)
    m = np.array([np.cross(y, z), y, z]).T
    w = np.sqrt(max(1 + np.trace(m), 1e-9)) / 2
    x, y, z = (m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]) / (4 * w)
    return Quat(float(x), float(y), float(z), float(w))


def heading(q: Quat) -> float:
    return np.arctan2(2 * (q.w * q.z + q.x * q.y), 1 - 2 * (q.y**2 + q.z**2))


def steer(heard, goals, writer) -> None:
    """Follow the reference of the vehicle, a load on the cable, by attitude and thrust."""
    weight, most, goal, speed, missed = 0.32 * 9.81, None, None, np.zeros(3), np.zeros(3)
    most = 4 * float(sys.argv[3])
    for it in each_tick(heard["/vehicle0/odometry"]):
        for told in goals[0].take(N=1000):
            goal = told.pose
        for told in goals[1].take(N=1000):
            speed = vec(told.vector)
        if goal is None:
            continue
        turned = rotation(it.pose.pose.orientation)
        velocity = turned @ vec(it.twist.twist.linear)
        off = vec(goal.position) - vec(it.pose.pose.position)
        missed = np.clip(missed + 0.01 * off, -0.5, 0.5)
        pull = weight / 9.81 * (4.0 * off + 3.0 * (speed - velocity) + 1.0 * missed + [0, 0, 9.81])
        share = float(pull @ turned[:, 2]) / most
        aim = attitude(pull, heading(goal.orientation))
        writer.write(Att(Head(it.header.stamp, "vehicle0"), 7, aim, Vec(0.0, 0.0, 0.0), share))


def lead(heard, writer, control) -> None:
    """Tell the place to be at; after a second of flight, that it is enough."""
    home, left = None, attitude(np.array([0.0, 0.0, 1.0]), np.pi / 2)
    for it in each_tick(heard["/vehicle0/odometry"]):
        place = it.pose.pose.position
        home = place if home is None else home
        goal = P(Pnt(home.x, home.y, home.z + 0.5), left)
        stamp = it.header.stamp
        if stamp.sec >= 2:
            control.write(Str("stop"))
        writer.write(PoS(Head(stamp, "map"), goal))


if __name__ == "__main__":
    main()
