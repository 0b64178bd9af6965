"""What the pulmonary report says of the three indicators, of vessels, failures and pressures, and on whose word.

Normal    No normal range of (f_L, f_S, ξ) has been measured in people. The report says so, shows the reference values
          of [NH18] as what they are, and uses a normal range only where one has a source: mean pulmonary pressure.
Units     kPa for stiffness (1 kPa = 10⁴ dyn/cm², the unit of the paper and of the records), mmHg, ml/s.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from surefoot.calibration.result import Interval
from surefoot.inference.result import NAMES, Inference
from surefoot.pulmonary import NOMINAL
from surefoot.reports.numbers import fixed, percent
from surefoot.reports.page import markup

if TYPE_CHECKING:
    from markupsafe import Markup

# Kovacs et al. 2009, source 2 of the report: mean and standard deviation over 1187 healthy people, at rest.
HEALTHY_MEAN_MMHG, HEALTHY_SD_MMHG = 14.0, 3.3
HYPERTENSION_ABOVE_MMHG = 20.0  # Humbert et al. 2022, source 3: by right heart catheterization
REFERENCE_MPA_MMHG = 13.5  # mean pressure of simulate(*NOMINAL) in the MPA; tested

SOURCES = (
    (
        "U. Noè, D. Husmeier: On a New Improvement-Based Acquisition Function for Bayesian Optimization, section 7. "
        "The method, the search ranges and the reference values.",
        "",
    ),
    (
        "G. Kovacs, A. Berghold, S. Scheidl, H. Olschewski: Pulmonary arterial pressure during rest and exercise in "
        "healthy subjects: a systematic review. Eur Respir J 34 (2009) 888–894.",
        "https://doi.org/10.1183/09031936.00145608",
    ),
    (
        "M. Humbert et al.: 2022 ESC/ERS Guidelines for the diagnosis and treatment of pulmonary hypertension. "
        "Eur Heart J (2022).",
        "https://doi.org/10.1093/eurheartj/ehac237",
    ),
    (
        "M. U. Qureshi et al.: Numerical simulation of blood flow and pressure drop in the pulmonary arterial and "
        "venous circulation. Biomech Model Mechanobiol (2014). The model.",
        "https://pmc.ncbi.nlm.nih.gov/articles/PMC4183203",
    ),
    (
        "M. Dong et al.: Image-based scaling laws for somatic growth and pulmonary artery morphometry from infancy to "
        "adulthood. Am J Physiol Heart Circ Physiol 319 (2020) H432–H442.",
        "https://doi.org/10.1152/ajpheart.00123.2020",
    ),
)

VESSELS = {  # as [NH18, Figure 4] names them, whose "interlobular" arteries are those that anatomy calls interlobar
    "MPA": "main pulmonary artery",
    "RPA": "right pulmonary artery",
    "LPA": "left pulmonary artery",
    "RIA": "right interlobar artery",
    "RTA": "right trunk artery",
    "LIA": "left interlobar artery",
    "LTA": "left trunk artery",
    "RIV": "right inferior vein",
    "RSV": "right superior vein",
    "LIV": "left inferior vein",
    "LSV": "left superior vein",
}

FAILURES = {  # kinds of failed simulations
    "matching": "no state joins an artery, its small vessels and its vein",
    "cfl": "waves became too fast for the simulator's steps",
    "junction": "no state joins a vessel and its branches",
    "not-finite": "a number became infinite",
    "collapsed": "a vessel collapsed",
    "not-periodic": "the beats did not settle into a rhythm",
    "invalid-parameters": "the values cannot be simulated at all",
}


@dataclass(frozen=True)
class Indicator:
    """One of the three inferred quantities and how it is told."""

    name: str  # of the record
    symbol: Markup
    words: str
    unit: str
    factor: float  # dyn/cm² per unit
    meaning: str
    more: str  # what a value above the reference means
    less: str

    @property
    def index(self) -> int:
        """Place in (f_L, f_S, xi)."""
        return NAMES.index(self.name)

    @property
    def heading(self) -> Markup:
        """Words, symbol and unit, for tables."""
        return markup("{} {}{}", self.words, self.symbol, f", {self.unit}" if self.unit else "")

    @property
    def axis(self) -> str:
        """Words and unit, for figures."""
        return self.words + (f" ({self.unit})" if self.unit else "")


INDICATORS = (
    Indicator(
        "f_L",
        markup("f<sub>L</sub>"),
        "Large-vessel stiffness",
        "kPa",
        1e4,
        "How stiff the walls of the large vessels are (Young's modulus times wall thickness over radius). Stiff walls "
        "cushion the pulse less: systolic pressure rises, diastolic falls [1].",
        "stiffer large vessels",
        "softer large vessels",
    ),
    Indicator(
        "f_S",
        markup("f<sub>S</sub>"),
        "Small-vessel stiffness",
        "kPa",
        1e4,
        "The same for the small vessels between arteries and veins, which are too many to be modelled one by one.",
        "stiffer small vessels",
        "softer small vessels",
    ),
    Indicator(
        "xi",
        markup("ξ"),
        "Branching exponent",
        "",
        1.0,
        "How fast vessels narrow where they branch. Low values mean a sparse tree, fewer small vessels in the same "
        "tissue: rarefaction, a known finding in pulmonary hypertension [1].",
        "a denser tree of small vessels",
        "a sparser tree of small vessels (rarefaction)",
    ),
)


def interval_of(inference: Inference, indicator: Indicator) -> Interval | None:
    """The credible interval, if any was computed."""
    if inference.posterior is None:
        return None
    return next(interval for interval in inference.posterior.intervals if interval.name == indicator.name)


def central(inference: Inference, indicator: Indicator) -> float:
    """The estimate: the posterior's median, which lies in every interval; the best fit if there is no posterior.

    The best-fitting simulation is one point. Plausible values of ξ can end at a step of the model
    (docs/understanding/inference.md); there it stands at their very edge, in the few per cent that the interval leaves
    out on that side.
    """
    interval = interval_of(inference, indicator)
    return inference.estimate[indicator.index] if interval is None else interval.median


def is_synthetic(inference: Inference) -> bool:
    """Whether the data were simulated."""
    return inference.data.truth is not None or inference.data.source == "synthetic"


def shown(inference: Inference, indicator: Indicator, *values: float) -> list[str]:
    """Values in the indicator's unit, with as many decimals as its uncertainty deserves."""
    interval = interval_of(inference, indicator)
    spread = interval.sd / indicator.factor if interval is not None else 0.05
    places = min(5, max(1, 1 - math.floor(math.log10(spread)))) if spread > 0.0 else 3
    return [fixed(value / indicator.factor, places) for value in values]


