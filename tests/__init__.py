"""Tests mirror src, one file an operation; servers/ starts the real servers they need."""
