"""The libraries by name: what must be installed, how they are called, which are slow; variants of surefoot."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import subprocess
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

from benchmarks.regret import adapters, slow_adapters, turbo
from benchmarks.regret.mixed.adapters import ADAPTERS as MIXED
from surefoot.errors import InvalidInputError, UnknownNameError
from surefoot.optimize.settings import Settings
from surefoot.paper.studies.failures import peers

OURS = "surefoot"


@dataclass(frozen=True)
class Library:
    """One library."""

    adapter: adapters.Adapter
    modules: tuple[str, ...]  # imported before the clock starts
    distribution: str = ""
    slow: bool = False
    takes: tuple[str, ...] = ()  # settings that may follow its name; surefoot takes its own


LIBRARIES = {
    OURS: Library(adapters.surefoot, ("surefoot",)),
    "egobox": Library(adapters.egobox, ("egobox",), "egobox"),
    "optuna-tpe": Library(peers.tpe, ("optuna",), "optuna"),
    "cma-es": Library(peers.cmaes, ("cma",), "cma"),
    "random": Library(peers.random, ()),
    "optuna-gp": Library(adapters.optuna_gp, ("optuna", "torch"), "optuna", slow=True),
    "botorch": Library(slow_adapters.botorch, ("botorch",), "botorch", slow=True, takes=("q",)),
    "turbo": Library(turbo.turbo, ("torch",), "torch", slow=True, takes=("q",)),
    "bayes_opt": Library(slow_adapters.bayes_opt, ("bayes_opt",), "bayesian-optimization", slow=True),
    "smac": Library(peers.smac, ("smac",), "smac", slow=True),
    "hebo": Library(slow_adapters.hebo, ("hebo",), "HEBO", slow=True),
}


def parse(name: str) -> tuple[str, dict[str, Any]]:
    """`surefoot:warp=none,gp.regression.MIN_LAM=1e-8` -> its name, {"warp": "none", "gp.regression.MIN_LAM": 1e-8}."""
    library, _, text = name.partition(":")
    if library not in LIBRARIES:
        raise UnknownNameError(f"expected a library among {', '.join(LIBRARIES)}; got {library!r}; try {OURS}")
    takes = LIBRARIES[library].takes
    if text and library != OURS and not {part.partition("=")[0].strip() for part in text.split(",")} <= set(takes):
        raise InvalidInputError(
            f"expected settings of {OURS}{f', or {takes[0]} of {library}' if takes else ''}; got {name!r}; "
            f"try {library!r}"
        )
    settings: dict[str, Any] = {}
    for part in text.split(",") if text else ():
        key, equals, value = part.partition("=")
        if not equals or key in ("seed", "n_init"):
            raise InvalidInputError(
                f"expected settings as key=value, but for seed and n_init; got {part!r} in {name!r}; "
                "try surefoot:policy=EI,kernel=matern52"
            )
        settings[key.strip()] = _number_or_text(value.strip())
    if library == OURS:
        Settings.of(**{key: value for key, value in settings.items() if "." not in key and key != "q"})
        for path in (key for key in settings if "." in key):
            adapters.find_constant(path)
    return library, settings


def _number_or_text(value: str) -> float | str:
    try:
        return float(value)
    except ValueError:
        return value


def runs_on(name: str, suite: str) -> bool:
    """Whether the library takes the parameters of the suite."""
    return suite != "mixed" or parse(name)[0] in MIXED


def adapter_of(name: str, suite: str = "") -> adapters.Adapter:
    """The function that runs this library or variant."""
    library, settings = parse(name)
    adapter = MIXED[library] if suite == "mixed" else LIBRARIES[library].adapter
    return partial(adapter, **settings) if settings else adapter


def is_peer(name: str) -> bool:
    """Whether it is another library."""
    return name.partition(":")[0] != OURS


def installed() -> list[str]:
    """Names of those that can be imported here."""
    return [name for name, library in LIBRARIES.items() if all(map(importlib.util.find_spec, library.modules))]


@cache
def version(name: str) -> str:
    """The installed version; of a checkout of surefoot also the last commit that changed it, + if changed since."""
    library = parse(name)[0]
    distribution = LIBRARIES[library].distribution
    if library != OURS:
        return importlib.metadata.version(distribution) if distribution else ""
    import surefoot

    found = surefoot.__version__
    source = str(Path(surefoot.__file__).parent)
    commit = _git(source, "log", "-1", "--format=%h", "--", source)
    if commit:
        found += f" ({commit}{'+' if _git(source, 'status', '--porcelain', '--', source) else ''})"
    return found


def _git(folder: str, *words: str) -> str:
    try:
        done = subprocess.run(["git", "-C", folder, *words], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
