"""The three-vehicle rig in MuJoCo: free bodies, and spatial tendons with an upper limit for cables."""

from __future__ import annotations

import mujoco
import numpy as np

from skyrig import airframe, payload


def model(step: float, integrator: str = "Euler", length: float = 1.0, height: float = 5.0) -> mujoco.MjModel:
    """Three dragonflies on the triangle, cables of `length` (m), payload at `height` (m)."""
    load, craft = payload("triangle"), airframe("dragonfly")
    points = load.attachment_points("cable", 3)

    def body(name: str, place: np.ndarray, mass: float, inertia: np.ndarray, sites: str) -> str:
        moments = " ".join(map(str, np.diag(inertia)))
        return (
            f'<body name="{name}" pos="{" ".join(map(str, place))}"><freejoint/>'
            f'<inertial pos="0 0 0" mass="{mass}" diaginertia="{moments}"/>{sites}</body>'
        )

    ends = "".join(f'<site name="p{k}" pos="{" ".join(map(str, p))}"/>' for k, p in enumerate(points))
    bodies = body("load", np.array([0, 0, height]), load.mass, load.inertia, ends)
    for k, point in enumerate(points):
        bodies += body(
            f"v{k}", point + [0, 0, height + length], craft.mass, craft.inertia, f'<site name="h{k}"/>'
        )
    tendons = "".join(
        f'<spatial limited="true" range="0 {length}" solreflimit="{2 * step} 1" '
        f'solimplimit="0.999 0.9999 0.001">'
        f'<site site="p{k}"/><site site="h{k}"/></spatial>'
        for k in range(3)
    )
    motors = "".join(f'<motor site="h{k}" gear="0 0 1 0 0 0"/>' for k in range(3))
    return mujoco.MjModel.from_xml_string(
        f'<mujoco><option timestep="{step}" integrator="{integrator}" gravity="0 0 -9.81">'
        f'<flag contact="disable"/></option><worldbody>{bodies}</worldbody>'
        f"<tendon>{tendons}</tendon><actuator>{motors}</actuator></mujoco>"
    )


def fly(
    model: mujoco.MjModel,
    thrust: np.ndarray,
    rate: np.ndarray,
    velocity: np.ndarray,
    seconds: float,
    attitude: np.ndarray | None = None,
) -> np.ndarray:
    """Payload position (m) after `seconds`, from rest but for the payload's body rate and velocity.

    `attitude` (3, 4) tilts the vehicles at the start (quaternions wxyz).
    """
    data = mujoco.MjData(model)
    if attitude is not None:
        for k in range(3):
            data.qpos[7 * k + 10 : 7 * k + 14] = attitude[k]
    data.ctrl[:] = thrust
    data.qvel[:3], data.qvel[3:6] = velocity, rate
    mujoco.mj_step(model, data, round(seconds / model.opt.timestep))
    return data.qpos[:3].copy()
