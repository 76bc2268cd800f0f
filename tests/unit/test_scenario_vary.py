"""Distributions: what they draw, how rows split, and what is refused in a sentence."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyrig import InputError, load
from skyrig.scenario import vary


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [("uniform(0.1,0.6)", 0.1, 0.6), ("loguniform(1e-2, 1.0e+2)", 0.01, 100.0), (" normal(2, 0) ", 2, 2)],
)
def test_values_lie_where_they_should(text: str, low: float, high: float) -> None:
    values = vary.distribution("x", text).values(np.linspace(0, 1, 50, endpoint=False))
    assert low * (1 - 1e-12) <= values.min() and values.max() <= high


def test_moments_are_those_of_the_names() -> None:
    units = vary.shares("sobol", 3, 4096, 1)
    uniform = vary.Uniform(-1, 3).values(units[:, 0])
    normal = vary.Normal(2, 0.5).values(units[:, 1])
    logs = np.log(vary.LogUniform(0.1, 10).values(units[:, 2]))
    assert np.isclose(uniform.mean(), 1, atol=2e-3) and np.isclose(uniform.std(), 4 / np.sqrt(12), rtol=1e-2)
    assert np.isclose(normal.mean(), 2, atol=2e-3) and np.isclose(normal.std(), 0.5, rtol=1e-2)
    assert np.isclose(logs.mean(), 0, atol=2e-3) and np.isfinite(vary.Normal(0, 1).values(np.zeros(1)))


def test_choice_takes_numbers_and_words() -> None:
    units = np.array([0.0, 0.34, 0.99])
    assert vary.distribution("x", "choice(0.8, 1.0, 1.2)").values(units).tolist() == [0.8, 1.0, 1.2]
    assert vary.distribution("x", "choice(full, published)").values(units).tolist() == [
        "full",
        "full",
        "published",
    ]


@given(st.integers(0, 2**32 - 1), st.integers(0, 40), st.integers(0, 40), st.integers(0, 9))
def test_rows_do_not_depend_on_how_they_are_split(seed: int, a: int, b: int, columns: int) -> None:
    low, high = min(a, b), max(a, b)
    whole = vary.random_shares(columns, seed, 0, 40)
    assert np.array_equal(whole[low:high], vary.random_shares(columns, seed, low, high))


def test_a_longer_draw_begins_like_a_shorter_one() -> None:
    scenario = load("three-dragonflies-circle")
    how = {"rig.payload.mass": "uniform(0.1, 0.6)", "rig.cables.0.length": "choice(0.8, 1.0)"}
    few, many = vary.varied(scenario, how, 5, seed=3), vary.varied(scenario, how, 50, seed=3)
    assert few == many[:5]
    assert few != vary.varied(scenario, how, 5, seed=4)
    assert set(few[0]) == {*how, "seed"} and len({row["seed"] for row in many}) == 50
    assert all(scenario.with_overrides(row).parts.payload.mass == row["rig.payload.mass"] for row in few)


@pytest.mark.parametrize("sampler", vary.SAMPLERS)
def test_samplers_fill_the_unit_cube(sampler: str) -> None:
    units = vary.shares(sampler, 2, 64, 5)
    assert units.shape == (64, 2) and units.min() >= 0 and units.max() < 1
    assert np.array_equal(units, vary.shares(sampler, 2, 64, 5))
    if sampler != "random":  # one in every 64th of each axis
        assert all(sorted((units[:, k] * 64).astype(int)) == list(range(64)) for k in range(2))


@pytest.mark.parametrize(
    ("path", "text", "words"),
    [
        ("rig.payload.mass", "unifrom(0.1, 0.6)", "did you mean 'uniform'"),
        ("rig.payload.mass", "uniform(0.6, 0.1)", "first not above the second"),
        ("rig.payload.mass", "uniform(0.6)", "two numbers"),
        ("rig.payload.mass", "uniform(a, b)", "two numbers"),
        ("rig.payload.mass", "loguniform(-1, 2)", "above zero"),
        ("rig.payload.mass", "normal(1, -2)", "not below zero"),
        ("rig.payload.mass", "choice()", "at least one"),
        ("rig.payload.mass", "choice([1, 2], {a: 3})", "numbers or words"),
        ("rig.payload.mass", "__import__('os')", "must vary by"),
        ("rig.payload.mas", "uniform(0, 1)", "mass"),
        ("rig.cables.7.length", "uniform(0.5, 1)", "from 0 to 2"),
    ],
)
def test_nonsense_is_refused_in_a_sentence_that_names_the_path(path: str, text: str, words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        vary.varied(load("three-dragonflies-circle"), {path: text}, 3)
    assert path.split(".")[1] in str(caught.value) and str(caught.value).endswith(".")
