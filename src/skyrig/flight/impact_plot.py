"""The picture of the hardest impact: a tenth of a second on either side of it."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from skyrig.flight.colours import GREY, of_vehicle
from skyrig.flight.distances import tether_ends
from skyrig.flight.flight import Flight
from skyrig.flight.impacts import AROUND
from skyrig.flight.plot_layout import entry, finish, open_up, rows


def impact(flight: Flight) -> Figure | None:
    """How a cable's ends move against each other around the hardest impact; None without impacts.

    Relative velocity, how much cable is spare, and tension, from AROUND before the impact to AROUND after it.
    """
    hit = flight.hardest_impact
    if hit is None:
        return None
    k = hit.cable
    pairs = enumerate(zip(flight.rig.tethers, flight.rig.columns, strict=True))
    number = next((j for j, (it, own) in pairs if (it.name, own) == ("cable", k)), None)
    if number is None:
        return None
    near = np.flatnonzero(np.abs(flight.times - hit.time) <= AROUND + 1e-9)
    (start, drift), (end, speed) = (
        (place[near], velocity[near]) for place, velocity in tether_ends(flight, number)
    )
    distance = np.linalg.norm(end - start, axis=1)
    xi = (end - start) / np.maximum(distance, 1e-12)[:, None]
    relative = speed - drift
    along = np.einsum("ti,ti->t", relative, xi)
    across = np.linalg.norm(relative - along[:, None] * xi, axis=1)
    # jumps are drawn where they happen, not smeared over a step
    own = [it for it in flight.impacts if it.cable == k and abs(it.time - hit.time) <= AROUND]
    times = flight.times[near]
    spots = np.repeat(np.searchsorted(times, [it.time for it in own]), 2)
    moments = 1e3 * (np.insert(times, spots, np.repeat([it.time for it in own], 2)) - hit.time)
    sides = [np.concatenate([getattr(it, name) for it in own]) for name in ("along", "across")]
    cables = flight.cables
    spare = np.insert(1e3 * (cables.length[near, k] - distance), spots, 0.0)
    tension = cables.tension[near, k]

    figure, axes = rows(3)
    colour = of_vehicle(k)
    axes[0].plot(moments, np.insert(along, spots, sides[0]), color=colour)
    axes[0].plot(moments, np.insert(across, spots, sides[1]), color=GREY, linestyle="--")
    axes[0].set_ylabel("speed apart (m/s)")
    axes[1].plot(moments, spare, color=colour)
    axes[1].set_ylabel("spare cable (mm)")
    # a tension holds from where the cable comes taut, so it jumps there too
    axes[2].plot(moments, _jumping(times, tension, spots), color=colour)
    axes[2].set_ylabel("tension (N)")
    for axis, least in zip(axes, (0.01, 0.1, 0.05), strict=True):
        open_up(axis, least)
        axis.axvline(0.0, color=GREY, linewidth=0.7, linestyle=":", zorder=0)
    axes[-1].set_xlim(-1e3 * AROUND, 1e3 * AROUND)
    axes[-1].set_xlabel("time from the impact (ms)")
    entries = [entry("along the cable", color=colour), entry("across it", color=GREY, linestyle="--")]
    return finish(figure, 1.6, f"{flight.name}: impact of cable {k} at {hit.time:.3f} s", entries)


def _jumping(times: np.ndarray, tension: np.ndarray, spots: np.ndarray) -> np.ndarray:
    """The tension with, at each impact, the sample before and the sample after it."""
    before = np.clip(spots[::2] - 1, 0, len(times) - 1)
    after = np.clip(spots[::2], 0, len(times) - 1)
    return np.insert(tension, spots, np.stack([tension[before], tension[after]], axis=1).ravel())
