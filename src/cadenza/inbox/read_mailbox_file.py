"""Reads a CSV of mailboxes: one a row, each judged by itself, its secrets kept apart from the rest.

The header names the columns; some spellings of other programs are known. Nothing is signed in to here. No message ever
holds what stood in a secret column.
"""

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass, field

from cadenza.core.suggest import did_you_mean
from cadenza.providers.mail_address import is_address

MOST_ROWS = 500
LONGEST = 2_000  # characters of a cell
SECRETS = ("smtp_password", "imap_password")
COLUMNS = (
    *("from_address", "from_name", "reply_to", "signature"),
    *("smtp_host", "smtp_port", "smtp_security", "smtp_username", "smtp_password"),
    *("imap_host", "imap_port", "imap_security", "imap_username", "imap_password"),
    *("bounce_domain", "dkim_selector"),
)
ALSO = {
    **dict.fromkeys(("email", "address", "email_address", "from_email"), "from_address"),
    **dict.fromkeys(("name", "sender_name"), "from_name"),
    **dict.fromkeys(("password", "app_password"), "smtp_password"),
    **dict.fromkeys(("username", "user", "smtp_user", "smtp_login"), "smtp_username"),
    **dict.fromkeys(("host", "smtp_server"), "smtp_host"),
    "port": "smtp_port",
    "security": "smtp_security",
    "imap_server": "imap_host",
    **dict.fromkeys(("imap_user", "imap_login"), "imap_username"),
}
SECURITY = ("tls", "starttls", "none")


@dataclass(frozen=True, slots=True)
class UnreadableFile:
    """The file as a whole cannot be read: why, and what to do."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class MailboxRow:
    """One mailbox as it stands in the file; with `wrong` it is not tried."""

    number: int
    address: str
    fields: Mapping[str, str]
    secrets: Mapping[str, str] = field(repr=False)
    wrong: str = ""


def read_mailbox_file(text: str) -> list[MailboxRow] | UnreadableFile:
    """Read all rows, or say why there are none."""
    text = text.removeprefix("\ufeff")
    first = text.partition("\n")[0]
    delimiter = max(",;\t", key=first.count)
    try:
        lines = list(csv.reader(io.StringIO(text), delimiter=delimiter, strict=True))
    except csv.Error as error:
        return UnreadableFile("bad_csv", f"The file is no CSV: {error}. Check its quotation marks.")
    lines = [line for line in lines if any(cell.strip() for cell in line)]
    if len(lines) < 2:
        return UnreadableFile("empty", "The file needs a header and at least one mailbox.")
    if len(lines) - 1 > MOST_ROWS:
        return UnreadableFile("too_many", f"At most {MOST_ROWS} mailboxes at once: split the file.")
    header = _read_header(lines[0])
    if isinstance(header, UnreadableFile):
        return header
    seen: dict[str, int] = {}
    return [_read_row(number, header, line, seen) for number, line in enumerate(lines[1:], 1)]


def _read_header(cells: list[str]) -> list[str] | UnreadableFile:
    names = [cell.strip().lower().replace(" ", "_").replace("-", "_") for cell in cells]
    read = [ALSO.get(name, name) for name in names]
    for name in read:
        if name not in COLUMNS:
            guess = did_you_mean(name, COLUMNS) or f" There are {', '.join(COLUMNS)}."
            return UnreadableFile(
                "unknown_column", f"The column {name[:60]!r} is not known.{guess}"
            )
    if len(set(read)) < len(read):
        return UnreadableFile("column_twice", "Two columns mean the same: leave one of them.")
    needed = ("from_address", "smtp_host", "smtp_password")
    missing = [name for name in needed if name not in read]
    if missing:
        return UnreadableFile("missing_column", f"The column {missing[0]} is missing.")
    return read


def _read_row(number: int, header: list[str], line: list[str], seen: dict[str, int]) -> MailboxRow:
    cells = dict(zip(header, (cell.strip() for cell in line), strict=False))
    address = cells.get("from_address", "")[:254]
    fields = {k: v for k, v in cells.items() if v and k not in SECRETS}
    secrets = {k: v for k, v in cells.items() if v and k in SECRETS}
    wrong = _find_fault(header, line, cells)
    before = seen.setdefault(address.lower(), number)
    if not wrong and before != number:
        wrong = f"The same address stands in row {before}: remove one of them."
    return MailboxRow(number, address, fields, secrets, wrong)


def _find_fault(header: list[str], line: list[str], cells: Mapping[str, str]) -> str:
    """Say what is wrong with a row, in a sentence; empty: nothing."""
    if len(line) > len(header):
        return "It has more cells than the header: put cells with a comma into quotation marks."
    if any(len(cell) > LONGEST or "\0" in cell for cell in line):
        return "A cell is too long, or holds a sign that cannot be stored."
    if not is_address(cells.get("from_address", "")):
        return "from_address is not a mail address, like ada@example.com."
    for name in ("smtp_host", "smtp_password"):
        if not cells.get(name):
            return f"{name} is empty."
    if cells.get("reply_to") and not is_address(cells["reply_to"]):
        return "reply_to is not a mail address."
    for name in ("smtp_port", "imap_port"):
        port = cells.get(name, "")
        if port and not (port.isdecimal() and 0 < int(port) < 65_536):
            return f"{name} is not a port: write a number such as 587."
    for name in ("smtp_security", "imap_security"):
        if cells.get(name) and cells[name].lower() not in SECURITY:
            return f"{name} is tls or starttls."
    return ""
