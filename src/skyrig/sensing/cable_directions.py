"""A camera or an angle sensor where each cable is held on its vehicle: which way the load lies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import numpy as np

from skyrig.fields import unit
from skyrig.sensing.sensor import Carrier, Numbers, Quantity, Rate, Sensor, SensorSpec, Truth
from skyrig.tracks import Track
from skyrig.turns import conjugate, multiply, of_vector, turn


class CableDirectionsSpec(SensorSpec, frozen=True, kw_only=True):
    """Which way each cable leads from its vehicle."""

    rate: Annotated[Rate | None, unit("Hz", "Samples a second")] = 100.0
    noise: Annotated[float, unit("rad", "Of a sample about each axis", ge=0)] = 5e-3

    def fault(self, carrier: Carrier) -> tuple[str, str] | None:
        """There must be cables."""
        return super().fault(carrier) or (
            None if carrier.lines else ("", "needs cables, which this rig has not")
        )

    def build(self, carrier: Carrier) -> Sensor:
        """One for each cable."""
        return CableDirections(self, carrier)


class CableDirections(Sensor):
    """The cameras at work."""

    def __init__(self, said: CableDirectionsSpec, carrier: Carrier) -> None:
        self.said, self.lines = said, tuple(carrier.lines)

    def quantities(self) -> tuple[Quantity, ...]:
        """The directions."""
        says = "from its vehicle towards the load, that vehicle's frame"
        return (Quantity("cable_directions.direction", "1", (len(self.lines), 3), says),)

    def sample(self, truth: Truth, random: np.random.Generator) -> Mapping[str, Numbers]:
        """Unit vectors along the straight lines from end to end, turned a little."""
        read = []
        for line in self.lines:
            held, there = (_one(truth.bodies[it.group], it.index) for it in (line.start, line.end))
            way = there.point(line.end.point)[0] - held.point(line.start.point)[0]
            read.append(turn(conjugate(np.asarray(held.attitude)), way / np.linalg.norm(way)))
        kicks = of_vector(self.said.noise * random.standard_normal((len(read), 3)))
        return {"cable_directions.direction": turn(kicks, np.stack(read))}


class LoadsOnCables:
    """Where loads are, from where their vehicles are believed to be and which way the cables lead.

    The cables count as straight and taut, as long as they are said to be.

    Args:
        carrier: Whose cables.
        said: How well their directions are seen.
    """

    def __init__(self, carrier: Carrier, said: CableDirectionsSpec) -> None:
        self.said, self.lines = said, tuple(carrier.lines)
        self.groups = tuple(dict.fromkeys(it.end.group for it in self.lines))
        self.length = np.array([it.length for it in self.lines])

    def ends(self, directions: Numbers, position: Numbers, attitude: Numbers) -> Numbers:
        """(m, 3) where the cables end (m), vehicles being at `position` (n, 3) with `attitude` (n, 4)."""
        index = [it.start.index for it in self.lines]
        arms = np.array([it.start.point for it in self.lines]) + self.length[:, None] * directions
        return position[index] + turn(attitude[index], arms)

    def deviation(self, places: Numbers, turns: Numbers) -> float:
        """Of an end along each axis (m); variances of the vehicles' positions (m^2) and turns (rad^2)."""
        far = float(np.mean(self.length**2))
        return float(np.sqrt(places.mean() + far * (turns.mean() + self.said.noise**2)))

    def fit(
        self, group: str, ends: Numbers, then: tuple[Numbers, Numbers]
    ) -> tuple[Numbers, Numbers, Numbers]:
        """Positions (k, 3) and attitudes (k, 4) of a group's bodies that fit the cables' ends best.

        Also (k, 2): what to multiply an end's deviation by for that of the position and of the attitude.
        About axes of which cables say nothing a body keeps the attitude it had.
        """
        position, attitude = then[0].copy(), then[1].copy()
        scale = np.full((len(position), 2), np.inf)
        for k in range(len(position)):
            mine = [j for j, it in enumerate(self.lines) if (it.end.group, it.end.index) == (group, k)]
            if mine:
                points = np.array([self.lines[j].end.point for j in mine])
                position[k], attitude[k], scale[k] = _fitted(ends[mine], points, attitude[k])
        return position, attitude, scale


def _fitted(ends: Numbers, points: Numbers, attitude: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """Least squares of ends = position + R points, by a few steps from a believed attitude."""
    middle, arms = points.mean(0), points - points.mean(0)
    reach = float((arms**2).sum())
    off = ends - ends.mean(0)
    for _ in range(3 if reach > 0 else 0):
        seen = turn(attitude, arms)
        normal = reach * np.eye(3) - seen.T @ seen  # the sum of [arm]x^T [arm]x
        step = np.linalg.solve(normal + 1e-6 * reach * np.eye(3), np.cross(seen, off).sum(0))
        attitude = multiply(of_vector(step), attitude)
    scale = np.array([1 / np.sqrt(len(ends)), np.inf if reach == 0 else 1 / np.sqrt(reach)])
    return ends.mean(0) - turn(attitude, middle), attitude, scale


def _one(track: Track, index: int) -> Track:
    """A body of a group."""
    return Track(*(np.asarray(leaf)[index] for leaf in vars(track).values()))
