"""Names that people chose, as a mail to a stranger may carry them.

An invitation goes to an address that somebody else typed, with our sender's good name. A workspace called
"Win money at www.example.com" must not turn it into an advert: of a name only words stay, a few of them.
Mail programs make links of bare host names too, so no dot stands between two letters.
"""

import unicodedata

LENGTH = 60
_KEPT = frozenset(" -'’&,()+!.")


def clean_name(text: str) -> str:
    """Return the name in one line, without anything that becomes a link, and not long; maybe empty."""
    folded = unicodedata.normalize("NFKC", text)  # a full-width dot is a dot to a browser
    kept = "".join(
        each if each.isalnum() or _is_mark(each) or each in _KEPT else " " for each in folded
    )
    words = " ".join(word for word in kept.replace(".", ". ").split() if word.strip("."))
    return words if len(words) <= LENGTH else words[: LENGTH - 1].rstrip() + "…"


def _is_mark(letter: str) -> bool:
    return unicodedata.category(letter) in {"Mn", "Mc"}
