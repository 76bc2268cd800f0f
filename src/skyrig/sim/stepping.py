"""One step of any plant: an integrator between events, events located inside the step, time never lost.

A rig that never jumps takes one step of its integrator. For one that does, a step is a loop whose body tries
to go to the end of the step. Nearly always that is accepted and the loop ends. If a guard fires, the next
tries close a bracket around the earliest crossing; then the rig resets there and the rest of the step is
tried. What happens rarely sits behind `when`, so that it costs nothing until some flight of the batch needs
it. All arrays carry the batch behind; no batch is a batch of shape ().
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.extend.core import ClosedJaxpr, jaxpr_as_fun
from jax.typing import ArrayLike
from jaxtyping import Array, Bool, Float, Int

from skyrig.algebra import anywhere, dot, largest
from skyrig.rigs.protocol import Watch
from skyrig.sim.crossing import earliest_crossing, fineness, peak_between
from skyrig.sim.known import integrator
from skyrig.sim.log import OK, TOO_FAST, TOO_MANY, Log, Sides
from skyrig.sim.plant import Effort, Plant, PlantState

MOST_TRIES = 1000
"""Tries in one step before it is given up as chattering."""

MOST_TURN = 1.0
"""Angle through which a body may turn in a step (rad); beyond it the integrator makes numbers up."""

CALM_RESETS = 8
"""Resets in one step after which the snap tolerance starts to double."""


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
    """`change(carry)` if `flag`, else `carry`: a branch that stays one under vmap (a loop of one turn).

    XLA would take out of the loop, and compute every time, what does not depend on `carry`; so all that
    `change` knows besides passes a barrier together with the flag.
    """
    traced = jax.make_jaxpr(change)(carry)

    def once(pair):
        flag, known = jax.lax.optimization_barrier((pair[0], traced.consts))
        changed = jaxpr_as_fun(ClosedJaxpr(traced.jaxpr, known))(*jax.tree.leaves(pair[1]))
        return jnp.zeros_like(flag), jax.tree.unflatten(jax.tree.structure(pair[1]), changed)

    return jax.lax.while_loop(lambda pair: pair[0], once, (flag, carry))[1]


def choose(lanes: Array, new: Any, old: Any) -> Any:
    """`new` for the flights in `lanes`, `old` for the others."""
    return jax.tree.map(lambda a, b: jnp.where(lanes, a, b), new, old)


def spin_squared(plant: Plant, state: PlantState) -> Float[Array, "*batch"]:
    """Square of the fastest body's turn rate (rad^2/s^2)."""
    fastest = [largest(dot(it.rate, it.rate)) for it in plant.bodies(state).values()]
    return functools.reduce(jnp.maximum, fastest)


def step(
    plant: Plant, t: ArrayLike, state: PlantState, effort: Effort, dt: ArrayLike, log: Log, index: ArrayLike
) -> tuple[PlantState, Log]:
    """Advance from `t` by `dt` (s) with `effort` held; resets are written to `log` under the number `index`.

    A step of no length settles what is due at this instant; one of negative length does nothing (padding).
    """
    like = plant.like(state)
    dt = jnp.broadcast_to(jnp.asarray(dt, like.dtype), like.shape)
    state = plant.begun(t, state, effort, dt)
    if not plant.jumps:
        return _smooth_step(plant, t, state, effort, dt, log)
    nothing = plant.rig.guards_off(state.rig)
    zero = jnp.zeros_like(dt)
    none = jnp.zeros(like.shape, jnp.int32)
    bracket = Bracket(jnp.zeros(like.shape, bool), zero, dt, nothing, nothing, none)
    progress = Progress(state, dt >= 0, zero, dt, bracket, none, none, log)

    def unfinished(progress: Progress) -> Array:
        return jnp.any(progress.pending & (progress.tries < MOST_TRIES))

    def attempt(progress: Progress) -> Progress:
        active = progress.pending
        trial = jnp.where(active, progress.trial, 0.0)
        now = t + progress.elapsed
        tried = integrator(plant.integrator)(plant, now, progress.state, effort, trial)
        end, last = plant.settle(now + trial, tried.end, effort)
        first, due = tried.first, tried.due
        assert first is not None and due is not None and tried.middle is not None and last is not None
        past = last.value > jnp.maximum(first.value, 0.0)
        fired = anywhere(past)
        whole = trial >= dt - progress.elapsed
        peak, risen = peak_between(first, tried.middle, last, trial)
        dip = whole & risen
        accepted = active & ~due & ~fired & ~dip & ~progress.bracket.closing
        done = choose(accepted, end, progress.state)
        rough = last.rough | _too_fast(plant, end, trial, tried.failed)
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
            progress.log.complaining(trouble),
        )

        def handle(progress: Progress) -> Progress:
            found = RejectedStep(active, due, fired, dip, trial, peak, end, first, last)
            return _handle(plant, t, effort, dt, index, progress, found)

        return when(jnp.any(active & ~accepted), handle, progress)

    progress = jax.lax.while_loop(unfinished, attempt, progress)
    log = progress.log
    trouble = jnp.where(progress.pending & (log.trouble == OK), TOO_MANY, log.trouble)
    return progress.state, log.complaining(trouble)


def _smooth_step(
    plant: Plant, t: ArrayLike, state: PlantState, effort: Effort, dt: Array, log: Log
) -> tuple[PlantState, Log]:
    """A step of a plant that never jumps."""
    span = jnp.maximum(dt, 0.0)
    tried = integrator(plant.integrator)(plant, t, state, effort, span)
    end, _ = plant.settle(t + span, tried.end, effort)
    rough = (dt > 0) & _too_fast(plant, end, span, tried.failed)
    return choose(dt > 0, end, state), log.complaining(jnp.where(rough, TOO_FAST, log.trouble))


def _too_fast(plant: Plant, end: PlantState, dt: Array, failed: Array | None) -> Bool[Array, "*batch"]:
    """Whether a step was too long for what moved in it."""
    turned = spin_squared(plant, end) * dt**2 > MOST_TURN**2
    return turned if failed is None else turned | failed


class RejectedStep(NamedTuple):
    """What a try that was not accepted showed."""

    active: Array
    due: Array
    fired: Array
    dip: Array
    trial: Array
    peak: Array
    end: PlantState
    first: Watch
    last: Watch


def _handle(
    plant: Plant,
    t: ArrayLike,
    effort: Effort,
    dt: Array,
    index: ArrayLike,
    progress: Progress,
    found: RejectedStep,
) -> Progress:
    """The rare turns of a step: narrow the bracket, or reset, or look closer at a graze."""
    bracket = progress.bracket
    active, due, fired, dip, trial, peak, end, first, last = found
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
        now = t + elapsed
        rig, reset = plant.rig.reset(now, base.rig, plant.loads(now, base, effort), patience)
        jumped = PlantState(rig, base.rotors, base.memories)
        sides = None if log.sides is None else Sides(plant.bodies(base), plant.bodies(jumped))
        return choose(resetting, jumped, base), log.written(resetting, index, elapsed, closed, reset, sides)

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
