"""What viewers may send: messages that the page itself sends, of the right shape, with values that it offers.

viser believes whatever comes: any attribute of a field can be set, to any value. So every message is taken
apart and put together again here first. What is no message of the page is dropped without a word; a value
that a field does not take is told.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Annotated, Any, Literal

import msgspec
import viser

MOST_TEXT = 10_000
"""Bytes in a text field."""
SLACK = 0.1
"""Share of its range that a slider may be beyond it: a page may not have heard that the range moved."""
LARGEST_SIDE = 2048
"""Of a picture that a viewer draws (pixels)."""
_Number = Annotated[float, msgspec.Meta(ge=-1e9, le=1e9)]
"""Of a scene: finite, and not out of this world."""
_Name = Annotated[str, msgspec.Meta(max_length=200)]
_Point = tuple[_Number, _Number, _Number]
_Pixels = Annotated[int, msgspec.Meta(ge=0, le=100_000)]


class _Message(msgspec.Struct, tag_field="type", forbid_unknown_fields=True):
    """Something that viser's page sends; the names are viser's."""


class _Value(msgspec.Struct, forbid_unknown_fields=True):
    value: bool | int | float | str | list[float]


class GuiUpdate(_Message, tag="GuiUpdateMessage"):
    """A field was changed, or a button pressed."""

    uuid: _Name
    updates: _Value


class ViewerCamera(_Message, tag="ViewerCameraMessage"):
    """Where a viewer looks from."""

    wxyz: tuple[_Number, _Number, _Number, _Number]
    position: _Point
    fov: _Number
    near: _Number
    far: _Number
    image_height: _Pixels
    image_width: _Pixels
    look_at: _Point
    up_direction: _Point


class HandleMoved(_Message, tag="TransformControlsUpdateMessage"):
    """The handle in the scene was dragged."""

    name: _Name
    wxyz: tuple[_Number, _Number, _Number, _Number]
    position: _Point
    owner: _Name = ""


class HandleTaken(_Message, tag="TransformControlsDragStartMessage"):
    """The handle was taken."""

    name: _Name
    owner: _Name = ""


class HandleLeft(_Message, tag="TransformControlsDragEndMessage"):
    """The handle was let go."""

    name: _Name
    owner: _Name = ""


class BodyDragged(_Message, tag="SceneNodeDragMessage"):
    """A body in the scene was taken, dragged or let go."""

    phase: Literal["start", "update", "end"]
    name: _Name
    start_position: _Point
    start_screen_pos: tuple[_Number, _Number]
    end_position: _Point
    end_screen_pos: tuple[_Number, _Number]
    button: Literal["left"]
    instance_index: None = None
    modifier: Literal["cmd/ctrl"] | None = None
    owner: Literal[""] = ""


class Key(_Message, tag="CommandTriggerMessage"):
    """A key was pressed, or a command chosen from the list."""

    uuid: _Name


class ViewerPicture(_Message, tag="GetRenderResponseMessage"):
    """What a viewer sees, as asked for."""

    payload: bytes
    render_uuid: _Name


_decode = msgspec.msgpack.Decoder(
    GuiUpdate | ViewerCamera | HandleMoved | HandleTaken | HandleLeft | BodyDragged | Key | ViewerPicture
).decode


class Inbox:
    """Looks at what comes in.

    Attributes:
        fields: The fields of the page by what messages call them, as viser keeps them; none before there is
            a page.
        put: What viewers put into fields last, by the same names: a field itself may show something else by
            the time that somebody looks.
        refuse: What is called with a field and a sentence on a value that it does not take.
    """

    def __init__(self) -> None:
        self.fields: dict[str, Any] = {}
        self.put: dict[str, Any] = {}
        self.refuse: Callable[[Any, str], None] = lambda field, sentence: None

    def look(self, raw: bytes | str) -> bytes | None:
        """What of a message may be believed, or None for nothing."""
        try:
            message = _decode(raw if isinstance(raw, bytes) else raw.encode())
            if isinstance(message, GuiUpdate) and not self._takes(message):
                return None
            if isinstance(message, ViewerPicture) and not _is_small(message.payload):
                message.payload = b""  # as a page says that it cannot draw
            if isinstance(message, HandleMoved) and not 0.5 < math.hypot(*message.wxyz) < 2.0:
                return None
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            return None
        return msgspec.msgpack.encode(message)

    def _takes(self, message: GuiUpdate) -> bool:
        """Whether a field takes what was sent, which is put as the field takes it."""
        field = self.fields.get(message.uuid)
        if field is None:
            return False
        try:
            message.updates.value = accepted(field, message.updates.value)
        except _Refused as refusal:
            self.refuse(field, str(refusal))
            return False
        self.put[message.uuid] = message.updates.value
        return True


def _is_small(picture: bytes) -> bool:
    """Whether it is a PNG no larger than any that is asked for, found out before it is unpacked."""
    sides = [int.from_bytes(picture[at : at + 4], "big") for at in (16, 20)]
    return picture.startswith(b"\x89PNG\r\n\x1a\n") and 0 < min(sides) <= max(sides) <= LARGEST_SIDE


class _Refused(ValueError):
    """A field does not take a value; one sentence says which and why."""


def accepted(field: Any, value: Any) -> Any:
    """`value` as a field of the page takes it: of its kind, among what it offers, within its limits."""
    label, now = getattr(field, "label", "A field"), field.value
    options = getattr(field, "options", None)
    if options is not None:
        return _one(label, value, isinstance(value, str) and value in options, "one of those offered")
    if isinstance(now, bool):
        return _one(label, value, isinstance(value, bool), "on or off")
    if isinstance(now, str):
        size = len(value.encode()) if isinstance(value, str) else 0
        if size > MOST_TEXT:
            raise _Refused(f"{label} may hold {MOST_TEXT} bytes at most, not {size}.")
        return _one(label, value, isinstance(value, str), "text")
    if isinstance(now, int | float):
        late = SLACK * (field.max - field.min) if isinstance(field, viser.GuiSliderHandle) else 0.0
        return _within(label, value, field.min, field.max, late)
    if isinstance(now, tuple) and isinstance(value, list) and len(value) == len(now):
        lows, highs = (limits or [None] * len(now) for limits in (field.min, field.max))
        return [_within(label, *each) for each in zip(value, lows, highs, strict=True)]
    raise _Refused(f"{label} does not take that.")


def _one(label: str, value: Any, right: bool, wanted: str) -> Any:
    if not right:
        raise _Refused(f"{label} must be {wanted}.")
    return value


def _within(label: str, value: Any, low: float | None, high: float | None, late: float = 0.0) -> Any:
    """A finite number from `low` to `high`; one that is beyond by `late` at most becomes the limit."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise _Refused(f"{label} must be a finite number.")
    low, high = -math.inf if low is None else low, math.inf if high is None else high
    if not low - late <= value <= high + late:
        raise _Refused(f"{label} must be from {low:g} to {high:g}.")
    return min(max(value, low), high)
