"""Gymnasium environments by task; `import skyrig.envs.gym` registers their ids.

Every environment takes what `skyrig.envs.build` takes (another scenario, `action`, `vary` and the rest), so
`gymnasium.make("skyrig/SlungHover-v0", action="acceleration")` does, and so does `gymnasium.make_vec`.

What they have in common:

**Action**: float32 between -1 and 1, cut to that; zeros ask for the hover's thrusts and moments. For each
vehicle in turn, by `action`:

| `action` | entries | -1 ... 0 ... 1 |
|---|---|---|
| `"rates"` (default) | thrust | least ... hover ... most the rotors give together (N) |
| | roll, pitch, yaw rate | -6 ... 6, -6 ... 6, -3 ... 3 rad/s, body axes |
| `"rotors"` | each rotor's thrust | its least ... hover ... most (N) |
| `"acceleration"` | x, y, z | -5 ... 5 m/s^2, world axes; yaw is held at zero |

The rotors' limits stand between any action and the rig.

**Reward** of a control period: 0.5 exp(-3 e) + 0.5 (1 - e/arena) - 0.02 v - 0.01 w - 0.02 a, where e is the
load's distance from where it is wanted (m), v its velocity against the wanted one (m/s), w the mean of the
vehicles' body rates (rad/s), a the mean square of the action; -10 in the period in which an episode fails.

**End**: terminated when the load is farther than `arena` from where it is wanted (`left`), when a vehicle's
thrust points below the horizon (`flipped`), or when the state is no longer finite or its events cannot be
resolved (`diverged`). Truncated after `seconds`.

**Render**: with `render_mode="rgb_array"`, `render()` gives a picture of the rig, of where its load is wanted
and of the gate: (480, 480, 3) of 8 bits, drawn without a screen; a vector environment gives one a flight.

**Info**: `load_error` (m), `events` (cables going slack or taut in the period), and the reasons above.
"""

from __future__ import annotations

from typing import ClassVar

from skyrig.envs.extras import need
from skyrig.envs.single import RigEnv
from skyrig.envs.vector import RigVectorEnv

gymnasium = need("gymnasium")


class SlungHover(RigEnv):
    """Hold a load that hangs from one vehicle in one place.

    **Rig**: scenario `one-dragonfly-hover`: 250 g, a 70 g point mass on a 0.5 m cable. 50 actions a second,
    2 ms physics, 5 s, arena 3 m.

    **Start**: the load within 1 m of its place along each axis, the rig moving at up to 0.3 m/s along each
    axis, swung by up to 0.2 rad about x and y, the vehicle tilted by up to 0.1 rad about each axis.

    **Observation** (24):

    | index | what | unit |
    |---|---|---|
    | 0-2 | from the load to where it is wanted, world axes | m |
    | 3-5 | wanted velocity minus the load's | m/s |
    | 6-8 | the vehicle's velocity, world axes | m/s |
    | 9-17 | its rotation matrix, body to world, row by row | |
    | 18-20 | its body rates | rad/s |
    | 21-23 | from its hook to the attachment, world axes, in cable lengths | |

    Action, reward, end and info: see `skyrig.envs.gym`.

    **Versions**: v0, the first.
    """

    TASK: ClassVar[str] = "hover"


class SlungTrack(RigEnv):
    """Follow a path with a load that hangs from one vehicle.

    **Rig**: scenario `one-dragonfly-circle`: a circle of 1 m, 10 s a turn, from rest to rest. 8 s, arena 2 m.

    **Start**: at any point of the path that leaves time for the episode, with the path's velocity, within
    0.3 m of it along each axis, and scattered as in `SlungHover`.

    **Observation** (33): 0-5 as in `SlungHover`, against the path's point and velocity of the moment; 6-14
    the path 0.2, 0.4 and 0.6 s from now, from its point of the moment (m); 15-32 the vehicle as there.

    Action, reward, end and info: see `skyrig.envs.gym`.

    **Versions**: v0, the first.
    """

    TASK: ClassVar[str] = "track"


class RigidCarry(RigEnv):
    """Hold a rigid load that hangs from several vehicles in one place, level and unturned.

    **Rig**: scenario `three-dragonflies-circle`: the triangle on three 0.5 m cables, held where the circle
    begins; any other scenario with cables will do. 5 s, arena 2 m. One agent commands all vehicles; for one
    agent a vehicle see `skyrig.envs.teams`.

    **Start**: the load within 0.5 m of its place along each axis, the rig moving at up to 0.2 m/s, swung as a
    whole by up to 0.1 rad, each vehicle tilted by up to 0.1 rad.

    **Observation** (18 + 18 n): 0-5 as in `SlungHover`; 6-14 the load's rotation matrix, row by row; 15-17
    its body rates (rad/s); then 18 numbers for each vehicle in turn, as there.

    **Reward**: minus 0.2 (3 - trace of the load's rotation matrix), besides the common one.

    Action, reward, end and info: see `skyrig.envs.gym`.

    **Versions**: v0, the first.
    """

    TASK: ClassVar[str] = "carry"


