"""Where a payload hangs: there and back again, and what the hybrid simulation makes of each equilibrium."""

from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array
from teams import box, frame, held, random_team

from skyrig import rollout
from skyrig.elements import Element
from skyrig.errors import InputError
from skyrig.rigs.protocol import Wrench
from skyrig.statics import Pose, direct, inverse, three
from skyrig.turns import between, turn


def there_and_back(cases: int) -> None:
    rng = np.random.default_rng(0)
    team = frame()
    for _ in range(cases):
        pose = Pose.turned(*rng.uniform(-0.5, 0.5, 3), rng.normal(size=3))
        found = three(team, pose, rng.uniform(-0.7, 0.7, 3))
        every = direct(team, found.hooks, starts=64, slack=False)
        misses = [
            np.linalg.norm(it.pose.position - pose.position)
            + between(it.pose.attitude[None], pose.attitude[None])[0]
            for it in every
        ]
        at = int(np.argmin(misses))
        assert misses[at] < 1e-7
        assert every[at].configuration.residual < 1e-10
        np.testing.assert_allclose(every[at].tension, found.tension, atol=1e-7)


def test_inverse_then_direct_returns_the_pose() -> None:
    there_and_back(40)


@pytest.mark.slow
def test_inverse_then_direct_returns_a_thousand_poses() -> None:
    there_and_back(1000)


def test_every_equilibrium_balances_and_hangs_on_cables_that_reach() -> None:
    team = frame()
    hooks = three(team, Pose.turned(0.1, 0.1, 0.3), (0.2, 0.2, 0.2)).hooks
    every = direct(team, hooks)
    assert len(every) > 10 and [it.energy for it in every] == sorted(it.energy for it in every)
    assert every[0].stable and not every[-1].stable
    assert any(not it.taut.all() for it in every)
    for it in every:
        assert it.configuration.residual < 1e-10
        span = np.linalg.norm(hooks - team.points(it.pose), axis=1)
        assert (span < team.length + 1e-9).all()
        np.testing.assert_allclose(span[it.taut], team.length[it.taut], atol=1e-9)
        assert (it.tension[it.taut] > 0).all() and (it.tension[~it.taut] == 0).all()


def test_where_the_relaxation_proves_an_equilibrium_lowest_it_is() -> None:
    team = frame()
    apart = direct(team, three(team, Pose.turned(), (-0.2724, -0.3054, -0.3054)).hooks)
    assert apart[0].lowest and not any(it.lowest for it in apart[1:])
    # pulled inwards the payload would fold, and nothing is proved
    inwards = direct(team, three(team, Pose.turned(), (0.2724, 0.3054, 0.3054)).hooks)
    assert not any(it.lowest for it in inwards)
    rng = np.random.default_rng(3)
    for _ in range(3):
        other = random_team(rng, 4)
        hooks = inverse(other, Pose.turned(*rng.uniform(-0.2, 0.2, 3)), "margin").hooks
        every = direct(other, hooks, starts=48)
        assert not any(it.lowest for it in every if it.energy > every[0].energy + 1e-9)


def test_one_cable_and_a_point_mass() -> None:
    team = frame()
    single = replace(team, **{name: getattr(team, name)[:1] for name in SHORT})
    up, *others = direct(single, [[0.0, 0.0, 2.0]])
    assert up.stable and up.stability.neutral == 1 and not any(it.stable for it in others)
    np.testing.assert_allclose(up.pose.position, [0, 0, 1 - np.linalg.norm(team.attachment[0])], atol=1e-9)
    with pytest.raises(InputError, match=r"hooks\[0\] and hooks\[1\] are 9 m apart, 6 m farther"):
        direct(team, [[0.0, 0.0, 0.0], [9.0, 0.0, 0.0], [0.0, 1.0, 0.0]])


SHORT = ("attachment", "length", "hook", "vehicle_mass", "thrust_max", "radius")


class Thick(Element):
    """Air that slows the payload down in every way."""

    drag: Array
    brake: Array

    def loads(self, t, bodies, memory, rotors):
        body = bodies["payload"]
        twist = jnp.stack([jnp.asarray(turned) for turned in _world(body)])
        return {"payload": Wrench(-self.drag * body.velocity, -self.brake * twist)}


def _world(body) -> Array:
    from skyrig.algebra import apply, rotation_matrix

    return apply(rotation_matrix(body.attitude), body.rate)


def settles(cases: int) -> tuple[int, int]:
    """How many stable and unstable equilibria were tried, each in the hybrid simulation with damping."""
    rng = np.random.default_rng(5)
    team = frame()
    rig, thrust = held(team)
    air = {"air": Thick(jnp.array(0.15), jnp.array(0.012))}
    tried = [0, 0]
    while sum(tried) < cases:
        hooks = three(team, Pose.turned(*rng.uniform(-0.3, 0.3, 3)), rng.uniform(-0.4, 0.5, 3)).hooks
        for it in direct(team, hooks, starts=64):
            if (
                it.stability.neutral
                or abs(it.stability.squares).min() < 1.0
                or tried[not it.stable] > 0.6 * cases
            ):
                continue
            tried[not it.stable] += 1
            nudge = 1e-3 * it.stability.modes[:, 0] / np.abs(it.stability.modes[:, 0]).max()
            start = rig.state(
                it.pose.position,
                hooks,
                payload_velocity=nudge[:3],
                payload_attitude=it.pose.attitude,
                payload_rate=turn(it.pose.attitude * [1, -1, -1, -1], nudge[3:]),
            )
            flown = rollout(rig, start, [0.0, 10.0], thrust, elements=air).payload
            away = np.linalg.norm(flown.position - it.pose.position, axis=1)
            away = away + between(it.pose.attitude, flown.attitude)
            if it.stable:
                assert away.max() < 2e-3 and away[-1] < 0.2 * away.max()
            else:
                assert away.max() > 0.05
    return tried[0], tried[1]


def test_stable_equilibria_attract_the_simulation_and_others_repel_it() -> None:
    stable, unstable = settles(10)
    assert stable > 2 and unstable > 2


@pytest.mark.slow
def test_a_hundred_equilibria_in_the_simulation() -> None:
    stable, unstable = settles(100)
    assert stable > 30 and unstable > 30


def test_a_box_on_four_cables() -> None:
    team = box(4)
    pose = Pose.turned(0.1, 0.1, 0.2)
    found = inverse(team, pose, "margin")
    every = direct(team, found.hooks, starts=48)
    assert min(np.linalg.norm(it.pose.position - pose.position) for it in every) < 1e-7
