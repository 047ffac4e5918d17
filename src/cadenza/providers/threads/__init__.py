"""Threads. Start with publish.py; facts and limits are in README.md."""

from cadenza.providers.threads.auth import ThreadsConnector
from cadenza.providers.threads.publish import Threads

PROVIDER = Threads()
CONNECTOR = ThreadsConnector()
