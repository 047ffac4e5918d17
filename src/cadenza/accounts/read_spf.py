"""Read what a domain published about who may send for it (SPF, RFC 7208), as far as that can be judged from outside.

Includes and redirects are followed, since receivers stop at ten look-ups and then trust nothing of it. Limit: which
address the mails will come from is not known here, so whether it is among those that may send is not judged.
"""

from dataclasses import dataclass, field

from cadenza.providers.http.resolve import TextResolver

MOST_LOOKUPS = 10  # receivers count no further
COSTLY = ("include", "a", "mx", "ptr", "exists", "redirect")
KNOWN = (*COSTLY, "all", "ip4", "ip6", "exp")


@dataclass(slots=True)
class SpfRecord:
    """What was found, with the records that it includes."""

    records: list[str] = field(default_factory=list[str])  # of the domain itself
    lookups: int = 0
    broken: list[str] = field(default_factory=list[str])  # includes without a record, unknown words
    uses_ptr: bool = False
    ending: str = ""  # "+", "-", "~", "?" of `all`; "": there is none

    @property
    def is_one(self) -> bool:
        """Say whether there is exactly one record: receivers ignore two."""
        return len(self.records) == 1


async def read_spf(texts: TextResolver, domain: str) -> SpfRecord:
    """Read a domain's record and all that it includes; raises OSError if that cannot be found out."""
    found = SpfRecord()
    found.records = await _records(texts, domain)
    if found.is_one:
        await _follow(texts, found, found.records[0], {domain}, top=True)
    return found


async def _records(texts: TextResolver, domain: str) -> list[str]:
    listed = await texts.texts(domain)
    return [each for each in listed if each.lower().split(" ")[0] == "v=spf1"]


async def _follow(
    texts: TextResolver, found: SpfRecord, record: str, seen: set[str], *, top: bool
) -> None:
    for term in record.split()[1:]:
        sign = term[0] if term[0] in "+-~?" else "+"
        name, target = _parts(term.lstrip("+-~?"))
        if name not in KNOWN:
            if "=" not in term:  # an unknown modifier is ignored, an unknown word is not
                found.broken.append(f"{term!r} is not understood")
            continue
        found.lookups += name in COSTLY
        found.uses_ptr |= name == "ptr"
        if name == "all" and top:
            found.ending = sign
        if name in ("include", "redirect") and "%" not in target:
            if target in seen:
                found.broken.append(f"{target} includes itself")
            elif found.lookups <= MOST_LOOKUPS:
                await _include(texts, found, target, seen, top=top and name == "redirect")


async def _include(
    texts: TextResolver, found: SpfRecord, target: str, seen: set[str], *, top: bool
) -> None:
    records = await _records(texts, target)
    if len(records) != 1:
        found.broken.append(f"{target} has {len(records) or 'no'} records of its own")
        return
    await _follow(texts, found, records[0], seen | {target}, top=top)


def _parts(term: str) -> tuple[str, str]:
    """Take a term apart: `include:x`, `a/24`, `redirect=x`."""
    for mark in (":", "=", "/"):
        name, found, rest = term.partition(mark)
        if found and name.isalnum():
            return name.lower(), rest.lower().rstrip(".")
    return term.lower(), ""
