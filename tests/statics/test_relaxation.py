"""The lowest equilibrium by a cone program: exact where it says so, a search elsewhere."""

import sys

import numpy as np
import pytest
from teams import frame

from skyrig.errors import InputError
from skyrig.statics import Pose, direct, resting, three
from skyrig.statics.relaxation import relaxed

pytest.importorskip("clarabel", reason="clarabel is missing: the extra plan brings it")


def test_the_program_is_used_only_where_it_is_exact() -> None:
    team = frame()
    apart = three(team, Pose.turned(), (-0.2724, -0.3054, -0.3054))
    found = resting(team, apart.hooks)
    assert found.exact and found.shrunk < 1e-8 and found.equilibrium.lowest and found.equilibrium.stable
    np.testing.assert_allclose(found.equilibrium.pose.position, 0, atol=1e-9)
    assert found.equilibrium.configuration.residual < 1e-10
    # pulled inwards the payload folds in the program, whose answer is then below every true one
    inwards = three(team, Pose.turned(), (0.2724, 0.3054, 0.3054))
    other = resting(team, inwards.hooks, starts=48)
    assert not other.exact and other.shrunk > 0.01
    places, _ = relaxed(team, inwards.hooks)
    assert team.weight * places[-1, 2] < other.equilibrium.energy - 1e-3


def test_no_search_finds_anything_lower() -> None:
    team, exact = frame(), 0
    rng = np.random.default_rng(1)
    for _ in range(8):
        pose = Pose.turned(*rng.uniform(-0.3, 0.3, 3), rng.normal(size=3))
        hooks = three(team, pose, rng.uniform(-0.7, 0.1, 3)).hooks
        found = resting(team, hooks, starts=32)
        exact += found.exact
        assert found.equilibrium.energy <= direct(team, hooks, starts=32)[0].energy + 1e-9
    assert 0 < exact < 8


def test_without_the_solver_one_sentence_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "clarabel", None)
    with pytest.raises(InputError, match="needs the package clarabel, which the extra 'plan' brings"):
        resting(frame(), three(frame(), Pose.turned(), (-0.3, -0.3, -0.3)).hooks)
