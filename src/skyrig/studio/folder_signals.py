"""The folder above the plots in which one chooses what is plotted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skyrig.studio.traces import traces

if TYPE_CHECKING:
    from skyrig.studio.panel import Panel

PICK = "(choose)"


class SignalsFolder:
    """What is plotted, for everybody: any signal of any body."""

    def __init__(self, panel: Panel) -> None:
        self.panel = panel
        gui, studio = panel.studio.server.gui, panel.studio
        self.more: Any = gui.add_dropdown("Plot", (PICK,), hint="Type to search: any signal of any body")
        self.less: Any = gui.add_dropdown("Leave out", (PICK,), hint="One of the plots on show")
        usual = gui.add_button("The usual plots")
        self.more.on_update(panel.trying(lambda event: self._choose(event.target.value, True)))
        self.less.on_update(panel.trying(lambda event: self._choose(event.target.value, False)))
        usual.on_click(panel.trying(lambda event: studio.choose(None)))

    def renew(self) -> None:
        """Offer what the rig on show has."""
        studio = self.panel.studio
        first, rig = studio.first, studio.shown
        every = () if first is None or rig is None else tuple(traces(first, rig))
        shown = [name for name in studio.plotted if name in every]
        for field, names in (
            (self.more, [name for name in every if name not in shown]),
            (self.less, shown),
        ):
            options = (PICK, *names)
            if tuple(field.options) != options:
                field.options = options
            if field.value != PICK:
                field.value = PICK

    def _choose(self, name: str, more: bool) -> None:
        if name == PICK:
            return
        studio = self.panel.studio
        kept = [it for it in studio.plotted if it != name]
        studio.choose([name, *kept] if more else kept)
