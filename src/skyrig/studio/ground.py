"""What surrounds a rig on the page: ground, light, colours of light and dark looks, the path to come."""

from __future__ import annotations

import numpy as np
import viser

from skyrig.flight.flight import Flight
from skyrig.scenario import Scenario

BRAND = (0, 114, 178)


def make_up(server: viser.ViserServer, dark: bool) -> None:
    """Have a page be dark or light, with light from above and a ground that shows shadows."""
    server.gui.configure_theme(
        dark_mode=dark, show_logo=False, show_share_button=False, control_width="medium", brand_color=BRAND
    )
    # light from above in place of a picture of surroundings, which every page would have to unpack first
    server.scene.add_light_hemisphere("/sky", ground_color=(150, 150, 160), intensity=2.0)
    server.scene.add_grid(
        "/ground",
        width=40.0,
        height=40.0,
        cell_size=0.5,
        section_size=1.0,
        cell_color=(205, 208, 213) if not dark else (52, 55, 62),
        section_color=(165, 170, 178) if not dark else (80, 84, 94),
        fade_distance=22.0,
        shadow_opacity=0.3 if not dark else 0.55,
        plane_color=(246, 247, 249) if not dark else (24, 26, 30),
        plane_opacity=1.0,
    )


def reference_path(scenario: Scenario | None, flight: Flight | None) -> np.ndarray | None:
    """Where the payload shall go, a few hundred points (m)."""
    if flight is not None:
        wanted = flight.reference
        return None if wanted is None else wanted.position[:: max(len(flight.times) // 400, 1)]
    motion = None if scenario is None else scenario.motions.payload
    if scenario is None or motion is None:
        return None
    times = np.linspace(0.0, min(float(motion.duration), scenario.duration), 400)
    places = np.asarray(motion.sample(times).position)[:, 0]
    return places if np.ptp(places, axis=0).max() > 1e-6 else None
