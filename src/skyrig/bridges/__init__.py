"""Bridges to autopilots, ROS 2, log tools and other simulators."""
