"""The replication of [NH18], in a room of its own: nobody imports it but the command line, tests and benchmarks.

problems    the 12 test functions; users know them as `surefoot.problems`
solvers     global solvers of other libraries and ours, behind one counter
labels      the labels of the paper's tables: as printed, as computed, side by side
studies     benchmark, comparison, pulmonary (the paper's), and failures, coverage (ours, made in the same way)

[NH18]  Noè & Husmeier (2018), On a New Improvement-Based Acquisition Function for Bayesian Optimization.
"""
