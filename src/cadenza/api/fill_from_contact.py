"""Fills templates from a contact: its fields as variables, its address as the recipient."""

from cadenza.api.contact_schemas import refuse_contact
from cadenza.api.problems import Problem, conflict, invalid
from cadenza.api.request_context import ReadContext
from cadenza.contacts.find import find_contact
from cadenza.contacts.model import Consent, Contact, NoSuchContact
from cadenza.contacts.variables import address_for, variables_of
from cadenza.sql.tx import Tx
from cadenza.templates.model import Variables

SCOPE = "contacts:read"


def read_contact(ask: ReadContext, tx: Tx, contact_id: str) -> Contact:
    """Return a contact; a key must be allowed to read contacts."""
    scopes = ask.caller.scopes
    if scopes is not None and SCOPE not in scopes:
        raise Problem(403, "scope_needed", f"This key may not do this: it needs {SCOPE}.")
    found = find_contact(tx, ask.workspace_id, contact_id)
    if isinstance(found, NoSuchContact):
        raise refuse_contact(found)
    return found


def fill_variables(
    ask: ReadContext, tx: Tx, contact_id: str | None, given: Variables | None
) -> Variables | None:
    """Return a contact's values, with given ones in their place; None: there are neither."""
    if contact_id is None:
        return given
    return {**variables_of(read_contact(ask, tx, contact_id)), **(given or {})}


def find_recipient(
    ask: ReadContext, tx: Tx, contact_id: str | None, to: str | None, channel: str
) -> tuple[str, str]:
    """Return the address and the name of whom a message goes to; who refused consent gets none."""
    if contact_id is None:
        if to is None:
            raise invalid("body.to", "name an address or a contact", "missing")
        return to, ""
    contact = read_contact(ask, tx, contact_id)
    if contact.consent is Consent.REFUSED:
        raise conflict("consent_refused", f"{contact.name} refused consent: nothing is sent.")
    address = to or address_for(contact, channel)
    if address is None:
        raise invalid(
            "body.contact_id", f"{contact.name} has no address for {channel}", "no_address"
        )
    return address, f"{contact.first_name} {contact.last_name}".strip()
