"""The contract of a rig: what a mechanism tells, and what everything else asks of it.

A rig is bodies and how they are joined. Whoever steps, records, controls or draws one asks only for what
stands here: groups of bodies by name, signals by name, events by kind. Inside, every array carries its
components first and the batch last; no batch is a batch of shape (). A group of k bodies is (3, k, *batch),
a single body too.
"""

from __future__ import annotations

from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array, Bool, Float

from skyrig.errors import InputError
from skyrig.rigs.bodies import Bodies
from skyrig.rigs.layout import Layout


class State(eqx.Module):
    """Where a rig is: a motion, which integrators add to, and a mode, which only resets change."""

    motion: Any
    """Pytree of floats: what has a derivative. Attitudes are quaternions, brought back to length one."""
    mode: Any
    """Pytree of what stays as it is between resets: flags, and numbers held over a step. None for none."""


class Wrench(eqx.Module):
    """What pushes and turns the bodies of a group."""

    force: Float[Array, "..."]
    """(3, k, *batch) on each body's centre of mass, world frame (N); a table of them has rows in front."""
    torque: Float[Array, "..."] | None = None
    """(3, k, *batch), world frame (N m); None for none."""


class Solid(eqx.Module):
    """Something that more of a rig may touch than its bodies: cables that lie on the ground, say."""

    surface: Any
    """Its `gap(place)` gives for places (3, p, *batch) their distance from it (m) and its normal there."""
    friction: Float[Array, "*batch"]
    """Coefficient."""


class Loads(eqx.Module):
    """All that acts on a rig at an instant."""

    thrust: Float[Array, "n *batch"]
    """Of each vehicle's rotors along its own z axis (N)."""
    moment: Float[Array, "3 n *batch"]
    """Of each vehicle's rotors in its body frame (N m)."""
    wrenches: dict[str, Wrench] = eqx.field(default_factory=dict)
    """What the world does to the bodies of a group, by its name; a group without an entry feels nothing."""
    drives: dict[str, Float[Array, "..."]] = eqx.field(default_factory=dict)
    """What the rig's own drives are asked for, by name and in the units of the layout."""
    solids: tuple[Solid, ...] = ()
    """What is in the way; elements press on bodies, a rig sees to the rest of itself."""


class Watch(eqx.Module):
    """The guards of a rig at one instant; a guard fires when its value rises above zero."""

    value: Float[Array, "guards *batch"]
    slope: Float[Array, "guards *batch"]
    """Time derivative of the value where it is known, else zero."""
    known: Float[Array, "guards *batch"]
    """One where the slope is known, else zero."""
    rough: Bool[Array, "*batch"]
    """Whether the motion is too fast for the step: the constraints could not be met."""


class Happened(eqx.Module):
    """Events of one kind in a reset."""

    who: Bool[Array, "k *batch"]
    """Which of its owners it happened to."""
    value: Float[Array, "k *batch"] | None = None
    """The number that goes with it, as the layout says."""


class Reset(eqx.Module):
    """What one reset did."""

    events: dict[str, Happened]
    """By kind, as the layout lists them."""
    again: Any
    """What `replay` must know to do it again."""
    solved: Bool[Array, "*batch"]
    """Whether a way to go on was found."""


