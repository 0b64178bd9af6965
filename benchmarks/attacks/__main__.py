"""`python -m benchmarks.attacks`: attack surefoot and count what it loses, repeats or leaks.

What is attacked: docs/evidence/attacks.md.

    python -m benchmarks.attacks                                   # about three minutes; the seed is printed
    python -m benchmarks.attacks --minutes 1 --storage sqlite
    python -m benchmarks.attacks --only signals,outages --seed 7   # the same attacks again

Exit status 1 if anything was lost, counted twice, hung, raw or left behind.
"""

from __future__ import annotations

import argparse
import os
import secrets
import signal
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path

from benchmarks.attacks import children, clocks, fuzz, hostile, outages, programs, server, signals
from benchmarks.attacks.arena import Arena
from benchmarks.attacks.tally import Finding, Tally, details, is_clean, table

ATTACKS = ("signals", "outages", "clocks", "functions", "programs", "fuzz")
STORAGES = ("sqlite", "postgres")
_SHARES = {"signals": 0.45, "outages": 0.35, "clocks": 0.2}  # of the time, with each storage
_INPUTS_A_MINUTE = 700  # fuzzed
_LONG_MINUTES = 2.0  # a shorter campaign leaves out the lock of a minute
Job = Callable[[], None]


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=3.0, help="how long, about; default: 3")
    parser.add_argument("--seed", type=int, default=None, help="of everything that is random; default: a new one")
    parser.add_argument("--storage", choices=(*STORAGES, "both"), default="both")
    parser.add_argument("--only", default=",".join(ATTACKS), help=f"some of {','.join(ATTACKS)}")
    options = parser.parse_args(arguments)
    options.only = [name for name in options.only.split(",") if name]
    unknown = sorted(set(options.only) - set(ATTACKS))
    if unknown or not options.only:
        parser.error(f"expected attacks among {', '.join(ATTACKS)}; got {', '.join(unknown) or 'none'}")
    if not 0.0 < options.minutes <= 60.0:
        parser.error(f"expected between 0 and 60 minutes; got {options.minutes}")
    if options.storage == "postgres" and server.missing():
        parser.error(f"expected PostgreSQL; got none: {server.missing()}")
    return options


