"""A learnt policy as a controller of ours: it flies scenarios like any other."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from skyrig.algebra import as_jax
from skyrig.control.interface import Command, Controller, Measurement, Target, wanted_of
from skyrig.envs.actions import Level, level
from skyrig.envs.observations import LOAD, TURN, VEHICLE, Goal, central, view
from skyrig.envs.pool import PooledRig
from skyrig.errors import InputError
from skyrig.scenario.build import Built


class Network(eqx.Module):
    """Layers of neurons with tanh between them, in float32."""

    weights: tuple[Float[Array, "_ _"], ...]
    """(out, inside) of each layer."""
    biases: tuple[Float[Array, " _"], ...]
    """(out,) of each layer."""

    @staticmethod
    def of(layers: Sequence[tuple[np.ndarray, np.ndarray]]) -> Network:
        """A network from each layer's weights (out, inside) and biases (out)."""
        return Network(
            tuple(as_jax(np.asarray(weight, np.float32)) for weight, _ in layers),
            tuple(as_jax(np.asarray(bias, np.float32)) for _, bias in layers),
        )

    def __call__(self, observation: Float[Array, "inside *batch"]) -> Float[Array, "out *batch"]:
        """The last layer's output."""
        value = observation
        for k, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            value = jnp.tensordot(weight, value, 1) + bias.reshape((-1,) + (1,) * (value.ndim - 1))
            value = jnp.tanh(value) if k + 1 < len(self.weights) else value
        return value


class PolicyPilot(Controller):
    """A policy at the controls: it sees what its environment showed it, and its action means the same."""

    network: Network
    plant: PooledRig
    """The rig as the controller believes it to be."""
    level: Level
    turns: bool = eqx.field(static=True)

    @staticmethod
    def of(built: Built, path: str | Path) -> PolicyPilot:
        """The policy in a file that `save` wrote, for a built scenario.

        It flies what was learnt without more to see than the load and the vehicles: hover, carry, recover.
        """
        network, action, rate = load(path)
        scenario = built.scenario
        own = scenario.spec.loop.control_rate
        if abs(own - rate) > 1e-6 * rate:
            raise InputError(
                f"{scenario.where}: loop.control_rate must be {rate:g} Hz for the policy in {path}, "
                f"not {own:g}."
            )
        plant = PooledRig.of(scenario, 1 / rate)
        cargo = scenario.parts.payload
        turns = cargo is not None and not cargo.is_point
        size = LOAD + (TURN if turns else 0) + VEHICLE * plant.rig.count
        chosen = level(action, 1 / rate)
        if (network.weights[0].shape[1], network.weights[-1].shape[0]) != (
            size,
            plant.rig.count * chosen.size(plant),
        ):
            raise InputError(f"{scenario.where}: rig must be one such as the policy in {path} learnt to fly.")
        return PolicyPilot(network, plant, chosen, turns)

    def __call__(self, memory: Any, t: Any, target: Target, measurement: Measurement) -> tuple[Any, Command]:
        """The command that the policy's action stands for."""
        aim = wanted_of("payload", target.payload)
        wanted = Goal(aim.position[0], aim.position[1])
        seen = central(view(self.plant, measurement, wanted, None, self.turns))
        action = jnp.clip(self.network(seen), -1.0, 1.0).astype(measurement.length.dtype)
        rows = action.reshape((measurement.length.shape[0], -1, *action.shape[1:]))
        return memory, self.level.command(self.plant, measurement, jnp.swapaxes(rows, 0, 1))


def save(
    path: str | Path, layers: Sequence[tuple[np.ndarray, np.ndarray]], action: str, control_rate: float
) -> None:
    """Write a policy to an .npz file.

    Args:
        path: Where.
        layers: Weights (out, inside) and biases (out) of each layer, tanh between them.
        action: What its actions mean, as in `skyrig.envs.build`.
        control_rate: Actions a second (Hz).
    """
    arrays: dict[str, Any] = {f"weight_{k}": np.asarray(weight) for k, (weight, _) in enumerate(layers)}
    arrays |= {f"bias_{k}": np.asarray(bias) for k, (_, bias) in enumerate(layers)}
    arrays |= {"action": np.asarray(action), "control_rate": np.asarray(control_rate)}
    np.savez(path, **arrays)


def load(path: str | Path) -> tuple[Network, str, float]:
    """The network, the meaning of its actions and its control rate (Hz), from a file that `save` wrote."""
    try:
        with np.load(path, allow_pickle=False) as data:
            count = sum(name.startswith("weight_") for name in data.files)
            layers = [(data[f"weight_{k}"], data[f"bias_{k}"]) for k in range(count)]
            action, rate = str(data["action"]), float(data["control_rate"])
    except (OSError, ValueError, KeyError, zipfile.BadZipFile):
        raise InputError(f"{path} cannot be read as a policy.") from None
    if not layers:
        raise InputError(f"{path} holds no layers of a policy.")
    return Network.of(layers), action, rate
