"""A patient whose every number is known: one real simulation, all else drawn here; no inference is run."""

import dataclasses
import math
from html.parser import HTMLParser

import numpy as np
import pytest

from surefoot.calibration.result import Interval, Posterior, Residual
from surefoot.inference.result import Inference, Waveforms
from surefoot.inference.signals import Signal, Signals
from surefoot.optimize.history import Evaluation
from surefoot.pulmonary import NOMINAL, PARAMETER_BOX, simulate

SD = (1500.0, 250.0, 0.0015)  # of the posterior that is made up


@pytest.fixture(scope="session")
def beat() -> Waveforms:
    run = simulate(*NOMINAL)
    return Waveforms(run.vessels, run.time_s, run.pressure_mmHg, run.flow_ml_s)


def noisy(beat: Waveforms, rng: np.random.Generator) -> tuple[Signal, ...]:
    signals = []
    for vessel in beat.vessels:
        for kind in ("p", "q"):
            wave = beat.get(f"{kind}_{vessel}")
            sd = float(np.std(wave)) / math.sqrt(10.0)
            signals.append(Signal(kind, vessel, beat.time_s, wave + sd * rng.standard_normal(wave.size), sd))
    return tuple(signals)


@pytest.fixture(scope="session")
def inference(beat: Waveforms) -> Inference:
    rng = np.random.default_rng(1)
    low, high = np.asarray(PARAMETER_BOX).T
    points = low + (high - low) * rng.random((80, 3))
    evaluations = tuple(
        Evaluation((a, b, c), math.nan, "failed", "matching: no state joins LTA, its tree and LSV", 0.1)
        if b / a > 0.3
        else Evaluation((a, b, c), float(np.sum(((np.array([a, b, c]) - NOMINAL) / SD) ** 2)), duration_s=0.2)
        for a, b, c in points
    )
    signals = noisy(beat, rng)
    residuals = []
    for signal in signals:
        r = (signal.value - beat.get(signal.name)) / signal.noise_sd
        chi2 = float(np.mean(r * r))
        explained = 1.0 - chi2 * signal.noise_sd**2 / float(np.var(signal.value))
        residuals.append(Residual(signal.name, signal.noise_sd * math.sqrt(chi2), signal.noise_sd, chi2, explained))
    correlation = np.array([[1.0, 0.35, -0.1], [0.35, 1.0, 0.2], [-0.1, 0.2, 1.0]])
    samples = NOMINAL + rng.multivariate_normal(np.zeros(3), correlation, 2000) * SD
    cuts = np.quantile(samples, [0.05, 0.5, 0.95], axis=0)
    intervals = tuple(
        Interval(
            name,
            float(samples[:, k].mean()),
            SD[k],
            float(cuts[1, k]),
            float(cuts[0, k]),
            float(cuts[2, k]),
            0.9,
            False,
        )
        for k, name in enumerate(("f_L", "f_S", "xi"))
    )
    posterior = Posterior(samples, intervals, correlation, 40, 3, 0.08, 0.012, 0.55, 1830.0, True)
    return Inference(
        data=Signals(signals, 0.7, NOMINAL, "patient <7>.csv"),
        bounds=PARAMETER_BOX,
        settings={"loss": "likelihood", "n_evals": 80, "n_init": 30, "policy": "ScaledEI", "seed": 1},
        model={"variant": "published", "inflow": {"mean_ml_s": 110.0}},
        evaluations=evaluations,
        estimate=(2.612e5, 50123.0, 2.7604),
        loss=2801.5,
        fit=beat,
        residuals=tuple(residuals),
        posterior=posterior,
        versions={"surefoot": "0.1.0", "numpy": np.__version__},
        duration_s=41.2,
    )


@pytest.fixture(scope="session")
def small(inference: Inference) -> Inference:
    """The same with two signals, whose report takes a third of the time."""
    names = ("p_MPA", "q_MPA")
    residuals = tuple(r for r in inference.residuals if r.name in names)
    return dataclasses.replace(inference, data=inference.data.select(names), residuals=residuals)


# --- reading a page


class Reading(HTMLParser):
    """What a page holds: tags with their attributes, and the text under them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.words: dict[str, list[str]] = {}
        self._open: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))
        self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        for tag in set(self._open):
            self.words.setdefault(tag, []).append(data)

    @property
    def ids(self) -> list[str]:
        return [attributes["id"] for _, attributes in self.tags if "id" in attributes]

    def text(self, tag: str = "body") -> str:
        return " ".join(" ".join(self.words.get(tag, [])).split())


@pytest.fixture(scope="session")
def read():
    return Reading
