from skyrig.rigs.gripper.parameters import GripperMode, GripperMotion, GripperState
from skyrig.rigs.gripper.rig import SoftGripper

__all__ = ["GripperMode", "GripperMotion", "GripperState", "SoftGripper"]