class SlungRecover(RigEnv):
    """Hold the load in one place and bring it back after a poke.

    **Rig**: as in `SlungHover`. 5 s, arena 3 m.

    **Start**: within 0.1 m of the place along each axis, nearly at rest. Between 0.2 and 1 s a poke in any
    direction changes the load's velocity by 1 to 2 m/s, as if it were free; the cable may go slack.

    **Observation** (24): as in `SlungHover`; nothing tells of the poke before it comes.

    Action, reward, end and info: see `skyrig.envs.gym`.

    **Versions**: v0, the first.
    """

    TASK: ClassVar[str] = "recover"


class SlungGate(RigEnv):
    """Take the load through a gate and hold it behind.

    **Rig**: as in `SlungHover`. The gate stands in the plane x = 0 through the scenario's place, 1 m wide and
    1.2 m high, moved by up to 0.5 m along y and 0.2 m along z in every episode. The load is wanted 1.2 m
    behind the gate's usual centre and 0.25 m below it. 5 s, arena 4 m.

    **Start**: about 1.2 m in front of the gate, the load within 0.3 m along each axis; else as in
    `SlungHover`.

    **Observation** (27): 0-5 as in `SlungHover`; 6-8 from the load to the gate's centre (m); 9-26 the
    vehicle.

    **Reward**: 5 for the period in which the load passes through the opening forwards, besides the common
    one.

    **End**: also when load or vehicle goes through the gate's plane outside the opening (`struck`). Bodies
    are points, and their way through the plane in a control period is taken as straight.

    Action, reward, end and info: see `skyrig.envs.gym`.

    **Versions**: v0, the first.
    """

    TASK: ClassVar[str] = "gate"


class SoftGrasp(RigEnv):
    """Grasp a can with soft fingers, lift it and hold it.

    **Rig**: scenario `soft-grasp` with fingers as rods: a vehicle of 1 kg, four fingers, a can of 50 g that
    stands on the ground. `scenario=skyrig.load("soft-grasp")` flies the elements. 50 actions a second, 10 ms
    physics, 3 s, arena 1 m.

    **Action** (4, `action="hand"`): x, y, z as with `"acceleration"`, and -1 for open fingers to 1 for a
    closed hand, which tendons reach at 0.1 m/s.

    **Start**: the can within 0.05 m of its place along x and y, the vehicle 0.35 m above it, moved by up to
    0.05 m and tilted by up to 0.02 rad along and about each axis, the fingers straight.

    **Observation** (38):

    | index | what | unit |
    |---|---|---|
    | 0-2 | from the can to where it is wanted, 0.3 m above its place, world axes | m |
    | 3-5 | wanted velocity minus the can's | m/s |
    | 6-14 | the can's rotation matrix, row by row | |
    | 15-17 | its body rates | rad/s |
    | 18, 19 | mean length of the inner and of the outer tendons | dm |
    | 20-34 | the vehicle's velocity, rotation matrix and body rates, as in `SlungHover` | |
    | 35-37 | from the vehicle to the can, world axes | 0.35 m |

    **Reward**: up to 0.5 for being 0.15 m above the can's middle, and 2 times the share of 0.3 m that the can
    is lifted by, besides the common one.

    Action's limits, end and info: see `skyrig.envs.gym`.

    **Versions**: v0, the first.
    """

    TASK: ClassVar[str] = "grasp"


class SlungHoverVector(RigVectorEnv):
    """Many flights of `SlungHover`."""

    TASK: ClassVar[str] = "hover"


class SlungTrackVector(RigVectorEnv):
    """Many flights of `SlungTrack`."""

    TASK: ClassVar[str] = "track"


class RigidCarryVector(RigVectorEnv):
    """Many flights of `RigidCarry`."""

    TASK: ClassVar[str] = "carry"


class SlungRecoverVector(RigVectorEnv):
    """Many flights of `SlungRecover`."""

    TASK: ClassVar[str] = "recover"


class SlungGateVector(RigVectorEnv):
    """Many flights of `SlungGate`."""

    TASK: ClassVar[str] = "gate"


class SoftGraspVector(RigVectorEnv):
    """Many flights of `SoftGrasp`."""

    TASK: ClassVar[str] = "grasp"


IDS = tuple(
    f"skyrig/{name}-v0"
    for name in ("SlungHover", "SlungTrack", "RigidCarry", "SlungRecover", "SlungGate", "SoftGrasp")
)
"""What `gymnasium.make` and `gymnasium.make_vec` know after this module is imported."""


def register() -> None:
    """Tell Gymnasium the ids."""
    for name in IDS:
        own = name.removeprefix("skyrig/").removesuffix("-v0")
        gymnasium.register(
            id=name,
            entry_point=f"{__name__}:{own}",
            vector_entry_point=f"{__name__}:{own}Vector",
        )


register()
