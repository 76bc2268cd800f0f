"""Sensors: what instruments read of a rig."""

from skyrig.sensing.sensor import Carrier, Quantity, Reading, Sensor, Sensors, SensorSpec, Truth

__all__ = ["Carrier", "Quantity", "Reading", "Sensor", "SensorSpec", "Sensors", "Truth"]
