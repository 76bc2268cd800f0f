"""Flights stored by Auto-Multilift (tests/data/auto-multilift/README.md), replayed on elastic cables.

Their plant takes steps of 5 ms in which the tensions are held, the payload sees the quadrotors where they
were, and the other way round. Its states are ours but for the error of that step, which is of first order.
"""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import skyrig
from skyrig.rigs import Cable, Elastic, Material
from skyrig.turns import cross, turn

STORED = np.load(Path(__file__).parents[1] / "data" / "auto-multilift" / "excerpt.npz")
PERIOD, GRAVITY = 5e-3, 9.81
LAG = 0.02 / (0.02 + 1 / 33)
"""Share of the way to its command that a motor goes in each period."""
AROUND = np.arange(6) * np.pi / 3
RING = np.stack([np.cos(AROUND), np.sin(AROUND), 0 * AROUND], axis=1)
CENTRE = np.array([0.1, 0.1, -0.1])
"""Of mass, from the ring's centre (m)."""
CRAFT = SimpleNamespace(mass=1.0, inertia=np.diag([0.02, 0.02, 0.04]))
LOAD = SimpleNamespace(mass=7.0, inertia=np.diag([1.4, 1.4, 1.75]))


def lagged(row: int) -> np.ndarray:
    """(200, 6, 4) what the motors gave."""
    given, found = STORED["before"][row], []
    for command in STORED["commands"][row]:
        given = given + LAG * (command - given)
        found.append(given)
    return np.array(found)


def flown(row: int) -> np.ndarray:
    """(11, 7, 3) where skyrig has the ring's centre and the quadrotors, every 0.1 s, at steps of 1 ms."""
    cables = [Cable(2.0, point - CENTRE) for point in RING]
    rig = Elastic.build([CRAFT] * 6, LOAD, cables, Material(stiffness=4000.0, damping=40.0), 1)
    load, craft = STORED["states"][row, 0, 0], STORED["states"][row, 0, 1:]
    attitude, rate = load[6:10], load[10:]
    state = rig.state(
        load[:3] + turn(attitude, CENTRE),
        craft[:, :3],
        payload_velocity=turn(attitude, load[3:6] + cross(rate, CENTRE)),
        payload_attitude=attitude,
        payload_rate=rate,
        vehicle_velocity=craft[:, 3:6],
        vehicle_attitude=craft[:, 6:10],
        vehicle_rate=craft[:, 10:],
    )
    inputs, times = lagged(row), PERIOD * np.arange(201)
    flight = skyrig.rollout(
        rig, state, times, inputs[..., 0], inputs[..., 1:], at=0.1 * np.arange(11), step=1e-3
    )
    ring = np.asarray(flight.payload.position) - turn(np.asarray(flight.payload.attitude), CENTRE)
    return np.concatenate([ring[:, None], np.asarray(flight.vehicles.position)], axis=1)


def apart(one: np.ndarray, other: np.ndarray) -> float:
    """Largest distance of any body at any instant (m)."""
    return float(np.linalg.norm(one - other, axis=-1).max())


@pytest.mark.parametrize("row", [0, 1, 2])
def test_a_stored_flight_is_flown_again_from_its_start(row: int) -> None:
    assert apart(flown(row), STORED["states"][row][..., :3]) < 0.01


def test_at_speed_their_plant_comes_to_ours_as_its_step_shrinks() -> None:
    """At 4 m/s the stored second is 36 mm away from ours; with four times finer steps it would be 9 mm."""
    row = 3
    start, inputs, ours = STORED["states"][row, 0], lagged(row), flown(row)
    assert apart(their_plant(start, inputs, 1), STORED["states"][row][..., :3]) < 1e-12
    coarse, fine = (apart(their_plant(start, inputs, parts), ours) for parts in (1, 4))
    assert fine < 0.01
    assert coarse / fine == pytest.approx(4, rel=0.1)


def their_plant(start: np.ndarray, inputs: np.ndarray, parts: int) -> np.ndarray:
    """(11, 7, 3) as `flown`, by the plant that wrote the stored flights, each step cut into `parts`."""
    load, craft, dt = start[0], start[1:], PERIOD / parts
    places = [start[:, :3]]
    for k, given in enumerate(inputs):
        for _ in range(parts):
            ends, speeds = ring_points(load)
            away = craft[:, :3] - ends
            length = np.linalg.norm(away, axis=1)
            rate = ((craft[:, 3:6] - speeds) * away).sum(1) / length
            pull = np.clip(4000 * (length - 2) + 40 * rate, 0, 200)
            before = craft
            craft = runge_kutta(craft_slope, craft, dt, ends, pull, given)
            load = runge_kutta(load_slope, load, dt, before, pull)
        if k % 20 == 19:
            places.append(np.concatenate([load[None, :3], craft[:, :3]]))
    return np.array(places)


def ring_points(load: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where the attachments are, and their velocities."""
    q = load[6:10]
    return load[:3] + turn(q, RING), turn(q, load[3:6] + cross(load[10:], RING))


def runge_kutta(slope: Any, state: np.ndarray, dt: float, *held: np.ndarray) -> np.ndarray:
    a = slope(state, *held)
    b = slope(state + dt / 2 * a, *held)
    c = slope(state + dt / 2 * b, *held)
    state = state + dt / 6 * (a + 2 * b + 2 * c + slope(state + dt * c, *held))
    state[..., 6:10] /= np.linalg.norm(state[..., 6:10], axis=-1, keepdims=True)
    return state


def unit(q: np.ndarray) -> np.ndarray:
    return q / np.linalg.norm(q, axis=-1, keepdims=True)


def turning(q: np.ndarray, rate: np.ndarray) -> np.ndarray:
    """Time derivative of a quaternion."""
    w, axis = q[..., :1], q[..., 1:]
    return 0.5 * np.concatenate(
        [-(axis * rate).sum(-1, keepdims=True), w * rate + cross(axis, rate)], axis=-1
    )


def craft_slope(state: np.ndarray, ends: np.ndarray, pull: np.ndarray, given: np.ndarray) -> np.ndarray:
    q, rate = state[:, 6:10], state[:, 10:]
    force = given[:, :1] * turn(unit(q), np.array([0.0, 0.0, 1.0]))
    force = force - pull[:, None] * unit(state[:, :3] - ends) - [0.0, 0.0, GRAVITY]
    inertia = np.diag(CRAFT.inertia)
    spin = (given[:, 1:] - cross(rate, inertia * rate)) / inertia
    return np.concatenate([state[:, 3:6], force, turning(q, rate), spin], axis=1)


def load_slope(state: np.ndarray, craft: np.ndarray, pull: np.ndarray) -> np.ndarray:
    """About the ring's centre, its velocity in the payload's frame."""
    velocity, q, rate = state[3:6], unit(state[6:10]), state[10:]
    back = q * [1.0, -1.0, -1.0, -1.0]
    force = turn(back, pull[:, None] * unit(craft[:, :3] - ring_points(state)[0]))
    inertia = np.diag(LOAD.inertia)
    spin = (cross(RING - CENTRE, force).sum(0) - cross(rate, inertia * rate)) / inertia
    push = force.sum(0) / LOAD.mass - turn(back, np.array([0.0, 0.0, GRAVITY]))
    push = push - cross(spin, CENTRE) - cross(rate, cross(rate, CENTRE) + velocity)
    return np.concatenate([turn(q, velocity), push, turning(state[6:10], rate), spin])
