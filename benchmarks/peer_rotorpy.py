"""rotorpy as a contender: its own multirotor, controller and environment. Run by `peers.py`."""

from importlib.metadata import version

import numpy as np
from rotorpy.controllers.quadrotor_control import SE3Control
from rotorpy.environments import Environment
from rotorpy.trajectories.circular_traj import ThreeDCircularTraj
from rotorpy.vehicles.crazyflie_params import quad_params
from rotorpy.vehicles.multirotor import Multirotor
from turns import Contender, Entry, serve


def contender(rate: int, seconds: float) -> Contender:
    """One flight round a circle with physics and control at `rate` (Hz)."""
    environment = Environment(
        vehicle=Multirotor(quad_params),
        controller=SE3Control(quad_params),
        trajectory=ThreeDCircularTraj(radius=np.array([1.0, 1.0, 0.0])),
        sim_rate=rate,
    )
    entry = Entry(
        who=f"rotorpy {version('rotorpy')}",
        flies="one vehicle, no load",
        controller=f"its SE3Control, {rate} Hz",
        step=f"{1e3 / rate:g} ms, adaptive RK45 within",
        flights=1,
        seconds=seconds,
    )
    return entry, lambda: environment.run(t_final=seconds)


# its batched mode needs torch, which is not installed here
serve([contender(100, 2.0), contender(500, 1.0)])
