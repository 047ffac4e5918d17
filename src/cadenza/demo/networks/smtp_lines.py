"""The lines of a mail dialogue: replies written, paths and sign-ins read."""

import base64

from cadenza.demo.networks.smtp_model import ReplyLine


def as_bytes(line: ReplyLine) -> bytes:
    """Write a reply, several lines if it has them."""
    rows = line.text.split("\n")
    marks = ["-"] * (len(rows) - 1) + [" "]
    return "".join(f"{line.code}{m}{row}\r\n" for m, row in zip(marks, rows, strict=True)).encode()


def read_path(rest: str, word: str) -> tuple[str | None, list[str]]:
    """Read `FROM:<ada@example.com> SIZE=1`."""
    if not rest.upper().startswith(word):
        return None, []
    path, *options = rest[len(word) :].strip().split(" ")
    if not (path.startswith("<") and path.endswith(">") and "@" in path):
        return None, []
    return path[1:-1], options


def decode(coded: str) -> str:
    """Read base64, or nothing."""
    try:
        return base64.b64decode(coded, validate=True).decode()
    except ValueError:
        return ""


def read_plain(coded: str) -> tuple[str, str]:
    """Read AUTH PLAIN's answer: name and password."""
    parts = decode(coded).split("\0")
    return (parts[1], parts[2]) if len(parts) == 3 else ("", "")


def read_cram(coded: str) -> tuple[str, str]:
    """Read CRAM-MD5's answer: name and proof."""
    name, _, proof = decode(coded).rpartition(" ")
    return name, proof


def read_oauth(coded: str) -> tuple[str, str]:
    """Read XOAUTH2's answer: name and token."""
    pairs = [each.partition("=") for each in decode(coded).split("\x01")]
    fields = {name: value for name, _, value in pairs}
    return fields.get("user", ""), fields.get("auth", "").removeprefix("Bearer ")