class Campaign:
    """The attacks of one call, in lanes that run side by side: those of a lane follow each other."""

    def __init__(self, options: argparse.Namespace, folder: Path, seed: int) -> None:
        self.tallies: list[Tally] = []
        self.mark = f"{seed}x{secrets.token_hex(4)}"
        self._options, self._folder, self._seed = options, folder, seed
        self._seconds = 60.0 * options.minutes
        self._server: server.Server | None = None

    def row(self, attack: str) -> Tally:
        """A new row of the table."""
        self.tallies.append(Tally(attack))
        return self.tallies[-1]

    def run(self) -> None:
        """All of them; whatever happens, nothing is left running."""
        try:
            lanes = [*self._on_studies(), self._on_long_locks(), self._on_functions_and_programs(), self._on_input()]
            threads = [threading.Thread(target=_in_turn, args=(lane,), daemon=True) for lane in lanes if lane]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        finally:
            children.close()
            children.kill_marked(self.mark)
            if self._server is not None:
                self._server.close()

    def _arena(self, storage: str, name: str) -> Arena:
        folder = self._folder / f"{name}-{storage}"
        folder.mkdir()
        return Arena(
            folder, f"{self.mark}-{storage}-{name}", self._seed, self._server if storage == "postgres" else None
        )

    def _storages(self) -> list[str]:
        wanted = list(STORAGES) if self._options.storage == "both" else [self._options.storage]
        if "postgres" in wanted:
            why_not = server.missing()
            if why_not:
                print(f"without PostgreSQL: {why_not}")
                return ["sqlite"]
            self._server = server.Server(self._folder / "postgres")
            self._server.start()
        return wanted

    def _on_studies(self) -> list[list[tuple[Tally, Job]]]:
        """A lane for each storage."""
        attacks = {"signals": signals.attack, "outages": outages.attack, "clocks": clocks.attack}
        chosen = [name for name in attacks if name in self._options.only]
        if not chosen:
            return []
        storages = self._storages()
        lanes: dict[str, list[tuple[Tally, Job]]] = {storage: [] for storage in storages}
        for name in chosen:
            for storage, jobs in lanes.items():
                tally, arena = self.row(f"{name}, {storage}"), self._arena(storage, name)
                seconds = self._seconds * _SHARES[name]
                jobs.append((tally, lambda a=attacks[name], r=arena, t=tally, s=seconds: a(r, t, s)))
        return list(lanes.values())

    def _on_long_locks(self) -> list[tuple[Tally, Job]]:
        wanted = "outages" in self._options.only and self._options.storage != "postgres"
        if not wanted or self._options.minutes < _LONG_MINUTES:
            return []
        tally, arena = self.row("a minute's lock, sqlite"), self._arena("sqlite", "lock")
        return [(tally, lambda: outages.attack_with_a_long_lock(arena, tally))]

    def _on_functions_and_programs(self) -> list[tuple[Tally, Job]]:
        jobs: list[tuple[Tally, Job]] = []
        for name, cases, share in (
            ("functions", [*hostile.function_cases(), *hostile.scenario_cases()], 0.6),
            ("programs", programs.cases(), 0.4),
        ):
            if name in self._options.only:
                tally = self.row(name)
                jobs.append((tally, lambda c=cases, n=name, t=tally, s=share: self._hostile(c, n, t, s)))
        return jobs

    def _on_input(self) -> list[tuple[Tally, Job]]:
        if "fuzz" not in self._options.only:
            return []
        jobs: list[tuple[Tally, Job]] = []
        for kind, (_, share) in fuzz.KINDS.items():
            tally, place = self.row(f"fuzz: {kind}"), self._folder / "fuzz" / kind.replace(" ", "-")
            count, mark = round(_INPUTS_A_MINUTE * self._options.minutes * share), f"{self.mark}-{place.name}"
            jobs.append(
                (
                    tally,
                    lambda k=kind, f=place, m=mark, c=count, t=tally: fuzz.attack(
                        k, f, m, self._seed, c, t, self._seconds
                    ),
                )
            )
        return jobs

    def _hostile(self, cases: list[hostile.Case], name: str, tally: Tally, share: float) -> None:
        seconds = share * self._seconds
        hostile.run_all(cases, self._folder / name, f"{self.mark}-{name}", self._seed, tally, seconds)


def _in_turn(jobs: list[tuple[Tally, Job]]) -> None:
    for tally, job in jobs:
        start = time.monotonic()
        try:
            job()
        except Exception as error:  # a broken attack proves nothing, and must not look like a clean one
            last = traceback.extract_tb(error.__traceback__)[-1]
            where = f"{Path(last.filename).name}:{last.lineno}"
            tally.add(0, [Finding("raw", f"the attack itself broke at {where}: {type(error).__name__}: {error}")])
        state = "clean" if not tally.findings else f"{len(tally.findings)} findings"
        print(f"  {tally.attack}: {tally.tried} tried, {state} ({time.monotonic() - start:.0f} s)", flush=True)


def main(arguments: list[str] | None = None) -> int:
    """Run it; the exit status."""
    options = _options(arguments)
    seed = secrets.randbelow(10**6) if options.seed is None else options.seed
    print(f"seed {seed}", flush=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that everything is cleaned up
    try:
        with tempfile.TemporaryDirectory(prefix="surefoot-attacks-", ignore_cleanup_errors=True) as place:
            campaign = Campaign(options, Path(place), seed)
            campaign.run()
    except (KeyboardInterrupt, SystemExit):
        print(f"stopped; seed {seed}", flush=True)
        os._exit(130)  # threads that wait for processes which are dead by now would be waited for
    print()
    print(table(campaign.tallies))
    told = details(campaign.tallies)
    if told:
        print(f"\n{told}")
    again = f"--minutes {options.minutes:g} --seed {seed} --storage {options.storage} --only {','.join(options.only)}"
    print(f"\nseed {seed}; repeat with: python -m benchmarks.attacks {again}")
    return 0 if is_clean(campaign.tallies) else 1


if __name__ == "__main__":
    sys.exit(main())
