"""Families of surrogates by name."""

from __future__ import annotations

from surefoot.gp.exact import EXACT
from surefoot.gp.surrogate import Family
from surefoot.registry import add_new

SURROGATES = {family.name: family for family in (EXACT,)}


def register_surrogate(family: Family) -> None:
    """Make `surrogate=name` available."""
    add_new(SURROGATES, family, Family, "surrogate", ("evidence", "condition", "n_hyperparameters"))
