"""What a mechanism without impacts need not write: no cables, no resets but passing z = 0.

A mechanism is anything that `skyrig.sim` can step. One whose motion never jumps derives from `Smooth`, keeps
in its state a number `side`, and writes `count`, `bodies`, `derivative`, `tidy` and `poke`; see
docs/extending.md.
"""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array, Bool, Float

from skyrig.rigs.bodies import Bodies, Inputs, Reset, Watch, rearmed


class Smooth(eqx.Module):
    """Base of mechanisms that move without jumps."""

    @property
    def count(self) -> int:
        """Number of vehicles."""
        raise NotImplementedError

    def bodies(self, state: Any) -> tuple[Bodies, Bodies]:
        """Payload and vehicles in a state."""
        raise NotImplementedError

    def derivative(self, state: Any, inputs: Inputs) -> Any:
        """Time derivative of the state, pure: a pytree with a method `advance(state, dt)`."""
        raise NotImplementedError

    def tidy(self, state: Any) -> Any:
        """A state with rounding taken out after a step: quaternions at length one."""
        raise NotImplementedError

    def poke(self, state: Any, impulse: Float[Array, "3 *batch"], point: Float[Array, "3 *batch"]) -> Any:
        """The state after an impulse (N s, world frame) at a point of the payload (m, payload frame)."""
        raise NotImplementedError

    def tension(self, state: Any, inputs: Inputs | None) -> Float[Array, "cables *batch"]:
        """Tensions (N); none by default."""
        return jnp.zeros((0, *state.side.shape), state.side.dtype)

    def cable_state(self, state: Any) -> tuple[Array, Array]:
        """Free lengths (m) of the cables, and which of them are taut; none by default."""
        none = jnp.zeros((0, *state.side.shape), state.side.dtype)
        return none, none.astype(bool)

    def rates(self, state: Any, inputs: Inputs) -> tuple[Any, Watch, Bool[Array, "*batch"]]:
        """Derivative, guards, and whether a reset is due now (never)."""
        return self.derivative(state, inputs), self._watch(state), jnp.zeros_like(state.side, dtype=bool)

    def settle(self, state: Any, inputs: Inputs, polish: bool = True) -> tuple[Any, Watch]:
        """The state after a step without its rounding; guards at the end."""
        state = self.tidy(state)
        return state, self._watch(state)

    def _height(self, state: Any) -> tuple[Array, Array]:
        payload, _ = self.bodies(state)
        return payload.position[2], payload.velocity[2]

    def _watch(self, state: Any) -> Watch:
        height, climb = self._height(state)
        aside = state.side == 0
        value = jnp.where(aside, -1.0, -state.side * height)
        known = (~aside).astype(value.dtype)[None]
        return Watch(value[None], (-state.side * climb)[None], known, jnp.zeros_like(aside))

    def guards_off(self, state: Any) -> Watch:
        """Guards that all stay below zero."""
        one = jnp.ones((1, *state.side.shape), state.side.dtype)
        return Watch(-one, 0 * one, 0 * one, jnp.zeros_like(state.side, dtype=bool))

    def blank(self, state: Any) -> Reset:
        """A reset in which nothing happened."""
        no = jnp.zeros_like(self.cable_state(state)[1])
        never = jnp.zeros_like(state.side, dtype=bool)
        return Reset(no, no, no, never, no.astype(state.side.dtype), no, no, no, never)

    def reset(self, state: Any, inputs: Inputs, patience: ArrayLike = 1.0) -> tuple[Any, Reset]:
        """The payload passed z = 0: nothing changes but which side counts."""
        passed = -state.side * self._height(state)[0] > 0
        record = eqx.tree_at(
            lambda r: (r.ground, r.solved), self.blank(state), (passed, jnp.ones_like(passed))
        )
        return self._on_side(state, jnp.where(passed, 0.0, state.side)), record

    def replay(
        self, state: Any, inputs: Inputs, row: Reset, located: Bool[Array, "*batch"]
    ) -> tuple[Any, Float[Array, "*batch"]]:
        """The reset of `row` again; no time shifts, since nothing jumps."""
        return self._on_side(state, jnp.where(row.ground, 0.0, state.side)), jnp.zeros_like(state.side)

    def rearm(self, state: Any) -> Any:
        """Watch z = 0 again once the payload has left it."""
        return self._on_side(state, rearmed(state.side, self._height(state)[0]))

    def prepare(self, state: Any, inputs: Inputs, dt: Array) -> Any:
        """Nothing to set before a step."""
        return state

    def sever(self, state: Any, cut: Array) -> Any:
        """There is nothing to cut."""
        return state

    def _on_side(self, state: Any, side: Array) -> Any:
        return eqx.tree_at(lambda it: it.side, state, side)
