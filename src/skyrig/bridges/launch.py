"""Autopilots started and ended with the simulator, one process a vehicle."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

import numpy as np

from skyrig.errors import InputError

if TYPE_CHECKING:
    from skyrig.vehicles import Airframe

STANDIN = "stand-in"
"""What `--launch` takes instead of a path for the stand-in that comes with skyrig."""


def parameters(frame: Airframe, hover: float) -> dict[str, float]:
    """PX4's parameters for an airframe: its rotors (CA_*) and its hover thrust of `hover` (N).

    Rotors keep their order. PX4's axes are forward, right, down, and KM is positive for a rotor that turns
    counter-clockwise seen from above, whose reaction turns the vehicle clockwise.
    """
    found = {"CA_AIRFRAME": 0.0, "CA_ROTOR_COUNT": float(frame.rotor_count), "THR_MDL_FAC": 1.0}
    for k, (place, spin) in enumerate(zip(frame.rotor_positions, frame.spin, strict=True)):
        found |= {f"CA_ROTOR{k}_PX": float(place[0]), f"CA_ROTOR{k}_PY": -float(place[1])}
        found[f"CA_ROTOR{k}_KM"] = -float(spin) * frame.torque_to_thrust
    return found | {"MPC_THR_HOVER": float(np.clip(hover / frame.total_thrust_max, 0.1, 0.8))}


def standin_frame(frame: Airframe, hover: float) -> str:
    """What the stand-in is told of its airframe, as JSON."""
    told = {
        "inertia": (np.diag([1.0, -1.0, -1.0]) @ frame.inertia @ np.diag([1.0, -1.0, -1.0])).tolist(),
        "thrust_max": (frame.thrust_max * frame.shares).tolist(),
        "mixing": frame.mixing.tolist(),
        "hover": hover,
    }
    return json.dumps(told)


class Launched:
    """Processes of n autopilots, ended with the `with` block.

    Args:
        what: The path of a PX4 or ArduPilot program, or 'stand-in'.
        protocol: 'px4' or 'ardupilot'.
        airframes: One for each vehicle.
        hover: (n,) thrust that each needs in the hover (N).
        ports: Simulator and companion port of each vehicle.
    """

    def __init__(
        self,
        what: str,
        protocol: str,
        airframes: Sequence[Airframe],
        hover: np.ndarray,
        ports: Sequence[tuple[int, int]],
    ) -> None:
        own = what == STANDIN
        if not own and not os.access(what, os.X_OK):
            raise InputError(f"--launch {what!r} must be a program to run, or {STANDIN!r}.")
        self._plan = []
        for k, (frame, (port, companion)) in enumerate(zip(airframes, ports, strict=True)):
            thrust = float(hover[k])
            around = {**os.environ, "PX4_SIM_HOSTNAME": "127.0.0.1", "PX4_SIM_MODEL": "none_iris"}
            around["SKYRIG_STANDIN"] = standin_frame(frame, thrust)
            around |= {f"PX4_PARAM_{name}": f"{value:g}" for name, value in parameters(frame, thrust).items()}
            if own:
                script = [sys.executable, str(Path(__file__).with_name("standin.py")), protocol]
                command = [*script, "-i", str(k), "--port", str(port), "--companion", str(companion)]
            elif protocol == "px4":
                command = [what, "-i", str(k), "-d"]
            else:
                home = ["--model", "JSON:127.0.0.1", f"-I{k}", "--slave", "0"]
                command = [what, *home, "--serial0", f"udpclient:127.0.0.1:{companion}"]
            self._plan.append((command, around))
        self.processes: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Launched:
        for command, around in self._plan:
            quiet = subprocess.DEVNULL
            self.processes.append(
                subprocess.Popen(command, env=around, stdin=quiet, stdout=quiet, stderr=quiet)
            )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in self.processes:
            process.terminate()
        for process in self.processes:
            try:
                process.wait(timeout=3)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
