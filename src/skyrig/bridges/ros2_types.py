"""ROS 2 messages as DDS types: the fields and names that ROS 2's own middleware gives them on the wire."""

from __future__ import annotations

from typing import Any

from cyclonedds.idl import make_idl_struct
from cyclonedds.idl.types import array, float32, float64, int32, sequence, uint8, uint32


def _type(name: str, **fields: Any) -> Any:
    """The type of a message 'package/Name' with these fields, in order."""
    package, _, own = name.partition("/")
    return make_idl_struct(own, f"{package}::msg::dds_::{own}_", fields)


_xyz: dict[str, Any] = dict.fromkeys("xyz", float64)
# the library reads the length there; types do not know that a number may stand in a subscript
_square: Any = array[float64, 36]  # pyright: ignore[reportInvalidTypeArguments]
_small: Any = array[float64, 9]  # pyright: ignore[reportInvalidTypeArguments]

Time = _type("builtin_interfaces/Time", sec=int32, nanosec=uint32)
Clock = _type("rosgraph_msgs/Clock", clock=Time)
Header = _type("std_msgs/Header", stamp=Time, frame_id=str)
Dimension = _type("std_msgs/MultiArrayDimension", label=str, size=uint32, stride=uint32)
ArrayLayout = _type("std_msgs/MultiArrayLayout", dim=sequence[Dimension], data_offset=uint32)
Float64MultiArray = _type("std_msgs/Float64MultiArray", layout=ArrayLayout, data=sequence[float64])
Vector3 = _type("geometry_msgs/Vector3", **_xyz)
Vector3Stamped = _type("geometry_msgs/Vector3Stamped", header=Header, vector=Vector3)
Point = _type("geometry_msgs/Point", **_xyz)
Quaternion = _type("geometry_msgs/Quaternion", **_xyz, w=float64)
Pose = _type("geometry_msgs/Pose", position=Point, orientation=Quaternion)
PoseWithCovariance = _type("geometry_msgs/PoseWithCovariance", pose=Pose, covariance=_square)
Twist = _type("geometry_msgs/Twist", linear=Vector3, angular=Vector3)
TwistWithCovariance = _type("geometry_msgs/TwistWithCovariance", twist=Twist, covariance=_square)
Odometry = _type(
    "nav_msgs/Odometry", header=Header, child_frame_id=str, pose=PoseWithCovariance, twist=TwistWithCovariance
)
Transform = _type("geometry_msgs/Transform", translation=Vector3, rotation=Quaternion)
TransformStamped = _type(
    "geometry_msgs/TransformStamped", header=Header, child_frame_id=str, transform=Transform
)
TFMessage = _type("tf2_msgs/TFMessage", transforms=sequence[TransformStamped])
Imu = _type(
    "sensor_msgs/Imu",
    header=Header,
    orientation=Quaternion,
    orientation_covariance=_small,
    angular_velocity=Vector3,
    angular_velocity_covariance=_small,
    linear_acceleration=Vector3,
    linear_acceleration_covariance=_small,
)
Wrench = _type("geometry_msgs/Wrench", force=Vector3, torque=Vector3)
WrenchStamped = _type("geometry_msgs/WrenchStamped", header=Header, wrench=Wrench)
AttitudeTarget = _type(
    "mavros_msgs/AttitudeTarget",
    header=Header,
    type_mask=uint8,
    orientation=Quaternion,
    body_rate=Vector3,
    thrust=float32,
)
String = _type("std_msgs/String", data=str)
PoseStamped = _type("geometry_msgs/PoseStamped", header=Header, pose=Pose)
BatteryState = _type(
    "sensor_msgs/BatteryState",
    header=Header,
    **dict.fromkeys(
        ("voltage", "temperature", "current", "charge", "capacity", "design_capacity", "percentage"), float32
    ),
    **dict.fromkeys(("power_supply_status", "power_supply_health", "power_supply_technology"), uint8),
    present=bool,
    cell_voltage=sequence[float32],
    cell_temperature=sequence[float32],
    location=str,
    serial_number=str,
)
Duration = _type("builtin_interfaces/Duration", sec=int32, nanosec=uint32)
ColorRGBA = _type("std_msgs/ColorRGBA", **dict.fromkeys("rgba", float32))
CompressedImage = _type("sensor_msgs/CompressedImage", header=Header, format=str, data=sequence[uint8])
UVCoordinate = _type("visualization_msgs/UVCoordinate", u=float32, v=float32)
MeshFile = _type("visualization_msgs/MeshFile", filename=str, data=sequence[uint8])
Marker = _type(
    "visualization_msgs/Marker",
    header=Header,
    ns=str,
    id=int32,
    type=int32,
    action=int32,
    pose=Pose,
    scale=Vector3,
    color=ColorRGBA,
    lifetime=Duration,
    frame_locked=bool,
    points=sequence[Point],
    colors=sequence[ColorRGBA],
    texture_resource=str,
    texture=CompressedImage,
    uv_coordinates=sequence[UVCoordinate],
    text=str,
    mesh_resource=str,
    mesh_file=MeshFile,
    mesh_use_embedded_materials=bool,
)
MarkerArray = _type("visualization_msgs/MarkerArray", markers=sequence[Marker])
