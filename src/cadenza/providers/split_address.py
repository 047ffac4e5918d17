"""Take apart an address that a person typed: None if it is none, never an error.

Limit: whether the address may be called, and where it leads, is judged by the guarded client at each call.
"""

from urllib.parse import SplitResult, urlsplit


def split_address(typed: str) -> SplitResult | None:
    """Return the parts of an address, or None where they cannot be told apart."""
    try:
        parts = urlsplit(typed)
        _ = parts.port  # read here, because a port that is no number raises only when asked for
    except ValueError:
        return None
    return parts
