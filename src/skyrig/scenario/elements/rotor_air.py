"""What turning rotors do besides lifting: drag and moments of air across them, and their own momentum."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import numpy as np

from skyrig.fields import unit
from skyrig.scenario.world import ElementSpec

if TYPE_CHECKING:
    from skyrig.elements import Element
    from skyrig.scenario.mechanisms import RigParts


class RotorDragSpec(ElementSpec, frozen=True, kw_only=True):
    """Drag of turning rotors, at each hub: F = -coefficient speed v, v across the rotor's axis."""

    pushes = True
    drags = True

    coefficient: Annotated[float, unit("N s^2/(m rad)", "The same for all rotors", ge=0, le=1)]

    def build(self, parts: RigParts) -> Element:
        """The rotors of the team."""
        from skyrig.algebra import as_jax
        from skyrig.elements import RotorDrag, RotorSet
        from skyrig.elements.rotor_drag import Crossing

        strength = as_jax(np.full(parts.count, self.coefficient))
        return RotorDrag(RotorSet.of(parts.airframes), Crossing.of(parts.airframes), strength)


class RollingMomentSpec(ElementSpec, frozen=True, kw_only=True):
    """Moment of air across turning rotors: M = -coefficient speed v of each, v across the rotor's axis."""

    coefficient: Annotated[float, unit("N m s^2/(m rad)", "The same for all rotors", ge=0, le=1)] = 1e-6

    def build(self, parts: RigParts) -> Element:
        """The rotors of the team."""
        from skyrig.algebra import as_jax
        from skyrig.elements import RollingMoment, RotorSet
        from skyrig.elements.rotor_drag import Crossing

        strength = as_jax(np.full(parts.count, self.coefficient))
        return RollingMoment(RotorSet.of(parts.airframes), Crossing.of(parts.airframes), strength)


class GyroscopicSpec(ElementSpec, frozen=True, kw_only=True):
    """The moment of turning rotors whose vehicle turns: M = -rate x their angular momentum."""

    rotor_inertia: Annotated[float, unit("kg m^2", "Of each propeller about its axis", ge=0, le=1)]

    def build(self, parts: RigParts) -> Element:
        """The rotors of the team."""
        from skyrig.algebra import as_jax
        from skyrig.elements import Gyroscopic, RotorSet

        rotors = RotorSet.of(parts.airframes)
        momentum = np.zeros(rotors.share.shape)
        for k, frame in enumerate(parts.airframes):
            momentum[: frame.rotor_count, k] = -frame.spin * self.rotor_inertia
        return Gyroscopic(rotors, as_jax(momentum))
