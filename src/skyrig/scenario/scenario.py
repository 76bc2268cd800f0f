"""A scenario: a rig, a reference, a controller and a duration, checked, with nothing of JAX."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.resources import files as resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from ruamel.yaml import YAML

from skyrig import files
from skyrig.control.known import chosen
from skyrig.errors import InputError
from skyrig.scenario.crosschecks import check
from skyrig.scenario.mechanisms import Place, RigParts
from skyrig.scenario.motions import Motions, motions
from skyrig.scenario.overrides import cut_short, overridden
from skyrig.scenario.parse import parse, plain, read_text, read_values, with_whole_paths
from skyrig.scenario.sentences import nearest, shown
from skyrig.scenario.spec import ControllerSpec, Factors, Spec

if TYPE_CHECKING:
    from skyrig.scenario.build import Built
    from skyrig.scenario.world import ElementSpec

FOLDER = "scenarios"
OBSERVE = 2.0
"""Rate at which controllers that can learn of forces do so where there is wind or drag (rad/s)."""
DEFAULT = "three-dragonflies-circle"
"""What flies when nobody says what."""


@dataclass(frozen=True, eq=False)
class Scenario:
    """What is to be flown; make one with `Scenario.load`, `from_text` or `from_dict`, which check it.

    Attributes:
        spec: The file's fields as typed structs.
        values: The same as plain dictionaries and lists, as they were written.
        where: What error messages begin with; the file's name, say.
        parts: Airframes, payload, attachments and cables.
        believed: The same as the controller is told (its `model` overrides).
        motions: The wanted motion of the payload or of each vehicle.
        duration: How long it flies (s).
        text: The file as it was read, comments included, if nothing was changed.
    """

    spec: Spec
    values: dict[str, Any] = field(repr=False)
    where: str
    parts: RigParts = field(repr=False)
    believed: RigParts = field(repr=False)
    motions: Motions = field(repr=False)
    duration: float
    text: str | None = field(default=None, repr=False)

    @staticmethod
    def load(name_or_path: str | Path) -> Scenario:
        """A bundled scenario by its name, or the one in a YAML file."""
        return load(name_or_path)

    @staticmethod
    def from_text(text: str, where: str = "scenario", directory: str | Path = ".") -> Scenario:
        """The scenario in YAML `text`; files it names are looked for in `directory`."""
        return replace(Scenario.from_dict(read_values(text, where), where, directory), text=text)

    @staticmethod
    def from_dict(
        values: Mapping[str, Any],
        where: str = "scenario",
        directory: str | Path = ".",
        like: Scenario | None = None,
    ) -> Scenario:
        """The scenario in plain `values`, as a YAML file holds them.

        Args:
            values: The fields.
            where: What error messages begin with.
            directory: Where files that it names are looked for.
            like: A scenario whose parts and references serve again where they are said in the same words.
        """
        own = plain(values, where)
        for part in {"reference", "world"} & own.keys():
            own[part] = with_whole_paths(own[part], Path(directory))
        spec = parse(own, where)
        known = None if like is None else like.parts
        same_rig = known is not None and known.said == spec.rig
        parts = known if known is not None and same_rig else spec.rig.parts(Place(where, like=known))
        same_team = like is not None and like.parts.count == parts.count
        if like is not None and same_team and like.spec.reference == spec.reference and _alike(like, parts):
            wanted = like.motions
        else:
            wanted = motions(spec, parts, where)
        duration = check(spec, parts, wanted, where)
        return Scenario(spec, own, where, parts, _believed(own, spec, parts, where), wanted, duration)

    def __repr__(self) -> str:
        from skyrig.scenario.summary import team

        return f"Scenario({self.name!r}, {team(self)}, {self.duration:g} s)"

    def _repr_html_(self) -> str:
        from skyrig.brief import html_table
        from skyrig.scenario.summary import rows

        return html_table((self.name, ""), rows(self), words=True)

    @property
    def name(self) -> str:
        """What its flights are called."""
        return self.spec.name

    @property
    def description(self) -> str:
        """What it shows, on one line."""
        return " ".join(self.spec.description.split())

    @property
    def controller(self) -> ControllerSpec:
        """Who flies."""
        return self.spec.flier

    @cached_property
    def remarks(self) -> tuple[str, ...]:
        """Sentences on what may be flown but deserves a second look."""
        from skyrig.scenario.remarks import remarks

        return remarks(self)

    @cached_property
    def lean(self) -> float | None:
        """How far hovering cables lean outwards where that follows from downwash (rad); None elsewhere.

        It is chosen where there is downwash, the controller can lean cables, and nobody says how far.
        """
        wash = self.spec.elements.get("downwash")
        known = chosen(self.controller.name, self.parts.mechanism).gains.get(self.controller.flavour, ())
        said = self.spec.start.lean is not None or "lean" in self.controller.gains
        if wash is None or said or "lean" not in known:
            return None
        return self.parts.lean(getattr(wash, "payload", 1.0))

    @property
    def gains(self) -> dict[str, Any]:
        """Gains as the scenario says them, and those that follow from what surrounds the rig."""
        controller, found = self.controller, {}
        known = chosen(controller.name, self.parts.mechanism).gains.get(controller.flavour, ())
        if self.lean is not None:
            found["lean"] = self.lean
        if "observe" in known and any(it.pushes for it in self.spec.elements.values()):
            found["observe"] = OBSERVE
        return found | controller.gains

    @property
    def known_drag(self) -> dict[str, ElementSpec]:
        """The elements of its `world:` that its controller may know and feed forward."""
        return {name: it for name, it in self.spec.elements.items() if it.drags}

    def with_overrides(self, changes: Mapping[str, object]) -> Scenario:
        """A copy with some values changed by path, such as {"rig.payload.mass": 0.3}, checked again."""
        if not changes:
            return self
        values = overridden(self.values, changes, self.parts.count, self.where)
        return Scenario.from_dict(values, self.where, like=self)

    def lasting(
        self, duration: float, changes: Mapping[str, object] | None = None
    ) -> tuple[Scenario, tuple[str, ...]]:
        """A copy that flies for `duration` (s), with other changes; what would happen later is left out.

        Returns:
            The scenario, and a sentence on each happening that was left out or cut short.
        """
        given = {key: value for key, value in (changes or {}).items() if key != "duration"}
        values, notes = cut_short(overridden(self.values, given, self.parts.count, self.where), duration)
        return Scenario.from_dict(values, self.where, like=self), notes

    def to_yaml(self) -> str:
        """The whole scenario as YAML, defaults written out; reading it gives the same scenario."""
        writer: Any = YAML(typ="safe", pure=True)  # its types leave out half of its settings
        writer.default_flow_style = None
        writer.sort_base_mapping_type_on_output = False
        writer.width = 100
        stream = io.StringIO()
        writer.dump(_said(msgspec.to_builtins(self.spec)), stream)
        return stream.getvalue()

    def build(self) -> Built:
        """Live objects to fly with: rig, start state, references, happenings. This imports JAX."""
        from skyrig.scenario.build import build

        return build(self)


def load(name_or_path: str | Path) -> Scenario:
    """A bundled scenario by its name, or the one in a YAML file.

    Raises:
        InputError: If there is no such scenario or it cannot be flown; one sentence says why.
    """
    name = str(name_or_path)
    known = names()
    if isinstance(name_or_path, str) and name in known:
        return Scenario.from_text(bundled_text(name), f"{FOLDER}/{name}.yaml")
    path = Path(name_or_path)
    looks_like_a_path = isinstance(name_or_path, Path) or path.suffix in (".yaml", ".yml") or "/" in name
    if not looks_like_a_path and not _exists(path):
        raise InputError(
            f"{shown(name)} is neither a file nor a bundled scenario{nearest(name, known)}; "
            "'skyrig list' shows them."
        )
    return Scenario.from_text(read_text(path), str(path), path.parent)


def names() -> tuple[str, ...]:
    """The names of the scenarios that come with skyrig."""
    return files.bundled_names(FOLDER)


def bundled_text(name: str) -> str:
    """The bundled file of that name, comments included."""
    return (resources("skyrig") / "data" / FOLDER / f"{name}.yaml").read_text(encoding="utf-8")


def _alike(like: Scenario, parts: RigParts) -> bool:
    """Whether another scenario's references serve these parts: those that plan for a rig may not."""
    return like.motions.begin is None or like.parts is parts


