"""Flights: what comes out of flying a scenario, with files, metrics, pictures and reports. Free of JAX.

This room runs nothing: `skyrig.runs` makes flights.
"""

from skyrig.flight.flight import Flight, FlightEvent, Impact, ReferenceTrack, Signal, Track

__all__ = ["Flight", "FlightEvent", "Impact", "Signal", "Track", "ReferenceTrack"]
