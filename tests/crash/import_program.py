"""`cadenza worker` that imports contacts in small chunks, so that a test can kill it in the middle of a small file."""

from cadenza.bootstrap import import_contacts
from cadenza.cli import main

CHUNK = 25


def run(words: list[str]) -> None:
    """Work as the nursery's child."""
    import_contacts.CHUNK = CHUNK  # pyright: ignore[reportPrivateLocalImportUsage]
    main(words)
