"""`make demo`: a synthetic patient with rarefied lungs, from noisy pressure and flow to stiffness and rarefaction.

The same from the command line:
    surefoot pulmonary synthesize patient.csv --f-L 3.2e5 --f-S 6e4 --xi 2.6
    surefoot pulmonary infer patient.csv --plots figures --report report.html
Research software, not a medical device.
"""

import os
from pathlib import Path

from rich.console import Console

from surefoot.cli.inference import DISCLAIMER, print_result
from surefoot.inference.data_file import write_signals
from surefoot.inference.infer import Plan, infer
from surefoot.inference.plots import save_plots
from surefoot.inference.synthesize import synthesize
from surefoot.reports.pulmonary import write_report

TRUTH = (3.2e5, 6.0e4, 2.60)  # f_L, f_S (dyn/cm²), xi: stiffer and more rarefied than the nominal (2.6e5, 5e4, 2.76)


def main():
    console = Console()
    folder = Path("demo-output")
    folder.mkdir(exist_ok=True)
    console.print(DISCLAIMER, style="dim")
    console.print(
        "Three steps, one to two minutes together: simulate a patient (compiling the simulator, once, takes 20 s), "
        "search the parameters behind the data (100 simulations), sample what the data leave open (about 50 more)."
    )
    data = synthesize(TRUTH, snr_db=10.0, seed=1)
    write_signals(data, folder / "patient.csv")
    result = infer(data, plan=Plan(n_evals=100), n_workers=os.cpu_count() or 1, progress=True)
    result.save(folder / "inference.json")
    print_result(console, result)
    with console.status("drawing the figures and the report"):
        paths = [folder / "patient.csv", folder / "inference.json", *save_plots(result, folder)]
        paths.append(write_report(result, folder / "report.html"))
    for path in paths:
        console.print(f"written: {path}", highlight=False)


if __name__ == "__main__":
    main()
