"""Messages to a page, added by several threads."""

from collections.abc import Iterator

import pytest

from skyrig.studio.app import Studio


@pytest.fixture
def studio() -> Iterator[Studio]:
    made = Studio(port=0)
    yield made
    made.close()


def test_a_message_is_sent_though_the_sender_falls_asleep_at_that_instant(
    studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    buffer = studio.server._websock_server.get_message_buffer()
    woken = []

    class Asleep:
        """An event as it is when its waiters change while they are woken, once."""

        def set(self) -> None:
            woken.append(True)
            if len(woken) == 1:
                raise RuntimeError("deque mutated during iteration")

    monkeypatch.setattr(buffer, "message_event", Asleep())
    before = len(buffer.message_from_id)
    studio.server.gui.add_markdown("something new")
    assert len(buffer.message_from_id) > before
    monkeypatch.undo()
