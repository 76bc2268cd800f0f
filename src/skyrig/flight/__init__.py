"""Flights: what comes out of flying a scenario, with files, metrics, pictures and reports. Free of JAX.

Only `fly` needs JAX, and imports it when called.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from skyrig.flight.flight import Flight, FlightEvent, Impact, Track, Wanted

if TYPE_CHECKING:
    from skyrig.scenario import Scenario

__all__ = ["Flight", "FlightEvent", "Impact", "Track", "Wanted", "fly"]


def fly(scenario: Scenario | str | Path, *, controller: Any = None) -> Flight:
    """Fly a scenario, a bundled one's name or a YAML file; see `skyrig.flight.flying.fly`."""
    from skyrig.flight import flying

    return flying.fly(scenario, controller=controller)
