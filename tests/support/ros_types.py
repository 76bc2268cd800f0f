"""ROS 2's messages, their fields written again from its interface definitions: nothing of skyrig."""

from dataclasses import dataclass

from cyclonedds.idl import IdlStruct
from cyclonedds.idl.types import array, float32, float64, int32, sequence, uint8, uint32


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


@dataclass
class PoS(IdlStruct, typename="geometry_msgs::msg::dds_::PoseStamped_"):
    header: Head
    pose: P


@dataclass
class VS(IdlStruct, typename="geometry_msgs::msg::dds_::Vector3Stamped_"):
    header: Head
    vector: Vec


@dataclass
class Att(IdlStruct, typename="mavros_msgs::msg::dds_::AttitudeTarget_"):
    header: Head
    type_mask: uint8
    orientation: Quat
    body_rate: Vec
    thrust: float32


@dataclass
class Str(IdlStruct, typename="std_msgs::msg::dds_::String_"):
    data: str


@dataclass
class Dim(IdlStruct, typename="std_msgs::msg::dds_::MultiArrayDimension_"):
    label: str
    size: uint32
    stride: uint32


@dataclass
class Lay(IdlStruct, typename="std_msgs::msg::dds_::MultiArrayLayout_"):
    dim: sequence[Dim]
    data_offset: uint32


@dataclass
class F64s(IdlStruct, typename="std_msgs::msg::dds_::Float64MultiArray_"):
    layout: Lay
    data: sequence[float64]


@dataclass
class Bat(IdlStruct, typename="sensor_msgs::msg::dds_::BatteryState_"):
    header: Head
    voltage: float32
    temperature: float32
    current: float32
    charge: float32
    capacity: float32
    design_capacity: float32
    percentage: float32
    power_supply_status: uint8
    power_supply_health: uint8
    power_supply_technology: uint8
    present: bool
    cell_voltage: sequence[float32]
    cell_temperature: sequence[float32]
    location: str
    serial_number: str


@dataclass
class Dur(IdlStruct, typename="builtin_interfaces::msg::dds_::Duration_"):
    sec: int32
    nanosec: uint32


@dataclass
class Rgba(IdlStruct, typename="std_msgs::msg::dds_::ColorRGBA_"):
    r: float32
    g: float32
    b: float32
    a: float32


@dataclass
class Img(IdlStruct, typename="sensor_msgs::msg::dds_::CompressedImage_"):
    header: Head
    format: str
    data: sequence[uint8]


@dataclass
class Uv(IdlStruct, typename="visualization_msgs::msg::dds_::UVCoordinate_"):
    u: float32
    v: float32


@dataclass
class Mesh(IdlStruct, typename="visualization_msgs::msg::dds_::MeshFile_"):
    filename: str
    data: sequence[uint8]


@dataclass
class Mark(IdlStruct, typename="visualization_msgs::msg::dds_::Marker_"):
    header: Head
    ns: str
    id: int32
    type: int32
    action: int32
    pose: P
    scale: Vec
    color: Rgba
    lifetime: Dur
    frame_locked: bool
    points: sequence[Pnt]
    colors: sequence[Rgba]
    texture_resource: str
    texture: Img
    uv_coordinates: sequence[Uv]
    text: str
    mesh_resource: str
    mesh_file: Mesh
    mesh_use_embedded_materials: bool


@dataclass
class Marks(IdlStruct, typename="visualization_msgs::msg::dds_::MarkerArray_"):
    markers: sequence[Mark]


EVERY = {
    "/clock": ClockMsg,
    "/tf": Tf,
    "/payload/odometry": Odo,
    "/payload/pose": PoS,
    "/payload/reference": PoS,
    "/payload/reference_velocity": VS,
    "/vehicle0/odometry": Odo,
    "/vehicle0/pose": PoS,
    "/vehicle0/imu": ImuMsg,
    "/vehicle0/reference": PoS,
    "/vehicle0/reference_velocity": VS,
    "/signals/cable/tension": F64s,
    "/vehicle0/battery": Bat,
    "/markers": Marks,
    "/events": Str,
}
"""What is told of one vehicle and its load: all but the last three at every tick."""
