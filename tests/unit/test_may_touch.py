"""The cheap look at contacts never misses one, and a turn is the turn it says."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from skyrig.algebra import turn_by
from skyrig.contacts import NONE, may_touch, touching, vehicles_apart
from skyrig.hulls import Outlines, outlines

COUNT = 20_000


def made_shapes() -> Outlines:
    """Three vehicles around a box, some on hooks, over ground and within walls."""
    corners = np.array([[x, y, z] for x in (-0.3, 0.3) for y in (-0.2, 0.2) for z in (-0.05, 0.05)])
    points = np.array([[-0.3, 0.0, 0.05], [0.3, 0.1, 0.05], [0.0, -0.2, 0.05]])
    hooks = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, -0.05], [0.02, 0.0, -0.03]])
    arena = np.array([[-3.0, -3.0, 0.0], [3.0, 3.0, 4.0]])
    alone = outlines(corners, np.array([0.15, 0.2, 0.1]), points, hooks, 0.0, arena)
    return Outlines(*(np.asarray(it)[..., None] for it in alone))


def test_where_nothing_may_touch_nothing_touches():
    rng = np.random.default_rng(0)
    shapes = made_shapes()
    place = rng.uniform([[-1.0], [-1.0], [0.5]], [[1.0], [1.0], [2.5]], (3, COUNT))
    attitude, turns = (rng.standard_normal(shape) for shape in ((4, COUNT), (4, 3, COUNT)))
    attitude[1:] *= 0.3
    attitude, turns = (it / np.sqrt((it * it).sum(0)) for it in (attitude, turns))
    craft = place[:, None] + rng.uniform([[[-1]], [[-1]], [[-0.3]]], [[[1]], [[1]], [[1]]], (3, 3, COUNT))
    at = (place, attitude), (craft, turns)
    taut, kept = np.ones((3, COUNT), bool), np.zeros(COUNT, bool)
    found = touching(shapes, *at, taut, kept) != NONE
    near = may_touch(shapes, *at, vehicles_apart(craft, shapes.radius))
    assert not np.any(found & ~near)
    assert found.any() and (~near).sum() > COUNT / 50, "both happen, or this test says nothing"


def test_a_turn_is_about_its_vector_by_its_length():
    rng = np.random.default_rng(1)
    axis = rng.standard_normal((3, 200))
    axis /= np.sqrt((axis * axis).sum(0))
    angle = np.concatenate([[0.0, 1e-9, np.pi, 2 * np.pi], rng.uniform(0, 6.5, 196)])
    wanted = np.concatenate([np.cos(angle / 2)[None], np.sin(angle / 2) * axis])
    np.testing.assert_allclose(turn_by(jnp.asarray(angle * axis)), wanted, atol=2e-15)
