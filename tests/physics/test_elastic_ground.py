"""Elastic cables on the ground, bending, and as the limit of inextensible ones."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import made_up
import numpy as np
import pytest

import skyrig
from skyrig.elements.element import Element
from skyrig.elements.surfaces import Planes
from skyrig.flight.metrics import slack_spans
from skyrig.rigs import Cable, Elastic, Loads, Material, Slung, Solid, Wrench, restitution
from skyrig.rigs.elastic.energy import energy
from skyrig.sim.batch import advance, stack
from skyrig.sim.log import Log
from skyrig.sim.plant import Effort, Plant
from skyrig.sim.stepping import step

GRAVITY = 9.81
HEAVY: Any = SimpleNamespace(mass=1e9, inertia=1e9 * np.eye(3))
"""A body so heavy that no cable moves it."""


class Stand(Element):
    """Ground below a plane, and a hand that carries the payload's weight."""

    surface: Planes
    friction: Any
    weight: Any

    def solid(self) -> Solid:
        return Solid(self.surface, self.friction)

    def loads(self, t: Any, bodies: Any, memory: Any, around: Any) -> dict[str, Wrench]:
        up = jnp.asarray([0.0, 0.0, 1.0]).reshape(3, 1, *[1] * self.weight.ndim)
        return {"payload": Wrench(up * self.weight + 0 * bodies["payload"].position)}


def cables_energy(rig: Any, state: Any, solids: Any) -> Any:
    """Of nodes, segments and the ground; the bodies at the ends are too heavy to tell anything (J)."""
    nodes, mass = state.nodes, rig.segment(state).node_mass
    moving = mass * ((nodes.velocity**2).sum(0) / 2 + rig.gravity * nodes.position[2])
    return moving.sum((0, 1)) + energy(rig, state, solids).stored


@jax.jit
def flown(rig: Any, state: Any, stand: Any, dt: Any, count: Any) -> tuple[Any, Any]:
    """The end of so many steps, and after each the nodes' places and the cables' energy (J)."""
    plant = Plant(rig, {"stand": stand}, integrator=rig.integrator)
    effort = Effort(rig.mass * rig.gravity, jnp.zeros((3, *rig.mass.shape)))

    def one(carry: Any, index: Any) -> Any:
        at, log = carry
        at, log = step(plant, index * dt, at, effort, dt, log, index)
        return (at, log), (at.rig.nodes.position, cables_energy(rig, at.rig, plant.solids))

    begin = plant.start(state)
    (end, _), kept = jax.lax.scan(one, (begin, Log.empty(plant, begin, 1)), jnp.arange(count.shape[0]))
    return end.rig, kept


def plane(slope: float, friction: float, rig: Any) -> Stand:
    """A slope that rises along x by so many metres a metre."""
    normal = np.array([-slope, 0.0, 1.0]) / np.hypot(slope, 1.0)
    return Stand(
        Planes(jnp.asarray(normal[:, None]), jnp.zeros(1)),
        jnp.asarray(friction),
        rig.payload_mass * rig.gravity,
    )


def held(segments: int, length: float, **material: Any) -> Elastic:
    """One cable between two bodies that nothing moves."""
    return Elastic.build([HEAVY], HEAVY, [Cable(length)], Material(stiffness=1e4, **material), segments)


@pytest.fixture(scope="module")
def lying() -> tuple[Any, Any]:
    """A slack cable of 1.5 m, fallen from a hook at 0.4 m to the ground and to a payload, at 2 ms."""
    rig = held(12, 1.5, damping=5.0, mass_per_metre=0.05, drag_per_metre=1.0)
    state = rig.state([0.5, 0.0, 0.02], [[0.0, 0.0, 0.4]])
    return rig, flown(rig, state, plane(0.0, 0.5, rig), 2e-3, np.zeros(1500))


