"""What a template is filled with from a contact: the person's own values by name, and where to reach them."""

from cadenza.contacts.model import Contact, Value

CHANNELS = {
    "linkedin_message": "linkedin",
    "linkedin_invitation": "linkedin",
    "linkedin_inmail": "linkedin",
}
_COLUMNS = ("first_name", "last_name", "company", "country", "language")


def variables_of(contact: Contact) -> dict[str, Value]:
    """Return what is known of a person; what is not known is left out, so that a template's default is taken."""
    known: dict[str, Value] = {name: getattr(contact, name) or "" for name in _COLUMNS}
    known["name"] = f"{contact.first_name} {contact.last_name}".strip()
    for each in contact.addresses:
        known.setdefault(each.channel, each.written)
    found = {**contact.fields, **{name: value for name, value in known.items() if value != ""}}
    return {name: value for name, value in found.items() if value != ""}


def address_for(contact: Contact, channel: str) -> str | None:
    """Return where a person is written to by a channel of messages; None: nowhere."""
    wanted = CHANNELS.get(channel, channel)
    return next((each.written for each in contact.addresses if each.channel == wanted), None)
