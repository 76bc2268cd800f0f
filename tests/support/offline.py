"""A page of one flight, played without a network."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser_page import PATIENCE, Watched

from skyrig.flight import Flight


def plays_offline(browser: Any, file: Path, name: str, second: Flight | None = None) -> None:
    """Open a page without a network, play it, scrub it, and see that the picture changes.

    A second flight, if there is one, is where it was at the first one's time.
    """
    context = browser.new_context(
        offline=True, viewport={"width": 1100, "height": 800}, device_scale_factor=0.5
    )
    it = Watched(context.new_page())
    it.page.goto(file.as_uri())
    it.page.locator("canvas").scroll_into_view_if_needed()
    it.wait("time", "it === '0.00'")
    still = it.page.locator("canvas").screenshot(timeout=PATIENCE)
    it.press("Play")
    it.wait("time", "Number(it) > 2.05")
    it.press("Pause")
    moved = it.page.locator("canvas").screenshot(timeout=PATIENCE)
    assert moved != still
    it.page.evaluate(
        """() => { const s = document.querySelector('[data-player="time"]'); s.value = 2.1;
        s.dispatchEvent(new Event('input')); }"""
    )
    it.wait("time", "it === '2.10'")
    it.wait("z", "Number(it) > 1.5")
    it.wait("cable-1", "it.includes('slack')")
    if second is not None:
        place = second.payload.position[np.searchsorted(second.times, 2.1)]
        for k, axis in enumerate("xyz"):
            assert it.number(f"overlay-{axis}") == pytest.approx(place[k], abs=2e-3)
    it.shoot(name)
    assert it.complaints == []
    context.close()
