"""One step of any rig: fixed-step RK4 between events, events located inside the step, time never lost.

A step is a loop whose body tries to go to the end of the step. Nearly always that is accepted and the loop
ends. If a guard fires, the next tries close a bracket around the earliest crossing; then the rig resets
there and the rest of the step is tried. What happens rarely sits behind `when`, so that it costs nothing
until some flight of the batch needs it. All arrays carry the batch behind; no batch is a batch of shape ().
"""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array, Bool, Float, Int

from skyrig.algebra import as_jax, dot
from skyrig.programs import Shapes
from skyrig.rigs.bodies import Inputs, Watch
from skyrig.sim.crossing import earliest_crossing, fineness, peak_between
from skyrig.sim.integrator import runge_kutta

OK, LOG_FULL, TOO_MANY, UNSOLVED, TOO_FAST = range(5)
"""Troubles a log can report."""

MOST_TRIES = 1000
"""Tries in one step before it is given up as chattering."""

MOST_TURN = 1.0
"""Angle through which a body may turn in a step (rad); beyond it the integrator makes numbers up."""

CALM_RESETS = 8
"""Resets in one step after which the snap tolerance starts to double."""


class Log(eqx.Module):
    """Events in the order they happened; rows beyond `count` are blank."""

    step: Int[Array, "rows *batch"]
    """Index of the step a reset happened in."""
    offset: Float[Array, "rows *batch"]
    """Time since the start of that step (s)."""
    located: Bool[Array, "rows *batch"]
    """Whether the time was found as a guard's crossing (else the reset was due at once)."""
    reset: Any
    """What the reset did, rig by rig, with rows in front."""
    count: Int[Array, "*batch"]
    trouble: Int[Array, "*batch"]

    @staticmethod
    def empty(rig: Any, state: Any, rows: int) -> Log:
        """A log with room for `rows` resets."""
        blank = rig.blank(state)
        batch = state.side.shape
        real = state.side.dtype

        def repeat(leaf: Array) -> Array:
            return jnp.zeros((rows, *leaf.shape), leaf.dtype)

        return Log(
            step=jnp.full((rows, *batch), -1, jnp.int32),
            offset=jnp.zeros((rows, *batch), real),
            located=jnp.zeros((rows, *batch), bool),
            reset=jax.tree.map(repeat, blank),
            count=jnp.zeros(batch, jnp.int32),
            trouble=jnp.full(batch, OK, jnp.int32),
        )

    @staticmethod
    def ready(rig: Any, state: Any, rows: int) -> Log:
        """As `empty`, made without compiling anything."""
        shapes = _log_shapes(rig, state, rows)
        blank: Log = jax.tree.map(lambda leaf: np.zeros(leaf.shape, leaf.dtype), shapes)
        return jax.tree.map(as_jax, eqx.tree_at(lambda log: log.step, blank, blank.step - 1))

    def written(self, lanes: Array, index: ArrayLike, offset: Array, located: Array, reset: Any) -> Log:
        """This log with one more row for the flights in `lanes`."""
        rows = self.step.shape[0]
        here = lanes & (jnp.arange(rows).reshape((rows,) + (1,) * lanes.ndim) == self.count)

        def put(column: Array, entry: Array) -> Array:
            extra = column.ndim - here.ndim
            spot = here.reshape((rows,) + (1,) * extra + here.shape[1:])
            return jnp.where(spot, entry, column)

        full = lanes & (self.count >= rows)
        trouble = jnp.where(full, LOG_FULL, self.trouble)
        trouble = jnp.where(lanes & ~reset.solved, UNSOLVED, trouble)
        return Log(
            step=put(self.step, jnp.asarray(index, jnp.int32)),
            offset=put(self.offset, offset),
            located=put(self.located, located),
            reset=jax.tree.map(put, self.reset, reset),
            count=self.count + (lanes & ~full),
            trouble=trouble,
        )


_log_shapes = Shapes(Log.empty)


class Bracket(eqx.Module):
    """Guards at a time before the event and at one after it."""

    closing: Bool[Array, "*batch"]
    before: Float[Array, "*batch"]
    after: Float[Array, "*batch"]
    before_watch: Watch
    after_watch: Watch
    turns: Int[Array, "*batch"]


class Progress(eqx.Module):
    """How far a step has come."""

    state: Any
    pending: Bool[Array, "*batch"]
    elapsed: Float[Array, "*batch"]
    trial: Float[Array, "*batch"]
    bracket: Bracket
    tries: Int[Array, "*batch"]
    resets: Int[Array, "*batch"]
    log: Log


def when(flag: Bool[Array, ""], change: Any, carry: Any) -> Any:
    """`change(carry)` if `flag`, else `carry`: a branch that stays one under vmap (a loop of one turn)."""

    def once(pair):
        return jnp.zeros_like(pair[0]), change(pair[1])

    return jax.lax.while_loop(lambda pair: pair[0], once, (flag, carry))[1]


def choose(lanes: Array, new: Any, old: Any) -> Any:
    """`new` for the flights in `lanes`, `old` for the others."""
    return jax.tree.map(lambda a, b: jnp.where(lanes, a, b), new, old)


def spin_squared(rig: Any, state: Any) -> Float[Array, "*batch"]:
    """Square of the fastest body's turn rate (rad^2/s^2)."""
    payload, vehicles = rig.bodies(state)
    return jnp.maximum(dot(payload.rate, payload.rate), jnp.max(dot(vehicles.rate, vehicles.rate), axis=0))


