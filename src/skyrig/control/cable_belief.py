"""What a controller believes of its cables: taut, slack or cut, from evidence that noise cannot fake.

A cable cannot be longer than it is, and it is never known to the millimetre how long that is. So its length
is learnt while it hangs still and taut, and everything is judged against that. A cable is slack where its
ends are nearer to each other than the learnt length. It is cut where they are farther apart than any length
that is believed possible, for a while, and still going apart: one that is merely longer than believed stops
going apart when it comes taut. Distances come from the controller's estimate (`estimate.py`), and all margins
are at least `SURE` of its standard deviations.
"""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from skyrig.algebra import as_jax
from skyrig.arrays import namespace
from skyrig.control.cable_geometry import Spans
from skyrig.control.estimate import Filter
from skyrig.control.interface import Noise, axes

TAUT, SLACK, CUT = 0, 1, 2
"""What a cable may be believed to be."""
SURE, CERTAIN = 5.0, 6.0
"""Standard deviations of the estimated distance below which no margin of slack and of cut cables is."""
POSSIBLE, PERHAPS = 0.1, 0.25
"""Share of its length by which a cable may differ from what was told, or seem to at first (1)."""
LONGER, SHORTER = 2.0, 0.2
"""Rates at which a cable is learnt to be longer, or shorter, than believed (1/s)."""
STILL = 0.05
"""A cable is learnt while its ends part or meet more slowly than this, and noise (m/s)."""
EARLY = 30.0
"""For so many noisy ticks a cable's length is learnt however far from it it seems, and none is cut (1)."""
SNAP = 0.2
"""Ends that part and stop within a tick have come taut if they stop by more than this, and noise (m/s)."""
LASTING = 0.03
"""A cable is cut when it has been too long for so much time, if distances are noisy (s)."""


class Margins(eqx.Module):
    """How far a cable must be from its length to be believed anything but taut."""

    slack: Float[Array, "n ..."] = axes(1)
    """A cable this much shorter than its length carries in full, one twice this much not at all (m)."""
    cut: Float[Array, "n ..."] = axes(1)
    """A cable this much longer than its length, for a while, is cut (m)."""
    free: Float[Array, "n ..."] = axes(1)
    """The vehicle of a cable this much shorter than its length hangs on nothing (m)."""
    still: Float[Array, "n ..."] = axes(1)
    """The ends of a cable that meet or part more slowly than this are still (m/s)."""
    early: Float[Array, "n ..."] = axes(1)
    """For how many ticks a length is learnt however far from it the cable seems (1)."""
    lasting: Float[Array, "n ..."] = axes(1)
    """For how long a cable must be too long to be cut (s)."""
    raw: Float[Array, "n ..."] = axes(1)
    """Standard deviation of a single measurement of the distance (m)."""

    @staticmethod
    def least(slack: Any, cut: Any, count: int) -> Margins:
        """Margins of `slack` and `cut` (m) of `count` cables whose lengths nothing blurs."""
        one = np.ones(count)
        zero, still = as_jax(0 * one), as_jax(STILL * one)
        return Margins(
            as_jax(slack * one), as_jax(cut * one), as_jax(slack / 2 * one), still, as_jax(one), zero, zero
        )

    @staticmethod
    def of(slack: Any, cut: Any, load: Filter, craft: Filter, attachment: Any, noise: Noise) -> Margins:
        """Margins of at least `slack` and `cut` (m), beyond what noise makes of the estimates.

        Args:
            slack: Least margin of a slack cable (m).
            cut: Least margin of a cut one (m).
            load: How well the payload is known.
            craft: How well the vehicles are known.
            attachment: (3, n) of the cables on the payload (m).
            noise: Of the measurements.
        """
        arm = np.sqrt((np.asarray(attachment) ** 2).sum(0))
        load, craft = (jax.tree.map(np.asarray, it) for it in (load, craft))  # JAX would compile its powers
        blur = np.sqrt(load.position**2 + craft.position**2 + (arm * load.attitude) ** 2)
        drift = np.sqrt(load.velocity**2 + craft.velocity**2 + (arm * load.rate) ** 2)
        position, attitude = np.asarray(noise.position), np.asarray(noise.attitude)
        raw = np.sqrt(2 * position**2 + (arm * attitude) ** 2)
        xp = namespace(slack, cut)
        return Margins(
            as_jax(xp.maximum(slack, SURE * blur)),
            as_jax(xp.maximum(cut, CERTAIN * blur)),
            as_jax(xp.maximum(slack / 2, SURE * blur)),
            as_jax(STILL + SURE * drift),
            # a distance that nothing blurs needs to be seen but once
            as_jax(np.where(blur > 0, EARLY, 1.0)),
            as_jax(np.where(blur > 0, LASTING, 0.0)),
            as_jax(raw),
        )

    def after(self, ticks: Float[Array, "n ..."]) -> Margins:
        """The margins when so many measurements were seen: the mean of n knows no more than raw/sqrt(n)."""
        doubt = self.raw / jnp.sqrt(ticks + 1)
        slack, cut, free = (
            jnp.sqrt(margin**2 + (sure * doubt) ** 2)
            for margin, sure in ((self.slack, SURE), (self.cut, CERTAIN), (self.free, SURE))
        )
        return Margins(slack, cut, free, self.still, self.early, self.lasting, self.raw)