class Rig(eqx.Module):
    """A mechanism whose motion is smooth. One that jumps derives from `Hybrid`.

    A mechanism writes `layout`, `bodies`, `derivative`, `tidy` and, if it has them, `poke` and `trim`; what
    it does not write it does not have.
    """

    mechanism: ClassVar[str] = ""
    """Its name in YAML."""
    integrator: ClassVar[str] = "rk4"
    """Which of `skyrig.sim.integrators` serves it best; a scenario may choose another."""

    @property
    def layout(self) -> Layout:
        """Names of what there is: groups of bodies, signals, events, drives."""
        raise NotImplementedError

    def bodies(self, state: Any) -> dict[str, Bodies]:
        """The bodies of every group, (3, k, *batch)."""
        raise NotImplementedError

    def derivative(self, t: ArrayLike, state: Any, loads: Loads) -> Any:
        """Time derivative of `state.motion`, a tree of its structure. Pure: same arguments, same answer."""
        raise NotImplementedError

    def tidy(self, state: Any) -> Any:
        """The state with rounding taken out after a step: quaternions at length one."""
        raise NotImplementedError

    def standing(self, state: Any) -> dict[str, Bool[Array, "k *batch"]]:
        """What is told as an event at a flight's start because it is so already, by kind."""
        return {}

    def signals(self, t: ArrayLike, state: Any, loads: Loads) -> dict[str, Array]:
        """The layout's signals, (count, *batch) each."""
        return {}

    def stored(self, state: Any) -> Array | float:
        """Energy held in joints, such as stretched bands (J), (*batch); rigid joints hold none."""
        return 0.0

    def readings(self, state: Any) -> dict[str, Array]:
        """What the rig itself tells a controller beside where its bodies are, such as its cables' lengths."""
        return {}

    def happened(self, times: Any, told: dict[str, Any]) -> list[Any]:
        """What happened in a flight beside its resets, from its signals (T, count); in plain NumPy, after it.

        Anything with time, kind, group, index, value and unit, as events have.
        """
        return []

    def rest_goals(self) -> dict[str, Any]:
        """Where the layout's drives are when nobody drives them, by name, (k,)."""
        return {}

    def follow(
        self, readings: dict[str, Array], goals: dict[str, Array], period: ArrayLike
    ) -> dict[str, Array]:
        """What to ask of the layout's drives for the coming `period` (s) so that they reach `goals`."""
        raise NotImplementedError(f"{type(self).__name__} has no drives")

    def prepare(self, state: Any, loads: Loads, dt: Float[Array, "*batch"]) -> Any:
        """The state with what is held over the coming step of `dt` (s) set; most rigs hold nothing."""
        return state

    def laid(self, state: Any, solids: tuple[Solid, ...]) -> Any:
        """A start with nothing but bodies inside of solids: loose cables laid onto the ground, say."""
        return state

    def poke(self, state: Any, group: str, impulse: Array, point: Array) -> Any:
        """The state after blows on the bodies of a group.

        Args:
            state: Where the rig is.
            group: Whose bodies are hit.
            impulse: (3, k, *batch) N s, world frame.
            point: (3, k, *batch) where, from the centre of mass in the body's frame (m).
        """
        raise NotImplementedError(f"{type(self).__name__} cannot be poked")

    def switch(self, state: Any, name: str, which: Bool[Array, "k *batch"]) -> Any:
        """The state after a switch of the layout (a cable cut, say) was thrown for some of its owners."""
        raise NotImplementedError(f"{type(self).__name__} has no switch {name}")

    def placed(self, bodies: dict[str, Bodies]) -> Any:
        """A state to start from, with the bodies of each group where they are said to be, (3, k)."""
        raise InputError(f"a {self.mechanism or type(self).__name__} rig cannot be placed body by body.")

    def shifted(self, state: Any, bodies: dict[str, Bodies]) -> Any:
        """`state` with its bodies elsewhere, (3, k, *batch), and all else as it is."""
        raise NotImplementedError(f"{type(self).__name__} cannot be moved")

    def trim(self, position: Any, attitude: Any, lean: float | None = None) -> Any:
        """A `skyrig.rigs.Trim`: the hover with the payload at a pose."""
        raise InputError(
            f"a {self.mechanism or type(self).__name__} rig knows no hover: say where every body starts."
        )

    @property
    def count(self) -> int:
        """Number of vehicles."""
        return self.layout.group("vehicles").count

    def like(self, state: Any) -> Float[Array, "*batch"]:
        """One number of the motion for each flight: it has the batch's shape and the motion's dtype."""
        return next(iter(self.bodies(state).values())).position[0, 0]


class Hybrid(Rig):
    """A mechanism whose motion jumps, or whose mode changes, at instants that guards find."""

    def rates(self, t: ArrayLike, state: Any, loads: Loads) -> tuple[Any, Watch, Bool[Array, "*batch"]]:
        """`derivative`, the guards, and whether a reset is due at this very state."""
        raise NotImplementedError

    def settle(self, t: ArrayLike, state: Any, loads: Loads, polish: bool = True) -> tuple[Any, Watch]:
        """`tidy` for a rig with constraints: the state without a step's drift, and the guards there.

        `polish` allows for more than one Newton step; without it this can be differentiated backwards.
        """
        raise NotImplementedError

    def reset(self, t: ArrayLike, state: Any, loads: Loads, patience: ArrayLike = 1.0) -> tuple[Any, Reset]:
        """The state after what is due at this instant, a guard just past zero.

        `patience` is a factor on what counts as calm, growing when one step holds very many events.
        """
        raise NotImplementedError

    def replay(
        self, t: ArrayLike, state: Any, loads: Loads, done: Any, located: Bool[Array, "*batch"]
    ) -> tuple[Any, Float[Array, "*batch"]]:
        """A reset again, with its sets given by `Reset.again`, so that it differentiates.

        The second value is zero, with the derivative of the instant at which a located event happens (s).
        """
        raise NotImplementedError

    def blank(self, state: Any) -> Reset:
        """A reset in which nothing happened: the shape of a log's row."""
        raise NotImplementedError

    def guards_off(self, state: Any) -> Watch:
        """Guards that all stay below zero: the shape of a bracket's end."""
        raise NotImplementedError

    def derivative(self, t: ArrayLike, state: Any, loads: Loads) -> Any:
        """Time derivative of `state.motion`."""
        return self.rates(t, state, loads)[0]

    def tidy(self, state: Any) -> Any:
        """A hybrid rig settles instead."""
        return state


def moved(state: Any, rate: Any, dt: ArrayLike) -> Any:
    """`state` with its motion taken along `rate` for `dt` (s); its mode stays."""
    motion = jax.tree.map(lambda x, k: x + dt * k, state.motion, rate)
    return eqx.tree_at(lambda it: it.motion, state, motion)


def no_loads(count: int, like: Float[Array, "*batch"]) -> Loads:
    """Loads of a rig of `count` vehicles on which nothing acts."""
    thrust = jnp.zeros((count, *like.shape), like.dtype)
    return Loads(thrust, jnp.zeros((3, *thrust.shape), like.dtype))


def added(one: dict[str, Wrench], other: dict[str, Wrench]) -> dict[str, Wrench]:
    """Two sets of wrenches together."""
    total = dict(one)
    for group, wrench in other.items():
        have = total.get(group)
        if have is not None:
            torques = [it for it in (have.torque, wrench.torque) if it is not None]
            torque = None if not torques else torques[0] if len(torques) == 1 else torques[0] + torques[1]
            wrench = Wrench(have.force + wrench.force, torque)
        total[group] = wrench
    return total
