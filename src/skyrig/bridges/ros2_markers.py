"""What rviz2 draws of a rig: bodies that follow their frames, cables as lines in the world."""

from __future__ import annotations

from typing import Any

import numpy as np

from skyrig.bridges import ros2_types as it
from skyrig.bridges import scene
from skyrig.bridges.ros_messages import MAP
from skyrig.flight import meshes
from skyrig.flight.records import TEAM
from skyrig.flight.rig import RigData
from skyrig.tracks import Track

TRIANGLES, LINES, ADD = 11, 5, 0
"""Kinds of visualization_msgs/Marker, and its action."""


def bodies(rig: RigData, stamp: Any) -> list[Any]:
    """All bodies, each in its own frame, to be sent now and then for whoever comes late."""
    found = []
    for group, named in scene.names(rig).items():
        for k, name in enumerate(named):
            own = meshes.airframe(rig.airframes[k], meshes.colour(k)) if group == TEAM else ()
            for part, mesh in enumerate(own or (meshes.payload(rig.shape(group, k)),)):
                corners = mesh.vertices[mesh.faces.reshape(-1)]
                found.append(_marker(stamp, name, name, part, TRIANGLES, corners, mesh.colour, 1.0))
    return found


def cables(rig: RigData, now: dict[str, Track], stamp: Any) -> list[Any]:
    """All cables, bodies being (k, 3)."""
    return [
        _marker(stamp, MAP, "cables", k, LINES, scene.ends(now, tether), meshes.colour(k), scene.THICK)
        for k, tether in enumerate(rig.tethers)
    ]


def _marker(
    stamp: Any, frame: str, name: str, index: int, kind: int, points: Any, rgb: meshes.Colour, width: float
) -> Any:
    red, green, blue = (part / 255 for part in rgb)
    still = it.Pose(it.Point(0.0, 0.0, 0.0), it.Quaternion(0.0, 0.0, 0.0, 1.0))
    none, zero = it.Header(it.Time(0, 0), ""), it.Duration(0, 0)
    return it.Marker(
        header=it.Header(stamp, frame),
        ns=name,
        id=index,
        type=kind,
        action=ADD,
        pose=still,
        scale=it.Vector3(width, 1.0, 1.0),
        color=it.ColorRGBA(red, green, blue, 1.0),
        lifetime=zero,
        frame_locked=True,
        points=[it.Point(*point) for point in np.asarray(points, dtype=np.float64).tolist()],
        colors=[],
        texture_resource="",
        texture=it.CompressedImage(none, "", []),
        uv_coordinates=[],
        text="",
        mesh_resource="",
        mesh_file=it.MeshFile("", []),
        mesh_use_embedded_materials=False,
    )
