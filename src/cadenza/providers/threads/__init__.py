"""Threads. Start with publish.py; facts and limits are in README.md."""

from cadenza.providers.threads.auth import ThreadsConnector
from cadenza.providers.threads.options import OPTIONS
from cadenza.providers.threads.publish import Threads

__all__ = ["CONNECTOR", "OPTIONS", "PROVIDER"]

PROVIDER = Threads()
CONNECTOR = ThreadsConnector()
