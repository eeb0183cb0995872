"""The web server of a live page: on this machine only, and nothing but the page and its data."""

from __future__ import annotations

import secrets
import threading
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

from xoff.errors import UsageError, reason
from xoff.html_report import document

HOST = "127.0.0.1"
TOKEN_BYTES = 24
PATHS = ("", "data")
"""What follows the secret in an address: nothing for the page, or its data."""
REQUEST_S = 10.0
"""Longest time that a client may take for a request."""


class State:
    """The newest page data, shared by the run and the threads of the server."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._version = 0
        self._json = ""
        self._fetched = 0

    def publish(self, version: int, text: str) -> None:
        """Replace the data."""
        with self._changed:
            self._version, self._json = version, text

    def read(self) -> tuple[int, str]:
        """Return the version of the data, and the data as JSON."""
        with self._changed:
            return self._version, self._json

    def note_fetched(self, version: int) -> None:
        """A client has got this version."""
        with self._changed:
            self._fetched = max(self._fetched, version)
            self._changed.notify_all()

    def wait_until_fetched(self, version: int, timeout_s: float) -> bool:
        """Wait until a client has got a version; return whether one has."""
        with self._changed:
            return self._changed.wait_for(lambda: self._fetched >= version, timeout_s)

    @property
    def was_read(self) -> bool:
        """Whether any client has got data."""
        with self._changed:
            return self._fetched > 0


class Server:
    """Serves a page at `url` until it is closed. The address has a secret that no one can guess."""

    def __init__(self, state: State, port: int = 0) -> None:
        self._token = secrets.token_urlsafe(TOKEN_BYTES)
        try:
            self._server = _Server((HOST, port), _Handler)
        except OSError as error:
            raise UsageError(f"cannot listen on {HOST}:{port}: {reason(error)}") from None
        self._server.state, self._server.token = state, self._token
        self.port = int(self._server.server_address[1])
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True
        )
        self._thread.start()

    @property
    def url(self) -> str:
        """The address of the page."""
        return f"http://{HOST}:{self.port}/{self._token}/"

    def close(self) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    state: State
    token: str

    def handle_error(self, request: object, client_address: object) -> None:
        """Keep quiet: a client that goes away is no error of the run."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    timeout = REQUEST_S
    server_version = "xoff"
    sys_version = ""

    def do_GET(self) -> None:
        """Answer a request for the page or its data."""
        address = urlsplit(self.path)
        if not self._is_allowed(address.path):
            self._answer(HTTPStatus.NOT_FOUND, "text/plain", "not found\n")
        elif address.path.endswith("/data"):
            self._data(parse_qs(address.query).get("after", [""])[0])
        else:
            version, text = self.server.state.read()
            self._answer(HTTPStatus.OK, "text/html", document.page(text, live=True))
            self.server.state.note_fetched(version)

    def _is_allowed(self, path: str) -> bool:
        """Whether the address has the secret and is one of this machine's.

        A page elsewhere whose name resolves to this machine would send its own name as host.
        """
        port = self.server.server_address[1]
        if self.headers.get("Host") not in (f"{HOST}:{port}", f"localhost:{port}"):
            return False
        secret, _, rest = path.removeprefix("/").partition("/")
        known = secrets.compare_digest(secret.encode(), self.server.token.encode())
        return known and rest in PATHS and path.count("/") == 2

    def _data(self, after: str) -> None:
        version, text = self.server.state.read()
        if after == str(version):
            self._answer(HTTPStatus.NO_CONTENT, "application/json", "")
        else:
            self._answer(HTTPStatus.OK, "application/json", text)
            self.server.state.note_fetched(version)

    def _answer(self, status: HTTPStatus, kind: str, text: str) -> None:
        body = text.encode("utf-8")
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("Cross-Origin-Resource-Policy", "same-origin")
        policy = document.policy(live=True)
        self.send_header("Content-Security-Policy", f"{policy}; frame-ancestors 'none'")
        self.end_headers()
        if body:
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing: the terminal shows the run's progress."""
