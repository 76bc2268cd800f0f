"""Autopilots started and ended with the simulator, one process a vehicle."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

import numpy as np

from skyrig.bridges import firmware
from skyrig.errors import InputError

if TYPE_CHECKING:
    from skyrig.vehicles import Airframe

STANDIN = "stand-in"
"""What `--launch` takes instead of a path for the stand-in that comes with skyrig."""


def standin_frame(frame: Airframe, hover: float, protocol: str = "px4") -> str:
    """What the stand-in is told of its airframe, and of the firmware's ways, as JSON."""
    own = protocol == "px4"
    loops = firmware.PX4_LOOPS if own else firmware.ARDUPILOT_LOOPS
    told = {
        "turn": loops.turn,
        "rate": loops.rate,
        "least": 0.0 if own else firmware.slowest(frame) ** 2,
        "leans": not own,
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
        self._folder = tempfile.TemporaryDirectory(prefix="skyrig-")
        self._plan = []
        for k, (frame, (port, companion)) in enumerate(zip(airframes, ports, strict=True)):
            thrust = float(hover[k])
            around = {**os.environ, "PX4_SIM_HOSTNAME": "127.0.0.1", "PX4_SIM_MODEL": "none_iris"}
            around["SKYRIG_STANDIN"] = standin_frame(frame, thrust, protocol)
            if own:
                script = [sys.executable, str(Path(__file__).with_name("standin.py")), protocol]
                command = [*script, "-i", str(k), "--port", str(port), "--companion", str(companion)]
            elif protocol == "px4":
                command = [os.path.abspath(what), *_px4(what, k, self._own(k))]
                said = firmware.px4(frame, thrust)
                around |= {f"PX4_PARAM_{name}": f"{value:g}" for name, value in said.items()}
            else:
                told = self._own(k) / "vehicle.parm"
                said = firmware.ardupilot(frame, thrust)
                told.write_text("".join(f"{name} {value:.7g}\n" for name, value in said.items()))
                command = [os.path.abspath(what), *_ardupilot(k, port, companion), "--defaults", str(told)]
            self._plan.append((command, around, self._own(k)))
        self.processes: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Launched:
        for command, around, place in self._plan:
            with open(place / "said.txt", "wb") as said:
                quiet = subprocess.DEVNULL
                self.processes.append(
                    subprocess.Popen(command, env=around, cwd=place, stdin=quiet, stdout=said, stderr=said)
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
        self._folder.cleanup()

    def _own(self, k: int) -> Path:
        """Vehicle k's folder, for what its firmware writes; it goes with the process."""
        place = Path(self._folder.name) / str(k)
        place.mkdir(exist_ok=True)
        return place


def _px4(what: str, k: int, place: Path) -> list[str]:
    """Options of PX4's program: in the background, in a folder of its own, so that nothing is remembered."""
    etc = Path(os.path.abspath(what)).parent.parent / "etc"
    return ["-i", str(k), "-d", "-w", str(place), *([str(etc)] if etc.is_dir() else [])]


def _ardupilot(k: int, port: int, companion: int) -> list[str]:
    """Options of ArduPilot's program: nothing remembered, as fast as it goes, MAVLink to the companion."""
    ports = ["--sim-port-out", str(port), "--serial0", f"udpclient:127.0.0.1:{companion}"]
    return [
        "--model",
        "JSON:127.0.0.1",
        f"-I{k}",
        "--sysid",
        str(k + 1),
        "--wipe",
        "--speedup",
        "100",
        *ports,
    ]
