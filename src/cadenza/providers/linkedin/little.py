"""Write text so that LinkedIn shows all of it, and read it back.

LinkedIn's `commentary` is a small language ("little"): a reserved character that is not escaped cuts
the published text short, while the answer still says 201. So everything is escaped, links too, and
only plain hashtags become elements. Limit: mentions of people and pages stay plain text.
"""

import regex

RESERVED = r"|{}@[]()<>#\*_~"
_ONE = regex.compile(f"[{regex.escape(RESERVED, special_only=False)}]")
# A word with a letter in it, not inside a link or another word; `_` would need escaping, so it is out.
_HASHTAG = regex.compile(r"(?<![\w&/#\\])#(?=[^\W_]*\p{L})([^\W_]+)(?!\w)")
_ELEMENT = regex.compile(r"(?<!\\)(?:\\\\)*\K\{hashtag\|\\?#\|([^{}|]+)\}")
_MENTION = regex.compile(r"(?<!\\)(?:\\\\)*\K@\[((?:\\.|[^\]\\])*)\]\(urn:[^)]*\)")
_ESCAPED = regex.compile(r"\\(.)", regex.DOTALL)


def escape(text: str) -> str:
    """Escape every reserved character."""
    return _ONE.sub(r"\\\g<0>", text)


def commentary(text: str) -> str:
    """Write a text as LinkedIn wants it: escaped, hashtags as elements."""
    out, at = "", 0
    for tag in _HASHTAG.finditer(text):
        out += escape(text[at : tag.start()]) + rf"{{hashtag|\#|{tag.group(1)}}}"
        at = tag.end()
    return out + escape(text[at:])


def plain(written: str) -> str:
    """Return what people read of a commentary."""
    text = _ELEMENT.sub(r"\\#\1", written)
    return _ESCAPED.sub(r"\1", _MENTION.sub(r"\1", text))
