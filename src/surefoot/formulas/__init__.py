"""Expressions that people write: numbers, names, functions, comparisons; parsed here, and never given to Python."""

from surefoot.formulas.formula import Formula
from surefoot.formulas.parse import Comparison, parse_comparison, parse_formula

__all__ = ["Comparison", "Formula", "parse_comparison", "parse_formula"]
