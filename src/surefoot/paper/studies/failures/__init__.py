"""Ways to treat failed evaluations, on problems with hidden constraints; not of the paper alone."""
