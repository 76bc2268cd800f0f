"""Small networks that look at tracking errors and say what weights the plans have.

After Auto-Multilift (Wang et al., arXiv 2406.04858): one network for each vehicle, which sees the errors of
its own position and velocity, and one for the load, which sees its attitude's and rate's as well. Two layers
of 30 neurons; every matrix is divided by its largest singular value, so that weights change gently.
What comes out, s in (0, 1), stands for the weight `unit` (LEAST + (MOST - LEAST) s).
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from skyrig.algebra import as_jax
from skyrig.control.mpc.agents import Weights
from skyrig.control.mpc.small import largest_singular_value
from skyrig.errors import InputError
from skyrig.files import open_regular

HIDDEN = (30, 30)
SEEN, SEEN_OF_LOAD = 6, 12
LEAST, MOST = 0.01, 100.0
MIDDLE = 50.0
"""A network at rest answers about this many units."""

Layers = tuple[tuple[Array, Array], ...]


class Policy(eqx.Module):
    """The networks of a team, and the units of what they answer."""

    vehicles: Layers
    """(n, out, in) and (n, out) of each layer."""
    load: Layers
    """(out, in) and (out,) of each layer."""
    vehicle_unit: Float[Array, "..."]  # (n, 28)
    """Of the weights of stage, end and inputs."""
    load_unit: Float[Array, "..."]  # (24 + n)

    @staticmethod
    def random(vehicles: Weights, load: Weights, seed: int, spread: float = 1.0) -> Policy:
        """Untrained networks, whose weights lie about those given, each agent's own.

        Args:
            vehicles: Weights of all vehicles, n in front.
            load: The load's.
            seed: Of the networks.
            spread: Standard deviation of the last layer's biases: how far from those weights they begin.
        """
        rng = np.random.default_rng(seed)
        unit = np.concatenate(
            [np.asarray(it) for it in (vehicles.stage, vehicles.final, vehicles.effort)], axis=1
        )
        cargo = np.concatenate([np.asarray(it) for it in (load.stage, load.final, load.effort)])
        each = [_layers(rng, (SEEN, *HIDDEN, unit.shape[1]), spread) for _ in unit]
        stacked = [
            tuple(np.stack(part) for part in zip(*layer, strict=True)) for layer in zip(*each, strict=True)
        ]
        own = _layers(rng, (SEEN_OF_LOAD, *HIDDEN, len(cargo)), spread)
        return Policy(_on_jax(stacked), _on_jax(own), as_jax(unit / MIDDLE), as_jax(cargo / MIDDLE))

    @staticmethod
    def constant(vehicles: Weights, load: Weights) -> Policy:
        """Networks that answer those weights whatever they see: hand-tuned ones, to compare with."""
        begun = Policy.random(vehicles, load, 0, spread=0.0)
        level = np.log((MIDDLE - LEAST) / (MOST - MIDDLE))

        def silent(layers: Layers) -> Layers:
            matrix, bias = layers[-1]
            return (*layers[:-1], (0 * matrix, 0 * bias + level))

        return eqx.tree_at(
            lambda it: (it.vehicles, it.load), begun, (silent(begun.vehicles), silent(begun.load))
        )

    def normalised(self) -> Policy:
        """The same with every matrix divided by its largest singular value: what flies."""

        def scaled(matrix: Array) -> Array:
            most = largest_singular_value(matrix)
            return matrix / jnp.where(most > 0, most, 1.0)

        def divided(layers: Layers) -> Layers:
            return tuple((scaled(matrix), bias) for matrix, bias in layers)

        return eqx.tree_at(
            lambda it: (it.vehicles, it.load), self, (divided(self.vehicles), divided(self.load))
        )

    def weights(self, vehicles: Float[Array, "n 6"], load: Float[Array, "12"]) -> tuple[Weights, Weights]:
        """What errors of vehicles and load make of the weights; of networks already normalised."""
        own = jax.vmap(_answer)(self.vehicles, vehicles) * self.vehicle_unit
        cargo = _answer(self.load, load) * self.load_unit
        return (
            Weights(own[:, :12], own[:, 12:24], own[:, 24:]),
            Weights(cargo[:12], cargo[12:24], cargo[24:]),
        )

    def content(self) -> bytes:
        """The networks as an .npz file holds them."""
        arrays: dict[str, Any] = {"vehicle_unit": self.vehicle_unit, "load_unit": self.load_unit}
        for whose, layers in (("vehicle", self.vehicles), ("load", self.load)):
            for k, (matrix, bias) in enumerate(layers):
                arrays |= {f"{whose}_matrix_{k}": matrix, f"{whose}_bias_{k}": bias}
        stream = io.BytesIO()
        plain: dict[str, Any] = {name: np.asarray(value) for name, value in arrays.items()}
        np.savez(stream, **plain)
        return stream.getvalue()

    @staticmethod
    def read(path: str | Path) -> Policy:
        """The networks in a file that holds their `content`."""
        count = len(HIDDEN) + 1
        try:
            with open_regular(path) as stream, np.load(stream, allow_pickle=False) as data:
                parts = [
                    [(data[f"{whose}_matrix_{k}"], data[f"{whose}_bias_{k}"]) for k in range(count)]
                    for whose in ("vehicle", "load")
                ]
                units = data["vehicle_unit"], data["load_unit"]
        except (OSError, ValueError, KeyError, zipfile.BadZipFile):
            raise InputError(
                f"{path} cannot be read as networks of weights, an .npz file of learn-weights."
            ) from None
        if not all(np.isfinite(leaf).all() for leaf in jax.tree.leaves((parts, units))):
            raise InputError(f"{path} must hold finite numbers, but not all of its are.")
        return Policy(_on_jax(parts[0]), _on_jax(parts[1]), as_jax(units[0]), as_jax(units[1]))


def _layers(
    rng: np.random.Generator, sizes: Sequence[int], spread: float
) -> list[tuple[np.ndarray, np.ndarray]]:
    found = []
    for k, (before, after) in enumerate(zip(sizes[:-1], sizes[1:], strict=True)):
        last = k + 2 == len(sizes)
        reach = 1 / np.sqrt(before)
        bias = spread * rng.standard_normal(after) if last else rng.uniform(-reach, reach, after)
        found.append((rng.uniform(-reach, reach, (after, before)), bias))
    return found


def _on_jax(layers: Sequence[Sequence[np.ndarray]]) -> Layers:
    return tuple((as_jax(np.asarray(m, float)), as_jax(np.asarray(b, float))) for m, b in layers)


def _answer(layers: Layers, inputs: Array) -> Array:
    for matrix, bias in layers[:-1]:
        inputs = jax.nn.relu(matrix @ inputs + bias)
    matrix, bias = layers[-1]
    return LEAST + (MOST - LEAST) * jax.nn.sigmoid(matrix @ inputs + bias)
