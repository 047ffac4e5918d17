"""Plain words: names and phrases that readers stumbled over do not come back."""

import re

from tests.repository.sources import tracked_text

# Spelt in two halves, so that this file does not find itself.
OLD = re.compile(
    r"\b(?:"
    + "|".join(
        first + second
        for first, second in (
            ("Hou", "se"),
            ("De", "ed"),
            ("Wi", "sh"),
            ("Par", "cel"),
            ("an", "ew"),
            ("the ro", "ad"),
            ("the hou", "se"),
            ("rehear", r"s\w+"),
            ("leave_", "word"),
            ("heed_", r"\w+"),
            ("see_", "through"),
            ("See", "Through"),
            ("tell_", "attempt"),
            ("call_", "inside"),
            ("keep_", "answers"),
            ("relieve_", "days"),
            ("kept_", "answer"),
            ("in_", "doubt"),
            ("InsideCa", "ll"),
            ("IdleLi", "nes"),
            ("Susp", "ects"),
            ("suspe", "cts"),
            ("NeverLe", "ft"),
            ("Misu", "sed"),
            ("Blot", "ter"),
            ("keep_", "(?:export|answer|labels|revision|waits)"),
            ("heard_", "by"),
            ("house_", r"\w+"),
            ("look_at_", "calendar"),
            ("give_", "(?:schedule|original|fitted|thumbnail)"),
            ("Nothing wants", " you"),
            ("Nobody lives", " here"),
        )
    )
    + r")\b"
)
# A sentence's field is called `message`: this finds the old name in code, and leaves the verb in prose alone.
OLD_FIELD = re.compile(
    r"\.sa"
    r"ys\b|\bsa"
    r"ys=|[\"'`]sa"
    r"ys[\"'`]|(?<![\w:]):sa"
    r"ys\b|\bsa"
    r"ys: (?:str|string)\b"
)
# Where an old word is right, and why.
ALLOWED = {
    "CHANGELOG.md": "says which names changed",
    "docs/decisions/": "records keep the words they were written with",
    "db/migrations/": "a migration that was applied is never changed",
    "stores/postgres/migrations/": "as above",
    "stores/sqlite/migrations/": "as above",
    "tests/data/": "texts of others",
    "tests/browser/test_drafts.py": "a choir's post",
}


def test_no_old_word_comes_back() -> None:
    found = [
        f"{name}:{number}: {hit.group()}"
        for name, text in tracked_text()
        if not any(part in name for part in ALLOWED)
        for number, line in enumerate(text.splitlines(), 1)
        if (hit := OLD.search(line) or OLD_FIELD.search(line))
    ]
    assert not found, f"docs/decisions/0007-plain-names.md has the plain ones: {found}"
