"""One step of any rig: fixed-step RK4 between events, events located inside the step, time never lost.

A step is a loop whose body tries to go to the end of the step. Nearly always that is accepted and the loop
ends. If a guard fires, the next tries close a bracket around the earliest crossing; then the rig resets
there and the rest of the step is tried. What happens rarely sits behind `when`, so that it costs nothing
until some flight of the batch needs it. All arrays carry the batch behind; no batch is a batch of shape ().
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array, Bool, Float, Int

from skyrig.rigs.bodies import Inputs, Watch

OK, LOG_FULL, TOO_MANY, UNSOLVED, TOO_FAST = range(5)
"""Troubles a log can report."""

MOST_TRIES = 1000
"""Tries in one step before it is given up as chattering."""

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


def time_tolerance(dtype: Any) -> float:
    """Width to which an event's time is bracketed (s)."""
    return 1e-12 if dtype == jnp.float64 else 1e-6


def runge_kutta(
    rig: Any, state: Any, inputs: Inputs, dt: ArrayLike, fence: Callable[[Any], Any] = lambda tree: tree
) -> tuple[Any, Watch, Array, Watch]:
    """The classical fourth-order step, unsettled.

    Returns the end state, the guards at the start and whether a reset is due there, and the guards at the
    third stage. `fence` is put around every stage; a barrier there keeps XLA from fusing derivatives
    without bound.
    """
    k1, first, due = rig.rates(state, inputs)
    k1 = fence(k1)
    k2 = fence(rig.rates(fence(k1.advance(state, dt / 2)), inputs)[0])
    k3, middle, _ = rig.rates(fence(k2.advance(state, dt / 2)), inputs)
    k3 = fence(k3)
    k4 = fence(rig.rates(fence(k3.advance(state, dt)), inputs)[0])
    mean = jax.tree.map(lambda a, b, c, d: (a + 2 * b + 2 * c + d) / 6, k1, k2, k3, k4)
    return fence(mean.advance(state, dt)), first, due, middle


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
        peak, risen = _peak(first, middle, last, trial)
        dip = whole & risen
        accepted = active & ~due & ~fired & ~dip & ~progress.bracket.closing
        done = choose(accepted, rig.rearm(end), progress.state)
        trouble = jnp.where(accepted & last.rough, TOO_FAST, progress.log.trouble)
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


def _peak(first: Watch, middle: Watch, last: Watch, dt: Array) -> tuple[Array, Array]:
    """Where (share of the step) a guard that ends below zero rose above it in between, by a parabola.

    Halfway the guard is known from its slopes (a cubic) or else from the third stage.
    """
    start, end = first.value, last.value
    cubic = (start + end) / 2 + dt / 8 * (first.slope - last.slope)
    halfway = jnp.where(first.known * last.known > 0, cubic, middle.value)
    curve = 2 * (start - 2 * halfway + end)
    slope = 4 * halfway - 3 * start - end
    bent = jnp.where(curve < 0, curve, -1.0)
    place = jnp.clip(-slope / (2 * bent), 0.0, 1.0)
    height = start - slope**2 / (4 * bent)
    risen = (curve < 0) & (place > 1e-3) & (place < 1 - 1e-3) & (height > 0) & (start <= 0) & (end <= 0)
    return jnp.min(jnp.where(risen, place, 1.0), axis=0), jnp.any(risen, axis=0)


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
    tolerance = time_tolerance(dt.dtype)
    bracket = progress.bracket
    hit = active & ~due & fired
    missed = active & ~due & ~fired & bracket.closing
    graze = active & ~due & ~fired & ~bracket.closing & dip

    fresh = hit & ~bracket.closing
    before = jnp.where(fresh, 0.0, jnp.where(missed, trial, bracket.before))
    before_watch = choose(fresh, first, choose(missed, last, bracket.before_watch))
    after = jnp.where(hit, trial, bracket.after)
    after_watch = choose(hit, last, bracket.after_watch)
    crossing, overshoot = _crossing(before, after, before_watch, after_watch)
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


def _crossing(before: Array, after: Array, early: Watch, late: Watch) -> tuple[Array, Array]:
    """Earliest crossing by cubics through values and slopes, and how far past it `after` is (s)."""
    width = after - before
    fa, fb = jnp.minimum(early.value, 0.0), late.value
    crossed = (fb > 0) & (fb > early.value)
    rise = jnp.where(crossed, fb - fa, 1.0)
    sloped = (early.known * late.known) > 0
    da = jnp.where(sloped, early.slope * width, rise)
    db = jnp.where(sloped, late.slope * width, rise)
    curve = 3 * rise - 2 * da - db
    twist = da + db - 2 * rise

    def narrowed(_, bounds):
        low, high, u = bounds
        value = fa + u * (da + u * (curve + u * twist))
        slope = da + u * (2 * curve + 3 * u * twist)
        low, high = jnp.where(value > 0, low, u), jnp.where(value > 0, u, high)
        newton = u - value / jnp.where(slope > 0, slope, rise)
        return low, high, jnp.where((newton > low) & (newton < high), newton, (low + high) / 2)

    # a guard that falls at first crosses on its way back up: search from the far end
    guess = jnp.where(da < 0, 1.0, jnp.clip(-fa / rise, 0.0, 1.0))
    *_, u = jax.lax.fori_loop(0, 24, narrowed, (jnp.zeros_like(guess), jnp.ones_like(guess), guess))
    root = jnp.where(crossed, u, 1.0)
    first = jnp.min(root, axis=0)
    return before + first * width, (1 - first) * width
