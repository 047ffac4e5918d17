"""The command line: `cadenza`. One file a command group; each is imported only when it is called.

Exit codes: 0 done, 1 refused (with the reason in one line), 2 used wrongly, 3 the store is away.
"""

from collections.abc import Sequence


def main(words: Sequence[str] | None = None) -> None:
    """Run one command and leave with its exit code."""
    import sys

    from cadenza.cli.run import run

    sys.exit(run(sys.argv[1:] if words is None else words))
