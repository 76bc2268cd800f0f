"""udaan as a contender: its quadrotor with a cable-suspended payload. Run by `peers.py`."""

from importlib.metadata import version

import numpy as np
from turns import Contender, Entry, serve
from udaan.models.quadrotor_cspayload import QuadrotorCsPayloadBase, QuadrotorCsPayloadMujoco

SECONDS = 2.0


def contender(model: QuadrotorCsPayloadBase, cable: str, step: str, control: str) -> Contender:
    """One flight to the payload's set point with udaan's own controllers and step."""
    entry = Entry(
        who=f"udaan {version('udaan')}",
        flies=f"one vehicle, slung point mass, {cable}",
        controller=f"its payload controller, {control}",
        step=step,
        flights=1,
        seconds=SECONDS,
    )
    return entry, lambda: model.simulate(tf=SECONDS, payload_position=np.array([1.0, 1.0, 0.5]))


serve(
    [
        contender(QuadrotorCsPayloadBase(), "cable always taut", "1.25 ms, Euler", "200 Hz"),
        contender(
            QuadrotorCsPayloadMujoco(cable_model="tendon"),
            "cable a MuJoCo tendon",
            "2 ms, MuJoCo's Euler",
            "250 Hz",
        ),
    ]
)
