"""Ports that are free, and stand-ins for autopilots that tests can stop, pause and kill."""

import socket
from dataclasses import replace

from skyrig.bridges import sitl
from skyrig.bridges.guidance import hover_thrusts
from skyrig.bridges.launch import Launched
from skyrig.bridges.lockstep import LockstepFlight
from skyrig.scenario import Scenario


def free_port(count: int = 1) -> int:
    """The first of `count` ports in a row, ten apart, that nobody listens on."""
    for _ in range(100):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            first = probe.getsockname()[1]
        if first + 100 < 65536:
            return first
    raise AssertionError("no free port")


def settings(protocol: str, **others) -> sitl.Settings:
    """Of ports that are free."""
    return sitl.Settings(protocol, port=free_port(), companion=free_port(), patience=30.0, **others)


def flown(scenario: Scenario, protocol: str, acts=lambda processes, time: None, **others) -> LockstepFlight:
    """A flight with stand-ins; `acts` is called with their processes and the time flown now and then."""
    chosen = settings(protocol, **others)
    built = scenario.build()
    gap = 1 if protocol == sitl.PX4 else 10
    ports = [(chosen.port + gap * k, chosen.companion + k) for k in range(built.rig.count)]
    with Launched("stand-in", protocol, built.team.airframes, hover_thrusts(built), ports) as launched:
        return sitl.fly(scenario, replace(chosen, launch=None), lambda time: acts(launched.processes, time))
