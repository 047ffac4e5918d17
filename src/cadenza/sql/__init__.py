"""Transactions on SQLite and PostgreSQL, for the engine's SQL stores and the product's tables."""
