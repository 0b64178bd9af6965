"""Scalar special functions, lock-step batched optimizers and designs; they know nothing of Gaussian processes."""
