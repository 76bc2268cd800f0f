"""Light viewers of a studio, for `benchmarks/studio.py`: what viser's page does on the wire, and no drawing.

Each takes every message, answers the server's pings, and tells where it looks from when it comes and every
two seconds after, going round the rig as a person does who turns the view. They run in a process of their
own, so that the studio's memory and processor time are its own: `python benchmarks/studio_viewers.py ADDRESS
COUNT`.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import version

import msgspec
import websockets

EVERY = 2.0
"""How often a viewer tells where it looks from (s)."""


def camera(turn: float) -> bytes:
    """What the page sends of a camera that stands `turn` (rad) round the rig."""
    position = (4.0 * math.cos(turn), 4.0 * math.sin(turn), 2.5)
    return msgspec.msgpack.encode(
        {
            "type": "ViewerCameraMessage",
            "wxyz": (1.0, 0.0, 0.0, 0.0),
            "position": position,
            "fov": 0.75,
            "near": 0.01,
            "far": 1000.0,
            "image_height": 800,
            "image_width": 1280,
            "look_at": (0.0, 0.0, 1.2),
            "up_direction": (0.0, 0.0, 1.0),
        }
    )


async def view(address: str, number: int) -> None:
    """Be one viewer, for good."""
    protocol: websockets.Subprotocol = websockets.Subprotocol(f"viser-v{version('viser')}")
    url = address.replace("http", "ws", 1)
    async with websockets.connect(url, subprotocols=[protocol], max_size=None, compression=None) as socket:

        async def look() -> None:
            for moment in range(10**9):
                await socket.send(camera(0.1 * moment + number))
                await asyncio.sleep(EVERY)

        async def take() -> None:
            async for _ in socket:
                pass

        await asyncio.gather(look(), take())


@contextlib.contextmanager
def viewers(address: str, count: int) -> Iterator[None]:
    """So many viewers, in another process."""
    process = subprocess.Popen([sys.executable, __file__, address, str(count)])
    try:
        yield
    finally:
        process.terminate()
        process.wait(timeout=10)


async def main() -> None:
    """Be as many viewers as were asked for."""
    await asyncio.gather(*(view(sys.argv[1], number) for number in range(int(sys.argv[2]))))


if __name__ == "__main__":
    asyncio.run(main())
