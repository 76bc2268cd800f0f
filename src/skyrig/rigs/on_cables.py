"""What rigs on cables have in common, whatever the cables are made of: parts, states, winches, blows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from skyrig import algebra, checks
from skyrig.algebra import as_jax, traced
from skyrig.errors import InputError
from skyrig.rigs.bodies import Bodies
from skyrig.rigs.cables import Cable, WinchLimits, checked, inverse, passed, stacked
from skyrig.rigs.protocol import Loads, Rig, State
from skyrig.turns import cross, turn


class Reeled(eqx.Module):
    """Cables on winches."""

    length: Float[Array, "n *batch"]
    """Free length that is out (m)."""
    rate: Float[Array, "n *batch"]
    """Reel-out rate (m/s)."""


class CableState(State):
    """Where a rig on cables is; its motion has payload, vehicles and reeled, its mode length and drive."""

    @property
    def payload(self) -> Bodies:
        """(3, *batch)."""
        return self.motion.payload

    @property
    def vehicles(self) -> Bodies:
        """(3, n, *batch)."""
        return self.motion.vehicles

    @property
    def length(self) -> Float[Array, "n *batch"]:
        """Free length of each cable, unstretched (m)."""
        fixed = self.mode.length
        return self.motion.reeled.length if fixed is None else fixed

    @property
    def reel(self) -> Any:
        """Reel-out rate of each cable (m/s)."""
        return 0.0 if self.motion.reeled is None else self.motion.reeled.rate

    @property
    def drive(self) -> Any:
        """Reel-out acceleration of each cable (m/s^2)."""
        return 0.0 if self.mode.drive is None else self.mode.drive


class CableTeam(Rig):
    """n vehicles and one payload joined by n cables, as arrays."""

    mass: Float[Array, "n *batch"]
    inertia: Float[Array, "3 3 n *batch"]
    inverse_inertia: Float[Array, "3 3 n *batch"]
    payload_mass: Float[Array, "*batch"]
    payload_inertia: Float[Array, "3 3 *batch"]
    """Zero for a point mass."""
    payload_inverse_inertia: Float[Array, "3 3 *batch"]
    attachment: Float[Array, "3 n *batch"]
    hook: Float[Array, "3 n *batch"] | None
    length: Float[Array, "n *batch"]
    """Unstretched, at the start (m)."""
    winch: WinchLimits | None
    gravity: Float[Array, "*batch"]

    @property
    def count(self) -> int:
        """Number of vehicles."""
        return self.mass.shape[0]

    def bodies(self, state: Any) -> dict[str, Bodies]:
        """Payload and vehicles."""
        return {"payload": state.payload.alone(), "vehicles": state.vehicles}

    def like(self, state: Any) -> Float[Array, "*batch"]:
        """One number of the motion for each flight."""
        return state.payload.position[0]

    def readings(self, state: Any) -> dict[str, Array]:
        """The cables' free lengths, which their winches know."""
        return {"cable.length": state.length}

    def rest_goals(self) -> dict[str, Any]:
        """The lengths that winches start from (m)."""
        return {} if self.winch is None else {"winch": np.asarray(self.length)}

    def follow(
        self, readings: dict[str, Array], goals: dict[str, Array], period: ArrayLike
    ) -> dict[str, Array]:
        """Reel-out rates that bring the cables to lengths `goals['winch']` (m)."""
        assert self.winch is not None
        return {"winch": self.winch.towards(readings["cable.length"], goals["winch"], period)}

    def prepare(self, state: Any, loads: Loads, dt: Array) -> Any:
        """Set the winches' acceleration for the coming step."""
        if self.winch is None:
            return state
        asked = loads.drives.get("winch")
        wanted = jnp.zeros_like(state.length) if asked is None else asked
        drive = self.winch.drive(state.length, state.reel, wanted, dt)
        return eqx.tree_at(lambda it: it.mode.drive, state, drive)

    def poke(self, state: Any, group: str, impulse: Array, point: Array) -> Any:
        """Blows (N s, world frame) at points of bodies (m, their frames); cables answer in the next step."""
        if group == "payload":
            body, mass, turn = state.payload, self.payload_mass, self.payload_inverse_inertia
            impulse, point = impulse[:, 0], point[:, 0]
        else:
            body, mass, turn = state.vehicles, self.mass, self.inverse_inertia
        local = algebra.apply_transposed(algebra.rotation_matrix(body.attitude), impulse)
        spin = algebra.apply(turn, algebra.cross(point, local))
        changed = Bodies(body.position, body.velocity + impulse / mass, body.attitude, body.rate + spin)
        return eqx.tree_at(lambda it: getattr(it.motion, group), state, changed)

    def placed(self, bodies: dict[str, Bodies]) -> Any:
        """A start with payload and vehicles as given; see `state`."""
        load, craft = bodies["payload"].only(), bodies["vehicles"]
        rig: Any = self
        return rig.state(
            load.position,
            craft.position.T,
            payload_velocity=load.velocity,
            payload_attitude=load.attitude,
            payload_rate=load.rate,
            vehicle_velocity=craft.velocity.T,
            vehicle_attitude=craft.attitude.T,
            vehicle_rate=craft.rate.T,
        )


