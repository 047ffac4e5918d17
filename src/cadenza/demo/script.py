"""What the demo is about: a bakery's people, accounts, weeks and posts. Data alone; `fill.py` plays it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

WORKSPACE = "Ada's bakery"
ZONE = "Europe/Berlin"


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who can sign in to the demo. The password is no secret: everybody has the same."""

    email: str
    name: str
    role: str
    password: str
    zone: str = ZONE


PEOPLE = (
    Person("ada@example.org", "Ada", "owner", "warm bread on monday"),
    Person("ben@example.org", "Ben", "editor", "two loaves for ben", "America/New_York"),
    Person("cy@example.org", "Cy", "viewer", "cy only looks around", "Asia/Tokyo"),
)


@dataclass(frozen=True, slots=True)
class DemoAccount:
    """An account: its network, its name there, its zone and its week (Sunday is 0)."""

    provider: str
    handle: str
    zone: str
    week: Mapping[str, list[str]] = field(default_factory=dict[str, list[str]])


def _days(days: str, *times: str) -> dict[str, list[str]]:
    return {day: list(times) for day in days}


PLACES = (
    DemoAccount("mastodon", "@ada@bakers.example", ZONE, _days("12345", "08:30", "16:00")),
    DemoAccount("bluesky", "@ada.example", "America/New_York", _days("135", "09:00", "12:30")),
    DemoAccount("linkedin", "Ada & Co", ZONE, _days("24", "10:15")),
    DemoAccount("telegram", "@ada_daily", "Asia/Tokyo", _days("0123456", "07:00")),
    DemoAccount("discord", "#news of the regulars", "America/Los_Angeles", _days("56", "18:00")),
    DemoAccount("slack", "#bakery-team", "Australia/Sydney", _days("135", "08:00")),
    DemoAccount("x", "@ada", "Europe/London", _days("12345", "11:00", "17:45")),
    DemoAccount("smtp", "ada@example.org", ZONE, _days("")),
)


@dataclass(frozen=True, slots=True)
class Note:
    """A post: its text, where it goes, who wrote it, its picture."""

    text: str
    places: tuple[str, ...]
    author: str = "Ada"
    picture: str | None = None
    category: str | None = None


# Lived through so many days ago, through the pipeline, each answered by a simulated network.
PAST: tuple[tuple[float, Note], ...] = (
    (12.2, Note("We are open! Come in and smell it.", ("mastodon", "bluesky", "x"))),
    (9.1, Note("Rye, spelt, and a bread without a name yet. Ideas?", ("mastodon", "linkedin"))),
    (
        6.3,
        Note("The first frost: cinnamon rolls are back.", ("bluesky", "telegram"), "Ben", "frost"),
    ),
    (4.2, Note("Team: the oven man comes on Thursday at six.", ("slack",), "Ben")),
    (2.1, Note("Regulars: the raffle is on. Bring your card.", ("discord", "x"))),
    (1.1, Note("Sold out by ten. Thank you! Tomorrow we bake more.", ("mastodon", "x"))),
)
FAILED = Note("A very long story about flour, told elsewhere.", ("mastodon",), "Ben")
UNCONFIRMED = Note("Team: who has the key to the cellar?", ("slack",), "Ben")

QUEUED: tuple[Note, ...] = (
    Note("Monday is for soft pretzels.", ("mastodon", "x"), picture="morning"),
    Note("How long does a sourdough rest? Ours: eighteen hours.", ("bluesky", "linkedin"), "Ben"),
    Note(
        "A look into the oven at five in the morning.", ("mastodon", "telegram"), "Ada", "evening"
    ),
    Note("Today's soup is pumpkin, today's bread is walnut.", ("telegram", "x")),
    Note("We are looking for somebody who likes early mornings.", ("linkedin", "mastodon"), "Ben"),
    Note("Regulars: the new mugs are here.", ("discord",), "Ada", "harbour"),
    Note("The baker's dozen is thirteen, and we keep to it.", ("bluesky", "x"), "Ben"),
    Note(
        "Apple from the tree behind the application, cake from our oven.",
        ("mastodon",),
        "Ada",
        "harvest",
    ),
    Note("Team: please write down what is left at closing.", ("slack",), "Ben"),
    Note("Why we salt late: a small thread will follow.", ("mastodon", "bluesky")),
    Note("Lunch at noon, as the sun says.", ("telegram", "discord"), "Ben", "noon"),
    Note("One hundred loaves, one hundred people. Thank you.", ("linkedin", "x"), "Ada"),
    Note("Sunday is closed. Monday smells of it already.", ("telegram", "mastodon"), "Ben"),
    Note("Team: the rota for next month is on the door.", ("slack",), "Ada"),
)
WAITING: tuple[Note, ...] = (
    Note("Shall we open on Sundays? Tell us.", ("mastodon", "x"), "Ben"),
    Note("A discount for everybody who comes by bicycle?", ("bluesky",), "Ben", "noon"),
)
PAUSED = ("telegram", "Back from the fair on Friday: nothing goes out before")

