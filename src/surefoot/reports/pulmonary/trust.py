"""The pulmonary report's section on how far to trust it: residuals, posterior, emulator, what is left out."""

from __future__ import annotations

import math

from surefoot.calibration.result import Posterior
from surefoot.inference.result import Inference
from surefoot.inference.signals import WORDS
from surefoot.reports.numbers import fixed, number, percent, significant
from surefoot.reports.page import Block, Figure, Key, Note, Table, Text
from surefoot.reports.pulmonary.figures import posterior_drawings
from surefoot.reports.pulmonary.words import INDICATORS, central, correlation_words, interval_of, shown, width_words

_ENOUGH_DRAWS = 100  # fewer independent draws make the ends of a 90 % interval uncertain by a third of an sd


def trust(inference: Inference) -> list[Block]:
    """The section's blocks."""
    blocks: list[Block] = [_fit_words(inference)]
    if inference.posterior is None:
        warning = "No credible intervals were computed, so nothing is known of the uncertainty."
        blocks.append(Note(warning, title="No intervals", kind="warning"))
    else:
        blocks.extend(_posterior(inference, inference.posterior))
    if inference.data.truth is not None:
        blocks.append(_truth(inference, inference.data.truth))
    blocks.append(
        Note(
            "The intervals count the noise of the measurements and the emulator's error. They do not count that this "
            "person's vessels have other sizes than the model's, that the flow out of the heart and the pressure in "
            "the left atrium are assumed, or that real walls are not the model's. These errors can be larger.",
            title="What the intervals leave out",
        )
    )
    blocks.append(_residuals(inference))
    blocks.extend(Note(note, title="About the data") for note in inference.data.notes)
    return blocks


def _fit_words(inference: Inference) -> Text:
    sizes = {signal.name: signal.value.size for signal in inference.data}
    n = sum(sizes.values())
    chi2 = sum(sizes[residual.name] * residual.chi2_per_value for residual in inference.residuals) / n
    limit = 1.0 + 4.0 * math.sqrt(2.0 / n)  # four standard deviations of a mean of n squared standard normals
    if chi2 <= limit:
        verdict = "The model explains the measurements to within their noise"
    else:
        verdict = "The model does not explain the measurements to within their noise, so the intervals are too narrow"
    return Text(
        f"{verdict}: the mean squared distance between measured and fitted values is {significant(chi2)} times what "
        "noise alone would cause (1 is perfect; more means that the model misses something, or that the noise was "
        "thought too small)."
    )


def _residuals(inference: Inference) -> Table:
    signals = {signal.name: signal for signal in inference.data}
    rows = []
    for residual in inference.residuals:
        signal = signals[residual.name]
        rows.append(
            (
                f"{signal.vessel} {WORDS[signal.kind]}, {signal.unit}",
                significant(residual.noise_sd),
                signal.noise_from,
                significant(residual.rms),
                fixed(residual.chi2_per_value, 2),
                percent(residual.explained),
            )
        )
    caption = "Noise (standard deviation) and distance between measured and fitted (root mean square), signal by signal"
    header = ("signal", "noise", "origin", "distance", "ratio squared", "variance explained")
    return Table(caption, header, rows, left=(0, 2))


def _posterior(inference: Inference, posterior: Posterior) -> list[Block]:
    truth = inference.data.truth
    caption = (
        "What the measurements leave open: above the probability of each indicator's values, below plausible values "
        "two by two."
    )
    legend = [
        Key("probability, inside the interval", "band", "blue", 0.55),
        Key("outside", "band", "blue", 0.2),
        Key("estimate", "line", "blue"),
        Key("plausible values", "dot", "dots"),
        Key("best fit", "plus", "blue"),
    ]
    if truth is not None:
        legend += [Key("value behind these synthetic data", shape, "orange") for shape in ("dashes", "triangle")]
    blocks: list[Block] = [
        Figure(posterior_drawings(posterior, inference.estimate, truth), caption, columns=3, legend=legend),
        Text(width_words(inference)),
        Text(correlation_words(inference)),
    ]
    if not posterior.converged or posterior.n_effective < _ENOUGH_DRAWS:
        warning = "The sampling of plausible values did not settle: take the intervals as rough."
        blocks.append(Note(warning, title="Rough intervals", kind="warning"))
    outside = [
        indicator.words.lower()
        for indicator, value, interval in zip(INDICATORS, inference.estimate, posterior.intervals, strict=True)
        if not interval.low <= value <= interval.high
    ]
    if outside:
        which = " and of the ".join(outside)
        text = (
            f"The best fit lies outside the interval of the {which}, among the values that the interval leaves out on "
            "either side. Trust the estimate and its interval."
        )
        blocks.append(Note(text))
    blocks.extend(Note(note) for note in posterior.notes)
    share = percent(posterior.emulator_share, 1) if posterior.emulator_share >= 0.0005 else "less than 0.1 %"
    blocks.append(
        Text(
            f"The intervals come from an emulator, a fast stand-in for the simulator, refined with "
            f"{posterior.n_simulations} further simulations. Its error changes the logarithm of the probability by "
            f"{number(posterior.emulator_error, 2)} (a few tenths would be harmless) and is counted in: "
            f"{share} of the variance. The samples are worth "
            f"{posterior.n_effective:.0f} independent ones."
        )
    )
    return blocks


def _truth(inference: Inference, truth: tuple[float, float, float]) -> Table:
    rows = []
    for indicator, true in zip(INDICATORS, truth, strict=True):
        interval, estimate = interval_of(inference, indicator), central(inference, indicator)
        inside = "–" if interval is None else "yes" if interval.low <= true <= interval.high else "no"
        rows.append((indicator.heading, *shown(inference, indicator, true, estimate), inside))
    header = ("indicator", "truth", "estimate", "truth in the interval")
    return Table("These data are synthetic: the truth is known", header, rows, left=(0, 3))
