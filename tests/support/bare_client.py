"""A websocket client that is no page: it says what it likes, and knows what the studio shows."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgspec
import viser
import zstandard
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

CAMERA = {
    "type": "ViewerCameraMessage",
    "wxyz": [1.0, 0.0, 0.0, 0.0],
    "position": [3.0, 0.0, 1.0],
    "fov": 0.75,
    "near": 0.01,
    "far": 1000.0,
    "image_height": 360,
    "image_width": 640,
    "look_at": [0.0, 0.0, 1.0],
    "up_direction": [0.0, 0.0, 1.0],
}


class Bare:
    """One connection. What the studio says is read in a thread of its own.

    Attributes:
        fields: What messages call a field, by its label.
        texts: What the studio shows as HTML, by what messages call it.
    """

    def __init__(self, link: Any) -> None:
        self.link = link
        self.fields: dict[str, str] = {}
        self.texts: dict[str, str] = {}
        self._unpack = zstandard.ZstdDecompressor()
        threading.Thread(target=self._listen, daemon=True).start()

    def send(self, message: Any) -> None:
        """Send what is no bytes yet as a message of viser's."""
        self.link.send(message if isinstance(message, bytes | str) else msgspec.msgpack.encode(message))

    def put(self, label: str, value: Any) -> None:
        """Change a field, or press a button (True)."""
        self.send({"type": "GuiUpdateMessage", "uuid": self.fields[label], "updates": {"value": value}})

    @property
    def said(self) -> str:
        """All HTML on the page."""
        return "\n".join(list(self.texts.values()))

    def _listen(self) -> None:
        try:
            for raw in self.link:
                length = int.from_bytes(raw[8:16], "little")
                whole = msgspec.msgpack.decode(self._unpack.decompress(raw[16 : 16 + length]))
                for message in whole["messages"]:
                    self._note(message)
        except ConnectionClosed:
            pass

    def _note(self, message: dict[str, Any]) -> None:
        props = message.get("props") or message.get("updates") or {}
        if "uuid" in message and isinstance(props, dict):
            if props.get("label") and "value" in message:
                self.fields[props["label"]] = message["uuid"]
            if "content" in props:
                self.texts[message["uuid"]] = props["content"]


@contextmanager
def bare(address: str) -> Iterator[Bare]:
    """A client that has said from where it looks, so that the studio takes it for a viewer."""
    protocol: Any = f"viser-v{viser.__version__}"
    with connect(
        address.replace("http", "ws", 1), subprotocols=[protocol], compression=None, max_size=None
    ) as link:
        client = Bare(link)
        client.send(CAMERA)
        yield client
