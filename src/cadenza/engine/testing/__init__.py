"""What users of the engine test with: a virtual clock, draining, signals, and the conformance suite."""
