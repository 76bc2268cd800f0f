"""What skyrig raises: one sentence that names the field, the value and what would be right."""


class InputError(ValueError):
    """Something handed in cannot be flown; the message names the field and its value."""


class FlightDiverged(RuntimeError):
    """A state turned non-finite (or events could not be resolved) while flying."""
