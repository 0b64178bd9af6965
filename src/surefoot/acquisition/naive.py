"""The paper's two naive references: MN, pure exploitation; RND, which asks no model (see registry.py)."""

from __future__ import annotations

from surefoot.acquisition.improvement import Partials
from surefoot.backend import Array, namespace


def mn(mu: Array, sd: Array) -> Partials:
    """-mu: go where the mean is lowest [NH18, section 4]."""
    xp = namespace(mu)
    return -mu, -xp.ones_like(mu), xp.zeros_like(sd)
