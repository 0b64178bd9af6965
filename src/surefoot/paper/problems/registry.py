"""Problems by name."""

import difflib

from surefoot.errors import UnknownNameError, shown
from surefoot.paper.problems.catalogue import ALL
from surefoot.paper.problems.record import Problem


def _key(name: str) -> str:
    return "".join(c for c in name.casefold() if c.isalnum())


_BY_KEY = {_key(name): problem for problem in ALL for name in (problem.abbreviation, problem.name)}


def get(name: str) -> Problem:
    """Problem of that abbreviation or full name; case, spaces and hyphens do not matter."""
    key = _key(name) if isinstance(name, str) else ""
    problem = _BY_KEY.get(key)
    if problem is None:
        close = difflib.get_close_matches(key[:100], _BY_KEY, n=6, cutoff=0.5)
        # Abbreviation and full name of one problem may both be close: name it once, the closest first.
        suggestions = list(dict.fromkeys(_BY_KEY[key].abbreviation for key in close))
        suggestions = suggestions or [p.abbreviation for p in ALL]
        raise UnknownNameError(
            f"expected the abbreviation or the name of a test problem; came {shown(name)}; try {', '.join(suggestions)}"
        )
    return problem
