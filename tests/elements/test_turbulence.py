"""Dryden's turbulence: variance and spectrum, and that nobody's steps change it."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import signal

from skyrig.elements.chance import normals
from skyrig.elements.turbulence import Turbulence, dryden
from skyrig.rigs import Bodies

TIMES, SIGMA = np.array([1.2, 0.8, 0.3]), np.array([1.5, 1.0, 0.7])
LANES = 192


def blown(steps: int, dt: float, reach: int = 1, lanes: int = 1, grid: float = 0.01) -> np.ndarray:
    """Winds (steps, 3, lanes) at the ends of steps of `dt` (s)."""
    made = Turbulence.of(TIMES, SIGMA, 0.0, 7, grid, reach)
    wide = jax.tree.map(lambda leaf: leaf[..., None], made)
    wide = eqx.tree_at(lambda it: it.seed, wide, jnp.arange(7, 7 + lanes, dtype=jnp.uint32))
    bodies = {
        "vehicles": jax.tree.map(lambda leaf: leaf[..., None] + jnp.zeros(lanes), Bodies.still([0.0] * 3))
    }

    @jax.jit
    def flown() -> jnp.ndarray:
        def one(memory, k):
            t = k * dt
            memory = wide.advance(memory, t, bodies, dt)
            return memory, wide.wind(t + dt, jnp.zeros((3, 1, lanes)), memory)[:, 0]

        return jax.lax.scan(one, wide.start(bodies), jnp.arange(steps))[1]

    return np.asarray(flown())


@pytest.fixture(scope="module")
def long() -> np.ndarray:
    return blown(20_000, 0.01, lanes=LANES)


def test_variance_is_that_of_the_standard_from_the_first_instant_on(long: np.ndarray) -> None:
    assert long.var(axis=(0, 2)) == pytest.approx(SIGMA**2, rel=0.03)
    early = blown(1, 0.01, lanes=20_000)[0]
    assert early.var(axis=1) == pytest.approx(SIGMA**2, rel=0.03)
    assert np.abs(np.corrcoef(early) - np.eye(3)).max() < 0.03


@pytest.mark.parametrize("dt", [0.002, 0.0077])
def test_variance_at_other_steps(dt: float) -> None:
    found = blown(int(40 / dt), dt, lanes=LANES)
    assert found.var(axis=(0, 2)) == pytest.approx(SIGMA**2, rel=0.03)


def test_spectrum_is_that_of_the_standard(long: np.ndarray) -> None:
    frequency, power = signal.welch(long, fs=100.0, nperseg=4096, axis=0)
    power = power.mean(axis=2)
    for k, (t, sigma) in enumerate(zip(TIMES, SIGMA, strict=True)):
        x = (2 * np.pi * frequency * t) ** 2
        wanted = 4 * sigma**2 * t / (1 + x) if k == 0 else 2 * sigma**2 * t * (1 + 3 * x) / (1 + x) ** 2
        edges = np.geomspace(0.1, 10.0, 13)
        for low, high in zip(edges[:-1], edges[1:], strict=True):
            band = (frequency >= low) & (frequency < high)
            assert power[band, k].mean() == pytest.approx(wanted[band].mean(), rel=0.1), (k, low)


def test_the_wind_at_an_instant_does_not_depend_on_steps() -> None:
    coarse, fine = blown(100, 0.03, reach=3), blown(1500, 0.002)
    assert coarse == pytest.approx(fine[14::15], abs=1e-12)
    odd = blown(330, 0.003)
    assert odd[9::10] == pytest.approx(fine[14::15][:33], abs=1e-12)


def test_lengths_and_intensities_of_the_standard() -> None:
    """MIL-F-8785C at 20 feet: 0.1 of the wind upwards, about twice that along."""
    lengths, sigma = dryden(6.096, 10.0)
    assert lengths[2] == pytest.approx(6.096) and sigma[2] == pytest.approx(1.0)
    assert lengths[0] == lengths[1] == pytest.approx(6.096 / (0.177 + 0.01646) ** 1.2)
    assert sigma[0] == sigma[1] == pytest.approx(1.0 / (0.177 + 0.01646) ** 0.4)


def test_chance_is_normal_and_white() -> None:
    index = jnp.arange(200_000)
    drawn = np.asarray(normals(jnp.asarray(3), index, 3, jnp.dtype("float64"))).reshape(6, -1)
    assert np.abs(drawn.mean(axis=1)).max() < 0.01
    assert drawn.var(axis=1) == pytest.approx(np.ones(6), rel=0.02)
    assert (drawn**4).mean(axis=1) == pytest.approx(np.full(6, 3.0), rel=0.05)
    assert np.abs(np.corrcoef(drawn) - np.eye(6)).max() < 0.01
    for lag in (1, 2, 3, 7, 64):
        assert np.abs((drawn[:, lag:] * drawn[:, :-lag]).mean(axis=1)).max() < 0.012
    others = np.asarray(normals(jnp.arange(100_000), jnp.asarray(5), 1, jnp.dtype("float64")))
    assert np.abs(others.mean(axis=2)).max() < 0.015 and others.var(axis=2) == pytest.approx(1.0, rel=0.02)
