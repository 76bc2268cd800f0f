"""Rigs, references and flights for tests of controllers: control at 100 Hz, physics at 500 Hz."""

from types import SimpleNamespace

import numpy as np

from skyrig import airframe, closed_loop, payload, trim
from skyrig.planning import circle, waypoints
from skyrig.rigs import Cable, Linked, Slung
from skyrig.sim import Noise, Outside
from skyrig.sim.recorded import Track as Bodies

PERIOD, SUBSTEPS = 0.01, 5
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
    lag=None,
):
    """A flight from hover on the payload's reference (or from `start`), with its errors at every tick.

    With `each`, references of the vehicles, the controller is told those instead.
    """
    duration = float(reference.duration) if seconds is None else seconds
    state = trim(rig, reference.start.position[0]).state if start is None else start
    share = np.broadcast_to(np.asarray(efficiency, dtype=float), (1, rig.count))
    flown = closed_loop(
        rig,
        state,
        controller,
        airframes,
        reference if each is None else None,
        each,
        duration=duration,
        control_rate=1 / PERIOD,
        step=PERIOD / SUBSTEPS,
        outside=Outside(np.zeros(1), thrust_share=share),
        noise=Noise.of(std, std, std, std),
        seed=seed,
        rotor_lag=lag,
    )
    rows = np.searchsorted(flown.times, flown.ticks + 1e-9, side="right") - 1
    load, craft = (
        Bodies(*(np.asarray(leaf)[rows] for leaf in (it.position, it.velocity, it.attitude, it.rate)))
        for it in (flown.payload, flown.vehicles)
    )
    sample = reference.sample(flown.ticks)
    away = load.position - sample.position[:, 0]
    w, v = sample.attitude[:, :1], sample.attitude[:, 1:]
    q = load.attitude
    turn = w * q[:, 1:] - q[:, :1] * v - np.cross(v, q[:, 1:])
    angle = 2 * np.arcsin(np.clip(np.linalg.norm(turn, axis=1), 0, 1))
    return SimpleNamespace(
        load=load,
        craft=craft,
        thrust=flown.commanded_thrust,
        moment=flown.commanded_moment,
        taut=flown.taut[rows],
        final=flown.final,
        memory=flown.memory,
        events=len(flown.events),
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
