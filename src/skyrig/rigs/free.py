"""Rigid bodies that nothing holds together: the base of mechanisms whose joints are forces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from skyrig import algebra
from skyrig.algebra import apply, apply_transposed, as_jax, cross
from skyrig.constants import GRAVITY
from skyrig.errors import InputError
from skyrig.rigs.bodies import Bodies
from skyrig.rigs.cables import inverse
from skyrig.rigs.layout import Group, Layout
from skyrig.rigs.protocol import Loads, Rig, State, Wrench, added


class FreeBodies(Rig):
    """Groups of rigid bodies under gravity, thrust and whatever `forces` puts between them.

    A mechanism derives from this and writes `forces` (and its signals, and its hover). Its motion is a dict
    of `Bodies` by group, (3, k, *batch) each. A point mass has an inertia of zeros and does not turn.
    """

    mechanism: ClassVar[str] = "free bodies"

    mass: dict[str, Float[Array, "..."]]
    """By group, (k, *batch) kg."""
    inertia: dict[str, Float[Array, "..."]]
    """By group, (3, 3, k, *batch) kg m^2, body frame."""
    inverse_inertia: dict[str, Float[Array, "..."]]
    gravity: Float[Array, "*batch"]

    @classmethod
    def of(cls, bodies: Mapping[str, Sequence[Any]], **more: Any) -> Any:
        """A rig of this class from anything with `mass` (kg) and `inertia` (kg m^2, None for a point).

        Args:
            bodies: By group; 'vehicles' are those with rotors.
            more: The class's own fields, as numbers.
        """
        mass, inertia, inverted = {}, {}, {}
        for group, them in bodies.items():
            matrices = [np.zeros((3, 3)) if it.inertia is None else np.asarray(it.inertia) for it in them]
            backs = [inverse(it) if it.any() else it for it in matrices]
            mass[group] = as_jax(np.array([float(it.mass) for it in them]))
            inertia[group] = as_jax(np.stack(matrices, axis=-1))
            inverted[group] = as_jax(np.stack([np.asarray(it) for it in backs], axis=-1))
        own = {name: as_jax(np.asarray(value, dtype=np.float64)) for name, value in more.items()}
        gravity = own.pop("gravity", as_jax(np.asarray(GRAVITY)))
        return cls(mass=mass, inertia=inertia, inverse_inertia=inverted, gravity=gravity, **own)

    def forces(self, t: ArrayLike, bodies: dict[str, Bodies]) -> dict[str, Wrench]:
        """What the bodies do to each other at `t` (s), by group, world frame."""
        return {}

    @property
    def layout(self) -> Layout:
        """The groups."""
        return Layout(tuple(Group(name, it.shape[0]) for name, it in self.mass.items()))

    def bodies(self, state: State) -> dict[str, Bodies]:
        """The motion itself."""
        return state.motion

    def placed(self, bodies: dict[str, Bodies]) -> State:
        """A start with every body where it is said to be."""
        missing = [group for group in self.mass if group not in bodies]
        if missing:
            raise InputError(f"{missing[0]} must be given a place: nothing else says where they start.")
        return State({group: bodies[group] for group in self.mass}, None)

    def shifted(self, state: State, bodies: dict[str, Bodies]) -> State:
        """The same bodies elsewhere."""
        return State({**state.motion, **bodies}, state.mode)

    def derivative(self, t: ArrayLike, state: State, loads: Loads) -> dict[str, Bodies]:
        """Newton and Euler for every body."""
        acting = added(loads.wrenches, self.forces(t, state.motion))
        return {group: self._rate(group, it, acting.get(group), loads) for group, it in state.motion.items()}

    def _rate(self, group: str, it: Bodies, acting: Wrench | None, loads: Loads) -> Bodies:
        turn = algebra.rotation_matrix(it.attitude)
        force, moment = jnp.zeros_like(it.position), jnp.zeros_like(it.rate)
        if group == "vehicles":
            force, moment = loads.thrust * turn[:, 2], loads.moment
        if acting is not None:
            force = force + acting.force
            if acting.torque is not None:
                moment = moment + apply_transposed(turn, acting.torque)
        zero = jnp.zeros_like(self.gravity)
        down = jnp.stack([zero, zero, self.gravity])[:, None]
        spin = moment - cross(it.rate, apply(self.inertia[group], it.rate))
        return Bodies(
            it.velocity,
            force / self.mass[group] - down,
            algebra.attitude_rate(it.attitude, it.rate),
            apply(self.inverse_inertia[group], spin),
        )

    def tidy(self, state: State) -> State:
        """Quaternions back at length one."""
        return State(
            {
                group: Bodies(it.position, it.velocity, algebra.normalised(it.attitude), it.rate)
                for group, it in state.motion.items()
            },
            state.mode,
        )

    def poke(self, state: State, group: str, impulse: Array, point: Array) -> State:
        """Blows (N s, world frame) at points of the group's bodies (m, their frames)."""
        it = state.motion[group]
        local = apply_transposed(algebra.rotation_matrix(it.attitude), impulse)
        spin = apply(self.inverse_inertia[group], cross(point, local))
        hit = Bodies(it.position, it.velocity + impulse / self.mass[group], it.attitude, it.rate + spin)
        return State({**state.motion, group: hit}, state.mode)