def _believed(values: dict[str, Any], spec: Spec, parts: RigParts, where: str) -> RigParts:
    """The rig as the controller is told."""
    told_of = spec.flier
    believed = _modelled(values, told_of.model, parts, where) if told_of.model else parts
    if told_of.factors == Factors():
        return believed
    return believed.believed(told_of.factors, Place(where, "controller.factors"))


def _modelled(values: dict[str, Any], model: dict[str, Any], parts: RigParts, where: str) -> RigParts:
    """The rig with some of its values replaced by those of `model`."""
    place = f"{where}: controller.model"
    try:
        changes = {f"rig.{path}": value for path, value in _flat(model).items()}
        known = parse(overridden(values, changes, parts.count, place), place)
        believed = known.rig.parts(Place(place))
    except InputError as error:
        text = str(error)
        raise InputError(text if text.startswith(where) else f"{place}: {text}") from None
    if believed.count != parts.count or believed.mechanism != parts.mechanism:
        raise InputError(f"{place} must leave the number of vehicles and the mechanism as they are.")
    return believed


def _flat(model: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """Nested mappings as dotted paths."""
    flat: dict[str, Any] = {}
    for key, value in model.items():
        if isinstance(value, Mapping):
            flat |= _flat(value, f"{before}{key}.")
        else:
            flat[f"{before}{key}"] = value
    return flat


def _said(value: Any) -> Any:
    """Without what is not said (None), tuples being lists."""
    if isinstance(value, dict):
        return {key: _said(item) for key, item in value.items() if item is not None}
    if isinstance(value, list | tuple):
        return [_said(item) for item in value]
    return value


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        return False
