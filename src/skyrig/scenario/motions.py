"""The references of a scenario, built and looked at once: finite, of known length, one for each body."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from skyrig.errors import InputError
from skyrig.planning import TEAM_REFERENCES, Reference, Sample, build, build_team
from skyrig.scenario.sentences import nearest, refuse, shown
from skyrig.scenario.spec import Spec

_TROUBLES = (TypeError, ValueError, ArithmeticError, AttributeError, np.linalg.LinAlgError, MemoryError)
LONGEST = 3600.0
"""No flight is longer (s)."""


@dataclass(frozen=True)
class Motions:
    """What the payload or each vehicle shall do; both None where nothing is wanted (open loop)."""

    payload: Reference | None = None
    vehicles: tuple[Reference, ...] | None = None
    begin: dict[str, tuple[np.ndarray, np.ndarray]] | None = None
    """Position (k, 3) and attitude (k, 4) of each group's bodies at the start, if the reference says so."""
    drives: Callable[[], dict[str, tuple[np.ndarray, np.ndarray]]] | None = None
    """What the rig's own drives shall do, if the reference says so; see `skyrig.planning.TeamMotion`."""
    plan: Any = None
    """What the controller is told besides: see `skyrig.control.Controller.planned`."""

    @property
    def all(self) -> tuple[Reference, ...]:
        """Every reference there is."""
        return (() if self.payload is None else (self.payload,)) + (self.vehicles or ())

    @cached_property
    def start(self) -> Sample | None:
        """Where the payload shall be first, if that is said."""
        return None if self.payload is None else self.payload.start

    @property
    def duration(self) -> float:
        """Until the last of them ends (s); infinite if one never does, zero if there is none."""
        return max((float(motion.duration) for motion in self.all), default=0.0)

    def flown_for(self, asked: float | None, where: str) -> float:
        """How long a scenario flies that asks for so long, or else for its references' time (s)."""
        if asked is not None:
            return asked
        if not self.all:
            raise refuse(where, "duration", "is missing: without a reference nothing else says it (s)")
        if not np.isfinite(self.duration):
            raise refuse(where, "duration", "is missing: the reference goes on for ever (s)")
        if self.duration > LONGEST:
            raise refuse(where, "reference", f"must last at most {LONGEST:g} s, not {self.duration:.6g}")
        return self.duration


def motions(spec: Spec, parts: Any, where: str) -> Motions:
    """The references that `spec` asks for, for a rig of `parts`."""
    wanted, count = spec.reference, parts.count
    if wanted is None:
        return Motions()
    if isinstance(wanted, Mapping) and wanted.get("type") in TEAM_REFERENCES:
        try:
            team = build_team(wanted, parts, floor=_floor(spec))
        except InputError as error:
            raise InputError(f"{where}: {error}") from None
        followed = team.payload if team.vehicles is None else None
        return Motions(followed, team.vehicles, team.begin, team.drives, team.plan)
    if isinstance(wanted, str) or "type" in wanted:
        return Motions(payload=_built(wanted, where, "reference"))
    if len(wanted) != 1 or not set(wanted) <= {"payload", "vehicles"}:
        known = ("type", "payload", "vehicles")
        near = next((nearest(key, known) for key in wanted if key not in known and nearest(key, known)), "")
        raise refuse(
            where,
            "reference",
            f"must have a 'type', or hold 'payload' or 'vehicles' alone{near}, not {shown(list(wanted))}",
        )
    if "payload" in wanted:
        return Motions(payload=_built(wanted["payload"], where, "reference.payload"))
    each = wanted["vehicles"]
    if not isinstance(each, list) or len(each) != count:
        have = f"{len(each)} entries" if isinstance(each, list) else shown(each)
        raise refuse(where, "reference.vehicles", f"must list {count} references, one a vehicle, not {have}")
    return Motions(
        vehicles=tuple(_built(one, where, f"reference.vehicles[{k}]") for k, one in enumerate(each))
    )


def _floor(spec: Spec) -> float | None:
    """Height of the ground, if there is one (m)."""
    ground = spec.elements.get("ground")
    return None if ground is None else getattr(ground, "height", None)


def _built(description: object, where: str, path: str) -> Reference:
    try:
        with np.errstate(all="ignore"):
            motion = build(description, path)
            ends = [motion.start, motion.sample(min(float(motion.duration), LONGEST) / 2)]
    except InputError as error:
        text = str(error)
        raise InputError(f"{where}: {text if text.startswith(path) else f'{path}: {text}'}") from None
    except _TROUBLES as error:
        reason = " ".join(str(error).split()).rstrip(".") or type(error).__name__
        raise refuse(where, path, f"cannot be planned from {shown(description)}: {reason}") from None
    if not all(np.all(np.isfinite(leaf)) for sample in ends for leaf in sample):
        raise refuse(where, path, f"must give finite positions, which {shown(description)} does not")
    return motion