def level(inference: Inference) -> str:
    """Of the intervals: 90 %."""
    return percent(inference.posterior.intervals[0].level if inference.posterior else 0.9)


def compared(inference: Inference, indicator: Indicator) -> str:
    """The interval against the reference, in words."""
    interval, reference = interval_of(inference, indicator), NOMINAL[indicator.index]
    if interval is None:
        return "unknown: no interval"
    if interval.low > reference:
        return f"above: {indicator.more}"
    if interval.high < reference:
        return f"below: {indicator.less}"
    return "not distinguishable"


def pressure_words(inference: Inference) -> str:
    """The fitted pressure in the main pulmonary artery against what is measured in people."""
    pressure = inference.fit.get("p_MPA")
    mean = float(pressure.mean())
    origin = "fitted to the measured one" if inference.data.get("p_MPA") else "predicted by the model, not measured"
    limit = f"{HYPERTENSION_ABOVE_MMHG:g} mmHg"
    sds = (mean - HEALTHY_MEAN_MMHG) / HEALTHY_SD_MMHG
    if mean > HYPERTENSION_ABOVE_MMHG:
        verdict = f"above {limit}, the limit beyond which pulmonary hypertension is defined"
    elif sds > 1.0:
        verdict = f"not above {limit}, the limit of pulmonary hypertension, but higher than in most healthy people"
    elif sds >= -2.0:
        verdict = f"as in healthy people, and not above {limit}, the limit of pulmonary hypertension"
    else:
        verdict = "lower than in healthy people"
    return (
        f"Pressure in the main pulmonary artery, {origin}: systolic {pressure.max():.1f}, mean {mean:.1f}, diastolic "
        f"{pressure.min():.1f} mmHg. The mean is {verdict}. Pulmonary hypertension is defined as a mean above {limit} "
        f"at rest, measured by right heart catheter [3]; healthy people at rest have {HEALTHY_MEAN_MMHG} ± "
        f"{HEALTHY_SD_MMHG} mmHg (mean ± standard deviation) [2]. A fitted pressure is not such a measurement."
    )


def width_words(inference: Inference) -> str:
    """How much of the searched range the intervals leave."""
    parts = []
    for indicator, (low, high) in zip(INDICATORS, inference.bounds, strict=True):
        interval = interval_of(inference, indicator)
        if interval is not None:
            share = percent((interval.high - interval.low) / (high - low), 1)
            end = " (it touches the end of the range)" if interval.at_bound else ""
            parts.append(f"{indicator.words.lower()} {share}{end}")
    return (
        f"The {level(inference)} interval takes up this share of the searched range: {', '.join(parts)}. The smaller, "
        "the more the measurements have told; near 100 % they have told nothing."
    )


def correlation_words(inference: Inference) -> Markup:
    """Whether the indicators can be told apart."""
    if inference.posterior is None:
        return markup("")
    rho = inference.posterior.correlation
    i, j = max(((0, 1), (0, 2), (1, 2)), key=lambda pair: abs(rho[pair]))
    a, b, value = INDICATORS[i].symbol, INDICATORS[j].symbol, fixed(float(rho[i, j]), 2)
    if abs(rho[i, j]) < 0.8:
        return markup("The three can be told apart: the largest correlation, between {} and {}, is {}.", a, b, value)
    return markup(
        "{} and {} are hard to tell apart (correlation {}): a change in one can make up for one in the other.",
        a,
        b,
        value,
    )
