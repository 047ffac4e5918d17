r"""LinkedIn's "little" text, read as LinkedIn reads it: cut at the first reserved character that stands bare.

The cut is silent; that is the trap which an adapter must not fall into. Elements that are understood:
`#word`, `{hashtag|\#|word}` and `@[Name](urn:li:...)`; words of any script, with their marks.
"""

import regex as re

RESERVED = set(r"|{}@[]()<>#\*_~")
_TEMPLATE = re.compile(r"\{hashtag\|\\?#\|(\w+)\}")
_TAG = re.compile(r"#(\w+)")
_MENTION = re.compile(r"@\[((?:\\.|[^\]\\])+)\]\(urn:li:\w+:[\w-]+\)")


def shown(commentary: str) -> str:
    """Return what people will see."""
    out, at = "", 0
    while at < len(commentary):
        sign = commentary[at]
        if sign == "\\" and commentary[at + 1 : at + 2] in RESERVED:
            out, at = out + commentary[at + 1], at + 2
            continue
        if sign not in RESERVED:
            out, at = out + sign, at + 1
            continue
        element = _element(commentary, at)
        if element is None:
            return out
        out, at = out + element[0], element[1]
    return out


def _element(commentary: str, at: int) -> tuple[str, int] | None:
    for pattern, mark in ((_TEMPLATE, "#"), (_TAG, "#"), (_MENTION, "")):
        found = pattern.match(commentary, at)
        if found:
            return mark + found[1].replace("\\", ""), found.end()
    return None
