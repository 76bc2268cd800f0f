"""Vehicles whose rotors stop and cables that are lost, under a team that plans."""

from types import SimpleNamespace
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import skyrig
from skyrig.control.mpc.faults import Faults, shared_anew
from skyrig.control.mpc.preview import Preview

COUNT, LENGTH, LEAN, GRAVITY, SHARE = 6, 2.0, 0.35, 9.81, 12.0
AROUND = 2 * np.pi * np.arange(COUNT) / COUNT
RING = np.stack([np.cos(AROUND), np.sin(AROUND), 0.1 + 0 * AROUND])
TEAM = SimpleNamespace(attachment=jnp.asarray(RING), hook=jnp.zeros((3, COUNT)), gravity=jnp.asarray(GRAVITY))


def states(stretched: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Vehicles (13, n) over a ring on leaning cables, vehicle 2 that much farther off, and the load."""
    out = np.stack([np.cos(AROUND) * np.sin(LEAN), np.sin(AROUND) * np.sin(LEAN), np.cos(LEAN) + 0 * AROUND])
    long = LENGTH + stretched * (np.arange(COUNT) == 2)
    level = np.tile([[1.0], [0], [0], [0]], COUNT)
    vehicles = np.concatenate([RING + long * out, np.zeros((3, COUNT)), level, np.zeros((3, COUNT))])
    return vehicles, np.array([0.0] * 6 + [1.0] + [0.0] * 6)


def noticed(falls: list[float], stretched: float = 0.0) -> Faults:
    """After ticks in which vehicle 2 fell at such accelerations that nobody planned (m/s^2)."""
    vehicles, load = map(jnp.asarray, states(stretched))
    found = Faults.none(jnp.ones(COUNT))
    for fall in falls:
        unplanned = jnp.zeros((COUNT, 3)).at[2, 2].set(-fall)
        found = found.seen(TEAM, vehicles, load, jnp.full(COUNT, LENGTH), unplanned)
    return found


def test_a_vehicle_that_falls_is_dead_and_one_that_is_jerked_or_weak_is_not() -> None:
    third = np.arange(COUNT) == 2
    assert (np.asarray(noticed([GRAVITY] * 10).dead) == third).all()
    assert not noticed([50.0] + [0.0] * 9).dead.any(), "a jerk lasts one tick"
    assert not noticed([0.5 * GRAVITY] * 50).dead.any(), "it still carries itself"
    assert (np.asarray(noticed([0.0], 0.1).lost) == third).all()
    assert not noticed([0.0], 0.02).lost.any(), "cables stretch"
    hanging = noticed([GRAVITY] * 10)
    assert np.allclose(hanging.hangs, 1 - third)
    assert np.allclose(hanging.ballast(jnp.ones(COUNT), jnp.asarray(GRAVITY)), GRAVITY * third)
    assert not noticed([GRAVITY] * 10, 0.1).ballast(jnp.ones(COUNT), jnp.asarray(GRAVITY)).any()


@pytest.mark.parametrize("ballast", [0.0, 5.0])
def test_others_pull_what_a_lost_vehicle_pulled_and_what_hangs_there(ballast: float) -> None:
    vehicles, load = states()
    effort = np.tile([[20.0], [0], [0], [0]], COUNT)
    rows = (load, np.full(COUNT, SHARE), vehicles, effort)
    wanted = Preview(*(jnp.asarray(np.stack([it, it])) for it in rows))
    out = np.arange(COUNT) == 2
    found = shared_anew(wanted, TEAM, jnp.asarray(1.0 - out), jnp.asarray(ballast * out))
    along = (vehicles[:3] - RING) / LENGTH
    pull = np.asarray(found.tension)[0]
    assert pull[2] == 0 and (pull[~out] > 0).all()
    moments = np.cross(RING.T, (pull * along).T).sum(0) - ballast * np.cross(RING[:, 2], [0, 0, 1])
    before = np.cross(RING.T, (SHARE * along).T).sum(0)
    lifted = (pull * along[2]).sum()
    assert lifted == pytest.approx(COUNT * SHARE * along[2, 0] + ballast, rel=0.05)
    assert np.abs(moments - before).max() < 0.05 * SHARE
    assert np.allclose(found.effort[0, 0] - 20.0, pull - SHARE)
    same = shared_anew(wanted, TEAM, jnp.ones(COUNT), jnp.zeros(COUNT))
    assert np.allclose(same.tension, SHARE) and np.allclose(same.effort, wanted.effort)


def ring(**changes: Any) -> skyrig.Scenario:
    """Six vehicles round Auto-Multilift's load, in hover."""
    points = RING.T.tolist()
    rig = {
        "mechanism": "cables",
        "vehicles": {"type": "multilift", "count": COUNT},
        "payload": {"type": "multilift-ring", "attachments": {"ring": points}},
        "cables": {"length": LENGTH, "attachments": points},
    }
    reference = {"type": "hover", "start": [0.0, 0.0, 2.0]}
    return skyrig.load("six-multilift-figure-8").with_overrides(
        {"rig": rig, "reference": reference} | changes
    )


@pytest.mark.slow
def test_six_hold_their_load_when_the_rotors_of_one_stop_and_its_cable_is_let_go() -> None:
    happenings = [
        {"type": "thrust-loss", "vehicle": 2, "factor": 0.0, "time": 0.5},
        {"type": "cut", "cable": 2, "time": 0.6},
    ]
    flight = skyrig.fly(ring(happenings=happenings, duration=3.0))
    carrying = flight.signals["carrying"].values
    assert carrying[0].all() and (carrying[-1] == (np.arange(COUNT) != 2)).all()
    assert flight.metrics["tracking"]["whole"]["position_peak"] < 0.03


@pytest.mark.slow
def test_six_hold_their_load_though_a_vehicle_whose_rotors_stop_hangs_from_it() -> None:
    """It falls on its cable and tilts the load; the others level it again, and carry its weight with it."""
    gains = {"load_attitude": 1000.0, "load_rate": 40.0, "brake": 0.2}
    dead = {"type": "thrust-loss", "vehicle": 2, "factor": 0.0, "time": 0.2}
    changes: dict[str, Any] = {f"controller.gains.{name}": value for name, value in gains.items()}
    flight = skyrig.fly(ring(happenings=[dead], duration=5.0, **changes))
    assert (flight.signals["carrying"].values[-1] == (np.arange(COUNT) != 2)).all()
    late = np.asarray(flight.times) > 4.0
    away = np.linalg.norm(np.asarray(flight.payload.position)[late] - [0.0, 0.0, 2.0], axis=1)
    tilt = 2 * np.linalg.norm(np.asarray(flight.payload.attitude)[late, 1:3], axis=1)
    assert away.max() < 0.5 and np.rad2deg(tilt.max()) < 5.0
    hung = np.asarray(flight.cables.tension)[late, 2]
    assert hung.min() > 0.5 * GRAVITY and hung.mean() == pytest.approx(GRAVITY, rel=0.1), "its weight, 1 kg"


@pytest.mark.slow
def test_a_ring_that_swings_comes_to_rest_where_its_vehicles_brake_it() -> None:
    start = {"payload": {"position": [0.3, -0.2, 1.8]}}
    well = {"type": "thrust-loss", "vehicle": 2, "factor": 1.0, "time": 0.2}  # so one program serves all
    swings = []
    for brake in (0.0, 0.2):
        changes: dict[str, Any] = {"controller.gains.brake": brake}
        flight = skyrig.fly(ring(start=start, duration=5.0, happenings=[well], **changes))
        last = np.asarray(flight.times) > 4.0
        off = np.asarray(flight.payload.position)[last] - [0.0, 0.0, 2.0]
        swings.append(np.linalg.norm(off, axis=1).max())
    assert swings[0] > 0.15 and swings[1] < 0.03
