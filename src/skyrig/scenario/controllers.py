"""The controllers a scenario may name, known here by name so that files are checked without JAX."""

from __future__ import annotations

OPEN_LOOP = "open-loop"

CONTROLLERS = {
    "geometric": "the geometric controller of the rig's mechanism, after RotorTM",
    OPEN_LOOP: "nobody: thrusts and moments are held as a table says",
}
"""What each name stands for."""
