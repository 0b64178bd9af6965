"""Adapters to other libraries; the logic is the engine's."""
