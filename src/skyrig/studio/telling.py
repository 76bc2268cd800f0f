"""Words on what went wrong, for the page and for the terminal, that do not repeat what was sent at length."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Iterable

from skyrig.errors import FlightDiverged, InputError

REPEATED = 80
"""Characters in a row of what somebody sent that a sentence repeats at most."""
LONGEST = 400
"""Characters in a sentence."""


def brief(sentence: str, sent: Iterable[str] = ()) -> str:
    """`sentence` without long pieces of what was `sent`, as it was or as messages quote it."""
    quoted = {form for text in sent if len(text) > REPEATED for form in (text, repr(text), _one_line(text))}
    start = 0
    while start + REPEATED < len(sentence):
        end = start + REPEATED + 1
        if any(sentence[start:end] in text for text in quoted):
            while end < len(sentence) and any(sentence[start : end + 1] in text for text in quoted):
                end += 1
            sentence = f"{sentence[: start + REPEATED - 3]}...{sentence[end:]}"
            start += REPEATED
        start += 1
    return sentence if len(sentence) <= LONGEST else f"{sentence[: LONGEST - 3]}..."


def complain(error: BaseException) -> str:
    """Print where an error came from that nobody expected, for whoever mends it; its kind in few words."""
    where = "".join(traceback.format_tb(error.__traceback__))
    what = f"{type(error).__name__}: {str(error)[:REPEATED]}"
    print(f"Not expected (the studio goes on):\n{where}{what}", file=sys.stderr, flush=True)
    return f"something unexpected happened ({type(error).__name__}), and the terminal says where"


def reason(error: Exception, what: str) -> str:
    """Why something could not be done: the sentence of an error of skyrig's, `what` for any other."""
    return str(error) if isinstance(error, FlightDiverged | InputError) else f"{what}: {complain(error)}."


def _one_line(text: str) -> str:
    return " ".join(text.split())
