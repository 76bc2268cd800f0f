"""Numbers of nature that every room shares."""

GRAVITY = 9.81
"""Acceleration of free fall (m/s^2), pointing to world -z."""
