"""Models of where evaluations fail: P(success | x)."""
