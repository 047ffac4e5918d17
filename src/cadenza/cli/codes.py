"""The exit codes of `cadenza`: 0 done, 1 refused, 2 used wrongly, 3 the store is away."""

OK, REFUSED, MISUSED, AWAY = 0, 1, 2, 3
INTERRUPTED = 130  # what shells expect of a program that Ctrl-C ended
