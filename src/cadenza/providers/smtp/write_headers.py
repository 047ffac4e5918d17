"""Write a mail's headers: words encoded, names quoted, links and ids left as they are.

The library's own writer decodes what looks encoded in a text, line ends included, loses the quotes of a
name that it folds, and encodes a link or an id that is long, which no receiver reads then. So each line
is written here, and nothing that was given is ever decoded. Raises ValueError for what cannot stand in
a header. Limit: a link or an id is never folded; it may be as long as a line, 998 bytes.
"""

import re
from email.header import Header

WIDTH = 78
LONGEST = 998  # of a line
LONGEST_WORD = 60
_CONTROL = re.compile(r"[\x00-\x1f\x7f\x80-\x9f\u2028\u2029]")
_ATOMS = re.compile(r"[A-Za-z0-9!#$%&'*+/^_`{|}~-]+(?: [A-Za-z0-9!#$%&'*+/^_`{|}~-]+)*")
_PLAIN = re.compile(r"[\x21-\x7e]+(?: [\x21-\x7e]+)*")
_ADDRESS = re.compile(r"[^\s<>,;:\"\\()\x00-\x1f\x7f]+")
NEXT_LINE = "\r\n "


def words(name: str, text: str) -> str:
    """Write a header that people read, such as the subject."""
    return f"{name}: {_encoded(name, text) if _must_be_encoded(text) else _folded(name, text)}"


def mailbox(name: str, person: str, address: str) -> str:
    """Write a header that holds one mailbox; the address is written as it is."""
    if _ADDRESS.fullmatch(address) is None or address.count("@") != 1:
        raise ValueError("this address cannot stand in a header")
    if not person.strip():
        return f"{name}: {address}"
    line = f"{name}: {_phrase(name, person)}"
    taken = len(line.rpartition("\r\n")[2])
    return f"{line}{' ' if taken + len(address) + 3 <= WIDTH else NEXT_LINE}<{address}>"


def exactly(name: str, *pieces: str) -> str:
    """Write a header that machines read: ids, links, fixed words; folded between pieces alone."""
    if not all(_PLAIN.fullmatch(piece) for piece in pieces):
        raise ValueError(f"{name} must be plain letters")
    line = f"{name}: {pieces[0]}" + "".join(f",{NEXT_LINE}{piece}" for piece in pieces[1:])
    if max(map(len, line.split("\r\n"))) > LONGEST:
        raise ValueError(f"{name} is too long for a line")
    return line


def _phrase(name: str, person: str) -> str:
    """Write a person's name; what is neither plain nor short is encoded."""
    if _must_be_encoded(person) or len(name) + len(person) > LONGEST_WORD:
        return _encoded(name, person)
    if _ATOMS.fullmatch(person):
        return person
    return '"' + person.replace("\\", r"\\").replace('"', r"\"") + '"'


def _must_be_encoded(text: str) -> bool:
    # What looks encoded is encoded once more, so that it is read as it was written.
    plain = _PLAIN.fullmatch(text) and "=?" not in text
    return not plain or max(map(len, text.split(" "))) > LONGEST_WORD


def _encoded(name: str, text: str) -> str:
    if _CONTROL.search(text):
        raise ValueError(f"{name} holds a line end or control character")
    return Header(text, "utf-8", header_name=name).encode(linesep="\r\n")


def _folded(name: str, text: str) -> str:
    return Header(text, "us-ascii", header_name=name, maxlinelen=WIDTH).encode(linesep="\r\n")
