from skyrig.rigs.gripper.parameters import GripperMode, GripperMotion, GripperState
from skyrig.rigs.gripper.rig import SoftGripper
from skyrig.rigs.gripper.rod import RodGripper

__all__ = ["GripperMode", "GripperMotion", "GripperState", "RodGripper", "SoftGripper"]
