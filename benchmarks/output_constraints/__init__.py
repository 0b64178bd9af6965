"""Limits on outputs: surefoot beside others on problems whose optimum is known."""
