"""Every key of a problem file with what it means: files are checked against these, and the reference prints them.

Each table maps a key to (what it is, its default); no default: the key has to be there, or is left out at will.
"""

from __future__ import annotations

from collections.abc import Mapping

Keys = Mapping[str, tuple[str, str]]

PROBLEM: Keys = {
    "name": ("The name of the study, of its storage `NAME.db` and of its folder `NAME.runs`.", "the file's name"),
    "n_evals": ("How many evaluations there are in total; failed ones count.", "`100`"),
    "direction": ('`"minimize"` or `"maximize"`.', '`"minimize"`'),
    "max_failures": (
        "The run stops after so many failures in a row. A number with a decimal point is a share of all evaluations. "
        "`0` never stops.",
        "`50`",
    ),
    "heartbeat_s": ("Workers on other machines show a sign of life this often, in seconds.", "`10`"),
    "stop": ("What ends the run early; see the table of its keys.", "none"),
    "notify": ("A command that is run when the run ends: a text or a list of arguments; no shell reads it.", "none"),
    "device": (
        'Where suggestions are computed: `"cpu"`, `"cuda"` or `"torch"`; `surefoot run --device` overrules it, and '
        "the study does not keep it.",
        '`"cpu"`',
    ),
    "parameters": ("The table of the inputs, one line each. It has to be there.", ""),
    "constraints": ("Known constraints on the parameters, by name: no suggestion violates one.", "none"),
    "slurm": ("What a job of one evaluation asks of SLURM; see the table of its keys.", "none"),
    "objective": ("What evaluates a point; see the table of its keys. It has to be there.", ""),
}

RANGE: Keys = {
    "low": ("The least value. It has to be there.", ""),
    "high": ("The greatest value; equal to `low` the parameter is fixed. It has to be there.", ""),
    "log": ("`true`: the logarithm of the parameter is searched. `low` must be positive.", "`false`"),
    "step": ("Only `low`, `low + step`, … up to `high` are suggested.", "none; `1` for integers"),
    "kind": ('`"real"` or `"integer"`.', '`"real"`'),
    "was": ("Of a parameter that is new in a study: its value in all earlier evaluations.", "none"),
}

CHOICE: Keys = {
    "choices": ("A list of different texts or numbers, without an order; of one alone the parameter is fixed.", ""),
    "kind": ('`"categorical"`, which may be left out.', '`"categorical"`'),
    "was": ("As of a range.", "none"),
}

OBJECTIVE: Keys = {
    "command": ("The program and its arguments, as a list of texts; no shell reads them.", ""),
    "python": ('Instead of `command`: `"simulator.py:simulate"`, a function of a dict of the parameters.', ""),
    "name": ("Which of several outputs is the value that is optimized.", "the only one, or `value`"),
    "timeout_s": ("Seconds that the command or the call may take; then it is stopped and has failed.", "none"),
    "memory_limit_mb": ("Megabytes that the command may use, or that a function may add.", "none"),
    "n_retries": ("How often a failure that `retry_on` names is repeated.", "`2`"),
    "retry_on": (
        'Failures that are not the point\'s fault: exit statuses, signals, `"timeout"`, names of exceptions.',
        "none",
    ),
    "environment": ("A table of environment variables.", "none"),
    "value": ("Where a command's value is read; see the table of its keys.", "the last line of stdout"),
    "files": ("Files that are rendered into the working directory: a table of file = template.", "none"),
    "placeholders": ('How placeholders look in templates: `"{}"`, `"${}"` or `"@@"`.', '`"{}"`'),
    "copy": ("Files and folders that are copied into the working directory.", "none"),
    "link": ("The same as symbolic links, for large files.", "none"),
    "before": ("Commands that run before the main one: a list; see the table of a step.", "none"),
    "after": ("Commands that run after it.", "none"),
    "results": ("A table of numbers that are read, by name; see the table of a result.", "none"),
}
OF_COMMANDS = ("value", "files", "placeholders", "copy", "link", "before", "after", "results")  # not of functions

STEP: Keys = {
    "command": ("The program and its arguments, as a list of texts.", ""),
    "timeout_s": ("Seconds that it may take.", "none"),
    "name": ("Its name in reasons and in the names of its output files.", "the program's name"),
}

VALUE: Keys = {
    "regex": ("A regular expression; the last match in stdout, or its group, is the value.", ""),
    "json": ("A JSON file in the working directory.", ""),
    "key": ("Where the value stands in that file: `fits.0.loss`.", "the whole file"),
}

RESULT: Keys = {
    "file": ("A file in the working directory.", "stdout"),
    "regex": ("A regular expression with at most one group; the group or the match is the number.", ""),
    "line": ("A line by its number (`-1` is the last), or a text that it contains.", ""),
    "column": ("A column of a table or a word of that line, by its number or its name.", ""),
    "take": (
        'Which number, where there are several: `"last"`, `"first"`, `"sum"`, `"min"`, `"max"`, `"mean"`, or a place.',
        '`"last"`',
    ),
    "optional": ("`true`: the result may be missing.", "`false`"),
    "key": ("Where the number stands in a JSON, TOML or YAML file: `summary.eff`.", ""),
    "python": ('A function that is called with the path of the working directory: `"post.py:lift"`.', ""),
    "json": ("A JSON file that has the key.", ""),
    "toml": ("A TOML file that has the key.", ""),
    "yaml": ("A YAML file that has the key (needs PyYAML).", ""),
}
