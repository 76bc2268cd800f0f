"""skyrig: multirotors that carry payloads, simulated exactly.

Importing this package sets five defaults for the process, each only where nothing else was said: float64
arrays (JAX_ENABLE_X64), a compilation cache on disk (JAX_COMPILATION_CACHE_DIR), calls that are not handed to
another thread (JAX_CPU_ENABLE_ASYNC_DISPATCH), XLA's option to run small loops as one kernel, which makes a
single flight several times faster, and one thread for small systems of equations (OPENBLAS_NUM_THREADS). See
docs/conventions.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from skyrig import switches as _switches
from skyrig.errors import FlightDiverged, InputError
from skyrig.lazy import lazily as _lazily

if TYPE_CHECKING:
    from skyrig import register
    from skyrig.flight import Flight
    from skyrig.rigs import Cable, Linked, Slung, Winch, trim
    from skyrig.runs import fly
    from skyrig.runs.batches import Flights, fly_many
    from skyrig.runs.session import Session
    from skyrig.scenario import Scenario, load
    from skyrig.sim import Cut, Effort, Poke, closed_loop, rollout
    from skyrig.vehicles import airframe, payload

__version__ = "0.1.0"

_switches.set_defaults()

# Names that need JAX are imported when first asked for: the command line answers fast without them.
_ROOMS = {
    "Flight": "skyrig.flight",
    "Flights": "skyrig.runs.batches",
    "fly": "skyrig.runs",
    "fly_many": "skyrig.runs.batches",
    "Scenario": "skyrig.scenario",
    "Session": "skyrig.runs.session",
    "load": "skyrig.scenario",
    "Cable": "skyrig.rigs",
    "Linked": "skyrig.rigs",
    "Slung": "skyrig.rigs",
    "Winch": "skyrig.rigs",
    "trim": "skyrig.rigs",
    "Cut": "skyrig.sim",
    "Effort": "skyrig.sim",
    "Poke": "skyrig.sim",
    "closed_loop": "skyrig.sim",
    "rollout": "skyrig.sim",
    "register": "skyrig.register",
    "airframe": "skyrig.vehicles",
    "payload": "skyrig.vehicles",
}

__all__ = [
    "Cable",
    "Cut",
    "Effort",
    "Flight",
    "FlightDiverged",
    "Flights",
    "InputError",
    "Linked",
    "Poke",
    "Scenario",
    "Session",
    "Slung",
    "Winch",
    "airframe",
    "closed_loop",
    "fly",
    "fly_many",
    "load",
    "payload",
    "register",
    "rollout",
    "trim",
]

__getattr__ = _lazily(__name__, _ROOMS)