class CableBelief(eqx.Module):
    """What is believed of each cable."""

    length: Float[Array, "n ..."]
    """As learnt (m)."""
    stated: Float[Array, "n ..."]
    """As the controller was told, reeling included (m)."""
    measured: Float[Array, "n ..."]
    """Free length in the last measurement: how it changes tells of reeling (m)."""
    growing: Float[Array, "n ..."]
    """For how long each was too long and growing (s)."""
    rate: Float[Array, "n ..."]
    """At which its ends parted at the last tick (m/s)."""
    age: Float[Array, "n ..."]
    """For how many ticks the cable has been seen, since it came taut (1)."""
    ticks: Float[Array, "n ..."]
    """For how many ticks anything has been seen (1)."""
    lost: Bool[Array, "n ..."]
    """Cut, for good."""
    state: Float[Array, "n ..."]
    """`TAUT`, `SLACK` or `CUT`."""

    @staticmethod
    def start(stated: Float[Array, "n ..."], measured: Float[Array, "n ..."]) -> CableBelief:
        """Cables as long as they are said to be (m)."""
        zero = jnp.zeros_like(measured)
        return CableBelief(zero + stated, zero + stated, measured, zero, zero, zero, zero, zero > 0, zero)

    def seen(self, it: Any, span: Spans, measured: Float[Array, "n ..."]) -> CableBelief:
        """After one more tick.

        Args:
            it: The controller: `late` and `margins`.
            span: The cables as estimated.
            measured: Free lengths (m): only their change is believed.
        """
        reeled = measured - self.measured
        stated, length = self.stated + reeled, self.length + reeled
        distance = span.distance
        margins = it.margins.after(self.ticks)
        snapped = (self.rate - span.rate > SNAP + margins.still) & (span.rate < margins.still)
        came = snapped & (jnp.abs(distance - stated) < PERHAPS * stated)
        seen = jnp.where(came, 0.0, self.age)
        early = seen < margins.early
        possible = jnp.abs(distance - stated) < jnp.where(early, PERHAPS, POSSIBLE) * stated
        first = (seen == 0) & possible
        length = jnp.where(first, distance, length)
        still = jnp.abs(span.rate) < margins.still
        pace = jnp.where(distance > length, LONGER, SHORTER) * it.late.period
        # at first every tick counts as much as all before it together
        pace = jnp.maximum(pace, 1 / (seen + 1))
        near = (distance > length - margins.slack) | early
        learns = still & near & possible & ~self.lost
        length = jnp.where(learns, length + pace * (distance - length), length)
        longest = jnp.maximum(length, stated) + margins.cut
        growing = (distance > longest) & (span.rate > margins.still) & ~early
        growing = jnp.where(growing, self.growing + it.late.period, 0.0)
        lost = self.lost | ((growing > 0) & (growing > margins.lasting - it.late.period / 2))
        slack = length - distance > margins.slack
        state = jnp.where(lost, CUT, jnp.where(slack, SLACK, TAUT)).astype(length.dtype)
        age = jnp.minimum(seen + 1, 1e3)
        return CableBelief(length, stated, measured, growing, span.rate, age, self.ticks + 1, lost, state)
