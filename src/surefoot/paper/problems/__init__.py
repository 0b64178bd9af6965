"""The 12 test functions of [NH18, Table 1] as frozen records; nothing here knows of Bayesian optimization.

[NH18]  Noè & Husmeier (2018), On a New Improvement-Based Acquisition Function for Bayesian Optimization.
"""

from surefoot.paper.problems.catalogue import ALL
from surefoot.paper.problems.record import Problem
from surefoot.paper.problems.registry import get

__all__ = ["ALL", "Problem", "get"]
