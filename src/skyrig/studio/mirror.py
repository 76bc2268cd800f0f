"""Fields of the page that show a state: what is so is kept elsewhere, and the page follows it."""

from __future__ import annotations

from typing import Any


class Mirror:
    """Writes fields when what they show has changed, and only then: a viewer may be at one of them just now.

    Args:
        send: Tells every page once more what a field holds.
    """

    def __init__(self, send: Any) -> None:
        self._send = send
        self._shown: dict[int, tuple[Any, Any]] = {}

    def show(self, field: Any, value: Any) -> None:
        """Have `field` show `value`, unless that is what it was last told to show."""
        if self._shown.get(id(field), (None, None))[1] == value:
            return
        options = getattr(field, "options", None)
        if options is not None and value not in options:
            field.options = (*options, value)
        if field.value != value:
            field.value = value
        self._shown[id(field)] = (field, value)  # the field itself too, so that its number stays its own

    def forget(self, field: Any) -> None:
        """Have a field shown its state again, though that is what it was last told to show."""
        self._shown.pop(id(field), None)

    def again(self, field: Any) -> None:
        """Have pages show what a field holds: what a viewer put there was not taken."""
        self.forget(field)
        self._send(field)
