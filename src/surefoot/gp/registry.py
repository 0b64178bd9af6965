"""Families of surrogates by name; whoever writes another one adds it here."""

from __future__ import annotations

from surefoot.gp.exact import EXACT

SURROGATES = {family.name: family for family in (EXACT,)}