def team_arrays(
    vehicles: Sequence[Any], payload: Any, cables: Sequence[Cable], gravity: float
) -> dict[str, Any]:
    """The fields of a `CableTeam` from its parts; checked.

    Args:
        vehicles: Anything with `mass` (kg) and `inertia` (kg m^2).
        payload: Anything with `mass` (kg) and `inertia` (kg m^2, or None for a point mass).
        cables: One for each vehicle, in the same order.
        gravity: m/s^2, downwards.
    """
    n = len(vehicles)
    if n == 0:
        raise InputError("vehicles must name at least one vehicle, but the list is empty.")
    if n != len(cables):
        raise InputError(f"cables must be one for each vehicle: {len(cables)} cables for {n} vehicles.")
    mass = [passed(checks.positive, f"vehicles[{k}].mass", it.mass) for k, it in enumerate(vehicles)]
    inertia = [passed(checks.inertia, f"vehicles[{k}].inertia", it.inertia) for k, it in enumerate(vehicles)]
    length, attachment, hook, winch = _cable_arrays(cables)
    point = payload.inertia is None
    if point and np.any(np.asarray(attachment) != 0):
        raise InputError("cables[].attachment must be (0, 0, 0) on a point-mass payload; give it an inertia.")
    turning = np.zeros((3, 3)) if point else passed(checks.inertia, "payload.inertia", payload.inertia)
    return {
        "mass": stacked(mass),
        "inertia": stacked(inertia),
        "inverse_inertia": stacked([inverse(each) for each in inertia]),
        "payload_mass": checked(checks.positive, "payload.mass", payload.mass),
        "payload_inertia": as_jax(turning),
        "payload_inverse_inertia": as_jax(turning if point else inverse(turning)),
        "attachment": attachment,
        "hook": hook,
        "length": length,
        "winch": winch,
        "gravity": as_jax(checked(checks.numbers, "gravity", gravity), length.dtype),
    }


def _cable_arrays(
    cables: Sequence[Cable],
) -> tuple[Array, Array, Array | None, WinchLimits | None]:
    """Lengths (n), attachments (3, n), hooks (3, n) or None, winches or None; checked."""
    lengths, attachments, hooks = [], [], []
    for k, cable in enumerate(cables):
        lengths.append(passed(checks.positive, f"cables[{k}].length", cable.length))
        attachments.append(passed(checks.numbers, f"cables[{k}].attachment", cable.attachment, (3,)))
        hook = (0.0, 0.0, 0.0) if cable.hook is None else cable.hook
        hooks.append(passed(checks.numbers, f"cables[{k}].hook", hook, (3,)))
    hooked = any(cable.hook is not None for cable in cables)
    return (
        stacked(lengths),
        stacked(attachments),
        stacked(hooks) if hooked else None,
        _winch_limits(cables),
    )


def _winch_limits(cables: Sequence[Cable]) -> WinchLimits | None:
    if all(cable.winch is None for cable in cables):
        return None
    rows = []
    for k, cable in enumerate(cables):
        winch = cable.winch
        if winch is None:
            rows.append([0.0, 0.0, 0.0, 1e9])
            continue
        for name in ("rate", "acceleration", "shortest", "longest"):
            checks.positive(f"cables[{k}].winch.{name}", getattr(winch, name))
        if not traced(cable.length) and not winch.shortest <= cable.length <= winch.longest:
            raise InputError(
                f"cables[{k}].length is {float(cable.length):g} m, but its winch holds it between "
                f"{winch.shortest:g} and {winch.longest:g} m."
            )
        rows.append([winch.rate, winch.acceleration, winch.shortest, winch.longest])
    columns = np.asarray(rows, dtype=np.float64).T
    return WinchLimits(*(as_jax(column) for column in columns))


def cable_ends(rig: CableTeam, payload: Bodies, vehicles: Bodies) -> tuple[np.ndarray, ...]:
    """Places (n, 3) of hooks and attachments (m), and their velocities (m/s); in NumPy, compiling nothing."""

    def rows(leaf: Any) -> np.ndarray:
        return np.asarray(leaf).T

    def at(body: Bodies, arm: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        attitude = rows(body.attitude)
        swing = turn(attitude, cross(rows(body.rate), arm))
        return rows(body.position) + turn(attitude, arm), rows(body.velocity) + swing

    hooks = np.zeros((rig.count, 3)) if rig.hook is None else rows(rig.hook)
    (top, top_speed), (bottom, bottom_speed) = at(vehicles, hooks), at(payload, rows(rig.attachment))
    return top, bottom, top_speed, bottom_speed
