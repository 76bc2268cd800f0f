"""A flight live in Foxglove: whoever connects on this machine gets frames and the scene."""

import asyncio
import json
import socket
import threading

import numpy as np
import pytest
import websockets

import skyrig
from skyrig.bridges.foxglove_live import fly_live


async def look(port: int, got: dict) -> None:
    """Connect as soon as somebody listens, ask for everything, count what comes."""
    for _ in range(600):
        try:
            server = await websockets.connect(f"ws://127.0.0.1:{port}", subprotocols=["foxglove.sdk.v1"])
            break
        except OSError:
            await asyncio.sleep(0.05)
    got["address"] = server.remote_address[0]
    try:
        async for message in server:
            if isinstance(message, bytes):
                got["messages"] += 1
            elif (told := json.loads(message)).get("op") == "advertise":
                channels = told["channels"]
                got["topics"] |= {it["topic"]: it["schemaName"] for it in channels}
                wanted = [{"id": k, "channelId": it["id"]} for k, it in enumerate(channels, 1)]
                await server.send(json.dumps({"op": "subscribe", "subscriptions": wanted}))
    except websockets.ConnectionClosed:
        pass


@pytest.mark.slow
def test_who_connects_sees_the_flight() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    got: dict = {"topics": {}, "messages": 0}
    viewer = threading.Thread(target=lambda: asyncio.run(look(port, got)), daemon=True)
    viewer.start()
    scenario = skyrig.load("one-dragonfly-circle").with_overrides({"duration": 1.5})
    flight = fly_live(scenario, port, pace=1.0)
    viewer.join(10)
    assert got["topics"]["/tf"] == "foxglove.FrameTransforms"
    assert got["topics"]["/scene/bodies"] == got["topics"]["/scene/cables"] == "foxglove.SceneUpdate"
    assert got["messages"] > 10
    # looking on changes nothing
    assert np.array_equal(flight.payload.position, skyrig.fly(scenario).payload.position)
