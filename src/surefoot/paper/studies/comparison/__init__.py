"""ScaledEI against other global solvers [NH18, section 6]."""
