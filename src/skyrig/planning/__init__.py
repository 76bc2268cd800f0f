"""References: the wanted motion of a payload or a vehicle, with exact derivatives up to the sixth.

    from skyrig.planning import circle
    motion = circle(radius=1.0, period=6.0).sample(times)

Nothing here imports JAX; parameters or times that are JAX arrays make the same code trace.
"""

from skyrig.planning.circle import Circle, circle
from skyrig.planning.grasp import grasp
from skyrig.planning.hover import Hover, Step, hover, step
from skyrig.planning.lift import LiftPlan, lift
from skyrig.planning.line import Line, land, line, takeoff
from skyrig.planning.lissajous import Lissajous, figure_8, lissajous
from skyrig.planning.minimum_derivative import MinimumDerivative, waypoints
from skyrig.planning.poses import poses
from skyrig.planning.reference import Reference, Sample
from skyrig.planning.registry import REFERENCES, TEAM_REFERENCES, TeamMotion, build, build_team
from skyrig.planning.rotation import Combined, Rotation, combined, rotation
from skyrig.planning.sequence import Sequence, sequence
from skyrig.planning.table import Table, table

# The names used in YAML; a new reference is one file and one line here.
REFERENCES.update(
    {
        "hover": hover,
        "step": step,
        "line": line,
        "takeoff": takeoff,
        "land": land,
        "circle": circle,
        "waypoints": waypoints,
        "lissajous": lissajous,
        "figure-8": figure_8,
        "rotation": rotation,
        "combined": combined,
        "table": table,
        "sequence": sequence,
    }
)

# Those that plan for a whole team.
TEAM_REFERENCES["poses"] = poses
TEAM_REFERENCES["grasp"] = grasp
TEAM_REFERENCES["lift"] = lift

__all__ = [
    "REFERENCES",
    "TEAM_REFERENCES",
    "Circle",
    "Combined",
    "Hover",
    "LiftPlan",
    "Line",
    "Lissajous",
    "MinimumDerivative",
    "Reference",
    "Rotation",
    "Sample",
    "Sequence",
    "Step",
    "Table",
    "TeamMotion",
    "build",
    "build_team",
    "circle",
    "combined",
    "figure_8",
    "hover",
    "land",
    "lift",
    "line",
    "lissajous",
    "poses",
    "rotation",
    "sequence",
    "step",
    "table",
    "takeoff",
    "waypoints",
]
