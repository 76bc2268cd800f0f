"""A page of another address in a real browser: it cannot connect to the studio, show it, nor lead it away."""

import http.server
import threading
from collections.abc import Iterator
from typing import Any

import pytest
import viser
from browser_page import PATIENCE, Watched
from websockets.sync.server import serve

from skyrig.studio.app import Studio

pytestmark = [pytest.mark.browser, pytest.mark.slow]

TRY = """address => new Promise(done => {
    const socket = new WebSocket(address, PROTOCOL);
    socket.onopen = () => done('open');
    socket.onerror = () => done('refused'); })""".replace("PROTOCOL", f"'viser-v{viser.__version__}'")


@pytest.fixture(scope="module")
def target() -> Iterator[Studio]:
    made = Studio(port=0)  # that has a panel, but flies nothing
    yield made
    made.close()


@pytest.fixture(scope="module")
def foreign() -> Iterator[tuple[str, str, list[str]]]:
    """A page and a websocket at evil.example, and who came to the latter."""
    came: list[str] = []

    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<title>evil</title><body>A foreign page</body>")

        def log_message(self, *_: Any) -> None:
            pass

    def heard(link: Any) -> None:
        came.append(link.request.headers.get("Origin", ""))
        link.close()

    def select(_: Any, offered: Any) -> Any:
        return next(iter(offered), None)

    pages = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
    sockets = serve(heard, "127.0.0.1", 0, select_subprotocol=select)
    for server in (pages, sockets):
        threading.Thread(target=server.serve_forever, daemon=True).start()
    yield (
        f"http://evil.example:{pages.server_port}/",
        f"ws://evil.example:{sockets.socket.getsockname()[1]}/",
        came,
    )
    pages.shutdown()
    sockets.shutdown()


def test_a_foreign_page_neither_connects_nor_frames(
    target: Studio, foreign: tuple[str, str, list[str]], open_page: Any
) -> None:
    port = target.server.get_port()
    it: Watched = open_page(foreign[0])
    assert it.page.evaluate(TRY, foreign[1]) == "open", "this browser lets pages connect anywhere"
    for host in ("127.0.0.1", "localhost", "evil.example"):
        assert it.page.evaluate(TRY, f"ws://{host}:{port}/") == "refused", host
    with it.page.expect_console_message(lambda said: "frame-ancestors 'none'" in said.text, timeout=PATIENCE):
        it.page.evaluate(
            """address => { const frame = document.createElement('iframe'); frame.src = address;
            document.body.append(frame); }""",
            target.address,
        )
    it.page.frames[1].wait_for_url("chrome-error://chromewebdata/")
    answer = it.page.goto(f"http://evil.example:{port}/")
    assert answer.status == 403 and "use the address that it printed" in it.page.content()
    assert target.server.get_clients() == {}


def test_the_own_page_connects_here_and_nowhere_else(
    target: Studio, foreign: tuple[str, str, list[str]], open_page: Any
) -> None:
    it: Watched = open_page(target.address)
    it.page.get_by_role("button", name="Play", exact=True).wait_for()
    led: Watched = open_page("about:blank")
    came = len(foreign[2])
    with led.page.expect_console_message(
        lambda said: said.text.startswith(f"Connecting to: {foreign[1]}"), timeout=PATIENCE
    ):
        led.page.goto(f"{target.address}/?websocket={foreign[1]}")
    assert led.page.evaluate(TRY, foreign[1]) == "refused"
    assert led.page.evaluate(TRY, target.address.replace("http", "ws")) == "open"
    assert len(foreign[2]) == came


def test_with_a_token_the_page_works_and_without_it_there_is_none(open_page: Any) -> None:
    studio = Studio(host="0.0.0.0", port=0)
    try:
        it: Watched = open_page(studio.address)
        play = it.page.get_by_role("button", name="Play", exact=True)
        play.wait_for()
        it.page.reload()
        play.wait_for()
        answer = it.page.goto(studio.address.removesuffix(studio.door.token))
        assert answer.status == 403 and "token" in it.page.content()
    finally:
        studio.close()
