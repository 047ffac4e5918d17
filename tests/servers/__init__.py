"""Real servers for tests and benchmarks, private to one run, gone when the run is gone."""
