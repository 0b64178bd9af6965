"""optuna-dashboard behind a small threaded server of Python's own."""

from __future__ import annotations

import socket
from collections.abc import Callable
from socketserver import ThreadingMixIn
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from surefoot.errors import InvalidInputError, MissingExtraError
from surefoot.runs.figures import save_figures
from surefoot.runs.storage import load_study, opened, study_names

LOOPBACK = ("127.0.0.1", "::1", "localhost")


class _Quiet(WSGIRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        """Say nothing: the page asks for news every few seconds."""


def serve(place: str, host: str, port: int, say: Callable[[str], None]) -> None:
    """Serve until Ctrl-C."""
    try:
        from optuna_dashboard import wsgi
    except ImportError as error:
        raise MissingExtraError(
            "expected optuna-dashboard; it is not installed; try pip install 'surefoot[dashboard]'"
        ) from error
    with opened(place) as storage:
        for name in study_names(storage):
            study = load_study(storage, name)
            if len(study.directions) == 1 and any(t.state.is_finished() for t in study.get_trials(deepcopy=False)):
                save_figures(study)

        class Server(ThreadingMixIn, WSGIServer):
            daemon_threads = True
            address_family = socket.AF_INET6 if ":" in host else socket.AF_INET

        try:
            server = make_server(host, port, wsgi(storage), server_class=Server, handler_class=_Quiet)
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
