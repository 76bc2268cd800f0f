"""The reduced finger: a rod of few nodes, for flights by the hundred.

Every node has a place and two directors, along which the cross-section's x and y axes lie: nine numbers and
no angles. Where elements integrate the material over a slice, the rod has four fibres a segment that are
stretched as the rubber is when nothing holds its sides (eq. 11), and springs against shear, twist and
stretched directors. Tendons pass eyelets as the elements' do (eqs. 12-13). Four factors, `FITTED`, are
fitted to the elements.

Arrays are components first, batch last: (3, nodes, fingers, *batch).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from skyrig.algebra import dot, total
from skyrig.soft.mesh import TENDONS, Finger

FITTED = {"axial": 1.020, "bending": 1.065, "shear": 0.800, "lever": 1.070}
"""Factors on the fibres' stiffness, on their distance from the axis, on shear, on the tendons' distance."""
SLOW = 4.0
"""Turning a slice costs so many times more than its own inertia asks for, which allows longer sub-steps."""
CROSS = 0.5
"""Stiffness of directors over Young's modulus."""
SAFETY = 0.7
"""Share of the longest stable sub-step that is taken."""
_POINTS = 1 + 0.6 * np.cos(np.pi * (np.arange(12) + 0.5) / 12)
_POWERS = np.linalg.pinv(np.stack([(_POINTS - 1) ** k for k in range(1, 8)], 1))


class Rod(NamedTuple):
    """A finger's numbers, of one flight or of a batch."""

    segment: Any
    """Between two nodes (m)."""
    half: Any
    """Of the width (m)."""
    young: Any
    density: Any
    damping: Any
    tendon_stiffness: Any
    axial: Any
    """Stiffness of a fibre (N)."""
    stress: Any
    """Coefficients of a fibre's stress over Young's modulus, of the powers 1 to 7 of its strain."""
    spread: Any
    """Of the fibres from the axis (m)."""
    lever: Any
    """Of tendons at the skin from the axis (m)."""
    shear: Any
    """N."""
    twist: Any
    """N m^2."""
    cross: Any
    """N."""
    slice_mass: Any
    """kg."""
    slice_inertia: Any
    """kg m^2."""


class RodNodes(NamedTuple):
    """Of fingers: where nodes are, how they move, or what acts on them."""

    place: Float[Array, "3 nodes fingers *batch"]
    inner: Float[Array, "3 nodes fingers *batch"]
    """Director towards the side that closes."""
    aside: Float[Array, "3 nodes fingers *batch"]


class Strains(NamedTuple):
    """What springs are stretched by."""

    fibre: Array
    shear: Array
    twist: Array
    cross: Array
    tendon: Array
    """m."""


def rod(finger: Finger, factors: dict[str, Any] | None = None) -> Rod:
    """The rod that stands for a finger of elements."""
    fit = FITTED if factors is None else factors
    slices = finger.rest.shape[0]
    half = finger.base[:, 0].max(0)
    length = finger.rest[-1, -1, 2]
    segment, area = length / slices, 4 * half * half
    shear, poisson = finger.shear, finger.bulk / 2 / (finger.bulk + finger.shear)
    young = 2 * shear * (1 + poisson)
    second = area * area / 12
    values = jnp.stack([_stress(finger, stretch) / young for stretch in _POINTS])
    return Rod(
        segment,
        half,
        young,
        finger.density,
        finger.damping,
        finger.tendon_stiffness,
        fit["axial"] * young * area / 4,
        jnp.tensordot(jnp.asarray(_POWERS), values, 1),
        fit["bending"] * half / np.sqrt(3.0),
        fit["lever"] * half,
        fit["shear"] * shear * area,
        shear * 0.1406 * area * area,
        CROSS * young * area,
        finger.density * area * segment,
        SLOW * finger.density * second * segment,
    )


def _stress(finger: Finger, stretch: float) -> Array:
    """Of rubber stretched along one axis, its sides free (N/m^2), from eq. 11.

    With T the square of the stretch across: mu (T - 1) + kappa ln(stretch T) = 0, and then
    P = mu (stretch - T / stretch).
    """
    mu, kappa = finger.shear, finger.bulk
    across = jnp.ones_like(mu)
    for _ in range(8):
        miss = mu * (across - 1) + kappa * (jnp.log(across) + np.log(stretch))
        across = across - miss / (mu + kappa / across)
    return mu * (stretch - across / stretch)


def strains(it: Rod, at: RodNodes) -> Strains:
    """How much everything is stretched."""
    slope, inner, aside = (jnp.diff(leaf, axis=1) / it.segment for leaf in at)
    mean_inner, mean_aside = ((leaf[:, 1:] + leaf[:, :-1]) / 2 for leaf in at[1:])
    signs = ((1, 1), (1, -1), (-1, 1), (-1, -1))
    fibres = [slope + it.spread * (x * inner + y * aside) for x, y in signs]
    ends = [at.place + it.lever * (x * at.inner + y * at.aside) for x, y in TENDONS]
    spans = [jnp.diff(end, axis=1) for end in ends]
    own, other = at.inner[:, 1:], at.aside[:, 1:]
    return Strains(
        jnp.stack([jnp.sqrt(dot(each, each)) - 1 for each in fibres]),
        jnp.stack([dot(mean_inner, slope), dot(mean_aside, slope)]),
        (dot(mean_aside, inner) - dot(mean_inner, aside)) / 2,
        jnp.stack([(dot(own, own) - 1) / 2, (dot(other, other) - 1) / 2, dot(own, other)]),
        jnp.stack([total(jnp.sqrt(dot(span, span))) for span in spans]),
    )


