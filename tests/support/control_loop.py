"""A closed loop as small as can be, for tests of controllers: control at 100 Hz, physics at 500 Hz."""

from types import SimpleNamespace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from skyrig import airframe, payload, trim
from skyrig.algebra import attitude_rate, normalised
from skyrig.control import Actuators, Measurement, row, targets
from skyrig.planning import circle, waypoints
from skyrig.rigs import Bodies, Cable, Inputs, Linked, Slung
from skyrig.sim.stepping import Log, step

PERIOD, SUBSTEPS = 0.01, 5
ROOM = 3300
"""Every flight is padded to so many ticks, so that one compilation serves all references."""

WAYPOINTS = [[0, 0, 0], [0.5, -0.5, 0.25], [1, 0, 0.5], [1.5, -0.5, 0.75], [2, 0, 1]]


def slalom(speed, acceleration, **options):
    """RotorTM's slalom; by default planned as its Python code does (continuous up to acceleration)."""
    options = options or {"derivative": 4, "continuity": 2, "degree": 6}
    return waypoints(points=WAYPOINTS, speed=speed, acceleration=acceleration, **options)


REFERENCES = {
    "slalom13": slalom(3, 10),
    "slalom20": slalom(2, 5),
    "circleT6": circle(radius=1, period=6, start=(0, 0, 1)),
    "circleT10": circle(radius=1, period=10, start=(0, 0, 1)),
}


def slung(n, length, load="triangle", craft="dragonfly", hook=None, winch=None):
    """A cable rig and its airframes."""
    load = payload(load)
    airframes = [airframe(name) for name in ([craft] * n if isinstance(craft, str) else craft)]
    points = load.attachment_points("cable", n)
    lengths = np.broadcast_to(length, n)
    cables = [Cable(float(lengths[k]), points[k], hook, winch) for k in range(n)]
    return Slung.build(airframes, load, cables), airframes


def linked(n=3, load="triangle", craft="dragonfly", yaw=None):
    """A linked rig and its airframes."""
    load = payload(load)
    airframes = [airframe(name) for name in ([craft] * n if isinstance(craft, str) else craft)]
    return Linked.build(airframes, load, load.attachment_points("rigid", n), yaw), airframes


def measure(rig, state, key=None, std=0.0):
    """What a controller is told, with white noise of one standard deviation on every state."""
    bodies = rig.bodies(state)
    length = getattr(state, "length", None)
    if length is None:
        length = jnp.zeros((rig.count, *state.side.shape))
    if key is None:
        return Measurement(*bodies, length)

    def blurred(body, key):
        keys = jax.random.split(key, 4)
        noise = [std * jax.random.normal(k, body.rate.shape) for k in keys]
        return Bodies(
            body.position + noise[0],
            body.velocity + noise[1],
            normalised(body.attitude + attitude_rate(body.attitude, noise[2])),
            body.rate + noise[3],
        )

    keys = jax.random.split(key)
    return Measurement(blurred(bodies[0], keys[0]), blurred(bodies[1], keys[1]), length)


@eqx.filter_jit
def loop(rig, controller, actuators, state, wanted, ticks, key, std, rows=512):
    """Fly `ticks` ticks; records have room for all rows of `wanted`."""
    log = Log.empty(rig, state, rows)
    memory = controller.start(measure(rig, state))
    length = jax.tree.leaves(wanted)[0].shape[0]

    def look(state, command):
        taut = rig.cable_state(state)[1]
        return (*rig.bodies(state), command.thrust, command.moment, taut)

    def tick(k, carry):
        state, memory, log, record = carry
        seen = measure(rig, state, jax.random.fold_in(key, k), std)
        memory, command = controller(memory, k * PERIOD, row(wanted, k), seen)
        _, made = actuators(None, command, PERIOD)
        record = jax.tree.map(lambda all, one: all.at[k].set(one), record, look(state, command))
        inputs = Inputs(made.thrust, made.moment, winch=command.winch)

        def physics(i, carry):
            return step(rig, *carry[:1], inputs, PERIOD / SUBSTEPS, carry[1], k * SUBSTEPS + i)

        state, log = jax.lax.fori_loop(0, SUBSTEPS, physics, (state, log))
        return state, memory, log, record

    _, first = controller(memory, 0.0, row(wanted, 0), measure(rig, state))
    blank = jax.tree.map(lambda one: jnp.zeros((length, *one.shape), one.dtype), look(state, first))
    state, memory, log, record = jax.lax.fori_loop(0, ticks, tick, (state, memory, log, blank))
    return state, memory, log, record


def fly(
    rig,
    airframes,
    controller,
    reference,
    seconds=None,
    start=None,
    *,
    std=0.0,
    seed=0,
    efficiency=1.0,
    each=None,
):
    """A flight from hover on the payload's reference (or from `start`), and the errors against it.

    With `each`, references of the vehicles, the controller is told those instead.
    """
    duration = float(reference.duration) if seconds is None else seconds
    ticks = int(np.ceil(duration / PERIOD - 1e-9))
    sample = reference.sample(np.minimum(np.arange(max(ROOM, ticks)), ticks) * PERIOD)
    state = trim(rig, sample.position[0, 0]).state if start is None else start
    actuators = Actuators.build(airframes, efficiency=efficiency)
    if each is None:
        wanted = targets(controller, sample)
    else:
        times = np.minimum(np.arange(max(ROOM, ticks)), ticks) * PERIOD
        wanted = targets(controller, vehicles=[one.sample(times) for one in each])
    final, memory, log, record = loop(
        rig,
        controller,
        actuators,
        state,
        wanted,
        jnp.asarray(ticks),
        jax.random.key(seed),
        jnp.asarray(std),
    )
    load, craft, thrust, moment, taut = jax.tree.map(lambda leaf: np.asarray(leaf)[:ticks], record)
    assert int(log.trouble) == 0
    away = load.position - sample.position[:ticks, 0]
    w, v = sample.attitude[:ticks, :1], sample.attitude[:ticks, 1:]
    q = load.attitude
    turn = w * q[:, 1:] - q[:, :1] * v - np.cross(v, q[:, 1:])
    angle = 2 * np.arcsin(np.clip(np.linalg.norm(turn, axis=1), 0, 1))
    return SimpleNamespace(
        load=load,
        craft=craft,
        thrust=thrust,
        moment=moment,
        taut=taut,
        final=final,
        memory=memory,
        events=int(log.count),
        error=np.linalg.norm(away, axis=1),
        angle=angle,
        rmse=float(np.sqrt((away**2).sum(axis=1).mean())),
        degrees=float(np.degrees(np.sqrt((angle**2).mean()))),
    )


def table():
    """Print RMSE (m / degrees) of RotorTM's Table III flights, both flavours, without and with noise."""
    from skyrig.control import build

    rigs = {
        "one cable": slung(1, 0.5, "point-mass"),
        "three cables, 1 m": slung(3, 1.0),
        "three cables, 0.5 m": slung(3, 0.5),
        "three links": linked(),
    }
    print("| rig | flavour | noise |", " | ".join(REFERENCES), "|\n|" + "---|" * (3 + len(REFERENCES)))
    for rig, (body, airframes) in rigs.items():
        for flavour in ("full", "published"):
            controller = build("geometric", body, airframes, flavour=flavour)
            for std in (0.0, 1e-3):
                flights = [fly(body, airframes, controller, each, std=std) for each in REFERENCES.values()]
                cells = [
                    f"{it.rmse:.3g}" + (f" / {it.degrees:.3g}" if rig != "one cable" else "")
                    for it in flights
                ]
                print(f"| {rig} | {flavour} | {std:g} |", " | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    table()