BRAND = {"name": "The bakery", "hashtags": ["bakery"]}
CATEGORIES: tuple[dict[str, Any], ...] = (
    {
        "name": "Bread of the week",
        "hashtags": ["bread", "sourdough"],
        "copy": "Bread of the week at {{shop}}: come early, it does not last.",
        "variables": {"shop": "Ada's bakery"},
    },
    {"name": "Behind the counter", "hashtags": ["team"], "copy": ""},
)
POOL = ("morning", "noon", "harvest")
RULE = {
    "name": "Bread of the week",
    "pattern": {"kind": "weekly", "weekdays": [3], "times": ["09:30"]},
    "places": ("mastodon", "bluesky"),
}

TEMPLATES: tuple[dict[str, str], ...] = (
    {
        "name": "Welcome",
        "subject": 'Welcome, {{first_name | default: "dear regular"}}',
        "format": "markdown",
        "body": (
            'Hello {{first_name | default: "there"}},\n\nyour card is ready. **Every tenth loaf is on us.**\n\n'
            "{{#if city}}\n\nSee you in {{city}}!\n\n{{/if}}\n\nAda"
        ),
    },
    {
        "name": "Order ready",
        "subject": "Your order {{order}} is ready",
        "format": "markdown",
        "body": (
            "Hello {{first_name}},\n\nyour order **{{order}}** waits for you until "
            '{{pickup | date: "%A, %e %B"}}. It comes to {{total | number: 2}} €.\n\nAda'
        ),
    },
)


@dataclass(frozen=True, slots=True)
class DemoContact:
    """A customer; mail goes to an address of example.org."""

    first_name: str
    last_name: str
    country: str
    tags: tuple[str, ...] = ()
    favourite: str = ""
    consent: str = "given"
    company: str = ""


# Who wrote back to the mailbox: the contact's mail address, the subject, the text.
REPLIES = (
    ("emil.sommer@example.org", "Re: Our autumn breads", "Can you bring 40 pretzels every Friday?"),
    ("ines.costa@example.org", "Re: Our autumn breads", "Lovely. Is the corn bread back in May?"),
)
CONTACTS = (
    DemoContact("Dora", "Klein", "DE", ("regular",), "rye loaf"),
    DemoContact("Emil", "Sommer", "DE", ("regular", "wholesale"), "pretzels", company="Café Emil"),
    DemoContact("Flora", "Rossi", "IT", ("regular",), "focaccia"),
    DemoContact("Gus", "Miller", "US", ("newsletter",), "bagels"),
    DemoContact("Hana", "Sato", "JP", ("newsletter",), "melon bread"),
    DemoContact("Ines", "Costa", "PT", ("regular", "newsletter"), "corn bread"),
    DemoContact(
        "Jan", "de Vries", "NL", ("wholesale",), "tiger bread", company="De Vries Broodjes"
    ),
    DemoContact("Kim", "Larsen", "DK", (), "", "unknown"),
    DemoContact("Lea", "Martin", "FR", ("newsletter",), "baguette"),
    DemoContact("Max", "Weber", "AT", (), "", "refused"),
)
CHANNELS: tuple[dict[str, str], ...] = (
    {
        "provider": "telegram",
        "address": "@bakers_berlin",
        "title": "Bakers of Berlin",
        "category": "food",
    },
    {
        "provider": "telegram",
        "address": "@kiez_news",
        "title": "News of the quarter",
        "category": "news",
    },
)
