"""Makes an upload's name harmless: it is shown to people and offered with downloads, never a path.

Folders, control signs, NUL and signs that turn the reading direction go; the ending becomes that of the
content, so that `invoice.pdf.exe`, `photo.php` and a name reversed by a hidden sign say what they are.
"""

import unicodedata

LONGEST = 120
_DEVICES = frozenset(
    {"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(1, 10))}
)
_ENDINGS = frozenset(
    {"jpg", "jpeg", "jpe", "png", "webp", "gif", "mp4", "m4v", "mov", "qt", "pdf", "jfif"}
)
# What no file system or header takes gladly; joiners of emoji are format signs too and go as well.
_FORBIDDEN = frozenset("<>:\"|?*\\/%;'`&")


def safe_name(name: str, extension: str) -> str:
    """Return a name to show, with the ending that the content asks for."""
    last = unicodedata.normalize("NFC", name).replace("\\", "/").rpartition("/")[2]
    plain = "".join(" " if sign in _FORBIDDEN else sign for sign in last if _plain(sign))
    stem = " ".join(plain.split()).strip(". ")
    before, dot, ending = stem.rpartition(".")
    if dot and ending.lower() in _ENDINGS:
        stem = before.strip(". ")
    stem = stem[:LONGEST].strip(". ") or "file"
    if stem.partition(".")[0].lower() in _DEVICES:
        stem = f"_{stem}"
    return f"{stem}.{extension}"


def _plain(sign: str) -> bool:
    """Letters, marks, numbers, punctuation, symbols and spaces; no controls, surrogates or hidden signs."""
    return unicodedata.category(sign)[0] in "LMNPSZ" and sign not in "\u2028\u2029"
