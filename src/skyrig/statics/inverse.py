"""Where the vehicles must be to hold a payload at a pose: any team, any payload.

A cable's pull points from its attachment to its vehicle, so vehicles may be anywhere that makes the pulls
balance the load: P f = -load, six linear equations in 3 n numbers. What they leave open, f = f0 + N z, is
chosen by a criterion within limits: positive tensions, thrusts, distances. Tensions come out positive
by themselves, since a vehicle stands where its cable pulls to.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from skyrig import checks
from skyrig.checks import Numbers
from skyrig.errors import InputError
from skyrig.statics import criteria
from skyrig.statics.configuration import Configuration
from skyrig.statics.push import push_room
from skyrig.statics.stability import across
from skyrig.statics.team import Pose, Team
from skyrig.turns import turn

STARTS = 8
"""From how many places the search begins."""


class Pulls(NamedTuple):
    """All pulls that hold a pose: f0 + N z."""

    least: Numbers
    """(n, 3) those of least effort, world (N)."""
    free: Numbers
    """(n, 3, d) what may be added without a change of the balance, orthonormal."""

    def at(self, z: Numbers) -> Numbers:
        """(..., n, 3) pulls (N) for coordinates z (..., d) (N)."""
        return self.least + np.einsum("nkd,...d->...nk", self.free, z)


def pulls(team: Team, pose: Pose) -> Pulls:
    """The pulls that hold a pose.

    Raises:
        InputError: If there are none: attachments on a line or in a point cannot hold every moment. The
            sentence says which moment, and how far the payload would have to turn.
    """
    n, f = team.count, team.freedoms
    arms = team.arms(pose.attitude)
    grasp = np.concatenate([np.tile(np.eye(3), (1, n)), np.hstack(list(across(arms)))])[:f]
    weigh = np.repeat([1.0, 1 / team.scale], 3)[:f]
    load = -team.load(pose.attitude)[:f]
    left, size, right = np.linalg.svd(grasp * weigh[:, None], full_matrices=True)
    rank = int((size > 1e-9 * size[0]).sum())
    wanted = left.T @ (load * weigh)
    missing = left[:, rank:] @ wanted[rank:]
    if np.abs(missing).max(initial=0.0) > 1e-9 * team.weight:
        raise InputError(_cannot_hold(team, pose, float(np.linalg.norm(missing[3:])) * team.scale))
    least = right[:rank].T @ (wanted[:rank] / size[:rank])
    return Pulls(least.reshape(n, 3), right[rank:].T.reshape(n, 3, -1))


def _cannot_hold(team: Team, pose: Pose, moment: float) -> str:
    """Why a pose has no equilibrium, and how far off it is."""
    arms = team.arms(pose.attitude)
    load = team.load(pose.attitude)
    pull = -load[:3] / np.linalg.norm(load[:3])
    middle = arms.mean(axis=0)
    lines = np.linalg.svd(arms - middle)[2]
    spread = np.linalg.norm(arms - middle, axis=1).max()
    if spread < 1e-9 * team.scale:
        what, hang = "all cables hold the payload at one point", middle
    else:
        what = "the attachments lie on one line"
        hang = middle - (middle @ lines[0]) * lines[0]
        pull = pull - (pull @ lines[0]) * lines[0]
    cosine = hang @ pull / max(np.linalg.norm(hang) * np.linalg.norm(pull), 1e-12)
    angle = np.degrees(np.arccos(np.clip(cosine, -1, 1)))
    return (
        f"the payload cannot be held at this attitude: {what}, and a moment of {moment:.3g} N m "
        f"is left that no cable can make; it hangs {angle:.3g} degrees from here."
    )


@dataclass(frozen=True)
class Limits:
    """What a configuration must keep to."""

    tension_min: float | None = None
    """Least tension (N); a twentieth of an equal share of the payload's weight if left out."""
    tension_max: float | None = None
    """Most tension (N), besides what the vehicles' thrust allows."""
    separation: float | None = None
    """Least distance between vehicles' centres (m); the sum of their radii if left out."""
    clearance: float | None = None
    """Least distance of a vehicle's centre from another's cable (m); its radius if left out."""
    elevation: float = 0.1
    """Least angle of a cable above the horizon and above the plane of the attachments (rad)."""
    thrust_share: float = 1.0
    """Part of its most thrust that a vehicle may use (1)."""
    stable: bool = True
    """Whether the payload must stay there under held vehicles, or be neutral (yaw on one cable)."""
    push: float = 0.0
    """A force on the payload, from any side, that must be held too (N): see `skyrig.statics.push`."""

    def filled(self, team: Team) -> Limits:
        """The same with what was left out."""
        least = 0.05 * team.weight / team.count if self.tension_min is None else self.tension_min
        most = np.inf if self.tension_max is None else self.tension_max
        if not most > 0:
            raise InputError(f"tension_max must be above zero, not {most:g} N.")
        if not 0 <= least < most:
            raise InputError(
                f"tension_min must be at least 0 and below tension_max ({most:g} N), not {least:g} N."
            )
        for name, value in (("separation", self.separation), ("clearance", self.clearance)):
            if value is not None and not 0 <= value < np.inf:
                raise InputError(f"{name} must be at least 0 m, not {value:g} m.")
        if not 0 < self.thrust_share <= 1:
            raise InputError(f"thrust_share must be above 0 and at most 1, not {self.thrust_share:g}.")
        if not 0 <= self.push < np.inf:
            raise InputError(f"push must be at least 0 N, not {self.push:g} N.")
        return replace(self, tension_min=least, tension_max=most)


