"""Bodies that stand, slide, tip and bounce: a compliant contact at points of their hulls, with held anchors.

At a point of depth d and approach speed u a surface pushes with N = max(0, k d + c min(d/d_s, 1) u), and
rubs with f = -(k z + c v_t), cut to mu N, z being how far the point is from its anchor along the surface. An
anchor is held over a step and then follows the point so far that k |z| does not exceed mu min(N, 4 k d_s).
With k = m w^2/n and c = 2 zeta w m/n, n points that carry a body of mass m let it sink by d_s = g/w^2.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt
from jax.typing import ArrayLike
from jaxtyping import Array, Bool, Float

from skyrig.algebra import dot
from skyrig.elements.around import Around
from skyrig.elements.element import Element, Happening
from skyrig.elements.points import Moving, Points
from skyrig.elements.strands import Strands
from skyrig.elements.surfaces import Surface
from skyrig.rigs.bodies import Bodies
from skyrig.rigs.layout import Layout, SignalKind
from skyrig.rigs.protocol import Solid, Wrench

SPEED = 300.0
"""w: how stiff a contact is (rad/s); a body at rest sinks by 0.11 mm."""
DAMPING = 0.46
"""zeta; at 2 ms a body that lands flat comes back with 0.26 to 0.38 of its speed, as the steps fall."""
SINKING = 9.81 / SPEED**2
"""d_s: how deep a body at rest sinks (m)."""
STRETCH = 4.0
"""Times its size at rest up to which an anchor's pull counts; without it, energy grows in hard landings."""


MARGIN = 0.05
"""Bodies farther than this from touching, and than they fly in two steps, are left alone (m)."""
APART = 1e-3
"""How far a body must be from what it touched before touching counts again (m)."""
SLACK = 1.0
"""How far a slack cable counts as being away (m)."""


class Hull(eqx.Module):
    """Points of a group's bodies that may touch."""

    points: Points
    radius: Float[Array, "p *batch"]
    """Of a ball around each point (m); zero for a corner."""
    stiffness: Float[Array, "p *batch"]
    """k (N/m)."""
    damping: Float[Array, "p *batch"]
    """c (N s/m)."""
    reach: Float[Array, "k *batch"]
    """Radius of a ball around each body's centre of mass that holds all its points (m)."""


class ContactAnchors(eqx.Module):
    """What a contact remembers."""

    anchors: dict[str, Array]
    """By group, (3, p, *batch), world (m)."""
    near: Bool[Array, "*batch"]
    """Whether any body might touch in this step."""


class Touching(eqx.Module):
    """Points of a hull at a surface, now."""

    moving: Moving
    gap: Float[Array, "p *batch"]
    normal: Float[Array, "3 p *batch"]
    force: Float[Array, "p *batch"]
    """N (N)."""


