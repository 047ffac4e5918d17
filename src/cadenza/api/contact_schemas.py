"""The shapes that contacts, imports, exports and audiences share over HTTP, and how refusals read."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, StringConstraints

from cadenza.api.problems import Fault, Problem, conflict, not_found
from cadenza.api.queue_schemas import ValueView, show
from cadenza.api.schemas import Answer, InputModel, Instant, cursor_at
from cadenza.contacts.filters import Condition, Filter
from cadenza.contacts.model import (
    LONGEST_TEXT,
    MOST_ADDRESSES,
    MOST_TAGS,
    AddressTaken,
    Consent,
    Contact,
    ContactForm,
    ExternalIdTaken,
    Invalid,
    NoSuchContact,
    Stale,
)

Text = Annotated[str, StringConstraints(max_length=LONGEST_TEXT, pattern=r"^[^\x00]*$")]
Short = Annotated[str, StringConstraints(max_length=200, pattern=r"^[^\x00-\x1f\x7f]*$")]
Tag = Annotated[str, StringConstraints(min_length=1, max_length=60, pattern=r"^[^\x00-\x1f,;]+$")]
ChannelName = Annotated[
    str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,29}$"), Field(examples=["email", "telegram"])
]
Key = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,39}$")]
Value = str | int | float
# Ids are read through (at, id) cursors everywhere; of contacts only the id matters.
EPOCH = datetime.fromisoformat("2000-01-01T00:00:00+00:00")


class AddressInput(InputModel):
    """One way to a person."""

    channel: ChannelName
    address: Annotated[str, StringConstraints(min_length=1, max_length=300)]


class AddressView(ValueView):
    """One way to a person; `flag`: a role or a disposable address."""

    channel: str
    address: str = Field(description="The one spelling that limits and suppression go by")
    written: str
    flag: Literal["role", "disposable"] | None


class ContactInput(InputModel):
    """What is known of a person; what is left out stays as it is."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "first_name": "Ada",
                    "last_name": "Lovelace",
                    "addresses": [{"channel": "email", "address": "ada@example.org"}],
                    "tags": ["customer"],
                }
            ]
        }
    )
    external_id: Short | None = Field(default=None, description="The key in another system")
    first_name: Short | None = None
    last_name: Short | None = None
    company: Short | None = None
    country: Short | None = Field(default=None, description="A code or an English name")
    zone: Short | None = Field(default=None, description="Left out: guessed from the country")
    language: Short | None = Field(default=None, description="A tag such as en or pt-BR")
    consent: Consent | None = None
    consent_at: Instant | None = None
    consent_proof: Text | None = None
    source: Short | None = None
    source_at: Instant | None = None
    source_proof: Text | None = None
    fields: dict[Key, Value | None] = Field(default={}, max_length=200)
    addresses: list[AddressInput] | None = Field(default=None, max_length=MOST_ADDRESSES)
    tags: list[Tag] | None = Field(default=None, max_length=MOST_TAGS)
    revision: int | None = Field(default=None, strict=True, ge=1, description="What you saw")

    def form(self) -> ContactForm:
        """Return it as operations take it."""
        said = self.model_dump(exclude={"revision", "addresses"})
        pairs = None
        if self.addresses is not None:
            pairs = [(each.channel, each.address) for each in self.addresses]
        return ContactForm(**said, addresses=pairs)


class ContactView(Answer):
    """A person as kept."""

    id: str
    name: str
    external_id: str | None
    first_name: str
    last_name: str
    company: str
    country: str | None
    zone: str | None
    zone_guessed: bool
    language: str | None
    consent: Consent
    consent_at: datetime | None
    consent_proof: str | None
    source: str
    source_at: datetime | None
    source_proof: str | None
    fields: Mapping[str, Value]
    addresses: list[AddressView]
    tags: list[str]
    revision: int
    created_at: datetime
    updated_at: datetime


class ConditionInput(InputModel):
    """One thing that must hold, such as `tag is customer` or `fields.age at_least 18`."""

    what: Annotated[str, StringConstraints(min_length=1, max_length=50, pattern=r"^[a-z0-9_.]+$")]
    op: Literal["is", "is_not", "begins", "at_least", "at_most", "set", "not_set"] = "is"
    value: (
        Annotated[str, StringConstraints(max_length=200, pattern=r"^[^\x00]*$")] | float | None
    ) = None


Conditions = Annotated[list[ConditionInput], Field(max_length=20)]


class ConditionView(ValueView):
    """One condition of a saved filter."""

    what: str
    op: str
    value: Value | None


def read_conditions(said: Sequence[ConditionInput] | None) -> Filter | None:
    """Return conditions as operations take them."""
    if said is None:
        return None
    return tuple(Condition(each.what, each.op, each.value) for each in said)


def show_contact(contact: Contact) -> ContactView:
    """Show a person."""
    return show(ContactView, contact)


def next_cursor(id_: str | None) -> str | None:
    """Write the cursor behind an id."""
    return None if id_ is None else cursor_at(EPOCH, id_)


def refuse_contact(answer: object) -> Problem:
    """Say over HTTP what an operation on contacts refused."""
    match answer:
        case NoSuchContact():
            return not_found("contact")
        case Stale(revision=revision):
            return conflict(
                "changed_meanwhile", "Somebody changed it meanwhile.", revision=revision
            )
        case AddressTaken(channel=channel, address=address, contact_id=id_):
            return conflict(
                "address_taken",
                f"{address} ({channel}) belongs to another contact: change that one, or merge the two.",
                contact_id=id_,
            )
        case ExternalIdTaken(contact_id=id_):
            return conflict(
                "external_id_taken", "Another contact has this external id.", contact_id=id_
            )
        case Invalid():
            return refuse_invalid([answer])
        case list():
            return refuse_invalid(answer)
        case _:
            raise TypeError(f"{answer!r} is no refusal")


def refuse_invalid(wrong: Sequence[Any]) -> Problem:
    """Name every field that is wrong."""
    faults = [
        Fault(path=f"body.{each.column}", message=each.message or each.code, code=each.code)
        for each in wrong
    ]
    first = faults[0]
    return Problem(422, "invalid_input", f"{first.path}: {first.message}", errors=faults)
