"""Who may come in: only those who use the studio's own address, and pages that come from it.

Browsers let any page connect to any websocket, also to one on this machine, and a foreign name can be made
to lead here (DNS rebinding). So every request must name an own address as its host; if it comes from a page,
that page must have an own address too; and unless only this machine reaches the studio, the path must begin
with a random token. No other page may show the studio in a frame, and its own page connects to nobody else.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import ipaddress
import re
import secrets
import socket
import threading
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

import viser
import websockets.asyncio.server
from viser.infra._async_message_buffer import AsyncMessageBuffer
from websockets.asyncio.server import ServerConnection
from websockets.http11 import Request, Response

from skyrig.errors import InputError
from skyrig.studio.page import added

LARGEST = 8 * 2**20
"""No message that comes in is larger (bytes): a picture of what a viewer sees is about 1 MB."""
LONGEST_PROTOCOL = 40
"""Characters in the name and version that a page gives; viser prints those that it does not know."""
FIELDS = "_gui_input_handle_from_uuid"
"""Where viser keeps the fields of a page that viewers can change, by what messages call them."""
_starting = threading.Lock()
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_AUTHORITY = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[0-9A-Za-z.-]+)(?::([0-9]{1,5}))?")
_NOTHING = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
# viser's page is one file: its scripts, styles, pictures and its worker stand in it
_POLICY = (
    f"{_NOTHING}; script-src 'unsafe-inline' 'wasm-unsafe-eval'; worker-src blob:; "
    "style-src 'unsafe-inline'; img-src data: blob:; font-src data:; "
    "connect-src ws://{own} http://{own} data: blob:"
)
_HEADERS = {
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


_push = AsyncMessageBuffer.push


def _pushed(self: AsyncMessageBuffer, message: Any) -> None:
    """Add a message to viser's line of those to a page, which many threads add to.

    When it is in the line, viser wakes who sends them by an event of asyncio's that is meant for one thread:
    once in a long while that fails because the sender falls asleep at that instant. It is woken again then.
    """
    try:
        _push(self, message)
    except RuntimeError:
        self.event_loop.call_soon_threadsafe(self.message_event.set)


class Door:
    """Lets requests in, or says why not.

    Args:
        host: What the studio is told to listen on, a name or an address.
    """

    def __init__(self, host: str) -> None:
        self.visited: Callable[[str], None] = lambda query: None
        """What is called with what follows the ? in an address that somebody opened on purpose."""
        self.mark = secrets.token_hex(8)
        """Tells this studio from any other that may come to serve the same address."""
        self._names = {*_LOOPBACK, _plain(host)}
        self.token = "" if is_loopback(host) else secrets.token_urlsafe(18)
        """What the path must begin with; empty where only this machine reaches the studio."""

    def refusal(self, request: Request, address: str, port: int) -> str | None:
        """Why a request may not come in, or None.

        Args:
            request: What is asked for.
            address: Of this machine, at which it arrived.
            port: At which it arrived.
        """
        hosts, origins = request.headers.get_all("Host"), request.headers.get_all("Origin")
        if len(hosts) != 1 or not self._own(hosts[0], address, port):
            return "The studio is not to be had under that name: use the address that it printed."
        # scripts that are not pages give no origin; browsers always do when a page opens a websocket
        if origins and not (
            len(origins) == 1
            and origins[0].startswith("http://")
            and self._own(origins[0].removeprefix("http://"), address, port)
        ):
            return "The studio is not for other pages."
        if any(len(value) > LONGEST_PROTOCOL for value in request.headers.get_all("Sec-WebSocket-Protocol")):
            return "The studio does not know that protocol."
        first = request.path.partition("?")[0].split("/")[1:2]
        if self.token and not secrets.compare_digest("".join(first).encode(), self.token.encode()):
            return "The address lacks the studio's token: use the one that it printed."
        return None

    def guarded(self, inner: Callable[..., Any] | None) -> Callable[..., Any]:
        """What answers requests: `inner`, for those who may come in."""

        async def answer(connection: ServerConnection, request: Request) -> Response | None:
            address, port = connection.local_address[:2]
            refusal = self.refusal(request, address, port)
            if refusal is not None or inner is None:
                response: Any = connection.respond(HTTPStatus.FORBIDDEN, f"{refusal}\n")
                policy = _NOTHING
            else:
                policy = _POLICY.format(own=request.headers["Host"])
                if self.token:
                    request.path = "/" + request.path[1:].removeprefix(self.token).lstrip("/")
                if request.path == "/alive":
                    response = connection.respond(HTTPStatus.OK, self.mark)
                else:
                    response = inner(connection, request)
                    response = await response if inspect.isawaitable(response) else response
                    self._welcome(request, response)
            if response is not None:
                response.headers.update(_HEADERS | {"Content-Security-Policy": policy})
            return response

        return answer

    def _welcome(self, request: Request, response: Response | None) -> None:
        """Have the page be the studio's own, and tell of a link that led to it.

        Other pages can lead a browser here without anybody's will; those links open the page and no more.
        """
        path, _, query = request.path.partition("?")
        if path != "/" or response is None or response.status_code != HTTPStatus.OK:
            return
        packed = response.headers.get("Content-Encoding") == "gzip"
        response.body = added(bytes(response.body), packed)
        del response.headers["Content-Length"]
        response.headers["Content-Length"] = str(len(response.body))
        site, mode = (request.headers.get(f"Sec-Fetch-{name}") for name in ("Site", "Mode"))
        if query and site in ("none", "same-origin") and mode == "navigate":
            self.visited(query)

    def _own(self, authority: str, address: str, port: int) -> bool:
        """Whether `authority`, a host and perhaps a port, is this studio's."""
        parts = _AUTHORITY.fullmatch(authority)
        if parts is None or int(parts[2] or 80) != port:
            return False
        return _plain(parts[1].strip("[]")) in self._names | {_plain(address)}


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches what listens on `host`."""
    try:
        found = {str(entry[4][0]) for entry in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)}
    except (OSError, UnicodeError):
        return False
    return all(ipaddress.ip_address(address.partition("%")[0]).is_loopback for address in found)


def serve(host: str, port: int, door: Door, look: Callable[[bytes | str], bytes | None]) -> viser.ViserServer:
    """A viser server behind `door`, which sees only those messages that `look` leaves of them.

    viser makes its websocket server itself and offers no place for such checks. So the one call by which it
    does that is replaced while it starts. Should a later viser start otherwise, there is no studio.

    Args:
        host: Address to listen on.
        port: Port to listen on.
        door: Who may come in.
        look: Given a message, what of it may be believed; None for nothing.
    """

    class Connection(ServerConnection):
        async def recv(self, decode: bool | None = None) -> Any:
            while True:
                kept = look(await super().recv(decode))
                if kept is not None:
                    return kept

    listen, guards = websockets.asyncio.server.serve, []

    def listen_guarded(*given: Any, process_request: Any = None, **options: Any) -> Any:
        guards.append(process_request)
        options |= {"create_connection": Connection, "max_size": LARGEST}
        return listen(*given, process_request=door.guarded(process_request), **options)

    with _starting, contextlib.redirect_stdout(io.StringIO()):  # viser prints a table of addresses
        AsyncMessageBuffer.push = _pushed
        websockets.asyncio.server.serve = listen_guarded
        try:
            server = viser.ViserServer(host=host, port=port, label="skyrig studio", verbose=False)
        finally:
            websockets.asyncio.server.serve = listen
        if guards and None not in guards and hasattr(server.gui, FIELDS):
            return server
        server.stop()
    raise InputError(
        f"The studio cannot guard viser {viser.__version__}, so it does not start: install viser 1.1."
    )


def _plain(host: str) -> str:
    """A host as it can be compared."""
    with contextlib.suppress(ValueError):
        return str(ipaddress.ip_address(host.partition("%")[0]))
    return host.lower()
