"""Benchmarks: ours against bare limits, same work, one run, ratios and CPU time."""