def room(found: Configuration, limits: Limits) -> dict[str, Numbers]:
    """How far a configuration is within each limit: (..., k) numbers that must not be below zero (1).

    Forces are over the payload's weight, distances over the mean cable's length.
    """
    team = found.team
    near = np.triu_indices(team.count, 1)
    apart = team.separation() if limits.separation is None else np.full((team.count,) * 2, limits.separation)
    others = ~np.eye(team.count, dtype=bool)
    clear = team.radius if limits.clearance is None else limits.clearance
    long, heavy = team.length.mean(), team.weight
    least, most = limits.tension_min or 0.0, limits.tension_max
    strong = limits.thrust_share * team.thrust_max
    spare = strong - np.linalg.norm(found.thrust, axis=-1)
    kept = {
        "tension above its least": (found.tension - least) / heavy,
        "thrust": spare / heavy,
        "distance between vehicles": (found.separation - apart)[..., *near] / long,
        "elevation of the cables": _above(found) - np.sin(limits.elevation),
        "distance of vehicles from others' cables": ((found.clearance - clear) / long)[..., others],
    }
    if most is not None and np.isfinite(most):
        kept["tension below its most"] = (most - found.tension) / heavy
    if limits.push:
        kept |= push_room(found, limits.push, least, most, strong)
    if limits.stable and not team.moment.any():
        kept["squared natural frequency over gravity by length"] = criteria.stiffnesses(found) + 1e-9
    return kept


def _above(found: Configuration) -> Numbers:
    """(n or 2n,) sine of each cable's angle above the horizon, and above the attachments' plane if any."""
    team, up = found.team, found.direction[..., 2]
    arms = team.attachment - team.attachment.mean(axis=0)
    size, axes = np.linalg.svd(arms)[1:]
    flat = team.count > 2 and size[1] > 1e-6 * size[0] and size[2] < 1e-6 * size[0]
    if not flat:
        return up
    normal = turn(found.pose.attitude, axes[2] * (1.0 if axes[2, 2] >= 0 else -1.0))
    return np.concatenate([up, (found.direction * normal[..., None, :]).sum(-1)], axis=-1)


def inverse(
    team: Team, pose: Pose, criterion: str = "effort", limits: Limits | None = None, seed: int = 0
) -> Configuration:
    """Where the vehicles must be to hold the payload at a pose, best by a criterion.

    Args:
        team: The team.
        pose: Where the payload shall be.
        criterion: 'effort': least sum of squared tensions; 'equal': tensions as equal as can be; 'margin':
            farthest from slack cables and thrust limits; 'stiffness': highest least natural frequency.
        limits: What to keep to; the defaults of `Limits` if left out.
        seed: Of the places where the search begins.

    Raises:
        InputError: If there is no such configuration; it says which limit is missed, and by how much.
    """
    checks.choice("criterion", criterion, criteria.CRITERIA)
    check_lift(team)
    if criterion == "stiffness" and team.count >= team.freedoms:
        raise InputError(
            f"criterion 'stiffness' is for payloads that can still swing, but {team.count} cables hold this "
            "one in every way: choose 'margin', say."
        )
    kept = (limits or Limits()).filled(team)
    every = pulls(team, pose)

    def made(z: Numbers) -> Configuration:
        return Configuration(team, pose, every.at(z * team.weight))

    def inside(found: Configuration) -> Numbers:
        return np.concatenate(list(room(found, kept).values()), axis=-1)

    count = every.free.shape[2]
    if count == 0:
        best = made(np.zeros(0))
    else:
        starts = criteria.starts(team, every.free, STARTS, seed)
        best = made(criteria.Search(made, count, criterion, inside).best(starts))
    worst = min(room(best, kept).items(), key=lambda item: item[1].min(initial=np.inf))
    if worst[1].min(initial=np.inf) < -1e-7:
        raise InputError(misses(team, worst[0], -float(worst[1].min())))
    return best


def check_lift(team: Team) -> None:
    """Refuse a team that cannot even lift its payload straight up."""
    need = team.weight + float(team.vehicle_mass.sum()) * team.gravity
    have = float(team.thrust_max.sum())
    if have <= need:
        raise InputError(
            f"the team cannot lift its payload: vehicles and payload weigh {need:.4g} N, "
            f"but all thrust together is {have:.4g} N, {need - have:.3g} N too little."
        )


def misses(team: Team, name: str, by: float) -> str:
    """That a pose cannot be held, which limit is in the way, and how far off it is at best."""
    long = "distance" in name
    why = ""
    unit = f"{by * team.length.mean():.3g} m" if long else f"{by * team.weight:.3g} N"
    if name.startswith("elevation"):
        unit = f"{np.degrees(np.arcsin(min(by, 1.0))):.3g} degrees"
    elif name.startswith("squared"):
        unit, why = f"{by:.3g}", ": the payload would not stay there"
    return (
        "no configuration was found that holds this pose within all limits: "
        f"the {name} misses by {unit} at best{why}."
    )
