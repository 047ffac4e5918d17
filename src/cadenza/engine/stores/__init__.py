"""The stores: memory (the reference), SQLite, PostgreSQL. One semantics, one conformance suite."""
