"""What a sensor is: what YAML says of it, what it is shown at every tick, and what it reads.

A sensor is shown the truth at every control tick and reads when its rate says so; in between, its last
reading stands. Everything random comes from a generator of its own, seeded by the scenario's seed and its
name, so that one sensor more or less leaves the others as they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated
from zlib import crc32

import numpy as np
import numpy.typing as npt
from msgspec import Meta

from skyrig.fields import SpecPart, unit
from skyrig.tracks import Track

if TYPE_CHECKING:
    from skyrig.rigs.layout import End
    from skyrig.vehicles import Airframe

Numbers = npt.NDArray[np.float64]
Rate = Annotated[float, Meta(gt=0, le=1e4)]
TEAM = "vehicles"


@dataclass(frozen=True)
class Truth:
    """What is so at an instant; bodies in front, xyz last."""

    time: float
    """s."""
    bodies: Mapping[str, Track]
    """By group, (k, 3)."""
    thrust: Numbers
    """(n,) that each vehicle's rotors make (N)."""
    moment: Numbers
    """(n, 3) that they make, body frame (N m)."""
    tension: Numbers
    """(m,) of every cable (N)."""

    @property
    def vehicles(self) -> Track:
        """Those who fly, (n, 3)."""
        return self.bodies[TEAM]


@dataclass(frozen=True)
class CableOnBoard:
    """A cable, from its vehicle to what it carries."""

    start: End
    end: End
    length: float
    """As it is set up (m)."""


@dataclass(frozen=True)
class Carrier:
    """What sensors are mounted on."""

    airframes: Sequence[Airframe]
    groups: Mapping[str, int]
    """How many bodies each group has."""
    lines: Sequence[CableOnBoard]
    """The cables."""
    control_rate: float
    """At which the truth is shown (Hz)."""


@dataclass(frozen=True)
class Quantity:
    """One thing that a sensor reads, recorded as a signal."""

    name: str
    """Sensor and quantity: 'imu.accel'."""
    unit: str
    shape: tuple[int, ...]
    """(3,) of one body, (n, 3) of the vehicles."""
    says: str


@dataclass
class Reading:
    """What a sensor reads now."""

    values: dict[str, Numbers] = field(default_factory=dict)
    """By quantity, in its shape; not a number until the first sample arrives."""
    time: float = float("nan")
    """Of the instant that it tells of (s); later than that by its delay does it arrive."""
    fresh: bool = False
    """Whether it arrived at this tick."""


class Sensor:
    """A sensor at work. One of one's own writes `quantities` and `sample`."""

    def quantities(self) -> tuple[Quantity, ...]:
        """What it reads."""
        raise NotImplementedError

    def sample(self, truth: Truth, random: np.random.Generator) -> Mapping[str, Numbers] | None:
        """A sample by quantity, or None where it is lost. It is called at its own rate."""
        raise NotImplementedError

    def watch(self, truth: Truth) -> None:
        """Called at every tick, before `sample`, whatever the sensor's rate."""


class SensorSpec(SpecPart, frozen=True, kw_only=True):
    """What `sensors:` says of a sensor; one of one's own derives from it, its fields being YAML's."""

    rate: Annotated[
        Rate | None, unit("Hz", "Samples a second, at most the control rate, which it is if left out")
    ] = None
    delay: Annotated[float, unit("s", "From a sample to its arrival", ge=0, le=10)] = 0.0

    def fault(self, carrier: Carrier) -> tuple[str, str] | None:
        """A field that cannot be ('' for the whole sensor) and what it must be; None if all is well."""
        if self.rate is not None and self.rate > carrier.control_rate * (1 + 1e-9):
            most = f"loop.control_rate, {carrier.control_rate:g} Hz"
            return "rate", f"must be at most {most}, not {self.rate:g} Hz"
        return None

    def build(self, carrier: Carrier) -> Sensor:
        """The sensor itself."""
        raise NotImplementedError(f"{type(self).__name__} must build its sensor")


class _Mounted:
    """A sensor with its clock, its delay and its generator."""

    def __init__(self, name: str, said: SensorSpec, carrier: Carrier, seed: int) -> None:
        self.sensor = said.build(carrier)
        self.said = said
        self.period = 0.0 if said.rate is None else 1.0 / said.rate
        self.random = np.random.default_rng([seed, crc32(name.encode())])
        self.samples = 0
        self.waiting: list[tuple[float, float, Mapping[str, Numbers]]] = []
        blank = {it.name: np.full(it.shape, np.nan) for it in self.sensor.quantities()}
        self.reading = Reading(blank)

    def show(self, truth: Truth) -> Reading:
        """What it reads once the truth is shown to it."""
        now, near = truth.time, 1e-9
        self.sensor.watch(truth)
        if now + near >= self.samples * self.period:
            self.samples = int(np.floor(now / self.period + near)) + 1 if self.period else self.samples + 1
            values = self.sensor.sample(truth, self.random)
            if values is not None:
                self.waiting.append((now + self.said.delay, now, values))
        latest = self.reading
        self.reading = Reading(latest.values, latest.time)
        while self.waiting and self.waiting[0][0] <= now + near:
            _, taken, values = self.waiting.pop(0)
            self.reading = Reading(dict(values), taken, fresh=True)
        return self.reading


class Sensors:
    """All sensors of a scenario, shown the truth tick by tick.

    Args:
        said: What the scenario says of each, by name.
        carrier: What they are mounted on.
        seed: Of everything random.
    """

    def __init__(self, said: Mapping[str, SensorSpec], carrier: Carrier, seed: int) -> None:
        self._mounted = {name: _Mounted(name, it, carrier, seed) for name, it in said.items()}

    def __bool__(self) -> bool:
        return bool(self._mounted)

    @property
    def quantities(self) -> tuple[Quantity, ...]:
        """All that they read."""
        return tuple(it for each in self._mounted.values() for it in each.sensor.quantities())

    @property
    def readings(self) -> dict[str, Reading]:
        """What each reads now, by its name."""
        return {name: it.reading for name, it in self._mounted.items()}

    def show(self, truth: Truth) -> dict[str, Reading]:
        """Show them what is so at the next tick: what each reads then."""
        return {name: it.show(truth) for name, it in self._mounted.items()}
