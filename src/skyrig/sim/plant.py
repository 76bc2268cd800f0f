"""A rig in its world, as integrators see it: one derivative of rig, rotors and whatever pushes them."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array, Bool, Float

from skyrig.algebra import total
from skyrig.elements.around import Around
from skyrig.elements.element import Element
from skyrig.rigs.bodies import Bodies
from skyrig.rigs.protocol import Hybrid, Loads, Solid, Watch, added
from skyrig.sim.motors import Motors


class Effort(eqx.Module):
    """What the actuators are told, held over a step."""

    thrust: Float[Array, "n *batch"]
    """Of each vehicle, losses included (N); ignored where rotors lag."""
    moment: Float[Array, "3 n *batch"]
    """Of each vehicle, losses included, body frame (N m); ignored where rotors lag."""
    drives: dict[str, Float[Array, "..."]] = eqx.field(default_factory=dict)
    """What the rig's own drives are asked for."""
    rotors: Float[Array, "r n *batch"] | None = None
    """Wanted thrust of every rotor (N), before losses; None where thrusts are given by hand."""
    share: Float[Array, "n *batch"] | None = None
    """Share of its thrust that each vehicle's rotors give; 1 if left out."""
    speeds: Float[Array, "r n *batch"] | None = None
    """Of every rotor that follows at once (rad/s), worked out once for the step; None where nobody has."""


class PlantState(eqx.Module):
    """Where everything is."""

    rig: Any
    """The rig's state: motion and mode."""
    rotors: Float[Array, "r n *batch"] | None
    """Speed of every rotor (rad/s) where rotors lag; not a number until the first command."""
    memories: dict[str, Any]
    """What each element remembers."""

    def moved(self, rate: tuple[Any, Any], dt: ArrayLike) -> PlantState:
        """This state with its motion taken along `rate` for `dt` (s)."""
        motion, rotors = jax.tree.map(lambda x, k: x + dt * k, (self.rig.motion, self.rotors), rate)
        rig = eqx.tree_at(lambda it: it.motion, self.rig, motion)
        return PlantState(rig, rotors, self.memories)


