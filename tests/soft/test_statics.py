"""Soft fingers at rest: energies and their derivatives, beams, refinement, and the way back to tendons."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from skyrig import InputError, soft
from skyrig.soft import FingerDesign, energy
from skyrig.soft.equilibrium import answer, equilibrium, linearise, tips, total_energy, total_slope
from skyrig.soft.stack import rest_blocks, stacked

DOWN = jnp.array([0.0, 0.0, 9.81])
BEND = FingerDesign(young=2e4, width=0.025, length=0.18)


@pytest.fixture(scope="module")
def gripper() -> soft.Gripper:
    return soft.Gripper.build()


def bent(finger: soft.Finger, seed: int = 0) -> jax.Array:
    """Blocks of a finger pushed about at random, by a tenth of its width at most."""
    rest = np.asarray(rest_blocks(finger))
    shift = np.random.default_rng(seed).uniform(-1, 1, rest.shape) * 0.0015
    shift[0] *= 0.0 if finger.clamped else 1.0
    return jnp.asarray(rest + shift)


@pytest.mark.parametrize(
    "design",
    [
        FingerDesign(slices=2),
        FingerDesign(slices=2, elements="T4", cells=2, mount="pins"),
        FingerDesign(slices=1, elements="H20", cells=2),
    ],
    ids=["H20", "T4-pins", "H20-fine"],
)
def test_forces_and_stiffness_are_the_energys_derivatives(design: FingerDesign) -> None:
    finger = soft.finger(design)
    blocks = bent(finger)
    lengths = jnp.array([0.17, 0.175, 0.2, 0.178])  # one of them slack

    slope = jax.jit(total_slope)(finger, blocks, lengths, DOWN).reshape(blocks.shape)
    automatic = jax.jit(jax.grad(total_energy, 1))(finger, blocks, lengths, DOWN)
    if finger.clamped:
        automatic = automatic.at[0].set(0.0)
    np.testing.assert_allclose(slope, automatic, atol=1e-8 * np.abs(automatic).max())

    nodes = stacked(finger, blocks)
    count = 3 * nodes.shape[-2]
    stiffness = jax.jit(energy.material_stiffness)(finger, nodes[0])
    wanted = jax.jit(jax.jacfwd(energy.material_slope, 1))(finger, nodes[0]).reshape(count, count)
    np.testing.assert_allclose(stiffness, wanted, atol=1e-8 * np.abs(wanted).max())

    # the whole Hessian, tendons and pins with it: its inverse undoes it; a shift makes it positive anywhere
    push = jnp.asarray(np.random.default_rng(1).normal(size=blocks.shape))
    push = push.at[0].set(0.0) if finger.clamped else push.at[0, : finger.between].set(0.0)

    def back(finger: soft.Finger, shift: jax.Array) -> jax.Array:
        _, moved = jax.jvp(lambda it: total_slope(finger, it, lengths, DOWN), (blocks,), (push,))
        moved = moved + shift * push.reshape(moved.shape)
        return answer(linearise(finger, blocks, lengths, shift), moved[..., None])[..., 0]

    undone = jax.jit(back)(finger, jnp.asarray(1e4)).reshape(push.shape)
    np.testing.assert_allclose(undone, push, atol=1e-8)


def test_a_slice_moved_as_a_whole_feels_nothing_and_weighs_what_it_is() -> None:
    for kind in ("H20", "T4"):
        design = FingerDesign(slices=1, elements=kind, cells=2)
        finger = soft.finger(design)
        angle = 0.7
        turn = np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1.0]])
        nodes = finger.rest @ turn.T + np.array([1.0, 2.0, 3.0])
        np.testing.assert_allclose(energy.material_slope(finger, nodes), 0.0, atol=1e-10)
        assert float(energy.material_energy(finger, nodes)) == pytest.approx(0.0, abs=1e-13)
        assert float(finger.mass) == pytest.approx(design.weight, rel=1e-12)
        lumped = soft.finger(FingerDesign(slices=1, elements=kind, cells=2, mass="lumped"))
        assert float(lumped.mass) == pytest.approx(design.weight, rel=1e-12)
        assert (np.diag(lumped.overlap) > 0).all()
        # eyelets stand where the tendons pass, and a stretched face moves them with it
        place = np.asarray(finger.eyelet @ finger.base)
        np.testing.assert_allclose(
            place[:, :2] / 0.0125, [[1, 0.5], [1, -0.5], [-1, 0.5], [-1, -0.5]], atol=1e-12
        )
        assert np.isinf(float(energy.material_energy(finger, finger.rest * np.array([1.0, 1.0, -1.0]))))


def tip_compliance(design: FingerDesign) -> float:
    """How far a force of 1 N across at the tip moves it (m/N), for small forces."""

    @jax.jit
    def moved(finger: soft.Finger) -> jax.Array:
        rest = rest_blocks(finger)
        force = jnp.zeros(rest.shape).at[-1, finger.between :, 0].set(finger.tip)
        hessian = linearise(finger, rest, jnp.full(4, 1.0), jnp.zeros(()))
        away = answer(hessian, force.reshape(finger.slices + 1, -1, 1))
        return tips(finger, away.reshape(rest.shape))[0]

    return float(moved(soft.finger(design)))


def test_a_cantilever_bends_like_timoshenkos() -> None:
    inertia, area = BEND.width**4 / 12, BEND.width**2
    shear = BEND.young / 2 / (1 + BEND.poisson)
    beam = BEND.length**3 / (3 * BEND.young * inertia) + BEND.length / (5 / 6 * shear * area)
    default, fine = tip_compliance(BEND), tip_compliance(FingerDesign(slices=12, cells=2))
    assert default == pytest.approx(fine, rel=0.02)
    assert fine == pytest.approx(beam, rel=0.012)  # the glued base cannot widen, so it is a little stiffer
    assert default == pytest.approx(beam, rel=0.02)
    assert (
        tip_compliance(FingerDesign(elements="T4", slices=18, cells=2)) < 0.65 * beam
    )  # the paper's elements


@pytest.mark.slow
def test_large_bending_by_tendons_converges() -> None:
    def tip(slices: int) -> np.ndarray:
        finger = soft.finger(FingerDesign(slices=slices))
        lengths = jnp.array([[0.162, 0.162, 0.19, 0.19]])
        found = jax.jit(equilibrium)(finger, lengths, DOWN[None])
        assert float(found.residual[0]) < 1e-6
        return np.asarray(tips(finger, found.blocks)[0])

    coarse, middle, fine = tip(3), tip(6), tip(12)
    assert fine[0] > 0.05  # a third of the finger's length: large
    assert np.linalg.norm(middle - fine) < 0.02 * np.linalg.norm(fine - [0, 0, 0.18])
    assert np.linalg.norm(middle - fine) < 0.5 * np.linalg.norm(coarse - fine)


def test_fingertips_and_their_gradient(gripper: soft.Gripper) -> None:
    lengths = np.array([[0.162, 0.19], [0.17, 0.185], [0.18, 0.175], [0.15, 0.16]])
    place = soft.fingertips(gripper, lengths, (0.0, 0.0, 1.0))
    straight = soft.fingertips(gripper, gripper.straight, (0.0, 0.0, 1.0))
    out, out_straight = (np.linalg.norm(np.asarray(it)[:, :2], axis=1) for it in (place, straight))
    assert (out[[0, 1]] < out_straight[[0, 1]] - 0.01).all()  # pulled in on the inner side
    assert out[2] > out_straight[2]
    np.testing.assert_allclose(np.asarray(straight)[:, 2], 1.0 - 0.02 - 0.18, atol=2e-3)

    def cost(at: jax.Array) -> jax.Array:
        return (soft.fingertips(gripper, at, (0.0, 0.0, 1.0)) * jnp.arange(12.0).reshape(4, 3)).sum()

    slope = jax.grad(cost)(jnp.asarray(lengths))
    step = 1e-6
    for finger, pair in ((0, 0), (1, 1), (3, 0), (3, 1)):
        shift = np.zeros((4, 2))
        shift[finger, pair] = step
        by_hand = (cost(jnp.asarray(lengths + shift)) - cost(jnp.asarray(lengths - shift))) / (2 * step)
        assert float(slope[finger, pair]) == pytest.approx(float(by_hand), rel=1e-5, abs=1e-6)


@pytest.mark.slow
def test_tendons_reach_what_fingertips_can_reach(gripper: soft.Gripper) -> None:
    random = np.random.default_rng(3)
    for _ in range(3):
        wanted = soft.fingertips(gripper, random.uniform(0.12, 0.19, (4, 2)))
        reached = soft.reach(gripper, wanted)
        assert bool(reached.found)
        assert np.linalg.norm(reached.fingertips - wanted, axis=1).max() < 1e-3
    far = soft.reach(gripper, np.full((4, 3), -5.0))  # out of reach: as near as may be, within limits
    assert (np.asarray(far.lengths) >= 0.12 - 1e-12).all() and (np.asarray(far.lengths) <= 0.19 + 1e-12).all()


def test_what_cannot_be_is_refused(gripper: soft.Gripper) -> None:
    with pytest.raises(InputError, match="poisson must be above"):
        FingerDesign(poisson=0.5)
    with pytest.raises(InputError, match="elements is .H21"):
        FingerDesign(elements="H21")
    with pytest.raises(InputError, match="fingers must be from 2 to 8"):
        soft.Gripper.build(fingers=1)
    with pytest.raises(InputError, match=r"shape \(4, 2\)"):
        soft.fingertips(gripper, np.zeros((2, 2)))
    with pytest.raises(InputError, match="cost is .grab"):
        soft.lengths_for(gripper, "grab", (0, 0, 0))
