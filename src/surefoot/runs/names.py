"""Names that mean something in the working directory of an evaluation, and among its outputs."""

STDOUT, STDERR = "stdout.txt", "stderr.txt"
PARAMETERS_FILE = "parameters.json"  # for simulators that read files
NO_VALUE = "no value: "  # begins the reason where a program ended with status 0 and left none
PROGRESS = "progress"  # among outputs: the share of the work that was done
NO_SHARE = (
    "expected progress as a share from 0 to 1; got {:.6g}, which is kept as an output; try dividing per cent by 100"
)
