"""The parts of the reference that are read out of the code: command line, settings, problem file.

They are written to docs/reference/_generated, which Git ignores, and the pages of docs/reference
include them.
"""

import re
from pathlib import Path
from textwrap import dedent

import typer
from docstrings import fields_of

FOLDER = Path(__file__).parents[1] / "reference" / "_generated"


def table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """A Markdown table."""
    lines = [head, tuple("---" for _ in head), *rows]
    return (
        "\n".join(
            "| " + " | ".join(cell.replace("|", r"\|") for cell in line) + " |" for line in lines
        )
        + "\n"
    )


def command_line() -> str:
    """Every command with its arguments and options."""
    from surefoot.cli.app import app

    text = "\n".join(_commands(typer.main.get_command(app), "surefoot"))
    return re.sub(r"docs/([a-z/-]+\.md)", r"[docs/\1](/\1)", text)


def _commands(command, name: str) -> list[str]:
    inside = getattr(command, "commands", {})
    if inside and name == "surefoot":
        return [
            part for key, below in inside.items() for part in _commands(below, f"surefoot {key}")
        ]
    parts = [f"## {name}\n", _help(command.help or "")]
    if inside:
        return [
            *parts,
            *(part for key, below in inside.items() for part in _commands(below, f"{name} {key}")),
        ]
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    usage = " ".join([name, *(_usage(p) for p in arguments), "[OPTIONS]"])
    rows = [_row(p) for p in command.params if p.name != "help"]
    shown = table(("argument or option", "meaning", "default"), rows) if rows else ""
    return [parts[0], f"    {usage}\n", parts[1], shown]


def _help(text: str) -> str:
    made = []
    for block in (part for part in text.split("\n\n") if part.strip()):
        if block.lstrip().startswith("\b\n"):  # kept as it is
            made.append(f"```toml\n{dedent(block.lstrip().removeprefix(chr(8))).strip()}\n```")
            continue
        part = " ".join(block.split())
        head, example, command = part.partition("Example: ")
        made.append(
            f"{head}Example: `{command}`"
            if example
            else part.replace("*", r"\*").replace("<", r"\<")
        )
    return "\n\n".join(made) + "\n"


def _usage(parameter) -> str:
    metavar = parameter.metavar or parameter.name.upper()
    text = metavar if parameter.required else f"[{metavar}]"
    return text if text.endswith("…") or parameter.nargs != -1 else f"{text}…"


def _row(parameter) -> tuple[str, str, str]:
    if parameter.param_type_name == "argument":
        names = f"`{_usage(parameter)}`"
    else:
        metavar = "" if parameter.is_flag else f" {parameter.metavar or parameter.name.upper()}"
        names = ", ".join(
            f"`{option}{metavar}`" for option in [*parameter.opts, *parameter.secondary_opts]
        )
    default = parameter.default
    plain = isinstance(default, (str, int, float)) and default not in ("", False, None)
    return names, parameter.help or "", f"`{default}`" if plain and not parameter.required else ""


def settings() -> str:
    """Every setting with its default, and the names that it takes."""
    from surefoot.acquisition.registry import policy_names
    from surefoot.engine.searches import SEARCHES
    from surefoot.failures.registry import FAILURE_MODELS, NO_MODEL
    from surefoot.gp.kernels import KERNELS
    from surefoot.gp.priors import PRIORS
    from surefoot.gp.registry import SURROGATES
    from surefoot.numerics.designs import DESIGNS
    from surefoot.optimize.settings import AUTO, COSTS, NOISE_ESTIMATED, WARPS, Settings

    names = {
        "policy": policy_names(),
        "kernel": (AUTO, *KERNELS),
        "search": SEARCHES,
        "noise": (NOISE_ESTIMATED,),
        "design": DESIGNS,
        "failures": (AUTO, *FAILURE_MODELS, *NO_MODEL),
        "warp": WARPS,
        "prior": (AUTO, *PRIORS),
        "surrogate": SURROGATES,
        "cost": COSTS,
        "min_success": (AUTO,),
    }
    rows = []
    for name, _, comment in fields_of(Settings):
        default = (
            "2 d + 2, at most 14" if name == "n_init" else f"`{_shown(getattr(Settings(), name))}`"
        )
        choices = ", ".join(f'`"{choice}"`' for choice in names.get(name, ()))
        meaning = re.sub(r"(\{.*\}|\"[^\"]+\")", r"`\1`", comment)
        rows.append((f"`{name}`", meaning, choices, default))
    return table(("setting", "meaning", "names", "default as used"), rows)


def _shown(value) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)


def _default(record: type, name: str) -> str:
    value = getattr(record, name)
    return "none" if value in (None, "", ()) else f"`{_shown(value)}`"


def problem_file() -> dict[str, str]:
    """A table of keys for every table of a problem file."""
    from surefoot.optimize.stopping import Stop, Unlikely
    from surefoot.runs import keys
    from surefoot.runs.slurm_table import SlurmTable

    records = {"stop": Stop, "gain": Unlikely, "slurm": SlurmTable}
    read = {
        table: {name: (comment, _default(record, name)) for name, _, comment in fields_of(record)}
        for table, record in records.items()
    }
    tables = {
        "problem": keys.PROBLEM,
        "range": keys.RANGE,
        "choice": keys.CHOICE,
        "objective": keys.OBJECTIVE,
        "step": keys.STEP,
        "value": keys.VALUE,
        "result": keys.RESULT,
        **read,
    }
    return {
        f"problem-{name}": table(
            ("key", "meaning", "default"), [(f"`{k}`", *said) for k, said in entries.items()]
        )
        for name, entries in tables.items()
    }


def write(app, config) -> None:
    """Write all of them; a file that has not changed is left alone."""
    FOLDER.mkdir(exist_ok=True)
    for name, text in {
        "command-line": command_line(),
        "settings": settings(),
        **problem_file(),
    }.items():
        path = FOLDER / f"{name}.md"
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


def setup(app) -> dict[str, bool]:
    """Connect it."""
    app.connect("config-inited", write)
    return {"parallel_read_safe": True}
