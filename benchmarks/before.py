"""This version next to earlier ones: `python benchmarks/before.py 346c176=/path/to/its/src ...`.

Every version runs in a process of its own; all take turns, `mj_step` of the same rig beside them. CPU time of
all threads, compilation excluded. A version that cannot do something is left out of its row.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import statistics
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from turns import Contender, Elsewhere, Entry

SOURCE = Path(__file__).parents[1] / "src"
ROUNDS = 5
ONLY = "SKYRIG_BENCHMARKS"
"""Variable that tells the processes what to measure."""
NOISE = {"noise.position": "uniform(0, 0.002)"}
PAYLOAD = {"rig.payload.mass": "uniform(0.2, 0.25)", "rig.cables[0].length": "uniform(0.45, 0.5)"}


def entry(words: str, flights: int, seconds: float) -> Entry:
    """What is done, in words that are the same for every version."""
    return Entry(words, "", "", "", flights, seconds)


def single(vehicles: int, seconds: float = 20.0) -> Contender:
    """A whole call of `closed_loop`, every step recorded."""
    import skyrig
    from skyrig.control import build
    from skyrig.planning import circle

    frames = [skyrig.airframe("dragonfly")] * vehicles
    load = skyrig.payload("triangle" if vehicles == 3 else "point-mass")
    points = load.attachment_points("cable", 3) if vehicles == 3 else [None]
    cables = [skyrig.Cable(1.0) if at is None else skyrig.Cable(1.0, at) for at in points]
    rig = skyrig.Slung.build(frames, load, cables)
    reference = circle(radius=1.0, period=6.0, start=(0.0, 0.0, 2.0))
    hover, controller = skyrig.trim(rig, [0.0, 0.0, 2.0]), build("cables", rig, frames)

    def fly() -> object:
        return skyrig.closed_loop(rig, hover.state, controller, frames, reference, duration=seconds)

    return entry(f"closed_loop, {vehicles} with a load, {seconds:g} s", 1, seconds), fly


def batch(words: str, how: dict[str, str], flights: int = 512, seconds: float = 2.0) -> Contender:
    """A whole call of `fly_many`: drawing, checking, building and summing up included."""
    import skyrig

    scenario = skyrig.load("three-dragonflies-circle").with_overrides({"duration": seconds})
    words = f"fly_many, three, {flights} flights of {seconds:g} s, {words} drawn"
    return entry(words, flights, seconds), lambda: skyrig.fly_many(scenario, flights, how, seed=1)


def environments(count: int, steps: int) -> Contender:
    """Hover environments, stepped with actions drawn beforehand."""
    import jax
    import numpy as np

    from skyrig.envs import Many, build

    env = build("hover")
    many = Many(env, count, "next", 1)
    many.reset(np.asarray(jax.random.split(jax.random.PRNGKey(0), count)))
    rng = np.random.default_rng(0)
    actions = [0.3 * rng.standard_normal((count, env.count * env.action_size)).astype("f") for _ in range(20)]

    def step() -> None:
        for k in range(steps):
            jax.block_until_ready(many.step(actions[k % len(actions)]))

    return entry(f"{count:,} hover environments, {steps} steps", count, steps * 0.02), step


def stepped(seconds: float = 20.0) -> Contender:
    """MuJoCo's own loop over the same three vehicles: 1 ms, Euler, thrusts held, no controller."""
    import mujoco_rig
    import numpy as np
    from rigs import start, triangle

    model, thrust = mujoco_rig.model(1e-3), np.asarray(start(triangle(), np.zeros(3))[1].thrust)
    words = f"mj_step, 1 ms, Euler, no controller, {seconds:g} s"
    return entry(words, 1, seconds), lambda: mujoco_rig.fly(model, thrust, np.zeros(3), np.zeros(3), seconds)


def contenders() -> list[Contender]:
    """Whatever this version can do."""
    ways: dict[str, Callable[[], Contender]] = {
        "three": lambda: single(3),
        "one": lambda: single(1),
        "noise": lambda: batch("noise", NOISE),
        "payload": lambda: batch("payload and a cable", PAYLOAD),
        "hover": lambda: environments(1024, 20),
        "hovers": lambda: environments(16384, 3),
        "mujoco": stepped,
    }
    asked = os.environ.get(ONLY, "").split() or list(ways)
    found = []
    for name in asked:
        with contextlib.suppress(ImportError, AttributeError, TypeError):
            found.append(ways[name]())
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("versions", nargs="*", help="name=folder of its source")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--only", nargs="*", default=[], help="three one noise payload hover hovers mujoco")
    given = parser.parse_args()
    sources = {"now": SOURCE}
    for each in given.versions:
        name, _, folder = each.partition("=")
        sources[name] = Path(folder).absolute()
    served = Path(__file__).with_name("before_served.py")

    def begun(source: Path) -> Elsewhere:
        more = {"PYTHONPATH": str(source), ONLY: " ".join(given.only)}
        return Elsewhere(Path(sys.executable), served, more)

    with ThreadPoolExecutor() as pool:  # they compile beside each other; only what is measured takes turns
        others = dict(zip(sources, pool.map(begun, sources.values()), strict=True))
    taken: dict[str, dict[str, list[float]]] = {}
    for _ in range(given.rounds):
        for name, other in others.items():
            for index, it in enumerate(other.entries):
                taken.setdefault(it.who, {}).setdefault(name, []).append(other.measure(index))
    for other in others.values():
        other.close()
    for who, by in taken.items():
        print(who)
        base = statistics.median(by["now"]) if "now" in by else float("nan")
        for name, values in by.items():
            middle, low, high = statistics.median(values), min(values), max(values)
            words = (
                f"{middle * 1e3:9.1f} ms ({low * 1e3:.1f} to {high * 1e3:.1f}), {middle / base:.2f} of now"
            )
            print(f"  {name:10s} {words}")


if __name__ == "__main__":
    main()
