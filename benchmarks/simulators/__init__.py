"""Regret and failed evaluations on real simulators that crash: surefoot and other optimizers."""
