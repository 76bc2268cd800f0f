"""Who gets in: bare clients that name any host, any origin and any path."""

import http.client
from collections.abc import Iterator
from typing import Any

import pytest
import viser
import websockets.asyncio.server
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from skyrig.errors import InputError
from skyrig.studio import door
from skyrig.studio.app import Studio
from skyrig.studio.door import is_loopback

PROTOCOL: Any = f"viser-v{viser.__version__}"


@pytest.fixture(scope="module")
def closed_studio() -> Iterator[Studio]:
    """One that serves a page and flies nothing."""
    made = Studio(port=0)
    yield made
    made.close()


@pytest.fixture(scope="module")
def open_studio() -> Iterator[Studio]:
    """One that listens on every address of this machine."""
    made = Studio(host="0.0.0.0", port=0)
    yield made
    made.close()


def page(studio: Studio, path: str = "/", **headers: str) -> http.client.HTTPResponse:
    link = http.client.HTTPConnection("127.0.0.1", studio.server.get_port(), timeout=300)
    link.putrequest("GET", path, skip_host="Host" in headers)
    for name, value in headers.items():
        for each in value.split("|"):
            link.putheader(name, each)
    link.endheaders()
    answer = link.getresponse()
    answer.body = answer.read()
    link.close()
    return answer


def socket(studio: Studio, path: str = "/", **headers: str) -> int:
    """The status that answers whoever wants a websocket: 101 is one."""
    address = f"ws://127.0.0.1:{studio.server.get_port()}{path}"
    own = {"additional_headers": headers} if headers else {}
    try:
        with connect(address, subprotocols=[PROTOCOL], compression=None, **own) as link:
            assert link.recv(timeout=300)
            return 101
    except InvalidStatus as refusal:
        return refusal.response.status_code


def test_own_addresses_come_in(closed_studio: Studio) -> None:
    port = closed_studio.server.get_port()
    for host in (f"127.0.0.1:{port}", f"localhost:{port}", f"LOCALHOST:{port}", f"[::1]:{port}"):
        answer = page(closed_studio, Host=host)
        assert answer.status == 200 and b"<html" in answer.body
        assert page(closed_studio, Host=host, Origin=f"http://{host}").status == 200
    assert socket(closed_studio) == 101, "a script is no page and gives no origin"
    for host in (f"127.0.0.1:{port}", f"localhost:{port}", f"[::1]:{port}"):
        assert socket(closed_studio, Origin=f"http://{host}") == 101


def test_other_hosts_stay_out(closed_studio: Studio) -> None:
    port = closed_studio.server.get_port()
    for host in (
        "evil.example",
        f"evil.example:{port}",
        "127.0.0.1",
        f"127.0.0.1:{port + 1}",
        f"localhost.evil.example:{port}",
        f"127.0.0.1.evil.example:{port}",
        f"user@127.0.0.1:{port}",
        f"192.0.2.1:{port}",
        f"0.0.0.0:{port}",
        f"127.0.0.1:{port}, evil.example",
        f"127.0.0.1:{port}|evil.example",
        "",
    ):
        answer = page(closed_studio, Host=host)
        assert answer.status in (400, 403), host
        assert b"evil" not in answer.body and len(answer.body) < 200


def test_other_origins_stay_out(closed_studio: Studio) -> None:
    port = closed_studio.server.get_port()
    for origin in (
        "https://evil.example",
        f"http://evil.example:{port}",
        "null",
        "",
        "file://",
        "http://127.0.0.1",
        f"http://127.0.0.1:{port + 1}",
        f"https://127.0.0.1:{port}",
        f"http://127.0.0.1:{port}.evil.example",
        f"http://127.0.0.1:{port}/path",
        f"ws://127.0.0.1:{port}",
    ):
        assert socket(closed_studio, Origin=origin) == 403, origin
        assert page(closed_studio, Origin=origin).status == 403, origin
    assert page(closed_studio, Origin=f"http://127.0.0.1:{port}|https://evil.example").status == 403