def forces(
    it: Rod, at: RodNodes, drift: RodNodes, lengths: Float[Array, "tendons fingers *batch"]
) -> tuple[RodNodes, Array]:
    """On the nodes, from material and tendons (N; N m a unit of a director), and the tendons' pulls (N)."""
    now, rate = jax.jvp(lambda nodes: strains(it, nodes), (at,), (drift,))
    _, back = jax.vjp(lambda nodes: strains(it, nodes), at)
    late = it.damping
    pull = 2 * it.tendon_stiffness * jnp.maximum(now.tendon - lengths, 0.0)
    stress = Strains(
        it.segment * it.axial * (_power(it.stress, now.fibre) + late * rate.fibre),
        it.segment * it.shear * (now.shear + late * rate.shear),
        it.segment * it.twist * (now.twist + late * rate.twist),
        it.segment * it.cross * (now.cross + late * rate.cross),
        pull,
    )
    return jax.tree.map(jnp.negative, back(stress)[0]), pull


def _power(coefficients: Array, strain: Array) -> Array:
    found = coefficients[-1] * strain
    for each in coefficients[-2::-1]:
        found = (found + each) * strain
    return found


def stored(it: Rod, at: RodNodes, lengths: Array) -> Float[Array, "*batch"]:
    """Energy of material and tendons (J)."""
    now = strains(it, at)
    fibre = sum(c * now.fibre ** (k + 2) / (k + 2) for k, c in enumerate(it.stress))
    pull = jnp.maximum(now.tendon - lengths, 0.0)
    parts = (
        it.segment * it.axial * fibre,
        it.segment * it.shear * now.shear**2 / 2,
        it.segment * it.twist * now.twist**2 / 2,
        it.segment * it.cross * now.cross**2 / 2,
        it.tendon_stiffness * pull**2,
    )
    batch = at.place.ndim - 3
    return sum(part.sum(tuple(range(part.ndim - batch))) for part in parts)  # pyright: ignore[reportReturnType] - sum may give 0 of no parts


def masses(it: Rod, nodes: int) -> tuple[Array, Array]:
    """Of the nodes but the base, (nodes - 1, 1, *batch): mass (kg), and against turning (kg m^2).

    The tip has half a segment's mass; what the base lacks goes to the node next to it.
    """
    share = np.ones(nodes - 1)
    share[0] += 0.5
    share[-1] -= 0.5
    wide = share.reshape((-1, 1) + (1,) * jnp.ndim(it.slice_mass))
    return wide * it.slice_mass, 0 * wide + it.slice_inertia


def longest(it: Rod, skin: Any = 0.0, late: float = 0.0) -> Array:
    """The longest sub-step to take (s), of a batch the least.

    Args:
        it: The fingers.
        skin: Stiffness of what touches a segment (N/m).
        late: Its damping over its stiffness (s).
    """
    wave = 4 * (it.young / it.density + it.shear / it.slice_mass * it.segment) / it.segment**2
    section = it.shear * it.segment + 16 / 3 * it.young * it.half**4 / it.segment
    slow = jnp.maximum(section, it.cross * it.segment) / it.slice_inertia
    slow = jnp.maximum(wave, slow)
    pull = 8 * it.tendon_stiffness * jnp.maximum(2 / it.slice_mass, it.lever**2 / it.slice_inertia)
    press = skin * (2 / it.slice_mass + it.half**2 / it.slice_inertia)
    return SAFETY * stable(pull + slow + press, it.damping * slow + late * press).min()


def stable(square: Any, rate: Any) -> Array:
    """The longest stable step of a spring (s), from its stiffness and damping over its mass (1/s^2, 1/s)."""
    own = jnp.sqrt(square)
    share = rate / own / 2
    return 2 / own * (jnp.sqrt(1 + share * share) - share)


def straight(it: Rod, place: Array, turn: Array, slices: int) -> RodNodes:
    """Nodes of straight fingers from their bases (3, fingers, *batch) and frames (3, 3, fingers, *batch)."""
    along = jnp.arange(slices + 1).reshape((-1,) + (1,) * (place.ndim - 1)) * it.segment
    shape = (3, slices + 1, *place.shape[1:])
    directors = (jnp.broadcast_to(turn[:, k, None], shape) for k in range(2))
    return RodNodes(place[:, None] + along * turn[:, 2, None], *directors)


@jax.jit
def settled(it: Rod, at: RodNodes, lengths: Array, gravity: Array, lasts: Any = 3.0) -> RodNodes:
    """Where fingers on a still base come to rest: tendons are pulled for half of a while (s), then held.

    Rubber alone would let them swing for long, so that they move here as if in something thick.
    """
    step = longest(it)
    length = it.segment * (at.place.shape[1] - 1)
    thick = jnp.exp(-step * (7 * it.half * jnp.sqrt(it.young / it.density / 3) / length**2).max())
    mass, inertia = masses(it, at.place.shape[1])

    count = jnp.ceil(lasts / step).astype(int)
    begin = strains(it, at).tendon

    def one(k: Any, pair: tuple[RodNodes, RodNodes]) -> tuple[RodNodes, RodNodes]:
        at, drift = pair
        pulled = begin + jnp.minimum(2 * k / count, 1.0) * (lengths - begin)
        force, _ = forces(it, at, drift, pulled)
        pushed = RodNodes(force.place[:, 1:] / mass + gravity, *(leaf[:, 1:] / inertia for leaf in force[1:]))
        drift = jax.tree.map(lambda v, a: (v * thick).at[:, 1:].add(step * a), drift, pushed)
        return jax.tree.map(lambda x, v: x + step * v, at, drift), drift

    still = jax.tree.map(jnp.zeros_like, at)
    return jax.lax.fori_loop(0, count, one, (at, still))[0]