class SurfaceContact(Element):
    """Points of hulls against a surface."""

    hulls: dict[str, Hull]
    """By group."""
    surface: Surface
    friction: Float[Array, "*batch"]
    """mu."""
    name: str = eqx.field(static=True, default="ground")
    """Its signals begin with."""
    strands: Strands | None = None
    """Cables that are told of when they touch; they pass through all the same."""

    def start(self, bodies: dict[str, Bodies]) -> ContactAnchors:
        """Anchors where the points are."""
        places = {group: hull.points.moving(bodies).place for group, hull in self.hulls.items()}
        return self.advance(ContactAnchors(places, jnp.ones((), bool)), 0.0, bodies, 0.0)

    def advance(
        self, memory: ContactAnchors, t: ArrayLike, bodies: dict[str, Bodies], dt: ArrayLike
    ) -> ContactAnchors:
        """Anchors of points that slide, or are in the air, follow."""
        return ContactAnchors(self._followed(memory.anchors, bodies), self._near(bodies, dt))

    def stepped(
        self,
        memory: ContactAnchors,
        t: ArrayLike,
        bodies: dict[str, Bodies],
        dt: ArrayLike,
        flies: Bool[Array, "*batch"],
    ) -> ContactAnchors:
        """As any element; in a batch nothing but distances is looked at while nobody is near to touching."""
        if flies.ndim == 0:
            return super().stepped(memory, t, bodies, dt, flies)
        near = self._near(bodies, dt) & flies

        def followed(anchors: dict[str, Array]) -> dict[str, Array]:
            later = self._followed(anchors, bodies)
            return jax.tree.map(lambda new, old: jnp.where(flies, new, old), later, anchors)

        return ContactAnchors(jax.lax.cond(jnp.any(near), followed, lambda same: same, memory.anchors), near)

    def loads(
        self, t: ArrayLike, bodies: dict[str, Bodies], memory: ContactAnchors, around: Around
    ) -> dict[str, Wrench]:
        """Pressure and friction at all points; nothing is worked out while no flight is near to touching."""

        def none() -> dict[str, Wrench]:
            zero = {group: jnp.zeros_like(bodies[group].position) for group in self.hulls}
            return {group: Wrench(each, each) for group, each in zero.items()}

        if memory.near.ndim == 0:  # one flight is one kernel, which a branch would break up
            return self._pressed(memory.anchors, bodies)
        return jax.lax.cond(jnp.any(memory.near), lambda: self._pressed(memory.anchors, bodies), none)

    def _near(self, bodies: dict[str, Bodies], dt: ArrayLike) -> Bool[Array, "*batch"]:
        """Whether any body might touch in the coming step."""
        close = []
        for group, hull in self.hulls.items():
            it = bodies[group]
            gap = self.surface.gap(it.position)[0] - hull.reach
            close.append(jnp.any(gap < MARGIN + 2 * dt * _size(it.velocity), axis=0))
        return functools.reduce(jnp.logical_or, close)

    def _followed(self, anchors: dict[str, Array], bodies: dict[str, Bodies]) -> dict[str, Array]:
        moved = {}
        for group, hull in self.hulls.items():
            at = self.touching(hull, bodies)
            away = _along(at.moving.place - anchors[group], at.normal)
            most = self.friction * jnp.minimum(at.force / hull.stiffness, STRETCH * SINKING)
            moved[group] = at.moving.place - away * jnp.minimum(1.0, most / _size(away))
        return moved

    def _pressed(self, anchors: dict[str, Array], bodies: dict[str, Bodies]) -> dict[str, Wrench]:
        found = {}
        for group, hull in self.hulls.items():
            at = self.touching(hull, bodies)
            pull = hull.stiffness * _along(at.moving.place - anchors[group], at.normal)
            pull = pull + hull.damping * _along(at.moving.velocity, at.normal)
            rub = pull * jnp.minimum(1.0, self.friction * at.force / _size(pull))
            arm = at.moving.arm - hull.radius * at.normal
            count = bodies[group].position.shape[1]
            found[group] = hull.points.wrench(arm, at.force * at.normal - rub, count)
        return found

    def touching(self, hull: Hull, bodies: dict[str, Bodies]) -> Touching:
        """How deep its points are, and what presses on them."""
        moving = hull.points.moving(bodies)
        gap, normal = self.surface.gap(moving.place)
        gap = gap - hull.radius
        depth = jnp.maximum(-gap, 0.0)
        speed = -dot(moving.velocity, normal)
        press = hull.stiffness * depth + hull.damping * jnp.minimum(depth / SINKING, 1.0) * speed
        return Touching(moving, gap, normal, jnp.maximum(press, 0.0))

    def solid(self) -> Solid:
        """Its surface."""
        return Solid(self.surface, self.friction)

    def signal_kinds(self, layout: Layout) -> tuple[SignalKind, ...]:
        """Of every body of the groups that may touch."""
        count = sum(layout.group(group).count for group in self.hulls)
        told = (
            SignalKind(f"{self.name}.gap", "m", count, "how far each body is from touching"),
            SignalKind(f"{self.name}.force", "N", count, "how hard each body is pressed"),
        )
        if self.strands is None:
            return told
        says = "how far each cable is from touching, taken as straight"
        return (*told, SignalKind(f"{self.name}.cable_gap", "m", len(self.strands.names), says))

    def signals(
        self, t: ArrayLike, bodies: dict[str, Bodies], memory: Any, around: Around
    ) -> dict[str, Float[Array, "count *batch"]]:
        """The least gap and the sum of all pressures, body by body."""
        gaps, forces = [], []
        for group, hull in self.hulls.items():
            at, body = self.touching(hull, bodies), hull.points.body
            for k in range(bodies[group].position.shape[1]):
                own = [p for p, one in enumerate(body) if one == k]
                gaps.append(at.gap[own[0] : own[-1] + 1].min(0))
                forces.append(at.force[own[0] : own[-1] + 1].sum(0))
        told = {f"{self.name}.gap": jnp.stack(gaps), f"{self.name}.force": jnp.stack(forces)}
        if self.strands is not None:
            told[f"{self.name}.cable_gap"] = self.strands.gap(self.surface, bodies)
        return told

    def happened(
        self, times: npt.NDArray[np.float64], told: Mapping[str, npt.NDArray[Any]], layout: Layout
    ) -> list[Happening]:
        """Bodies that touch ('touch', or 'collision' with an obstacle) and leave again ('lift-off').

        A taut cable that comes to touch is told as 'cable-touch'.
        """
        gaps = np.asarray(told[f"{self.name}.gap"])
        owners = [(group, k) for group in self.hulls for k in range(layout.group(group).count)]
        arrives = "touch" if self.name == "ground" else "collision"
        found = [
            Happening(time, arrives if came else "lift-off", group, k, speed, "m/s")
            for column, (group, k) in enumerate(owners)
            for time, came, speed in touches(times, gaps[:, column])
        ]
        names = () if self.strands is None else self.strands.names
        for k, name in enumerate(names):
            near, own = np.asarray(told[f"{self.name}.cable_gap"])[:, k], names[:k].count(name)
            if f"{name}.taut" in told:  # one that is slack, or cut, is not where the straight line is
                near = np.where(np.asarray(told[f"{name}.taut"])[:, own], near, SLACK)
            found += [
                Happening(time, "cable-touch", name, own, speed, "m/s")
                for time, came, speed in touches(times, near)
                if came
            ]
        return found


