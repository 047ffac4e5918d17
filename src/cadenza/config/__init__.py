"""Settings: what an owner may choose, read from a file and the environment, and shown without secrets."""
