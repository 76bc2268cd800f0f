"""Flying: one flight, many at once, sweeps, tuning; the first room that knows scenarios, sim and flights."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from skyrig.flight import Flight
    from skyrig.scenario import Scenario

__all__ = ["fly"]


def fly(
    scenario: Scenario | str | Path,
    *,
    controller: Any = None,
    progress: Callable[[float], None] | None = None,
) -> Flight:
    """Fly a scenario.

    Args:
        scenario: A scenario, a bundled one's name, or a YAML file.
        controller: One of your own in place of the scenario's: a `skyrig.control.Controller`, compiled into
            the loop; any other callable `(t, target, measurement) -> (thrust, moment)`, stepped from Python;
            a class of either kind, made by its `build(built)` or called with the `Built` scenario; or a
            function that makes one from it. The flight's scenario remembers its name, file and hash.
        progress: Called now and then with the time flown so far (s).

    Returns:
        The flight, its metrics worked out.

    Raises:
        InputError: If the scenario cannot be flown.
        FlightDiverged: If the flight stops making sense.
    """
    from skyrig.runs import flying

    return flying.fly(scenario, controller=controller, progress=progress)