def touches(times: npt.NDArray[np.float64], gap: npt.NDArray[np.float64]) -> list[tuple[float, bool, float]]:
    """When a body came to touch and when it left, from its gap (m) at `times` (s).

    It has left when it is `APART`: what bounces lower counts as touching. Returns times (s), whether it came
    (else it left), and how fast (m/s).
    """
    found = []
    on = bool(gap[0] <= 0)
    last = 0
    for k in (np.flatnonzero((gap[1:] <= 0) | (gap[1:] > APART)) + 1).tolist():
        if not on and gap[k] <= 0:
            on = True
            found.append((_crossing(times, gap, k), _speed(times, gap, k - 1), True))
        elif on and gap[k] > APART:
            on = False
            found.append((_crossing(times, gap, last + 1), _speed(times, gap, last + 2), False))
        if gap[k] <= 0:
            last = k
    return [(time, came, speed) for time, speed, came in found]


def _crossing(times: npt.NDArray[np.float64], gap: npt.NDArray[np.float64], k: int) -> float:
    """When the gap passes zero in the step that ends in row `k` (s)."""
    change = gap[k] - gap[k - 1]
    share = np.clip(-gap[k - 1] / change, 0.0, 1.0) if change else 1.0
    return float(times[k - 1] + share * (times[k] - times[k - 1]))


def _speed(times: npt.NDArray[np.float64], gap: npt.NDArray[np.float64], k: int) -> float:
    """How fast the gap changes in the step that ends in row `k`, in free flight beside a touch (m/s)."""
    k = min(max(k, 1), len(gap) - 1)
    width = times[k] - times[k - 1]
    return float(abs(gap[k] - gap[k - 1]) / width) if width > 0 else 0.0


def _along(vector: Array, normal: Array) -> Array:
    """The part of a vector along the surface."""
    return vector - dot(vector, normal) * normal


def _size(vector: Array) -> Array:
    return jnp.sqrt(jnp.maximum(dot(vector, vector), 1e-24))
