"""The loop, on a vehicle thrown upwards: the same flight whatever is kept of it."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from skyrig import airframe
from skyrig.constants import GRAVITY
from skyrig.rigs.bodies import Bodies
from skyrig.rigs.free import FreeBodies
from skyrig.sim.batch import spread
from skyrig.sim.driver import HeldEfforts, LoopState, Nothing, Steady, Stepped, drive, drive_packed
from skyrig.sim.log import Log
from skyrig.sim.plant import Effort, Plant, PlantState
from skyrig.sim.schedule import Even, Poke, schedule

STEP, COUNT = 1e-2, 50
FAR = Poke(0.0, np.zeros(3), np.zeros(3), "vehicles")
"""A blow of nothing, for all plans to have the same shapes."""


class Alive(Nothing):
    """Keeps how many steps each flight took; a flight ends once it is above a height."""

    height: float

    def going(self, kept: jax.Array) -> jax.Array:
        return kept >= 0

    def __call__(self, kept, plant: Plant, pilot, stepped: Stepped) -> tuple[jax.Array, Log]:
        above = plant.bodies(stepped.state)["vehicles"].position[2, 0] > self.height
        return jnp.where(kept < 0, kept, jnp.where(above, -1, kept + 1)), stepped.log


@pytest.fixture(scope="module")
def thrown() -> tuple[Plant, PlantState, Effort]:
    """A vehicle thrown upwards at 1 m/s, its rotors giving its weight."""
    rig = FreeBodies.of({"vehicles": [airframe("dragonfly")]})
    still = Bodies(
        *(jnp.asarray(it)[:, None] for it in (np.zeros(3), [0.0, 0.0, 1.0], [1.0, 0, 0, 0], [0.0, 0, 0]))
    )
    plant = Plant(rig)
    effort = Effort(GRAVITY * rig.mass["vehicles"], jnp.zeros((3, 1)))
    return plant, plant.start(rig.placed({"vehicles": still})), effort


def flown(plant: Plant, state: PlantState, effort: Effort, keep: Nothing, kept=None) -> LoopState:
    begin = LoopState(state, None, Log.empty(plant, state, 4), kept)
    return eqx.filter_jit(drive)(plant, Steady(effort), Even(STEP), begin, keep, COUNT)


@pytest.fixture(scope="module")
def kept(thrown):
    """Flies with everything kept: states and record of every step."""
    plant, state, effort = thrown
    held = HeldEfforts(jax.tree.map(lambda leaf: jnp.repeat(leaf[..., None], 16, axis=-1), effort))
    fly = eqx.filter_jit(drive_packed)

    def flown(*happenings: Poke):
        plan = schedule(plant.rig, STEP * np.array([0.0, COUNT]), STEP, (FAR, *happenings)).plan
        return fly(plant, state, held, plan, Log.empty(plant, state, 4))

    return flown


def place(plant: Plant, state: PlantState) -> np.ndarray:
    return np.asarray(plant.bodies(state)["vehicles"].position)


def test_keeping_everything_or_nothing_is_the_same_flight(thrown, kept) -> None:
    plant, state, effort = thrown
    end = flown(plant, state, effort, Nothing())
    np.testing.assert_allclose(place(plant, end.state)[:, 0], [0.0, 0.0, STEP * COUNT], atol=1e-12)
    final, _, _, table = kept()
    states, record = table.tree()
    np.testing.assert_allclose(place(plant, final), place(plant, end.state), atol=1e-12)
    np.testing.assert_array_equal(states.rig.motion["vehicles"].position[COUNT], place(plant, final))
    np.testing.assert_allclose(
        record.bodies["vehicles"].position[: COUNT + 1, 2, 0], STEP * np.arange(COUNT + 1)
    )


def test_what_happens_comes_before_its_step(thrown, kept) -> None:
    plant = thrown[0]
    mass = float(plant.rig.mass["vehicles"][0])
    poke = Poke(
        STEP * 20, np.array([0.0, 0.0, -mass]), point=np.zeros(3), group="vehicles"
    )  # it stops the vehicle dead
    height = np.asarray(kept(poke)[3].tree()[1].bodies["vehicles"].position[: COUNT + 1, 2, 0])
    np.testing.assert_allclose(height, STEP * np.minimum(np.arange(COUNT + 1), 20), atol=1e-12)


def test_a_flight_of_a_batch_that_has_ended_stays_where_it_is(thrown) -> None:
    plants, states, efforts = spread(thrown, 2)
    speeds = states.rig.motion["vehicles"].velocity * jnp.array([1.0, 2.0])
    faster = eqx.tree_at(lambda it: it.rig.motion["vehicles"].velocity, states, speeds)
    end = flown(plants, faster, efforts, Alive(0.695), jnp.zeros(2, jnp.int32))
    np.testing.assert_array_equal(end.kept, [COUNT, -1])
    np.testing.assert_allclose(place(plants, end.state)[2, 0], [STEP * COUNT, 0.7], atol=1e-12)
