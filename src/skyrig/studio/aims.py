"""What a controller shall do at each tick of a live flight: its reference, held inputs, or a given pose."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax
import numpy as np
import numpy.typing as npt

from skyrig.control import HeldCommands
from skyrig.control.interface import Controller, Target, targets
from skyrig.control.known import OPEN_LOOP
from skyrig.planning import hover
from skyrig.runs.flying import held
from skyrig.turns import euler_angles

if TYPE_CHECKING:
    from skyrig.scenario.build import Built

Numbers = npt.NDArray[np.float64]
Pose = tuple[Numbers, Numbers]

BLOCK = 256
"""Ticks for which targets are made ready at once."""
GLIDE = (1.0, 0.8)
"""How fast a commanded pose is gone to (m/s, rad/s)."""


class Aims:
    """The targets of a flight without an end, made ready block by block.

    Args:
        built: What is flown; past its end a reference holds its last pose.
        controller: Who follows.
        count: How many ticks' targets are asked for at a time.
    """

    def __init__(self, built: Built, controller: Controller, count: int) -> None:
        self.built, self.controller, self.count = built, controller, count
        self.rate = float(built.scenario.spec.loop.control_rate)
        self.open_loop = built.controller.name == OPEN_LOOP
        self._blocks: dict[int, Any] = {}
        self._sampled: dict[int, Any] = {}
        """The payload's reference, block by block."""
        self.gliding: Pose | None = None
        """On the way to a commanded pose: where it has come to."""

    def targets(self, tick: int, fly: int, pose: Pose | None) -> Target:
        """Targets of the `count` ticks from `tick` on.

        Args:
            tick: The first.
            fly: How many of them will be flown.
            pose: Where the payload shall hover instead of following its reference; see `Hands`.
        """
        ticks = tick + np.arange(self.count)
        if self.open_loop:
            times = ticks / self.rate
            return HeldCommands(times, *held(self.built, times)).target
        if pose is not None and self.built.reference is not None:
            return self._glide(tick, fly, pose)
        self.gliding = None
        first, last = self._block(tick // BLOCK), self._block((tick + self.count - 1) // BLOCK)
        start = tick % BLOCK
        if start + self.count <= BLOCK:
            return jax.tree.map(lambda leaf: leaf[start : start + self.count], first)
        rest = start + self.count - BLOCK
        return jax.tree.map(lambda one, two: np.concatenate([one[start:], two[:rest]]), first, last)

    def wanted(self, first: int, count: int) -> Pose | None:
        """Wanted position (count, 3) and attitude (count, 4) of the payload at ticks from `first` on."""
        if self.built.reference is None:
            return None
        if self.gliding is not None:
            pose = hover(start=self.gliding[0], attitude=self.gliding[1]).sample(np.zeros(count))
            return np.asarray(pose.position)[:, 0], np.asarray(pose.attitude)
        ticks = np.arange(first, first + count)
        poses = []
        for number in range(first // BLOCK, (first + count - 1) // BLOCK + 1):
            rows, block = ticks[ticks // BLOCK == number] % BLOCK, self._sample(number)
            # copies of these rows: what is kept of a tick must not keep a whole block
            poses.append((np.asarray(block.position)[rows, 0], np.asarray(block.attitude)[rows]))
        position, attitude = (np.concatenate(parts) for parts in zip(*poses, strict=True))
        return position, attitude

    def _clock(self, number: int) -> Numbers:
        """When the ticks of a block are (s)."""
        return (number * BLOCK + np.arange(BLOCK)) / self.rate

    def _held(self, number: int) -> int:
        """Which block serves as block `number`; past the reference's end one does for ever."""
        longest = self.built.scenario.motions.duration
        if not np.isfinite(longest):
            longest = self.built.duration
        return min(number, int(np.ceil(longest * self.rate / BLOCK)) + 1)

    def _sample(self, number: int) -> Any:
        """The payload's reference at the ticks of a block."""
        number = self._held(number)
        if number not in self._sampled:
            assert self.built.reference is not None
            _make_room(self._sampled)
            self._sampled[number] = self.built.reference.sample(self._clock(number))
        return self._sampled[number]

    def _block(self, number: int) -> Any:
        """Targets of `BLOCK` ticks."""
        number = self._held(number)
        if number not in self._blocks:
            each = self.built.vehicle_references
            made = targets(
                self.controller,
                None if self.built.reference is None else self._sample(number),
                None if each is None else [it.sample(self._clock(number)) for it in each],
            )
            _make_room(self._blocks)
            self._blocks[number] = jax.tree.map(np.asarray, made)
        return self._blocks[number]

    def _glide(self, tick: int, fly: int, pose: Pose) -> Target:
        """Hover targets on the way to a commanded pose."""
        if self.gliding is None:
            wanted = self.wanted(tick, 1)
            assert wanted is not None
            self.gliding = (wanted[0][0], euler_angles(wanted[1][0]))
        there, turned = self.gliding
        there = _toward(there, np.asarray(pose[0], float), GLIDE[0] * fly / self.rate)
        away = (np.asarray(pose[1], float) - turned + np.pi) % (2 * np.pi) - np.pi
        turned = turned + _toward(np.zeros(3), away, GLIDE[1] * fly / self.rate)
        self.gliding = (there, turned)
        sample = hover(start=there, attitude=turned).sample(np.zeros(self.count))
        return jax.tree.map(np.asarray, targets(self.controller, sample))


def _make_room(blocks: dict[int, Any]) -> None:
    """Let go of the oldest of a few blocks."""
    if len(blocks) > 3:
        blocks.pop(next(iter(blocks)))


def _toward(here: Numbers, there: Numbers, most: float) -> Numbers:
    way = there - here
    far = float(np.linalg.norm(way))
    return there if far <= most else here + way * (most / far)
