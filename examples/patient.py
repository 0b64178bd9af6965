"""`make demo`: a synthetic patient with rarefied lungs, from noisy pressure and flow to stiffness and rarefaction.

The same from the command line:
    surefoot pulmonary synthesize patient.csv --f-L 3.2e5 --f-S 6e4 --xi 2.6
    surefoot pulmonary infer patient.csv --plots figures --report report.html
Research software, not a medical device.
"""

import os
from pathlib import Path

from rich.console import Console

from surefoot.cli.inference import DISCLAIMER, print_result, write_report
from surefoot.errors import MissingExtraError
from surefoot.inference.data_file import write_signals
from surefoot.inference.infer import Plan, infer
from surefoot.inference.plots import save_plots
from surefoot.inference.synthesize import synthesize

TRUTH = (3.2e5, 6.0e4, 2.60)  # f_L, f_S (dyn/cm²), xi: stiffer and more rarefied than the nominal (2.6e5, 5e4, 2.76)


def main():
    console = Console()
    folder = Path("demo-output")
    folder.mkdir(exist_ok=True)
    console.print(f"A synthetic patient (the first simulation ever compiles, about 20 s). {DISCLAIMER}")
    data = synthesize(TRUTH, snr_db=10.0, seed=1)
    write_signals(data, folder / "patient.csv")
    result = infer(data, plan=Plan(n_evals=100), n_workers=os.cpu_count() or 1, progress=True)
    result.save(folder / "inference.json")
    print_result(console, result)
    paths = [folder / "patient.csv", folder / "inference.json", *save_plots(result, folder)]
    try:
        write_report(result, folder / "report.html")
        paths.append(folder / "report.html")
    except MissingExtraError as error:
        console.print(f"no report: {error}")
    for path in paths:
        console.print(f"written: {path}", highlight=False)


if __name__ == "__main__":
    main()
