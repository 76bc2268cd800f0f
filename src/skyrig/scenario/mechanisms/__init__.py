"""Mechanisms as scenarios describe them, one file each; their rigs are in `skyrig.rigs`."""

from skyrig.scenario.mechanisms.base import Mechanism, RigParts
from skyrig.scenario.mechanisms.place import Place

__all__ = ["Mechanism", "Place", "RigParts"]