class Plant(eqx.Module):
    """A rig, its rotors, and the elements that act on it."""

    rig: Any
    elements: dict[str, Element] = eqx.field(default_factory=dict)
    motors: Motors | None = None
    integrator: str = eqx.field(static=True, default="rk4")
    """One of `skyrig.sim.integrators`."""

    @property
    def jumps(self) -> bool:
        """Whether the rig has guards, so that events must be looked for."""
        return isinstance(self.rig, Hybrid)

    @property
    def solids(self) -> tuple[Solid, ...]:
        """What is in the way."""
        found = (element.solid() for element in self.elements.values())
        return tuple(it for it in found if it is not None)

    def start(self, rig_state: Any) -> PlantState:
        """Everything at a flight's start, the rig being at `rig_state`."""
        if not self.elements and self.motors is None:
            return PlantState(rig_state, None, {})
        rig_state = self.rig.laid(rig_state, self.solids)
        bodies = self.rig.bodies(rig_state)
        memories = {name: element.start(bodies) for name, element in self.elements.items()}
        rotors = None
        if self.motors is not None:
            like = bodies["vehicles"].position[0]
            rotors = jnp.full((self.motors.mixing.shape[1], *like.shape), jnp.nan, like.dtype)
        return PlantState(rig_state, rotors, memories)

    def like(self, state: PlantState) -> Float[Array, "*batch"]:
        """One number of the motion for each flight."""
        return self.rig.like(state.rig)

    def real(self, state: PlantState) -> Any:
        """The dtype of the motion, without computing anything."""
        return jax.tree.leaves(state.rig.motion)[0].dtype

    def bodies(self, state: PlantState) -> dict[str, Bodies]:
        """The bodies of every group."""
        return self.rig.bodies(state.rig)

    def engaged(self, state: PlantState, effort: Effort) -> PlantState:
        """With rotors that were never commanded taken to have been at this effort already."""
        if state.rotors is None or effort.rotors is None:
            return state
        assert self.motors is not None
        rotors = jnp.where(jnp.isnan(state.rotors), self.motors.speeds(effort.rotors), state.rotors)
        return PlantState(state.rig, rotors, state.memories)

    def begun(self, t: ArrayLike, state: PlantState, effort: Effort, dt: Array) -> PlantState:
        """With what is held over the coming step of `dt` (s) set: drives, and the elements' memories.

        Flights whose step is not above zero (padding) stay as they are.
        """
        bodies = self.bodies(state) if self.elements else {}
        flies, length = dt > 0, jnp.where(dt > 0, dt, 1.0)
        memories = {
            name: element.stepped(state.memories[name], t, bodies, length, flies)
            for name, element in self.elements.items()
        }
        begun = PlantState(state.rig, state.rotors, memories)
        rig = self.rig.prepare(state.rig, self.loads(t, begun, effort), length)
        rig = jax.tree.map(lambda new, old: jnp.where(flies, new, old), rig, state.rig)
        return PlantState(rig, state.rotors, memories)

    def loads(self, t: ArrayLike, state: PlantState, effort: Effort) -> Loads:
        """All that acts on the rig at `t` (s) in this state."""
        thrust, moment = effort.thrust, effort.moment
        if self.motors is not None:
            assert state.rotors is not None
            made = total(self.motors.mixing * self.motors.thrusts(state.rotors), 1)
            made = made if effort.share is None else effort.share * made
            thrust, moment = made[0], made[1:]
        wrenches = {}
        if self.elements:
            bodies, around = self.bodies(state), self._around(t, state, effort, thrust)
            for name, element in self.elements.items():
                wrenches = added(wrenches, element.loads(t, bodies, state.memories[name], around))
        return Loads(thrust, moment, wrenches, effort.drives, self.solids)

    def signals(self, t: ArrayLike, state: PlantState, effort: Effort, loads: Loads) -> dict[str, Array]:
        """What the rig and the elements tell, (count, *batch) each."""
        found = self.rig.signals(t, state.rig, loads)
        if self.motors is not None and state.rotors is not None and effort.rotors is not None:
            found |= self.motors.signals(state.rotors, self.motors.speeds(effort.rotors))
        if self.elements:
            bodies, around = self.bodies(state), self._around(t, state, effort, loads.thrust)
            for name, element in self.elements.items():
                found |= element.signals(t, bodies, state.memories[name], around)
        return found

    def _around(self, t: ArrayLike, state: PlantState, effort: Effort, thrust: Array) -> Around:
        """The world as elements see it."""
        rotors = effort.rotors
        if self.motors is not None and state.rotors is not None:
            rotors = self.motors.thrusts(state.rotors)
        if rotors is not None and effort.share is not None:
            rotors = effort.share * rotors
        pairs = tuple((it, state.memories[name]) for name, it in self.elements.items())
        speeds = effort.speeds if state.rotors is None else state.rotors
        return Around(t, thrust, rotors, pairs, speeds, self._spin_up(state, effort))

    def derivative(self, t: ArrayLike, state: PlantState, effort: Effort) -> tuple[Any, Any]:
        """Time derivative of the rig's motion and of the rotors' speeds."""
        return self.rig.derivative(t, state.rig, self.loads(t, state, effort)), self._spin_up(state, effort)

    def rates(
        self, t: ArrayLike, state: PlantState, effort: Effort
    ) -> tuple[tuple[Any, Any], Watch | None, Bool[Array, "*batch"] | None]:
        """`derivative`, the guards, and whether a reset is due; None for a rig that never jumps."""
        if not self.jumps:
            return self.derivative(t, state, effort), None, None
        motion, guards, due = self.rig.rates(t, state.rig, self.loads(t, state, effort))
        return (motion, self._spin_up(state, effort)), guards, due

    def settle(
        self, t: ArrayLike, state: PlantState, effort: Effort, polish: bool = True
    ) -> tuple[PlantState, Watch | None]:
        """The state after a step without its drift, and the guards there."""
        if not self.jumps:
            return PlantState(self.rig.tidy(state.rig), state.rotors, state.memories), None
        rig, guards = self.rig.settle(t, state.rig, self.loads(t, state, effort), polish)
        return PlantState(rig, state.rotors, state.memories), guards

    def _spin_up(self, state: PlantState, effort: Effort) -> Array | None:
        if self.motors is None:
            return None
        assert effort.rotors is not None and state.rotors is not None, (
            "rotors that lag must be told one by one"
        )
        return self.motors.rate(state.rotors, self.motors.speeds(effort.rotors))
