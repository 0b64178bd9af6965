"""Other libraries' studies and samplers; all of them need Optuna."""

from importlib.util import find_spec

from surefoot.errors import MissingExtraError

if find_spec("optuna") is None:
    raise MissingExtraError(
        "expected Optuna, which keeps studies; it is not installed; try pip install 'surefoot[run]'"
    )