def test_a_slack_cable_comes_to_lie_on_the_ground(lying: Any) -> None:
    rig, (end, (place, _)) = lying
    assert np.isfinite(np.asarray(place)).all()
    assert np.asarray(place)[:, 2].min() > -2e-3  # also on arriving
    depth = -np.asarray(end.nodes.position)[2, :, 0]
    assert (depth > 0).sum() >= 6
    assert np.abs(np.asarray(end.nodes.velocity)).max() < 0.05
    # the ground and the two ends carry the cable's weight
    tension, line = np.asarray(rig.tensions(end))[:, 0], np.asarray(end.nodes.position)[:, :, 0]
    hook = tension[0] * (0.4 - line[2, 0]) / np.linalg.norm(line[:, 0] - [0.0, 0.0, 0.4])
    load = tension[-1] * (0.02 - line[2, -1]) / np.linalg.norm(line[:, -1] - [0.5, 0.0, 0.02])
    ground = 1e4 * np.maximum(depth, 0.0).sum()
    assert hook + load + ground == pytest.approx(1.5 * 0.05 * GRAVITY, rel=0.05)


@pytest.mark.parametrize("dt", [1e-3, 4e-3])
def test_nodes_slide_down_steep_slopes_and_stay_on_gentle_ones(dt: float) -> None:
    rig = held(12, 1.5, damping=5.0, mass_per_metre=0.05)
    line = np.zeros((11, 1, 3))
    line[:, 0, 1] = np.arange(11) / 10
    for slope in (0.3, 0.8):
        stand = plane(slope, 0.5, rig)
        state = rig.state([0.5, 0.0, 0.02], [[0.0, 0.0, 0.4]], nodes=line)
        loose = rig.switch(state, "cut", jnp.ones(12, bool))
        steps = round(0.4 / dt)
        end, _ = flown(rig, loose, stand, dt, np.zeros(steps))
        moved = np.asarray(end.nodes.position)[0, :, 0]
        angle = np.arctan(slope)
        pull = np.sin(angle) - 0.5 * np.cos(angle)
        slid = -GRAVITY * max(pull, 0.0) * np.cos(angle) * 0.4**2 / 2
        assert np.abs(moved - slid).max() < (6e-4 if slid == 0 else 0.01 * abs(slid))


def test_falling_onto_the_ground_gains_no_energy() -> None:
    """Cables flung against the ground, folding and snapping as they do."""
    rng = np.random.default_rng(2)
    pairs = []
    for _ in range(8):
        stuff = {"damping": 10 ** rng.uniform(-1, 1.5), "mass_per_metre": 10 ** rng.uniform(-3, -1)}
        rig = held(12, 1.5, **stuff)
        state = rig.state([0.5, 0.0, 0.02], [[0.0, 0.0, rng.uniform(0.1, 1.2)]])
        fling = jnp.asarray(rng.uniform(0.1, 8) * rng.normal(size=(3, 11, 1)))
        pairs.append((rig, eqx.tree_at(lambda it: it.motion.nodes.velocity, state, fling)))
    rigs, states = stack([a for a, _ in pairs]), stack([b for _, b in pairs])
    stand = stack([plane(0.0, 0.5, rig) for rig, _ in pairs])
    for dt, steps in ((1e-3, 300), (4e-3, 75)):
        end, (_, total) = flown(rigs, states, stand, dt, np.zeros(steps))
        total = np.asarray(total)
        assert np.isfinite(total).all() and np.isfinite(np.asarray(end.nodes.position)).all()
        lively = np.asarray(
            (rigs.segment(states).node_mass * (states.nodes.velocity**2).sum(0)).sum((0, 1)) / 2
        )
        assert (np.diff(total, axis=0).max(0) / lively).max() < 1e-4
        assert (total[-1] < total[0]).all()


def test_a_cable_that_resists_bending_swings_like_a_beam() -> None:
    """Hinged at both ends and slack: the first mode of a beam cut into eight."""
    segments, stiff, weight = 8, 1.0, 0.05
    rig = held(segments, 1.0, damping=0.0, mass_per_metre=weight, bending=stiff)
    rig = eqx.tree_at(lambda it: it.gravity, rig, jnp.asarray(0.0))
    share = np.arange(1, segments) / segments
    line = np.zeros((segments - 1, 1, 3))
    line[:, 0, 0], line[:, 0, 2] = 0.99 * share, 0.5 + 0.01 * np.sin(np.pi * share)
    state = rig.state([0.99, 0.0, 0.5], [[0.0, 0.0, 0.5]], nodes=line)
    dt = 1e-3
    _, (place, total) = flown(rig, state, plane(0.0, 0.5, rig), dt, np.zeros(600))
    middle = np.asarray(place)[:, 2, 3, 0] - 0.5
    down = np.flatnonzero((middle[:-1] > 0) & (middle[1:] <= 0))
    times = dt * (down + middle[down] / (middle[down] - middle[down + 1]))
    period = np.diff(times).mean()
    bend, node = stiff * segments**3, weight / (segments - 1)
    rate = np.sqrt(bend / node) * (2 * np.sin(np.pi / 2 / segments)) ** 2
    assert period == pytest.approx(2 * np.pi / rate, rel=2e-3)
    assert np.abs(middle[-200:]).max() > 0.0095  # and it swings on


