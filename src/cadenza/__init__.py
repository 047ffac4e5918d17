"""Cadenza: the right thing, from the right account, to the right place, at the right minute, once."""