def step(rig: Any, state: Any, inputs: Inputs, dt: ArrayLike, log: Log, index: ArrayLike) -> tuple[Any, Log]:
    """Advance by `dt` (s) with `inputs` held; resets are written to `log` under the step number `index`.

    A step of no length settles what is due at this instant; one of negative length does nothing (padding).
    """
    batch = state.side.shape
    dt = jnp.broadcast_to(jnp.asarray(dt, state.side.dtype), batch)
    state = choose(dt > 0, rig.prepare(state, inputs, jnp.where(dt > 0, dt, 1.0)), state)
    nothing = rig.guards_off(state)
    zero = jnp.zeros_like(dt)
    none = jnp.zeros(batch, jnp.int32)
    bracket = Bracket(jnp.zeros(batch, bool), zero, dt, nothing, nothing, none)
    progress = Progress(state, dt >= 0, zero, dt, bracket, none, none, log)

    def unfinished(progress: Progress) -> Array:
        return jnp.any(progress.pending & (progress.tries < MOST_TRIES))

    def attempt(progress: Progress) -> Progress:
        active = progress.pending
        trial = jnp.where(active, progress.trial, 0.0)
        raw, first, due, middle = runge_kutta(rig, progress.state, inputs, trial)
        end, last = rig.settle(raw, inputs)
        past = last.value > jnp.maximum(first.value, 0.0)
        fired = jnp.any(past, axis=0)
        whole = trial >= dt - progress.elapsed
        peak, risen = peak_between(first, middle, last, trial)
        dip = whole & risen
        accepted = active & ~due & ~fired & ~dip & ~progress.bracket.closing
        done = choose(accepted, rig.rearm(end), progress.state)
        rough = last.rough | (spin_squared(rig, end) * trial**2 > MOST_TURN**2)
        trouble = jnp.where(accepted & rough, TOO_FAST, progress.log.trouble)
        elapsed = jnp.where(accepted, jnp.where(whole, dt, progress.elapsed + trial), progress.elapsed)
        progress = Progress(
            done,
            active & ~(accepted & whole),
            elapsed,
            jnp.where(accepted, dt - elapsed, progress.trial),
            progress.bracket,
            progress.tries + 1,
            progress.resets,
            eqx.tree_at(lambda log: log.trouble, progress.log, trouble),
        )

        def handle(progress: Progress) -> Progress:
            return _handle(
                rig, inputs, dt, index, progress, active, due, fired, dip, trial, peak, end, first, last
            )

        return when(jnp.any(active & ~accepted), handle, progress)

    progress = jax.lax.while_loop(unfinished, attempt, progress)
    log = progress.log
    trouble = jnp.where(progress.pending & (log.trouble == OK), TOO_MANY, log.trouble)
    return progress.state, eqx.tree_at(lambda it: it.trouble, log, trouble)


def _handle(
    rig,
    inputs,
    dt,
    index,
    progress: Progress,
    active,
    due,
    fired,
    dip,
    trial,
    peak,
    end,
    first: Watch,
    last: Watch,
) -> Progress:
    """The rare turns of a step: narrow the bracket, or reset, or look closer at a graze."""
    bracket = progress.bracket
    hit = active & ~due & fired
    missed = active & ~due & ~fired & bracket.closing
    graze = active & ~due & ~fired & ~bracket.closing & dip

    fresh = hit & ~bracket.closing
    before = jnp.where(fresh, 0.0, jnp.where(missed, trial, bracket.before))
    before_watch = choose(fresh, first, choose(missed, last, bracket.before_watch))
    after = jnp.where(hit, trial, bracket.after)
    after_watch = choose(hit, last, bracket.after_watch)
    tolerance = fineness(after_watch)
    crossing, overshoot = earliest_crossing(before, after, before_watch, after_watch)
    narrow = after - before
    closed = hit & ((overshoot <= tolerance) | (narrow <= tolerance))
    turns = jnp.where(hit | missed, bracket.turns + 1, 0)
    halve = (turns >= 5) & (turns % 2 == 1)
    aim = jnp.where(halve, before + narrow / 2, crossing + tolerance / 2)
    aim = jnp.clip(aim, before + tolerance / 4, after - tolerance / 4)
    aim = jnp.where(narrow <= tolerance, after, aim)  # missed by rounding: back to the side known to fire

    resetting = (active & due) | closed
    elapsed = jnp.where(closed, jnp.minimum(progress.elapsed + trial, dt), progress.elapsed)
    base = choose(closed, end, progress.state)

    def jump(carry):
        base, log = carry
        patience = 2.0 ** jnp.clip(progress.resets - CALM_RESETS, 0, 12).astype(dt.dtype)
        jumped, reset = rig.reset(base, inputs, patience)
        return choose(resetting, jumped, base), log.written(resetting, index, elapsed, closed, reset)

    state, log = when(jnp.any(resetting), jump, (base, progress.log))
    searching = (hit | missed) & ~closed
    rest = dt - elapsed
    next_trial = jnp.where(searching, aim, jnp.where(graze, peak * trial, progress.trial))
    return Progress(
        state,
        progress.pending,
        elapsed,
        jnp.where(resetting, rest, next_trial),
        Bracket(searching, before, after, before_watch, after_watch, jnp.where(resetting, 0, turns)),
        progress.tries,
        progress.resets + resetting,
        log,
    )
