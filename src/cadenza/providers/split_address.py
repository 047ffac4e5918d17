"""Take apart an address that a person typed: None if it is none, never an error.

Limit: whether the address may be called, and where it leads, is judged by the guarded client at each call.
"""

from urllib.parse import SplitResult, urlsplit

LONG_REST = 24  # letters: four of them give little away


def split_address(typed: str) -> SplitResult | None:
    """Return the parts of an address, or None where they cannot be told apart."""
    try:
        parts = urlsplit(typed)
        _ = parts.port  # read here, because a port that is no number raises only when asked for
    except ValueError:
        return None
    return parts


def server_address(typed: str) -> str | None:
    """Make the address of a server of what a person typed: a host, an address, or a handle `@ada@host`."""
    typed = typed.strip().rstrip("/")
    if "://" not in typed:
        typed = f"https://{typed.rpartition('@')[2]}"
    parts = split_address(typed)
    return f"{parts.scheme}://{parts.netloc}" if parts and parts.hostname else None


def cut_address(url: str) -> str:
    """Show of an address what may be seen: whoever knows the rest can write there.

    Of a long rest its end stays, so that two addresses on one host can be told apart.
    """
    parts = split_address(url)
    if parts is None:
        return "…"
    start = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
    rest = url.partition(parts.netloc)[2].removeprefix("/")
    if not rest:
        return start
    return f"{start}/…{rest[-4:] if len(rest) >= LONG_REST else ''}"
