"""What Unipile takes for its networks: a person to send to, a short note, files of 25 MiB.

Limit: lengths of messages and InMails are the network's and not documented by Unipile; it refuses
them itself (`too_many_characters`). The note's length is the account's setting `note_length`: 300
on paid LinkedIn accounts, 200 on free ones.
"""

from cadenza.core.channels import Channel
from cadenza.providers.base import Problem
from cadenza.providers.check_mail import header_problems
from cadenza.providers.counting import is_blank
from cadenza.providers.mail_address import is_address
from cadenza.providers.message import AccountRef, Message

NOTE = 300
FILE_BYTES = 25 * 1024 * 1024
NAMES = {
    Channel.EMAIL: "A mail",
    Channel.LINKEDIN_MESSAGE: "A message",
    Channel.LINKEDIN_INVITATION: "An invitation",
    Channel.LINKEDIN_INMAIL: "An InMail",
}


def problems(message: Message, account: AccountRef) -> list[Problem]:
    """Say all that would be refused."""
    found = [_recipient(message), _text(message, account), *_subject(message), *_files(message)]
    return [problem for problem in found if problem is not None]


def _recipient(message: Message) -> Problem | None:
    name = NAMES.get(message.channel, "A message")
    if message.recipient is None or not message.recipient.address.strip():
        return Problem("no_recipient", f"{name} needs a recipient.", field="recipient")
    if message.channel is Channel.EMAIL and not is_address(message.recipient.address):
        detail = f"{message.recipient.address[:80]!r} is not a mail address."
        return Problem("bad_address", detail, field="recipient")
    return None


def _text(message: Message, account: AccountRef) -> Problem | None:
    if message.channel is Channel.LINKEDIN_INVITATION:
        own = account.settings.get("note_length")
        most = own if isinstance(own, int) else NOTE
        length = len(message.text)
        if length <= most:
            return None
        detail = (
            f"The note has {length} characters; {most} are taken. Shorten it by {length - most}."
        )
        return Problem("too_long", detail)
    if not is_blank(message.text) or (message.channel is Channel.EMAIL and message.html):
        return None
    return Problem("empty", "There is nothing to send: write a text.")


def _subject(message: Message) -> list[Problem]:
    if message.channel is Channel.EMAIL:
        return header_problems(message)
    if message.channel is Channel.LINKEDIN_INMAIL and not message.subject.strip():
        return [Problem("no_subject", "Write a subject.", field="subject")]
    return []


def _files(message: Message) -> list[Problem | None]:
    if message.channel is Channel.LINKEDIN_INVITATION and message.media:
        return [Problem("media_kind", "An invitation carries no files.", field="media")]
    return [
        Problem(
            "media_size",
            f"{item.name or 'A file'} has {item.size} bytes; {FILE_BYTES} are taken.",
            field="media",
        )
        for item in message.media
        if item.size > FILE_BYTES
    ]
