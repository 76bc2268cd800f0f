"""What passes between a flight and its controller, and what a controller is.

Inside the loop every array has its components in front and the batch behind, as in `skyrig.algebra`: one
body's vector is (3, *batch), that of n vehicles (3, n, *batch). No batch is a batch of shape ().
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Float

from skyrig.algebra import as_jax
from skyrig.arrays import namespace
from skyrig.errors import InputError
from skyrig.planning import Sample
from skyrig.rigs.bodies import Bodies

Tree = TypeVar("Tree")


class Aim(eqx.Module):
    """The wanted motion of one body (k = batch) or of n vehicles (k = n, batch) at one control tick."""

    position: Float[Any, ...]
    """(7, 3, *k): position and its derivatives, world frame; entry j in m/s^j."""
    attitude: Float[Any, ...]
    """(4, *k): quaternion wxyz, body to world; of a vehicle only its yaw."""
    rate: Float[Any, ...]
    """(6, 3, *k): body rate and its derivatives, body frame; entry j in rad/s^(j+1)."""


class Target(eqx.Module):
    """All that is wanted at one control tick; in a stack of them, times come first in every array."""

    payload: Aim | None
    vehicles: Aim | None
    nominal: Any
    """What the controller's `prepare` made of the reference for this tick."""


class Measurement(eqx.Module):
    """What a controller is told of a rig, noise included."""

    bodies: dict[str, Bodies]
    """By group, (3, k, *batch)."""
    readings: dict[str, Float[Array, "..."]] = eqx.field(default_factory=dict)
    """What the rig tells of itself, in the units of its layout, such as 'cable.length'."""

    @property
    def payload(self) -> Bodies:
        """The payload, (3, *batch)."""
        return self.bodies["payload"].only()

    @property
    def vehicles(self) -> Bodies:
        """The vehicles, (3, n, *batch)."""
        return self.bodies["vehicles"]

    @property
    def length(self) -> Any:
        """(n, *batch) free length of each cable (m); zeros where there are none."""
        known = self.readings.get("cable.length")
        return jnp.zeros_like(self.vehicles.position[0]) if known is None else known


class Noise(eqx.Module):
    """Standard deviations of what is measured, of every body alike."""

    position: Float[Array, "*batch"]
    """m, along each axis."""
    velocity: Float[Array, "*batch"]
    """m/s, along each axis."""
    attitude: Float[Array, "*batch"]
    """rad, about each body axis."""
    rate: Float[Array, "*batch"]
    """rad/s, about each body axis."""

    @staticmethod
    def of(position: float = 0.0, velocity: float = 0.0, attitude: float = 0.0, rate: float = 0.0) -> Noise:
        """Noise from plain numbers (m, m/s, rad, rad/s)."""
        return Noise(*(as_jax(float(it)) for it in (position, velocity, attitude, rate)))


class Command(eqx.Module):
    """What a controller asks of the vehicles, held until the next tick."""

    thrust: Float[Array, " n *batch"]
    """Along each vehicle's z axis (N)."""
    moment: Float[Array, "3 n *batch"]
    """In each vehicle's body frame (N m)."""
    drives: dict[str, Float[Array, "..."]] | None = None
    """What the rig's own drives shall do, such as {'winch': reel-out rates in m/s}; None leaves them to the
    scenario."""
    rotors: Float[Array, "r n *batch"] | None = None
    """Thrust of every rotor (N), in place of thrust and moment; None leaves them to the mixer."""


class Controller(eqx.Module):
    """A controller: a pytree of gains and of the rig as the controller believes it to be.

    All three methods are pure. `prepare` runs once ahead of the flight; `start` and the call run inside the
    compiled loop. Numbers are array leaves, so changing one never compiles again. A plain function with the
    call's signature flies as well: see `Function`.
    """

    signal_units: ClassVar[Mapping[str, str]] = {}
    """Of what `signals` tells, by name; '1' for what is not here."""
    prepares_from: ClassVar[tuple[str, ...] | None] = None
    """Names of the fields that `prepare` looks at: controllers that agree in them share their targets. None
    for all."""

    def prepare(self, payload: Sample | None = None, vehicles: Sample | None = None) -> Any:
        """What can be computed from the reference alone: a pytree with times first in every leaf.

        Args:
            payload: The payload's wanted motion at every tick, times first.
            vehicles: The vehicles', (times, n, ...), where each has its own.
        """
        return None

    def planned(self, plan: Any) -> Controller:
        """This controller, told what a reference says besides motions: a `LiftPlan`, say, or None."""
        if plan is None:
            return self
        raise InputError(
            "name must be a controller that can follow this reference, such as geometric in its full flavour."
        )

    def in_air(self, laws: Sequence[Any]) -> Controller:
        """This controller, told of the drag that still air makes (elements); most take no notice."""
        return self

    def told_of_noise(self, noise: Noise) -> Controller:
        """This controller, told how blurred measurements are; those that do not filter take no notice.

        Apart from building, so that thousands of flights that differ in noise share the rest.
        """
        return self

    def start(self, measurement: Measurement) -> Any:
        """The memory to begin with: a pytree, the same shapes as the call returns."""
        return None

    def __call__(
        self, memory: Any, t: Float[Array, "*batch"] | float, target: Target, measurement: Measurement
    ) -> tuple[Any, Command]:
        """The command to hold from `t` (s) until the next tick, and the memory to carry on with."""
        raise NotImplementedError

    def signals(self, memory: Any) -> dict[str, Array]:
        """What is worth recording of the memory: named numbers of each vehicle or cable, (n, *batch)."""
        return {}


