"""A page of the browser, found out and acted on as a person does."""

from pathlib import Path
from typing import Any

ARTEFACTS = Path(__file__).parents[2] / "artefacts"
PATIENCE = 120_000
"""How long a page may take (ms): compiling, and drawing without a graphics card, is slow at times."""
HOVER = "three-dragonflies-poke"
OTHER = "drop-open-loop"
"""Opened in between, so that whatever was done to the other is forgotten."""

BEHIND = "Tried to update non-existent component"
EVALUATED = "Evaluating a string as JavaScript violates"
PASSIVE = "Unable to preventDefault inside passive event listener"


class Watched:
    """A page with what its console complained about."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.complaints: list[str] = []
        page.set_default_timeout(PATIENCE)
        page.on("console", lambda message: self._heard(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: self._heard(str(error)))

    def _heard(self, complaint: str) -> None:
        """Keep what the console calls an error.

        All but three. When the panel is rebuilt, viser's page may learn that a plot is gone before it learns
        that it was hidden, says so, and carries on. How the two messages fall is not ours to say. And the
        page's part for clouds of splats, which the studio has none of, may not make functions from text.
        And where a body is dragged, it asks in vain that the browser do nothing of its own.
        """
        if not complaint.startswith((BEHIND, EVALUATED, PASSIVE)):
            self.complaints.append(complaint)

    def readout(self, name: str) -> str:
        """What an element of the page says."""
        return self.page.locator(f'[data-readout="{name}"]').first.inner_text().strip()

    def number(self, name: str) -> float:
        """The number that an element of the page shows."""
        return float(self.readout(name))

    def wait(self, name: str, condition: str) -> None:
        """Wait until JavaScript `condition` holds of a readout's text `it`."""
        self.page.wait_for_function(
            f"""() => {{ const e = document.querySelector('[data-readout="{name}"]');
            if (!e) return false; const it = e.textContent.trim(); return {condition}; }}""",
            polling=200,
        )

    def ready(self, name: str | None = None) -> None:
        """Wait until a flight is compiled and can be played."""
        if name is not None:
            self.wait("name", f"it === {name!r}")
        self.page.wait_for_selector('[data-readout="status"][data-status="ready"]', state="attached")

    def press(self, name: str) -> None:
        """Press a button by its words."""
        self.page.get_by_role("button", name=name, exact=True).first.click()

    def tab(self, name: str) -> None:
        """Show a tab of the panel."""
        self.page.get_by_role("tab", name=name, exact=True).first.click()

    def box(self, label: str) -> Any:
        """The input that stands beside a label."""
        found = self.page.evaluate_handle(
            """label => { for (const it of document.querySelectorAll('label')) {
                if (it.innerText.trim() !== label || !it.offsetParent) continue;
                for (let up = it; up; up = up.parentElement) {
                    const box = up.querySelector('input:not([type=hidden]), textarea');
                    if (box) return box; } } return null; }""",
            label,
        ).as_element()
        assert found is not None, f"The page has no field {label!r}."
        return found

    def field(self, label: str, value: str) -> None:
        """Write into a field of the panel."""
        box = self.box(label)
        box.fill(value)
        box.press("Tab")

    def pick(self, label: str, value: str) -> None:
        """Choose from a list of the panel."""
        self.box(label).click()
        self.page.get_by_role("option", name=value, exact=True).first.click()

    def tick(self, label: str) -> None:
        """Press a check box."""
        self.box(label).click()

    def scene(self) -> tuple[float, float, float, float]:
        """Where on the page the scene is drawn: left, top, width and height (pixels)."""
        left, top, wide, high = self.page.evaluate(
            """() => { const all = [...document.querySelectorAll('canvas')];
            const boxes = all.map(it => it.getBoundingClientRect()), area = it => it.width * it.height;
            const it = boxes.reduce((a, b) => area(a) >= area(b) ? a : b);
            return [it.left, it.top, it.width, it.height]; }"""
        )
        return left, top, wide, high

    def redraw(self) -> None:
        """Wait until the page has drawn whatever it knows by now."""
        self.page.evaluate(
            """() => new Promise(done => {
            const again = left => left ? requestAnimationFrame(() => again(left - 1)) : done();
            again(4); })"""
        )

    def drag(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        """Drag with the mouse from one point of the page to another (pixels)."""
        self.page.mouse.move(*start)
        self.page.mouse.down()
        self.page.mouse.move(*end, steps=8)
        self.page.mouse.up()

    def shoot(self, name: str) -> None:
        """Keep a picture of the page."""
        ARTEFACTS.mkdir(exist_ok=True)
        self.page.screenshot(path=ARTEFACTS / f"{name}.png", timeout=PATIENCE)


def opened(studio: str, open_page: Any, name: str = HOVER) -> Watched:
    """A page that shows a scenario from its start, ready to be played."""
    it = open_page(studio)
    it.page.wait_for_selector('[data-readout="name"]', state="attached")
    it.tab("Scenario")
    it.pick("Scenario", OTHER)
    it.wait("name", f"it === {OTHER!r}")
    it.pick("Scenario", name)
    it.ready(name)
    it.wait("time", "Number(it) === 0")
    return it
