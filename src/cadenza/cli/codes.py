"""The exit codes of `cadenza`: 0 done, 1 refused, 2 used wrongly, 3 the store is away.

Refused is what depends on how things stand: no such account, not allowed, changed meanwhile. Used wrongly is
what the words alone tell: the same words would be wrong everywhere.
"""

OK, REFUSED, MISUSED, AWAY = 0, 1, 2, 3
INTERRUPTED = 130  # what shells expect of a program that Ctrl-C ended


class UsageError(Exception):
    """A command's words cannot be meant so; the message says in one line what to write."""
