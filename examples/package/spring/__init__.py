"""A small package: a mass on a damped spring, integrated step by step until it comes to rest."""

from spring.model import DivergedError, settle

__all__ = ["DivergedError", "settle"]
