"""The pulmonary report, section by section."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from surefoot import __version__
from surefoot.engine.searches import PAPER_MODEL
from surefoot.inference.result import Inference
from surefoot.inference.signals import WORDS
from surefoot.optimize.durations import duration
from surefoot.optimize.history import History
from surefoot.optimize.result import make_result
from surefoot.optimize.settings import Settings
from surefoot.optimize.space import Space
from surefoot.pulmonary import NOMINAL, Network
from surefoot.reports.maps import success_drawing
from surefoot.reports.numbers import fixed, percent
from surefoot.reports.page import (
    Block,
    Facts,
    Figure,
    Key,
    Note,
    References,
    Section,
    Table,
    Text,
    markup,
    render,
    write,
)
from surefoot.reports.pulmonary.figures import Scale, network_drawing, scale_drawing, waveform_drawing
from surefoot.reports.pulmonary.trust import trust
from surefoot.reports.pulmonary.words import (
    FAILURES,
    HEALTHY_MEAN_MMHG,
    HEALTHY_SD_MMHG,
    HYPERTENSION_ABOVE_MMHG,
    INDICATORS,
    REFERENCE_MPA_MMHG,
    SOURCES,
    VESSELS,
    central,
    compared,
    interval_of,
    is_synthetic,
    level,
    pressure_words,
    shown,
)

TITLE = "Pulmonary circulation: stiffness and rarefaction"


def write_report(inference: Inference, path: str | os.PathLike[str], *, title: str = TITLE) -> Path:
    """Write the report of an inference to an HTML file; returns its path."""
    return write(report(inference, title), path)


def report(inference: Inference, title: str = TITLE) -> str:
    """The page of an inference."""
    sections = [
        Section("In short", _summary(inference)),
        Section("The three indicators", _indicators(inference)),
        Section("Where it was measured", _network(inference)),
        Section("Measured and fitted", _waveforms(inference)),
        Section("How far to trust it", trust(inference)),
        Section("Simulations that failed", _failures(inference)),
        Section("How it was done", _method(inference)),
        Section("Sources", [References(SOURCES)]),
    ]
    written = datetime.now().astimezone().strftime("%d %B %Y, %H:%M %Z").lstrip("0")
    footer = f"surefoot {__version__} · written {written} · research software, not a medical device"
    return render(title, _lead(inference), sections, footer)


def _lead(inference: Inference) -> str:
    data, vessels = inference.data, len({signal.vessel for signal in inference.data})
    n = len(data)
    kinds = " and ".join(word for kind, word in WORDS.items() if any(signal.kind == kind for signal in data))
    origin = "simulated" if is_synthetic(inference) else "measured"
    source = "" if data.source in ("", "synthetic") else f" ({data.source})"
    return (
        f"Inferred from {n} {origin} waveform{'s' * (n != 1)}{source}, {kinds} in {vessels} "
        f"vessel{'s' * (vessels != 1)}, with a model of the pulmonary circulation."
    )


def _summary(inference: Inference) -> list[Block]:
    facts = []
    for indicator in INDICATORS:
        interval = interval_of(inference, indicator)
        remark = "the best fit; no interval was computed"
        if interval is not None:
            ends = shown(inference, indicator, interval.low, interval.high)
            remark = f"{level(inference)} interval {' to '.join(ends)}"
        value = f"{shown(inference, indicator, central(inference, indicator))[0]} {indicator.unit}".strip()
        facts.append((markup("{} {}", indicator.words, indicator.symbol), value, remark))
    blocks: list[Block] = [
        Note(
            "The numbers below are parameters of a mathematical model fitted to measurements. The method has been "
            "tested on simulated data only. Do not use it for diagnosis or treatment.",
            title="Research software, not a medical device",
            kind="warning",
        ),
        Facts(facts),
    ]
    if is_synthetic(inference):
        text = (
            "These data were simulated, with noise; no person stands behind them. Where this report says measured, it "
            "means these values."
        )
        blocks.insert(1, Note(text, title="Synthetic data"))
    if "MPA" in inference.fit.vessels:
        blocks.append(Text(pressure_words(inference)))
    blocks.extend(Note(note) for note in inference.notes)
    return blocks


def _indicators(inference: Inference) -> list[Block]:
    truth = inference.data.truth or (None, None, None)
    scales, rows = [], []
    for indicator, best, reference, (low, high), true in zip(
        INDICATORS, inference.estimate, NOMINAL, inference.bounds, truth, strict=True
    ):
        interval, estimate = interval_of(inference, indicator), central(inference, indicator)
        ends = None if interval is None else (interval.low, interval.high)
        scales.append(
            Scale(indicator.words, indicator.unit, indicator.factor, estimate, low, high, ends, reference, truth=true)
        )
        numbers = shown(inference, indicator, estimate, best, reference, *(ends or ()))
        between = " to ".join(numbers[3:]) or "–"
        rows.append((indicator.heading, numbers[0], between, *numbers[1:3], compared(inference, indicator)))
    if "MPA" in inference.fit.vessels:
        mean = float(inference.fit.get("p_MPA").mean())
        healthy = (HEALTHY_MEAN_MMHG - 2 * HEALTHY_SD_MMHG, HEALTHY_MEAN_MMHG + 2 * HEALTHY_SD_MMHG)
        top = max(40.0, 1.15 * mean)
        title = "Mean pressure, main pulmonary artery"
        limit = HYPERTENSION_ABOVE_MMHG
        scales.append(Scale(title, "mmHg", 1.0, mean, 0.0, top, None, None, healthy, limit=limit))
    caption = (
        "The value lies in its interval with that probability, if the model is right; where no bar is seen it is "
        "narrower than the dot. The scales are the ranges that were searched."
    )
    header = ("indicator", "estimate", f"{level(inference)} interval", "best fit", "reference", "against the reference")
    meaning = (
        "The estimate is the middle of what the data leave plausible (the posterior's median: the value is as likely "
        "above as below it). The best fit is the one simulation nearest to the data, whose curves are below. It may "
        "lie outside the interval: the model's outputs jump where vessels of its trees come and go, plausible values "
        "can end at such a jump, and the best fit then stands at their edge."
        if inference.posterior is not None
        else "The estimate is the best fit, the one simulation nearest to the data."
    )
    return [
        Figure([scale_drawing(scale) for scale in scales], caption, columns=2, legend=_scale_legend(inference)),
        Table("The indicators against the reference of [1]", header, rows, left=(0, 5)),
        Text(meaning),
        *(Text(markup("<strong>{} {}.</strong> {}", i.words, i.symbol, i.meaning)) for i in INDICATORS),
        Note(
            "No normal range of these three indicators has been measured in people: they belong to the model. The "
            "reference is the single case that [1] takes as known; there the model gives a mean pressure of "
            f"{REFERENCE_MPA_MMHG} mmHg in the main pulmonary artery, as in healthy people ({HEALTHY_MEAN_MMHG} ± "
            f"{HEALTHY_SD_MMHG} mmHg [2]). A difference from it is not a diagnosis. For the branching exponent alone "
            "there are related measurements: 2.92 ± 1.07 over the visible pulmonary arteries of 16 healthy people [5], "
            "too wide to serve as a range.",
            title="Reference, not normal range",
        ),
    ]


def _scale_legend(inference: Inference) -> list[Key]:
    """What stands on the scales of the indicators."""
    keys = [
        Key("estimate", "dot", "blue"),
        Key(f"{level(inference)} credible interval", "bar", "blue", 0.45),
        Key("reference value of [1]", "dashes", "ink"),
    ]
    if inference.data.truth is not None:
        keys.append(Key("value behind these synthetic data", "triangle", "orange"))
    if "MPA" in inference.fit.vessels:
        keys.append(Key("healthy people, mean ± 2 standard deviations [2]", "band", "teal", 0.2))
        above = f"{HYPERTENSION_ABOVE_MMHG:g} mmHg, above which pulmonary hypertension is defined [3]"
        keys.append(Key(above, "line", "red"))
    return keys


def _network(inference: Inference) -> list[Block]:
    blocks: list[Block] = []
    network = Network()
    if set(inference.fit.vessels) == set(network.names):
        caption = (
            "The model's large vessels, seen from the front, widths in proportion to radii. Numbers: fitted mean "
            "pressure, mmHg. A light dot marks a vessel with measurements. The trees have vessels down to a radius of "
            "0.05 mm, and the model represents them as a whole [4]."
        )
        legend = [
            Key("artery", "bar", "blue"),
            Key("vein", "bar", "red"),
            Key("trees of small vessels", "line", "dots"),
        ]
        blocks.append(Figure([network_drawing(inference, network)], caption, legend=legend))
    rows = []
    for vessel in inference.fit.vessels:
        measured = " and ".join(WORDS[signal.kind] for signal in inference.data if signal.vessel == vessel) or "–"
        p, q = inference.fit.get(f"p_{vessel}"), inference.fit.get(f"q_{vessel}")
        numbers = (fixed(float(value), 1) for value in (p.max(), p.mean(), p.min(), q.mean()))
        rows.append((vessel, VESSELS.get(vessel, ""), measured, *numbers))
    header = ("", "vessel", "measured", "systolic", "mean", "diastolic", "mean flow")
    caption = "Fitted pressure in mmHg and flow in ml/s at the middle of each vessel; flow in veins counts as negative"
    blocks.append(Table(caption, header, rows, left=(0, 1, 2)))
    return blocks


def _waveforms(inference: Inference) -> list[Block]:
    blocks: list[Block] = []
    legend = [Key("measured", "dot", "dots"), Key("best-fitting simulation, over one beat", "line", "blue")]
    for kind, word in WORDS.items():
        signals = [signal for signal in inference.data if signal.kind == kind]
        if not signals:
            blocks.append(Text(f"No {word} was measured."))
            continue
        drawings = [waveform_drawing(inference, s, VESSELS.get(s.vessel, s.vessel)) for s in signals]
        caption = f"{word.capitalize()} in {signals[0].unit} against time in seconds. Each scale is its own."
        blocks.append(Figure(drawings, caption, columns=3, legend=legend))
    return blocks


def _failures(inference: Inference) -> list[Block]:
    n, failed = inference.n_evals, inference.n_failures
    if not failed:
        return [Text(f"None of the {n} simulations of the search failed.")]
    counts = sorted(inference.failures.items(), key=lambda item: -item[1])
    blocks: list[Block] = [
        Text(
            f"{failed} of the {n} simulations of the search failed ({percent(failed / n)}): for some values the "
            "model's equations have no solution that the simulator can find. This says nothing about the person. The "
            "search learned where it happens and kept away."
        ),
        Table(
            "Failed simulations",
            ("count", "kind", "what happened"),
            [(count, kind, FAILURES.get(kind, "")) for kind, count in counts],
            left=(1, 2),
        ),
    ]
    if failed < n:
        blocks.append(_success_map(inference))
    return blocks


def _success_map(inference: Inference) -> Figure:
    large, small, exponent = INDICATORS
    space = Space.of(dict(zip((i.name for i in INDICATORS), inference.bounds, strict=True)))
    # The best calibrated of the failure models (docs/failures.md). The search's own, label regression, is cheaper, but
    # where its points crowd round the optimum it can see stripes that are not there.
    settings = Settings.of(seed=int(inference.settings.get("seed", 0)), failures="ep", **PAPER_MODEL)
    result = make_result(space, History(inference.evaluations), settings, 1.0, "")
    labels, units = (large.axis, exponent.axis), (large.factor, exponent.factor)
    drawing = success_drawing(result, large.index, exponent.index, inference.estimate, labels, units)
    (held,) = shown(inference, small, inference.estimate[small.index])
    caption = (
        "Probability that a simulation succeeds, as a classifier learns it from all simulations of the search, with "
        f"the small-vessel stiffness held at {held} {small.unit}. Dots succeeded, the other marks failed (for any "
        "small-vessel stiffness); the star is the best fit."
    )
    return Figure([drawing], caption)


def _method(inference: Inference) -> list[Block]:
    simulations = inference.n_evals + (inference.posterior.n_simulations if inference.posterior else 0)
    text = (
        "The parameters that make the simulated waveforms most like the measured ones were searched with Bayesian "
        f"optimization, which chooses each simulation from all earlier ones [1]. {simulations} simulations, "
        f"{duration(inference.duration_s)} in all."
    )
    rows = []
    for indicator, best in zip(INDICATORS, inference.estimate, strict=True):
        interval = interval_of(inference, indicator)
        numbers = (math.nan,) * 3 if interval is None else (interval.median, interval.low, interval.high)
        unit = ", dyn/cm²" if indicator.unit else ""
        rows.append((f"{indicator.name}{unit}", *("–" if math.isnan(v) else f"{v:.9g}" for v in (*numbers, best))))
    rows.append(("loss", "–", "–", "–", f"{inference.loss:.9g}"))
    return [
        Text(text),
        Table("In the paper's units", ("quantity", "median", "from", "to", "best fit"), rows),
        Table("Search", ("setting", "value"), _pairs(inference.settings), left=(0, 1)),
        Table("Simulator", ("setting", "value"), _pairs(inference.model), left=(0, 1)),
        Table("Versions", ("package", "version"), _pairs(inference.versions), left=(0, 1)),
    ]


def _pairs(mapping: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [(key, _plain(value)) for key, value in mapping.items()]


def _plain(value: Any) -> str:
    """A setting as text: a record on one line, lists (of vessels, junctions) as their lengths."""
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_plain(item)}" for key, item in value.items())
    if isinstance(value, (list, tuple)):
        return str(len(value))
    return f"{value:.6g}" if isinstance(value, float) else str(value)
