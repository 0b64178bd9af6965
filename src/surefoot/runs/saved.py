"""A file that `save` of a result or an optimizer wrote, given where a study is asked for: what to do with it."""

from __future__ import annotations

from pathlib import Path

from surefoot.errors import InvalidInputError, shown
from surefoot.optimize.document import Document


def refuse_saved_run(path: Path, wanted: str) -> None:
    """Raise if the file is a run saved by minimize or an optimizer, which is opened in Python."""
    try:
        document = Document.read(path)
    except InvalidInputError:  # something else
        return
    if document.space is None:
        return
    opened = f"surefoot.Optimizer.load({str(path)!r}).result()"
    raise InvalidInputError(
        f"expected {wanted}; got {shown(str(path))}, a run saved by minimize; "
        f"try surefoot.write_report({opened}, 'report.html') or print({opened}) in Python"
    )
