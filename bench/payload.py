"""The load that every job carries: its number and padding, 100 bytes as compact JSON.

Always exactly 100: jobs a few bytes shorter than those that lie in a table already would be put
into the gaps on its pages, one a page, and measured would be the scattering.
"""

SIZE = 100
_FRAME = len('{"n":,"pad":""}')
_DIGITS = 9
_TEXT_PADDING = "x" * (SIZE - _FRAME - len('""') - _DIGITS)


def body(number: int) -> dict[str, int | str]:
    """Return the payload as a document, for systems that serialise it themselves."""
    return {"n": number, "pad": padding(number)}


def padding(number: int) -> str:
    """Return what fills a number's payload up."""
    return "x" * (SIZE - _FRAME - len(str(number)))


def text(number: int) -> str:
    """Return the payload as JSON text, for systems that take text or bytes."""
    return f'{{"n":"{number:0{_DIGITS}d}","pad":"{_TEXT_PADDING}"}}'


def number_of(payload: str | bytes) -> int:
    """Read the number back out of `text`'s form; no parser, so that it costs all the same."""
    return int(payload[6:15])
