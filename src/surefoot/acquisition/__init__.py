"""Policies (functions of mu, sd and f_best) and the two searches that maximize them."""