class Function(Controller):
    """A plain function `(memory, t, target, measurement) -> (memory, command)` as a controller."""

    law: Any = eqx.field(static=True)
    memory: Any = None
    """What `start` returns."""

    def start(self, measurement: Measurement) -> Any:
        """The memory it was made with."""
        return self.memory

    def __call__(self, memory: Any, t: Any, target: Target, measurement: Measurement) -> tuple[Any, Command]:
        """The function's own answer."""
        return self.law(memory, t, target, measurement)


def targets(
    controller: Controller,
    payload: Sample | None = None,
    vehicles: Sample | Sequence[Sample] | None = None,
) -> Target:
    """The targets of a whole flight, times first; row k of every leaf makes the target of tick k.

    Args:
        controller: Who will fly; its `prepare` is called here.
        payload: The payload's reference at every tick, (times, *batch, ...).
        vehicles: One sample for each vehicle, or one with the vehicles before the derivatives.
    """
    return jax.tree.map(as_jax, target_tables(controller, payload, vehicles))


def target_tables(
    controller: Controller,
    payload: Sample | None = None,
    vehicles: Sample | Sequence[Sample] | None = None,
) -> Target:
    """As `targets`, but NumPy's where the reference and the controller are.

    Moving a dozen tables to JAX one by one takes as long as a second of flight.
    """
    if payload is None and vehicles is None:
        raise InputError("payload or vehicles must have a reference, but both are None.")
    if vehicles is not None and not isinstance(vehicles, Sample):
        xp = namespace(*(leaf for sample in vehicles for leaf in sample))
        parts = zip(*vehicles, strict=True)
        vehicles = Sample(*(xp.stack(part, axis=-2 if i == 1 else -3) for i, part in enumerate(parts)))
    assert vehicles is None or isinstance(vehicles, Sample)
    return Target(
        payload=None if payload is None else _aim(payload, 0),
        vehicles=None if vehicles is None else _aim(vehicles, 1),
        nominal=controller.prepare(payload, vehicles),
    )


def wanted_of(whose: str, given: Tree | None) -> Tree:
    """What a controller cannot do without, or one sentence that says so."""
    if given is None:
        raise InputError(f"reference must tell the motion of the {whose}, which this controller follows.")
    return given


def row(target: Tree, index: Any) -> Tree:
    """Row `index` of every leaf: one tick's target out of the stack."""
    return jax.tree.map(lambda leaf: leaf[index], target)


def components_first(array: Any, components: int, bodies: int = 0) -> Any:
    """(times, *batch, *bodies, *components) to (times, *components, *bodies, *batch)."""
    total = components + bodies
    kept = list(range(array.ndim - total))
    tail = list(range(array.ndim - components, array.ndim))
    middle = list(range(array.ndim - total, array.ndim - components))
    return array.transpose(kept[:1] + tail + middle + kept[1:])


def _aim(sample: Sample, bodies: int) -> Aim:
    return Aim(
        position=components_first(sample.position, 2, bodies),
        attitude=components_first(sample.attitude, 1, bodies),
        rate=components_first(sample.rate, 2, bodies),
    )


def axes(count: int) -> Any:
    """A module's array field with `count` axes before the batch."""
    return eqx.field(metadata={"axes": count})


def part() -> Any:
    """A module's field that is a module itself."""
    return eqx.field()


def fitted(module: Tree, like: Float[Array, " n *batch"]) -> Tree:
    """`module`, its fields declared by `axes` broadcasting against the batch behind `like`, in its dtype.

    A controller that serves all flights of a batch alike carries no batch axes; they are added here. One with
    numbers of its own for each flight carries them already.
    """
    batch = like.ndim - 1
    changed = {}
    known: Any = module  # equinox makes every module a dataclass, which types do not say
    for field in dataclasses.fields(known):
        value = getattr(module, field.name)
        if isinstance(value, eqx.Module):
            changed[field.name] = fitted(value, like)
        elif value is not None and "axes" in field.metadata:
            changed[field.name] = _widened(value, field.metadata["axes"] + batch, like.dtype)
    return dataclasses.replace(known, **changed)


def fitted_target(target: Target, measurement: Measurement) -> Target:
    """`target` broadcasting against a measurement's batch, in its dtype.

    A nominal that is a module says by `axes` what it carries; of any other the leaves are taken to have the
    same batch as the aims.
    """
    like = measurement.length
    batch = like.ndim - 1
    aims: list[Aim | None] = []
    own = 0
    for aim, bodies in ((target.payload, 0), (target.vehicles, 1)):
        if aim is None:
            aims.append(None)
            continue
        own = aim.position.ndim - 2 - bodies
        leaves = ((aim.position, 2), (aim.attitude, 1), (aim.rate, 2))
        aims.append(Aim(*(_widened(leaf, count + bodies + batch, like.dtype) for leaf, count in leaves)))
    if isinstance(target.nominal, eqx.Module):
        nominal = fitted(target.nominal, like)
    else:
        nominal = jax.tree.map(lambda it: _widened(it, it.ndim + batch - own, like.dtype), target.nominal)
    return Target(aims[0], aims[1], nominal)


def _widened(value: Any, ndim: int, dtype: Any) -> Array:
    array = as_jax(value, dtype)
    return array.reshape(array.shape + (1,) * (ndim - array.ndim))


def concrete(value: Any) -> Any:
    """An array's numbers for NumPy, without compiling; a tracer as it is."""
    return value if isinstance(value, Tracer) else np.asarray(value)
