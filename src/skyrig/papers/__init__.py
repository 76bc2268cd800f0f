"""Papers whose results skyrig runs again, side by side with what they printed."""

from __future__ import annotations

PAPERS: dict[str, str] = {
    "multilift": "skyrig.papers.multilift",
    "rotortm": "skyrig.papers.rotortm",
    "cooperative-manipulation": "skyrig.papers.cooperative",
    "auto-multilift": "skyrig.papers.auto_multilift",
    "soft-aerial-manipulation": "skyrig.papers.soft_aerial",
}
"""The module of each paper, by its name on the command line; each has `choose` and `reproduce`."""
