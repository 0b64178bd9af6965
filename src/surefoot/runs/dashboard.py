"""optuna-dashboard behind a small threaded server of Python's own.

A page of another site can have its own name resolve to this machine and then talk to the dashboard (DNS rebinding).
So a request is answered only if it names the host that we listen on. Requests that only look take no lock.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable, Iterable
from socketserver import ThreadingMixIn
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from optuna.exceptions import StorageInternalError
from optuna.storages import RDBStorage

from surefoot.errors import InvalidInputError, MissingExtraError
from surefoot.runs.figures import save_figures
from surefoot.runs.storage import load_study, opened, reading, study_names

LOOPBACK = ("127.0.0.1", "::1", "localhost")
_EVERYWHERE = ("0.0.0.0", "::", "")


class _Quiet(WSGIRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        """Say nothing: the page asks for news every few seconds."""


def is_allowed(named: str, host: str) -> bool:
    """Whether a request to the host `named` (its Host header) is meant for a server that listens on `host`."""
    name = named.rsplit(":", 1)[0] if named.count(":") == 1 or named.startswith("[") else named
    name = name.rsplit("]", 1)[0].lstrip("[").rstrip(".").lower()
    if name in LOOPBACK or name == host.lower():
        return True
    if host not in _EVERYWHERE:
        return False
    try:
        ipaddress.ip_address(name)  # an address is no name that somebody else could let point here
    except ValueError:
        return name in (socket.gethostname().lower(), socket.getfqdn().lower())
    return True


def guarded(app: Any, host: str) -> Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]:
    """The application, for requests to this host only."""

    def answer(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        if not is_allowed(environ.get("HTTP_HOST", ""), host):
            start_response("403 Forbidden", [("Content-Type", "text/plain; charset=utf-8")])
            return [b"this dashboard answers only under the address that it was started with\n"]
        if environ.get("REQUEST_METHOD") in ("GET", "HEAD"):
            with reading():
                found: Iterable[bytes] = app(environ, start_response)
            return found
        found = app(environ, start_response)
        return found

    return answer


def _save_figures(storage: RDBStorage, say: Callable[[str], None]) -> None:
    try:
        for name in study_names(storage):
            study = load_study(storage, name)
            if len(study.directions) == 1 and any(t.state.is_finished() for t in study.get_trials(deepcopy=False)):
                save_figures(study)
    except StorageInternalError:
        say("surefoot's figures are not up to date: another process holds the lock of the storage")


def serve(place: str, host: str, port: int, say: Callable[[str], None]) -> None:
    """Serve until Ctrl-C."""
    try:
        from optuna_dashboard import wsgi
    except ImportError as error:
        raise MissingExtraError(
            "expected optuna-dashboard; it is not installed; try pip install 'surefoot[dashboard]'"
        ) from error
    with opened(place, write=True) as storage:
        _save_figures(storage, say)
        with reading():
            app = guarded(wsgi(storage), host)

        class Server(ThreadingMixIn, WSGIServer):
            daemon_threads = True
            address_family = socket.AF_INET6 if ":" in host else socket.AF_INET

        try:
            server = make_server(host, port, app, server_class=Server, handler_class=_Quiet)
        except OSError as error:
            raise InvalidInputError(
                f"expected an address to listen on; got {host}:{port} ({error.strerror}); try another --port"
            ) from None
        with server:
            if host not in LOOPBACK:
                say(f"anybody who reaches {host} can see and change the studies")
            say(f"http://{f'[{host}]' if ':' in host else host}:{server.server_port}/dashboard  (Ctrl-C ends it)")
            try:
                server.serve_forever()
            except KeyboardInterrupt:
                say("ended")
