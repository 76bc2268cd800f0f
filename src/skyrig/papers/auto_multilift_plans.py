"""skyrig's plans on the public code's plant, from the start that it stored, lag and all."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from skyrig.algebra import rotation_matrix
from skyrig.control.interface import wanted_of
from skyrig.control.mpc.bodies import ATTITUDE, POSITION
from skyrig.control.mpc.distributed import DistributedMpc, MpcMemory
from skyrig.control.mpc.preview import Preview
from skyrig.papers.auto_multilift_flight import (
    DURATION,
    OFFSET,
    PERIOD,
    SampledFlight,
    TheirPlant,
    pulled,
    started,
    stepped,
)
from skyrig.runs.learning import planner
from skyrig.scenario import Scenario


def planned(scenario: Scenario, variant: str = "cl", duration: float = DURATION) -> SampledFlight:
    """The figure-8 from a variant's stored start on its plant, planned as the scenario says, without nets.

    The plant's inputs lag behind commands, which the plans do not know; its thrust correction is left out.
    """
    built = scenario.build()
    controller = planner(built)
    times = PERIOD * np.arange(round(duration / PERIOD))
    path = wanted_of("payload", built.reference).sample(times)
    rows = _fly(controller, jax.tree.map(jnp.asarray, controller.prepare(path)), started(variant))
    wanted = np.asarray(path.position)[:, 0] - OFFSET
    return SampledFlight(times, wanted, *(np.asarray(each) for each in rows))


@eqx.filter_jit
def _fly(controller: DistributedMpc, wanted: Preview, plant: TheirPlant) -> tuple[Array, ...]:
    length = controller.length
    still = jnp.zeros(len(length))

    def tick(carry: tuple[MpcMemory, TheirPlant], now: Preview) -> tuple[tuple[MpcMemory, TheirPlant], tuple]:
        memory, plant = carry
        memory, effort = controller.decided(
            memory, jnp.asarray(0.0), now, plant.vehicles.T, plant.load, length
        )
        middle = plant.load[POSITION] - rotation_matrix(plant.load[ATTITUDE]) @ OFFSET
        tension = memory.plans.load.inputs[0]
        row = (middle, plant.load[ATTITUDE], pulled(plant.vehicles, plant.load)[0], tension)
        return (memory, stepped(plant, effort.T, still)), row

    begun = controller.begun(plant.vehicles.T, plant.load, length)
    return jax.lax.scan(tick, (begun, plant), wanted)[1]
