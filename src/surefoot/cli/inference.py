"""`surefoot pulmonary synthesize` and `surefoot pulmonary infer`: a patient's data, made and explained."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from surefoot.cli.options import FL, FS, N_CORES, Seed, SettingsFile, SignalNames, Variant, Xi
from surefoot.cli.pulmonary import app, load_settings

if TYPE_CHECKING:
    from surefoot.inference.infer import Plan
    from surefoot.inference.result import Inference
    from surefoot.inference.signals import Signals
    from surefoot.pulmonary import Settings

DISCLAIMER = "Research software, not a medical device: not for diagnosis or treatment."
N_EVALS = Annotated[int, typer.Option("--n-evals", min=1, metavar="N", help="Simulations of the optimization.")]
POLICY = Annotated[str, typer.Option(metavar="NAME", help="What to maximize: ScaledEI, EI, PI, LCB, alternate, …")]
FAILURES = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="How failures are learned: ep, experts, label-regression (the paper's), laplace, impute, ignore.",
    ),
]
LOSS = Annotated[str, typer.Option(metavar="NAME", help="likelihood, l2 (the paper's) or mean (cycle means alone).")]
PERIOD = Annotated[float | None, typer.Option(min=0.05, metavar="S", help="Length of a beat, s; default: the file's.")]
LEVEL = Annotated[float, typer.Option(min=0.01, max=0.999, metavar="P", help="Probability of the intervals.")]
OUT = Annotated[Path | None, typer.Option(metavar="FILE", help="JSON of the result; default: beside the data.")]
PLOTS = Annotated[Path | None, typer.Option(metavar="FOLDER", help="Draw posterior, fit and trace into this folder.")]


@app.command()
def synthesize(
    out: Annotated[Path, typer.Argument(metavar="PATIENT.CSV", help="File to write.")],
    f_L: FL = 2.6e5,
    f_S: FS = 5.0e4,
    xi: Xi = 2.76,
    snr: Annotated[float, typer.Option(metavar="DB", help="Signal to noise, dB.")] = 10.0,
    resolution_mmhg: Annotated[
        float, typer.Option(min=0.0, metavar="SD", help="Least noise of a pressure, mmHg.")
    ] = 0.1,
    resolution_mls: Annotated[float, typer.Option(min=0.0, metavar="SD", help="Least noise of a flow, ml/s.")] = 1.0,
    signals: SignalNames = "",
    samples: Annotated[int, typer.Option(min=4, metavar="N", help="Samples per beat.")] = 256,
    hide_noise: Annotated[bool, typer.Option("--hide-noise", help="Leave the noise levels out of the file.")] = False,
    hide_truth: Annotated[bool, typer.Option("--hide-truth", help="Leave the parameters out of the file.")] = False,
    variant: Variant = None,
    settings: SettingsFile = None,
    seed: Seed = 0,
) -> None:
    """Make the data of a synthetic patient: a simulation with noise.

    Example: surefoot pulmonary synthesize patient.csv --xi 2.5 --signals p_MPA,q_MPA
    """
    from dataclasses import replace

    from surefoot.inference.data_file import write_signals
    from surefoot.inference.synthesize import synthesize as make
    from surefoot.pulmonary import SimulationFailure

    try:
        data = make(
            (f_L, f_S, xi),
            settings=load_settings(settings, variant),
            snr_db=snr,
            seed=seed,
            resolution=(resolution_mmhg, resolution_mls),
            names=_names(signals),
            n_samples=samples,
        )
    except SimulationFailure as failure:
        Console(stderr=True).print(f"[red]{failure.kind}[/red] {escape(str(failure))}", highlight=False)
        raise typer.Exit(1) from None
    if hide_noise:
        data = replace(data, signals=tuple(replace(signal, noise_from="estimated") for signal in data))
    write_signals(replace(data, truth=None) if hide_truth else data, out)
    Console().print(f"{len(data)} signals, {data.n_values} values: {out}", highlight=False)


@app.command()
def infer(
    data: Annotated[
        Path,
        typer.Argument(
            metavar="PATIENT.CSV",
            help="Columns t_s, p_VESSEL_mmHg, q_VESSEL_mls, sd_…; see docs/howto/lungs.md.",
        ),
    ],
    n_evals: N_EVALS = 100,
    policy: POLICY = "ScaledEI",
    failures: FAILURES = "ep",
    loss: LOSS = "likelihood",
    period: PERIOD = None,
    signals: SignalNames = "",
    level: LEVEL = 0.9,
    posterior: Annotated[bool, typer.Option(help="Sample the posterior (intervals), or stop at the best fit.")] = True,
    workers: Annotated[int, typer.Option(min=1, metavar="N", help="Simulations at a time.")] = N_CORES,
    out: OUT = None,
    plots: PLOTS = None,
    report: Annotated[Path | None, typer.Option(metavar="FILE", help="Write an HTML report to this file.")] = None,
    variant: Variant = None,
    settings: SettingsFile = None,
    seed: Seed = 0,
) -> None:
    """Infer stiffness and rarefaction from pressure and flow.

    Bayesian optimization finds the best fit, then the posterior gives intervals; one to two minutes. Any subset of the
    22 signals will do. Evaluations are saved as they end: after Ctrl-C or a crash the same command goes on. Research
    software, not a medical device.

    Example: surefoot pulmonary infer patient.csv --report patient.html
    """
    from surefoot.inference.data_file import read_signals
    from surefoot.inference.infer import Plan
    from surefoot.optimize.plots import pyplot

    if plots or report:
        pyplot()  # if it is missing: complain now, not after the simulations
    chosen = load_settings(settings, variant)
    patient = read_signals(data, period_s=period, network=chosen.network)
    if signals:
        patient = patient.select(_names(signals))
    plan = Plan(
        loss=loss, n_evals=n_evals, policy=policy, failures=failures, seed=seed, posterior=posterior, level=level
    )
    out = out or data.with_suffix(".inference.json")
    console = Console()
    result = _run(console, patient, chosen, plan, workers, out)
    print_result(console, result)
    console.print(f"result: {out}", highlight=False)
    _draw(console, result, plots, report)


def _run(
    console: Console, patient: "Signals", settings: "Settings", plan: "Plan", workers: int, out: Path
) -> "Inference":
    """Infer, going on from what an earlier run has left, and save the result."""
    from surefoot.inference.infer import infer as run

    history = out.with_suffix(".history.json")
    if history.exists():
        console.print(f"going on from {history}", highlight=False)
    console.print(DISCLAIMER, style="dim")
    try:
        result = run(patient, settings=settings, plan=plan, n_workers=workers, history_path=history, progress=True)
    except KeyboardInterrupt:
        Console(stderr=True).print(f"stopped; the same command goes on from {history}", highlight=False)
        raise typer.Exit(130) from None
    result.save(out)
    history.unlink(missing_ok=True)
    return result


def _draw(console: Console, result: "Inference", plots: Path | None, report: Path | None) -> None:
    """Figures and report, where they are wanted."""
    if plots:
        from surefoot.inference.plots import save_plots

        for path in save_plots(result, plots):
            console.print(f"figure: {path}", highlight=False)
    if report:
        from surefoot.reports.pulmonary import write_report

        console.print(f"report: {write_report(result, report)}", highlight=False)


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


_ROWS = (
    ("f_L", "stiffness, large", ",.0f"),  # dyn/cm²
    ("f_S", "stiffness, small", ",.0f"),
    ("ξ", "exponent", ".4f"),
)


def print_result(console: Console, result: "Inference") -> None:
    """Parameters with truth, estimate (the posterior's median), interval and best fit; then what to know of them."""
    posterior, truth = result.posterior, result.data.truth
    heading = f"{len(result.data)} signals, {result.data.n_values} values; stiffness in dyn/cm²"
    table = Table(title=heading, title_justify="left")
    table.add_column("")
    table.add_column("parameter", no_wrap=True)
    if truth is not None:
        table.add_column("truth", justify="right")
    if posterior is not None:
        table.add_column("median", justify="right")
        table.add_column(f"{posterior.intervals[0].level:.0%} interval", justify="right", no_wrap=True)
    table.add_column("best fit", justify="right")
    for i, (symbol, what, form) in enumerate(_ROWS):
        cells = [symbol, what]
        if truth is not None:
            cells.append(f"{truth[i]:{form}}")
        if posterior is not None:
            interval = posterior.intervals[i]
            cells += [f"{interval.median:{form}}", f"{interval.low:{form}} to {interval.high:{form}}"]
        cells.append(f"{result.estimate[i]:{form}}")
        table.add_row(*cells)
    console.print(table)
    kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(result.failures.items()))
    more = f", {posterior.n_simulations} more for the posterior" if posterior is not None else ""
    console.print(
        f"{result.n_evals} simulations, {result.n_failures} failed{f' ({kinds})' if kinds else ''}{more}; "
        f"{result.duration_s:.0f} s",
        highlight=False,
    )
    worst = max(result.residuals, key=lambda residual: residual.chi2_per_value)
    console.print(
        f"fit: squared residuals over noise variance {_mean_chi2(result):.3f} (about 1 if the model is right), "
        f"at most {worst.chi2_per_value:.3f} ({worst.name})",
        highlight=False,
    )
    for note in (*result.notes, *(posterior.notes if posterior is not None else ())):
        console.print(f"note: {escape(note)}", style="yellow", highlight=False)


def _mean_chi2(result: "Inference") -> float:
    sizes = [signal.value.size for signal in result.data]
    chi2 = [residual.chi2_per_value for residual in result.residuals]
    return sum(n * c for n, c in zip(sizes, chi2, strict=True)) / sum(sizes)
