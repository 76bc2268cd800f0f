"""Soft fingers at rest: how meshes bend, how far rods are from them, and the search for tendon lengths.

    python benchmarks/soft_statics.py [bending|rods|inverse|pins]

`bending` prints the tip's way under a small force across over that of Timoshenko's beam, mesh by mesh, and
how far the default finger, bent by its tendons, is from one of twice as many slices. `rods` compares
fingertips of rods with those of elements over 28 pairs of tendon lengths. `inverse` brings 200 fingertips to
places drawn by chance among those that can be reached, and times an approach and a grasp of four fingers.
`pins` compares fingers that three springs hold with fingers that are glued on.
"""

from __future__ import annotations

import itertools
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np

from skyrig import soft
from skyrig.soft import FingerDesign
from skyrig.soft import rod as rods
from skyrig.soft.equilibrium import answer, equilibrium, linearise, tips
from skyrig.soft.stack import rest_blocks

MESHES = {
    "H20, the default": FingerDesign(),
    "H20": FingerDesign(slices=14),
    "H20, 2 x 2 cells": FingerDesign(slices=14, cells=2),
    "H27": FingerDesign(elements="H27", slices=9),
    "T4, 2 x 2 cells, the paper's elements": FingerDesign(elements="T4", slices=18, cells=2),
    "T4, 4 x 4 cells": FingerDesign(elements="T4", slices=36, cells=4),
}
DOWN = jnp.array([[0.0, 0.0, 9.81]])


def beam(design: FingerDesign) -> float:
    """How far Timoshenko's cantilever gives way under a force across at its tip (m/N)."""
    inertia, area = design.width**4 / 12, design.width**2
    shear = design.young / 2 / (1 + design.poisson)
    return design.length**3 / (3 * design.young * inertia) + design.length / (5 / 6 * shear * area)


@jax.jit
def gives(finger: soft.Finger) -> jax.Array:
    """The same of a finger (m/N)."""
    rest = rest_blocks(finger)
    force = jnp.zeros(rest.shape).at[-1, finger.between :, 0].set(finger.tip)
    hessian = linearise(finger, rest, jnp.full(4, 1.0), jnp.zeros(()))
    away = answer(hessian, force.reshape(finger.slices + 1, -1, 1))
    return tips(finger, away.reshape(rest.shape))[0]


def bending() -> None:
    """Meshes under a small force, and the default one under a large pull."""
    for name, design in MESHES.items():
        finger = soft.finger(design)
        nodes = (finger.slices + 1) * finger.face + finger.slices * finger.between
        print(f"{name}: {finger.slices} slices, {nodes} nodes, {float(gives(finger)) / beam(design):.3f}")
    lengths = jnp.array([[0.162, 0.162, 0.19, 0.19]])
    ends = []
    for slices in (FingerDesign.slices, 2 * FingerDesign.slices):
        finger = soft.finger(FingerDesign(slices=slices))
        found = jax.jit(equilibrium)(finger, lengths, DOWN)
        ends.append(np.asarray(tips(finger, found.blocks)[0]))
    way = np.linalg.norm(ends[1] - [0.0, 0.0, FingerDesign.length])
    apart = np.linalg.norm(ends[0] - ends[1])
    print(f"pulled in by a tenth: {1e3 * apart:.2f} mm apart after {1e3 * way:.0f} mm")


def compare_rods() -> None:
    """Fingertips of rods next to those of the default elements."""
    steps = np.linspace(0.12, 0.19, 8)
    pulls = np.array([pair for pair in itertools.product(steps, steps) if pair[0] < pair[1]])
    tendons = jnp.repeat(jnp.asarray(pulls), 2, axis=1)
    for young in (2e4, 2e5):
        finger = soft.finger(FingerDesign(young=young))
        found = jax.jit(equilibrium)(finger, tendons, jnp.repeat(DOWN, len(pulls), 0))
        ends = np.asarray(tips(finger, found.blocks))
        way = np.linalg.norm(ends - [0.0, 0.0, FingerDesign.length], axis=1)
        for slices in (6, 8):
            it = rods.rod(soft.finger(FingerDesign(young=young, slices=slices)))
            frames = jnp.broadcast_to(jnp.eye(3)[:, :, None], (3, 3, len(pulls)))
            start = rods.straight(it, jnp.zeros((3, len(pulls))), frames, slices)
            settled = rods.settled(it, start, tendons.T, DOWN[0].reshape(3, 1, 1), 3.0)
            off = np.linalg.norm(np.asarray(settled.place[:, -1]).T - ends, axis=1)
            within = (off <= 0.05 * way).sum()
            print(
                f"{young:g} Pa, {slices} segments, {len(pulls)} pairs: {1e3 * off.max():.1f} mm apart at "
                f"most, {1e3 * np.median(off):.1f} mm in the middle; over the way gone "
                f"{(off / way).max():.3f} at most, {within} within 0.05"
            )


def inverse() -> None:
    """Places drawn by chance are reached, and how long an approach and a grasp take."""
    gripper = soft.Gripper.build()
    random, off, spent = np.random.default_rng(0), [], 0.0
    for _ in range(50):
        wanted = soft.fingertips(gripper, random.uniform(0.12, 0.19, (4, 2)))
        began = time.process_time()
        reached = jax.block_until_ready(soft.reach(gripper, wanted))
        spent += time.process_time() - began if off else 0.0
        off += np.linalg.norm(reached.fingertips - wanted, axis=1).tolist()
    worst, close = 1e3 * max(off), sum(each < 1e-3 for each in off)
    print(f"{close} of {len(off)} within 1 mm, {worst:.3f} mm off at most, {spent / 49:.2f} s for four")
    for words, target in (("ahead and below", (0.12, 0.0, -0.2)), ("below", (0.0, 0.0, -0.15))):
        for cost in ("spread", "surround", "grasp"):
            soft.lengths_for(gripper, cost, target)
            began = time.process_time()
            found = jax.block_until_ready(soft.lengths_for(gripper, cost, target))
            spent = time.process_time() - began
            print(f"{cost}, target {words}: {spent:.2f} s of processor time, {int(found.steps)} steps")


def pins() -> None:
    """How far fingertips are from those of glued fingers when three springs hold each base (eq. 14)."""
    lengths = np.array([[0.18, 0.18], [0.162, 0.19], [0.14, 0.19], [0.12, 0.19]])
    glued, pinned = (soft.Gripper.build(FingerDesign(mount=mount)) for mount in ("clamp", "pins"))
    away = np.linalg.norm(soft.fingertips(pinned, lengths) - soft.fingertips(glued, lengths), axis=1)
    for pair, off in zip(lengths, away, strict=True):
        print(f"tendons of {pair[0]:g} and {pair[1]:g} m: pinned {1e3 * off:.1f} mm from glued")


def main() -> None:
    """Print what is asked for, or everything."""
    known = {"bending": bending, "rods": compare_rods, "inverse": inverse, "pins": pins}
    for name in sys.argv[1:] or known:
        known[name]()


if __name__ == "__main__":
    main()
