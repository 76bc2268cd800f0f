"""Output that may end early: when whoever reads it leaves, the command goes on to its end in silence."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class _Patient:
    """A stream that does not mind its reader leaving."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write `text`, or drop it where nobody reads."""
        try:
            self._stream.write(text)
        except BrokenPipeError:
            self._silence()
        return len(text)

    def flush(self) -> None:
        """Hand over what was written."""
        try:
            self._stream.flush()
        except BrokenPipeError:
            self._silence()

    def _silence(self) -> None:
        """From now on, and when the interpreter flushes on its way out, everything goes nowhere."""
        with contextlib.suppress(OSError, ValueError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self._stream.fileno())
            os.close(nowhere)


@contextmanager
def patient_output() -> Iterator[None]:
    """Within it, standard output and errors may lose their readers."""
    kept = sys.stdout, sys.stderr
    patient: Any = [_Patient(stream) for stream in kept]
    sys.stdout, sys.stderr = patient
    try:
        yield
    finally:
        for stream in patient:
            stream.flush()
        sys.stdout, sys.stderr = kept
