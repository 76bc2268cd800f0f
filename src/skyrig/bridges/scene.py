"""A rig as Foxglove draws it: bodies that follow their frames, and cables."""

from __future__ import annotations

from typing import Any

import numpy as np

from skyrig.bridges.ros_messages import MAP, NEED
from skyrig.errors import InputError
from skyrig.flight import meshes
from skyrig.flight.records import TEAM, label
from skyrig.flight.rig import RigData
from skyrig.sensing.sensor import Numbers
from skyrig.tracks import Track

THICK = 0.008
"""Of cables (m)."""


def messages() -> Any:
    """Foxglove's own messages."""
    try:
        import foxglove.messages as known
    except ImportError:
        raise InputError(NEED) from None
    return known


def names(rig: RigData) -> dict[str, list[str]]:
    """What the bodies of every group are called."""
    counts = {**{group: len(them) for group, them in rig.loads.items()}, TEAM: rig.count}
    return {group: [label(group, k, count) for k in range(count)] for group, count in counts.items()}


def bodies(rig: RigData) -> Any:
    """All bodies, each in its own frame, to be sent once."""
    known = messages()
    found = []
    for group, named in names(rig).items():
        for k, name in enumerate(named):
            if group == TEAM:
                parts = meshes.airframe(rig.airframes[k], meshes.colour(k))
            else:
                parts = (meshes.payload(rig.shape(group, k)),)
            triangles = [_triangles(known, part) for part in parts]
            found.append(known.SceneEntity(frame_id=name, id=name, frame_locked=True, triangles=triangles))
    return known.SceneUpdate(entities=found)


def cables(rig: RigData, now: dict[str, Track], time: int) -> Any:
    """All cables as straight lines in the world, at a time (ns); bodies are (k, 3)."""
    known = messages()
    found = []
    for k, tether in enumerate(rig.tethers):
        line = known.LinePrimitive(
            type=known.LinePrimitiveLineType.LineStrip,
            thickness=THICK,
            points=[known.Point3(x=float(x), y=float(y), z=float(z)) for x, y, z in ends(now, tether)],
            color=_colour(known, meshes.colour(k)),
        )
        stamp = known.Timestamp(sec=time // 10**9, nsec=time % 10**9)
        found.append(known.SceneEntity(timestamp=stamp, frame_id=MAP, id=f"cable{k}", lines=[line]))
    return known.SceneUpdate(entities=found)


def ends(now: dict[str, Track], tether: Any) -> Numbers:
    """(2, 3) where a cable is held in the world (m), bodies being (k, 3)."""
    return np.stack([_end(now, it) for it in (tether.start, tether.end)])


def _end(now: dict[str, Track], end: Any) -> Numbers:
    track = now[end.group]
    body = Track(*(np.asarray(leaf)[end.index] for leaf in vars(track).values()))
    return np.asarray(body.point(end.point)[0])


def _triangles(known: Any, mesh: meshes.Mesh) -> Any:
    points = [known.Point3(x=float(x), y=float(y), z=float(z)) for x, y, z in mesh.vertices]
    indices = [int(it) for it in mesh.faces.reshape(-1)]
    return known.TriangleListPrimitive(points=points, indices=indices, color=_colour(known, mesh.colour))


def _colour(known: Any, rgb: meshes.Colour) -> Any:
    red, green, blue = (it / 255 for it in rgb)
    return known.Color(r=red, g=green, b=blue, a=1.0)