def test_what_comes_out_cannot_be_framed_nor_leaves(closed_studio: Studio) -> None:
    for answer in (
        page(closed_studio),
        page(closed_studio, path="/none"),
        page(closed_studio, Host="evil.example"),
    ):
        policy = answer.headers["Content-Security-Policy"]
        assert "frame-ancestors 'none'" in policy and "default-src 'none'" in policy
        assert answer.headers["X-Frame-Options"] == "DENY"
        assert answer.headers["Referrer-Policy"] == "no-referrer"
    port = closed_studio.server.get_port()
    own = f"127.0.0.1:{port}"
    policy = page(closed_studio).headers["Content-Security-Policy"]
    assert f"connect-src ws://{own} http://{own} data: blob:" in policy  # it asks whether the studio is there
    assert page(closed_studio, "/alive").status == 200


def test_links_lead_only_those_who_follow_them_on_purpose(closed_studio: Studio) -> None:
    followed: list[str] = []
    usual, closed_studio.door.visited = closed_studio.door.visited, followed.append
    for site, mode in (("cross-site", "navigate"), ("same-site", "navigate"), ("none", "no-cors")):
        marks = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": mode}
        assert page(closed_studio, "/?open=figure-8", **marks).status == 200
    assert page(closed_studio, "/?open=figure-8").status == 200 and followed == []
    marks = {"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate"}
    assert page(closed_studio, "/?open=figure-8", **marks).status == 200
    assert followed == ["open=figure-8"]
    closed_studio.door.visited = usual


def test_others_than_this_machine_need_a_token(open_studio: Studio, closed_studio: Studio) -> None:
    assert closed_studio.door.token == "" and closed_studio.address.count("/") == 2
    token, port = open_studio.door.token, open_studio.server.get_port()
    assert len(token) >= 24 and open_studio.address == f"http://localhost:{port}/{token}"
    assert page(open_studio, f"/{token}").status == page(open_studio, f"/{token}/?websocket=x").status == 200
    assert page(open_studio, f"/{token}/none").status == 404
    assert socket(open_studio, f"/{token}") == 101
    assert socket(open_studio, f"/{token}", Origin=f"http://127.0.0.1:{port}") == 101
    assert socket(open_studio, f"/{token}", Origin="https://evil.example") == 403
    assert page(open_studio, f"/{token}", Host=f"evil.example:{port}").status == 403
    for path in ("/", f"/{token[:-1]}", f"/{token}x", f"/x/{token}", f"/?{token}", f"//{token}", "/%C3%A9"):
        assert page(open_studio, path).status == 403, path
    assert socket(open_studio) == socket(open_studio, "/wrong") == 403


def test_what_host_names_is_an_own_address() -> None:
    assert is_loopback("127.0.0.1") and is_loopback("localhost") and is_loopback("::1")
    assert not is_loopback("0.0.0.0") and not is_loopback("::") and not is_loopback("192.0.2.1")
    named = door.Door("Rig.Example")
    request = websockets.asyncio.server.Request(f"/{named.token}", websockets.Headers(Host="rig.example:99"))
    assert named.token and named.refusal(request, "192.0.2.1", 99) is None
    request.headers["Origin"] = "http://192.0.2.1:99"
    assert named.refusal(request, "192.0.2.1", 99) is None
    assert named.refusal(request, "192.0.2.2", 99) is not None


def test_an_unknown_viser_is_not_served(monkeypatch: pytest.MonkeyPatch) -> None:
    real = websockets.asyncio.server.serve
    elsewhere = viser.infra._infra.websockets

    class Otherwise:
        """A viser that calls its server by another name."""

        Headers, exceptions, datastructures = (
            elsewhere.Headers,
            elsewhere.exceptions,
            elsewhere.datastructures,
        )
        asyncio: Any = type("asyncio", (), {"server": type("server", (), {"serve": real})})

    monkeypatch.setattr(viser.infra._infra, "websockets", Otherwise)
    with pytest.raises(InputError, match="cannot guard viser"):
        Studio(port=0)
    monkeypatch.undo()
    monkeypatch.setattr(door, "FIELDS", "no_such_thing")
    with pytest.raises(InputError, match="cannot guard viser"):
        Studio(port=0)
    assert websockets.asyncio.server.serve is real
