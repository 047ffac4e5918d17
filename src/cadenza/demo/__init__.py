"""A world to try Cadenza in: local servers that behave like the networks, and accounts on them."""
