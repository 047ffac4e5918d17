"""The load that every job carries: its number and padding, 100 bytes as compact JSON."""

PADDING = "x" * 74


def body(number: int) -> dict[str, int | str]:
    """Return the payload as a document, for systems that serialise it themselves."""
    return {"n": number, "pad": PADDING}


def text(number: int) -> str:
    """Return the payload as JSON text, for systems that take text or bytes."""
    return f'{{"n":"{number:09d}","pad":"{PADDING}"}}'


def number_of(payload: str | bytes) -> int:
    """Read the number back out of `text`'s form; no parser, so that it costs all the same."""
    return int(payload[6:15])
