"""Against MuJoCo: tendons with an upper limit are taut cables, a welded body is a linked rig."""

import jax.numpy as jnp
import mujoco
import numpy as np
from rigging import triangle

from skyrig import Linked, airframe, payload, rollout, trim

HOOK = (0.02, -0.01, -0.03)


def body(name, position, quaternion, mass, inertia, sites):
    moments = " ".join(
        str(value) for value in (*np.diag(inertia), inertia[0, 1], inertia[0, 2], inertia[1, 2])
    )
    points = "".join(f'<site name="{site}" pos="{" ".join(map(str, at))}"/>' for site, at in sites.items())
    return (
        f'<body name="{name}" pos="{" ".join(map(str, position))}" quat="{" ".join(map(str, quaternion))}">'
        f'<freejoint/><inertial pos="0 0 0" mass="{mass}" fullinertia="{moments}"/>{points}</body>'
    )


def test_taut_rig_with_hooks_off_centre():
    rig = triangle(1.0, HOOK)
    hover = trim(rig, [0, 0, 3.0])
    # a lively but taut second: more thrust on one, moments on all
    thrust = hover.thrust * [1.15, 1.0, 1.05]
    moment = hover.moment + [[2e-4, 1e-4, 1e-4], [-1e-4, 2e-4, 0.0], [0.0, -2e-4, 2e-4]]
    flight = rollout(rig, hover.state, [0, 1.0], thrust, moment, at=np.linspace(0, 1, 11))
    assert {event.kind for event in flight.events} == {"taut"} and flight.taut.all()

    craft, load = airframe("dragonfly"), payload("triangle")
    points = load.attachment_points("cable", 3)
    places = np.asarray(flight.vehicles.position[0])
    bodies = body(
        "load", [0, 0, 3.0], [1, 0, 0, 0], load.mass, load.inertia, {f"p{k}": p for k, p in enumerate(points)}
    )
    for k in range(3):
        sites = {f"h{k}": HOOK, f"c{k}": (0, 0, 0)}
        bodies += body(f"v{k}", places[k], flight.vehicles.attitude[0, k], craft.mass, craft.inertia, sites)
    tendons = "".join(
        f'<spatial limited="true" range="0 1" solreflimit="0.0002 1" solimplimit="0.9999 0.9999 0.001">'
        f'<site site="p{k}"/><site site="h{k}"/></spatial>'
        for k in range(3)
    )
    motors = "".join(f'<general site="c{k}" gear="{gear}"/>' for k in range(3) for gear in GEARS)
    # MuJoCo's RK4 ends 4e-7 m from us; its first-order Euler at this step is itself off by 1.5e-4 m
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><option timestep="0.0001" integrator="RK4" gravity="0 0 -9.81" '
        f'tolerance="1e-14" iterations="200"/>'
        f"<worldbody>{bodies}</worldbody><tendon>{tendons}</tendon><actuator>{motors}</actuator></mujoco>"
    )
    data = mujoco.MjData(model)
    data.ctrl[:] = np.concatenate([[thrust[k], *moment[k]] for k in range(3)])
    for k, time in enumerate(flight.times):
        while data.time < time - 5e-5:
            mujoco.mj_step(model, data)
        mujoco.mj_kinematics(model, data)
        np.testing.assert_allclose(data.body("load").xpos, flight.payload.position[k], atol=1e-4)
        for vehicle in range(3):
            np.testing.assert_allclose(
                data.body(f"v{vehicle}").xpos, flight.vehicles.position[k, vehicle], atol=1e-4
            )


GEARS = ("0 0 1 0 0 0", "0 0 0 1 0 0", "0 0 0 0 1 0", "0 0 0 0 0 1")


def test_linked_rig_is_one_body():
    crafts = [airframe("dragonfly"), airframe("race"), airframe("hummingbird")]
    load, yaw = payload("triangle"), [0.0, 0.7, -1.2]
    points = load.attachment_points("rigid", 3)
    rig = Linked.build(crafts, load, points, yaw)
    hover = trim(rig, [0, 0, 3.0])
    thrust = hover.thrust * [1.02, 0.99, 1.0]
    moment = hover.moment + [[1e-3, 0, 2e-3], [0, 2e-3, 0], [1e-3, 1e-3, -1e-3]]
    flight = rollout(rig, hover.state, [0, 1.0], thrust, moment, at=np.linspace(0, 1, 11))
    parts = ""
    for k, craft in enumerate(crafts):
        turn = [np.cos(yaw[k] / 2), 0, 0, np.sin(yaw[k] / 2)]
        piece = body(f"v{k}", points[k], turn, craft.mass, craft.inertia, {f"c{k}": (0, 0, 0)})
        parts += piece.replace("<freejoint/>", "")
    whole = body("load", [0, 0, 3.0], [1, 0, 0, 0], load.mass, load.inertia, {}).replace(
        "</body>", parts + "</body>"
    )
    motors = "".join(f'<general site="c{k}" gear="{gear}"/>' for k in range(3) for gear in GEARS)
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><option timestep="0.001" integrator="RK4" gravity="0 0 -9.81">'
        f'<flag contact="disable"/></option>'
        f"<worldbody>{whole}</worldbody><actuator>{motors}</actuator></mujoco>"
    )
    data = mujoco.MjData(model)
    data.ctrl[:] = np.concatenate([[thrust[k], *moment[k]] for k in range(3)])
    for k, time in enumerate(flight.times):
        while data.time < time - 5e-4:
            mujoco.mj_step(model, data)
        mujoco.mj_kinematics(model, data)
        np.testing.assert_allclose(data.body("load").xpos, flight.payload.position[k], atol=1e-6)
        sign = np.sign(data.body("load").xquat @ flight.payload.attitude[k])
        np.testing.assert_allclose(sign * data.body("load").xquat, flight.payload.attitude[k], atol=1e-6)
        for vehicle in range(3):
            np.testing.assert_allclose(
                data.body(f"v{vehicle}").xpos, flight.vehicles.position[k, vehicle], atol=1e-6
            )
    assert abs(float(jnp.linalg.norm(flight.payload.rate[-1]))) > 0.1, "it turned"
