"""Links that open what is on show: the scenario or flight, the moment, the plots, the looks, the camera."""

from __future__ import annotations

import base64
import binascii
import zlib
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlencode

import numpy as np

from skyrig import files
from skyrig.errors import InputError
from skyrig.flight.flight import Flight
from skyrig.flight.storage import load as load_flight
from skyrig.scenario import Scenario, load, names
from skyrig.scenario.scenario import bundled_text
from skyrig.studio.look import Look

if TYPE_CHECKING:
    from skyrig.studio.app import Studio

MOST = 7000
"""Characters of a link: servers take no longer ones."""
MOST_TEXT = 200_000
"""Bytes of a scenario, unpacked."""
MOST_BYTES = 2**28
"""No flight that a page opens is larger, packed or unpacked."""


def link(studio: Studio, client: Any = None) -> str:
    """The address that opens what `studio` shows, as a viewer sees it.

    Raises:
        InputError: If what is on show is in no file, or its scenario is too long.
    """
    session = studio.session
    view = session.view()
    told: dict[str, str] = {}
    if session.flight is not None:
        if studio.file is None:
            raise InputError("What is on show is in no file: save it first, and open that.")
        told["flight"] = str(studio.file)
    elif session.scenario is not None:
        told |= _scenario(session.scenario)
    if view is not None:
        told["t"] = f"{float(view.frame.times[0]):.4g}"
    if studio.plots is not None:
        told["plots"] = ";".join(studio.plots)
    told["look"] = ",".join(it.name for it in fields(Look) if getattr(studio.look, it.name))
    if client is not None:
        for name, place in (("Position", client.camera.position), ("LookAt", client.camera.look_at)):
            told[f"initialCamera{name}"] = ",".join(f"{float(it):.3f}" for it in place)
    made = f"{studio.address}/?{urlencode(told)}"
    if len(made) > MOST:
        raise InputError("The scenario is too long for a link: save it as YAML instead.")
    return made


def follow(studio: Studio, query: str) -> None:
    """Show what a link leads to; `query` is what follows its question mark.

    Raises:
        InputError: If there is no such thing, or it may not be opened from here.
    """
    told = {name: values[-1] for name, values in parse_qs(query).items()}
    with files.only_under(studio.folders):
        if told.keys() & {"flight", "yaml", "open"}:
            eye, target = (_place(told.get(f"initialCamera{name}")) for name in ("Position", "LookAt"))
            studio.cameras.expect(eye, target)
        if "flight" in told:
            studio.show(opened(told["flight"]), told["flight"])
        elif "yaml" in told or "open" in told:
            known = _named(told["open"]) if "open" in told else _unpacked(told["yaml"])
            studio.session.open(known, until=_moment(told.get("t")))
    if "flight" in told and "t" in told:
        studio.session.scrub(_moment(told["t"]))
    if "look" in told:
        on = told["look"].split(",")
        studio.dress(replace(studio.look, **{it.name: it.name in on for it in fields(Look)}))
    if "plots" in told:
        studio.choose([name for name in told["plots"].split(";") if name])


def opened(path: str | Path) -> Flight:
    """The flight in a file of no more than what a page opens."""
    return load_flight(Path(path), MOST_BYTES)


def _scenario(known: Scenario) -> dict[str, str]:
    """A bundled scenario by its name, any other whole."""
    if known.name in names() and known.text == bundled_text(known.name):
        return {"open": known.name}
    packed = zlib.compress(known.to_yaml().encode(), 9)
    return {"yaml": base64.urlsafe_b64encode(packed).decode()}


def _named(name: str) -> Scenario:
    if name not in names():
        raise InputError(f"The link names no bundled scenario: {name[:80]!r}.")
    return load(name)


def _unpacked(text: str) -> Scenario:
    try:
        packed = base64.b64decode(text.encode(), altchars=b"-_", validate=True)
        plain = zlib.decompressobj().decompress(packed, MOST_TEXT).decode()
    except (binascii.Error, zlib.error, UnicodeError):
        raise InputError("The link is not whole: copy it again.") from None
    return Scenario.from_text(plain, "link")


def _place(text: str | None) -> np.ndarray | None:
    """A place that a link tells of (m); None where it is none."""
    try:
        place = np.array([float(part) for part in (text or "").split(",")])
    except ValueError:
        return None
    return place if place.shape == (3,) and np.isfinite(place).all() else None


def _moment(text: str | None) -> float:
    try:
        moment = float(text or 0.0)
    except ValueError:
        raise InputError(f"The link's moment must be a number (s), not {str(text)[:80]!r}.") from None
    if not 0.0 <= moment < 1e4:
        raise InputError(f"The link's moment must be from 0 to 10000 s, not {moment:g}.")
    return moment
