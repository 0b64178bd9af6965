"""Who may talk to the dashboard."""

import pytest

from surefoot.runs.dashboard import guarded, is_allowed


@pytest.mark.parametrize(
    ("named", "host", "allowed"),
    [
        ("127.0.0.1:8080", "127.0.0.1", True),
        ("localhost:8080", "127.0.0.1", True),
        ("LOCALHOST.", "127.0.0.1", True),
        ("[::1]:8080", "::1", True),
        ("evil.example:8080", "127.0.0.1", False),
        ("127.0.0.1.evil.example", "127.0.0.1", False),
        ("", "127.0.0.1", False),
        ("10.0.0.5:8080", "127.0.0.1", False),
        ("10.0.0.5:8080", "10.0.0.5", True),
        ("10.0.0.5:8080", "0.0.0.0", True),
        ("evil.example", "0.0.0.0", False),
        ("[fe80::1]:80", "::", True),
    ],
)
def test_only_requests_that_name_this_host_are_answered(named, host, allowed):
    assert is_allowed(named, host) == allowed
    seen = []

    def app(environ, start_response):
        start_response("200 OK", [])
        return [b"the studies"]

    answer = guarded(app, host)({"HTTP_HOST": named, "REQUEST_METHOD": "GET"}, lambda status, _: seen.append(status))
    assert seen == ["200 OK" if allowed else "403 Forbidden"]
    assert (b"".join(answer) == b"the studies") == allowed