@pytest.fixture(scope="module")
def drop() -> tuple[Any, Any, Effort, Any]:
    """RotorTM's Fig. 16, a payload that falls into its cable; a batch by the damping ratios, and the rigs'
    impulses where the cable is inextensible (N s)."""
    frame, load = skyrig.airframe("dragonfly"), skyrig.payload("point-mass")
    start = ([0.15, 0.0, 1 - 0.3 * np.cos(np.pi / 6)], [[0.0, 0.0, 1.0]])
    still: Any = ([frame.mass * GRAVITY], np.zeros((1, 3)))
    share = frame.mass * load.mass / (frame.mass + load.mass)
    pairs, impulses = [], []
    for ratio in (0.2, 1.0):
        rigid = Slung.build([frame], load, [Cable(0.5)], restitution=restitution(ratio))
        limit = skyrig.rollout(rigid, rigid.state(*start), [0.0, 0.22], *still).events[0]
        stuff = Material(stiffness=1e6, damping=2 * ratio * np.sqrt(1e6 * share))
        rig = Elastic.build([frame], load, [Cable(0.5)], stuff, 1)
        pairs.append((rig, rig.state(*start)))
        impulses.append(limit.impulse)
    rig, state = stack([a for a, _ in pairs]), stack([b for _, b in pairs])
    return rig, state, Effort(rig.mass * GRAVITY, jnp.zeros((3, 1, 2))), np.array(impulses)


@pytest.mark.parametrize(("dt", "late"), [(1e-4, 0.0), (1e-3, 0.0), (1e-3, 3e-4), (1e-3, 7e-4)])
def test_the_impulse_of_a_stiff_cable_is_that_of_an_inextensible_one(
    drop: Any, dt: float, late: float
) -> None:
    """The bounce begins after 210.3 ms and lasts 0.7 ms, wherever in a step it begins."""
    rig, state, effort, impulses = drop
    state, _ = advance(rig, state, effort, late, 1)
    before, _ = advance(rig, state, effort, dt, round(0.209 / dt))
    after, _ = advance(rig, before, effort, dt, round(0.005 / dt))
    change = np.array(after.payload.velocity - before.payload.velocity)
    change[2] += GRAVITY * 0.005
    found = np.asarray(rig.payload_mass) * np.linalg.norm(change, axis=0)
    assert found == pytest.approx(impulses, rel=0.02)


def test_signals_tell_of_the_whole_cable() -> None:
    load: Any = SimpleNamespace(mass=1.0, inertia=None)
    rig = Elastic.build([HEAVY], load, [Cable(1.0)], Material(mass_per_metre=0.5), 20)
    hover = rig.trim([0.0, 0.0, 0.0])
    told = rig.signals(0.0, hover.state, Loads(jnp.zeros(1), jnp.zeros((3, 1))))
    assert {kind.name: kind.count for kind in rig.layout.signals} == {k: len(v) for k, v in told.items()}
    assert len(told["cable.along"]) == 12 and len(told["cable.nodes"]) == 36
    along = np.asarray(told["cable.along"])
    assert along[0] == pytest.approx(float(told["cable.hook_tension"][0]))
    assert along[-1] == pytest.approx(float(told["cable.tension"][0]))
    assert (np.diff(along) < 0).all()  # upper segments carry those below
    assert np.allclose(along, hover.signals["cable.along"], rtol=1e-6)


def test_times_without_pull_come_from_samples_where_no_event_tells_them() -> None:
    times = np.linspace(0.0, 1.0, 11)
    taut = np.ones((11, 2), dtype=bool)
    taut[:3, 0] = taut[7:, 0] = False
    flight = made_up.flight(times, 2)
    flight = replace(
        flight,
        signals={**flight.signals, "cable.taut": replace(flight.signals["cable.taut"], values=taut)},
    )
    assert np.allclose(slack_spans(flight, 0), [(0.0, 0.3), (0.7, 1.0)])
    assert slack_spans(flight, 1) == []
