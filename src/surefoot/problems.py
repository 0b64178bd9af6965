"""The 12 test functions of the paper under their public name; they live in surefoot.paper.problems."""

from surefoot.paper.problems import ALL, Problem, get

__all__ = ["ALL", "Problem", "get"]
