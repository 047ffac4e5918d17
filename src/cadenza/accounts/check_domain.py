"""Checks a sending domain as mailbox providers do: SPF, DKIM and DMARC are published, sound, and about the same domain.

Only what the domain's owner published is read, by the guarded resolver. Each finding says what it means and what to do.
Limit: whether the server that sends is among those that SPF names is known to receivers alone; a first mail to oneself
shows it in its headers.
"""

import base64
import binascii
import re
from collections.abc import Awaitable
from enum import StrEnum

from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import load_der_public_key
from msgspec import Struct

from cadenza.accounts.read_spf import MOST_LOOKUPS, SpfRecord, read_spf
from cadenza.providers.http.resolve import TextResolver

LEAST_BITS, GOOD_BITS = 1024, 2048
MOST_LABELS = 8  # parents that are asked for a policy
_DOMAIN = re.compile(r"(?=.{1,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9-]{2,63}")
_SELECTOR = re.compile(r"[a-z0-9_](?:[a-z0-9_.-]{0,61}[a-z0-9])?", re.IGNORECASE)


class Level(StrEnum):
    """How grave a finding is."""

    OK = "ok"
    ADVICE = "advice"
    PROBLEM = "problem"
    UNKNOWN = "unknown"  # it could not be looked up now


class Finding(Struct, frozen=True):
    """One thing about a domain, and what to do about it."""

    check: str  # spf, dkim, dmarc, alignment
    code: str
    level: Level
    message: str
    fix: str = ""


class DomainToCheck(Struct, frozen=True, kw_only=True):
    """Which domains a mail shows: in From, as the return address, and in its signature."""

    domain: str
    return_domain: str = ""  # empty: the same
    dkim_domain: str = ""  # empty: the same
    selector: str = ""  # empty: not known


class DomainReport(Struct, frozen=True):
    """All findings of a domain."""

    domain: str
    findings: list[Finding]

    @property
    def is_good(self) -> bool:
        """Say whether nothing stands against sending."""
        return all(each.level in (Level.OK, Level.ADVICE) for each in self.findings)


class _Policy(Struct, frozen=True):
    """What a domain asks receivers to do (DMARC)."""

    at: str  # the domain that published it
    tags: dict[str, str]


def read_domain(text: str) -> str | None:
    """Return a domain as it is looked up; None: it is none."""
    try:
        said = text.strip().rstrip(".").encode("idna").decode("ascii").lower()
    except UnicodeError:
        return None
    return said if _DOMAIN.fullmatch(said) else None


def read_selector(text: str) -> str | None:
    """Return a DKIM selector; None: it is none."""
    said = text.strip().lower()
    return said if _SELECTOR.fullmatch(said) else None


async def check_domain(texts: TextResolver, wanted: DomainToCheck) -> DomainReport:
    """Check what is published for a domain."""
    sender = wanted.return_domain or wanted.domain
    signer = wanted.dkim_domain or wanted.domain
    findings: list[Finding] = []
    spf = await _checked(findings, "spf", _check_spf(texts, sender))
    dkim = await _checked(findings, "dkim", _check_dkim(texts, signer, wanted.selector))
    policy: list[_Policy] = []
    await _checked(findings, "dmarc", _check_dmarc(texts, wanted.domain, policy))
    tags = policy[0].tags if policy else {}
    home = policy[0].at if policy else wanted.domain
    by_spf = spf and _aligned(wanted.domain, sender, home, strict=tags.get("aspf") == "s")
    by_dkim = dkim and _aligned(wanted.domain, signer, home, strict=tags.get("adkim") == "s")
    findings.append(_judge_alignment(wanted.domain, sender, signer, by_spf=by_spf, by_dkim=by_dkim))
    return DomainReport(wanted.domain, findings)


async def _checked(findings: list[Finding], check: str, looks: Awaitable[list[Finding]]) -> bool:
    """Add findings; say whether a mail can pass by this check."""
    try:
        found = await looks
    except OSError as error:
        message = f"{str(error)[:200]}."
        fix = "Try again; if it stays so, your name server may not answer."
        found = [Finding(check, f"{check}_unknown", Level.UNKNOWN, message, fix)]
    findings += found
    return all(each.level in (Level.OK, Level.ADVICE) for each in found)


async def _check_spf(texts: TextResolver, domain: str) -> list[Finding]:
    spf = await read_spf(texts, domain)
    found = _judge_spf(domain, spf)
    return found or [
        Finding("spf", "spf_ok", Level.OK, f"{domain} says who may send for it: {spf.records[0]}")
    ]


def _judge_spf(domain: str, spf: SpfRecord) -> list[Finding]:
    def problem(code: str, message: str, fix: str, level: Level = Level.PROBLEM) -> Finding:
        return Finding("spf", code, level, message, fix)

    if not spf.records:
        fix = f'Publish one TXT record at {domain}, such as "v=spf1 include:YOUR-PROVIDER ~all".'
        return [problem("spf_missing", f"{domain} does not say who may send for it.", fix)]
    if not spf.is_one:
        message = f"{domain} has {len(spf.records)} SPF records; receivers then ignore all."
        return [problem("spf_twice", message, "Put them together into one, delete the others.")]
    found: list[Finding] = []
    if spf.broken:
        message = f"The SPF record is broken: {'; '.join(spf.broken[:5])}."
        found.append(problem("spf_broken", message, "Correct or remove these parts."))
    if spf.lookups > MOST_LOOKUPS:
        message = f"The SPF record takes {spf.lookups} look-ups or more; receivers stop at {MOST_LOOKUPS}."
        fix = "Remove includes of services that no longer send for you."
        found.append(problem("spf_too_long", message, fix))
    if spf.ending == "+":
        message = "The SPF record lets everybody send for the domain (+all)."
        found.append(problem("spf_open", message, "End it with ~all or -all."))
    if spf.ending in ("", "?"):
        message = "The SPF record says nothing about servers that it does not name."
        found.append(problem("spf_neutral", message, "End it with ~all.", Level.ADVICE))
    if spf.uses_ptr:
        message = "The SPF record uses ptr, which is slow and often ignored."
        found.append(
            problem("spf_ptr", message, "Name addresses or include instead.", Level.ADVICE)
        )
    return found


async def _check_dkim(texts: TextResolver, domain: str, selector: str) -> list[Finding]:
    if not selector:
        message = "The DKIM selector is not known, so the signature cannot be checked."
        fix = "Name it with --selector: it is s= in the DKIM-Signature header of a mail that you sent."
        return [Finding("dkim", "dkim_not_checked", Level.UNKNOWN, message, fix)]
    place = f"{selector}._domainkey.{domain}"
    listed = await texts.texts(place)
    keys = [tags for each in listed if "p" in (tags := _tags(each))]
    if not keys:
        fix = "Publish the TXT record that your mail provider shows for this selector."
        return [Finding("dkim", "dkim_missing", Level.PROBLEM, f"There is no key at {place}.", fix)]
    if len(keys) > 1:
        message = f"There are {len(keys)} keys at {place}; receivers may take the wrong one."
        return [
            Finding("dkim", "dkim_twice", Level.PROBLEM, message, "Leave one, delete the rest.")
        ]
    return _judge_key(place, keys[0])


def _judge_key(place: str, tags: dict[str, str]) -> list[Finding]:
    if not tags["p"]:
        fix = "Sign with another selector, or publish the key again."
        message = f"The key at {place} was taken back (p= is empty)."
        return [Finding("dkim", "dkim_revoked", Level.PROBLEM, message, fix)]
    found: list[Finding] = []
    bits = _bits(tags)
    if bits is None:
        message = f"The key at {place} cannot be read."
        fix = "Publish it again, as one text, without spaces in the key."
        found.append(Finding("dkim", "dkim_broken", Level.PROBLEM, message, fix))
    elif bits < LEAST_BITS:
        message = f"The key at {place} has {bits} bits; receivers ignore fewer than {LEAST_BITS}."
        fix = f"Make a key of {GOOD_BITS} bits."
        found.append(Finding("dkim", "dkim_short", Level.PROBLEM, message, fix))
    elif bits < GOOD_BITS and tags.get("k", "rsa") == "rsa":
        message = f"The key at {place} has {bits} bits."
        fix = f"Make one of {GOOD_BITS} bits when you next change it."
        found.append(Finding("dkim", "dkim_weak", Level.ADVICE, message, fix))
    if "y" in tags.get("t", "").split(":"):
        message = f"The key at {place} says that signing is only being tested (t=y)."
        fix = "Remove t=y once mails arrive signed."
        found.append(Finding("dkim", "dkim_testing", Level.ADVICE, message, fix))
    return found or [Finding("dkim", "dkim_ok", Level.OK, f"There is a good key at {place}.")]


def _bits(tags: dict[str, str]) -> int | None:
    """Return the length of a public key; Ed25519 has one length."""
    try:
        raw = base64.b64decode(re.sub(r"\s", "", tags["p"]), validate=True)
        if tags.get("k", "rsa").lower() == "ed25519":
            return GOOD_BITS if len(raw) == 32 else None
        key = load_der_public_key(raw)
    except (binascii.Error, ValueError):
        return None
    return key.key_size if isinstance(key, rsa.RSAPublicKey) else None


async def _check_dmarc(texts: TextResolver, domain: str, policy: list[_Policy]) -> list[Finding]:
    """Look for the policy of the domain or of a parent, which then is the organisation's domain."""
    labels = domain.split(".")
    for start in range(max(0, len(labels) - MOST_LABELS), len(labels) - 1):
        place = ".".join(labels[start:])
        listed = await texts.texts(f"_dmarc.{place}")
        records = [each for each in listed if each.replace(" ", "").lower().startswith("v=dmarc1")]
        if len(records) > 1:
            message = (
                f"There are {len(records)} DMARC records at _dmarc.{place}; receivers ignore all."
            )
            return [Finding("dmarc", "dmarc_twice", Level.PROBLEM, message, "Leave one.")]
        if records:
            policy.append(_Policy(place, _tags(records[0])))
            return _judge_policy(domain, policy[0])
    message = f"{domain} has no DMARC policy; Google and Yahoo refuse bulk mail without one."
    fix = f'Publish a TXT record at _dmarc.{domain}: "v=DMARC1; p=none; rua=mailto:YOU@{domain}".'
    return [Finding("dmarc", "dmarc_missing", Level.PROBLEM, message, fix)]


def _judge_policy(domain: str, policy: _Policy) -> list[Finding]:
    tags, place = policy.tags, f"_dmarc.{policy.at}"
    asked = tags.get("p", "").lower()
    if policy.at != domain:
        asked = tags.get("sp", asked).lower()
    if asked not in ("none", "quarantine", "reject"):
        message = (
            f"The DMARC record at {place} has no policy that receivers know ({asked or 'no p='})."
        )
        fix = "Set p=none, p=quarantine or p=reject."
        return [Finding("dmarc", "dmarc_broken", Level.PROBLEM, message, fix)]
    found: list[Finding] = []
    if asked == "none":
        message = f"The DMARC policy at {place} only watches (p=none)."
        fix = "Go on to p=quarantine once the reports show that your mails pass."
        found.append(Finding("dmarc", "dmarc_watches", Level.ADVICE, message, fix))
    if "rua" not in tags:
        message = f"The DMARC record at {place} asks for no reports."
        fix = "Add rua=mailto: with an address of yours, to see who sends for you."
        found.append(Finding("dmarc", "dmarc_no_reports", Level.ADVICE, message, fix))
    told = f"{place} asks receivers: {asked}."
    return found or [Finding("dmarc", "dmarc_ok", Level.OK, told)]


def _judge_alignment(
    domain: str, sender: str, signer: str, *, by_spf: bool, by_dkim: bool
) -> Finding:
    ways = " and ".join(way for way, holds in (("SPF", by_spf), ("DKIM", by_dkim)) if holds)
    if ways:
        message = f"Mails from {domain} pass DMARC by {ways}."
        return Finding("alignment", "aligned", Level.OK, message)
    message = (
        f"Mails from {domain} can't be shown to pass DMARC: neither SPF ({sender}) nor DKIM ({signer}) is"
        f" sound and belongs to {domain}."
    )
    fix = f"Sign with DKIM for {domain}, or use a return address of {domain}."
    return Finding("alignment", "not_aligned", Level.PROBLEM, message, fix)


def _aligned(domain: str, other: str, home: str, *, strict: bool) -> bool:
    """Say whether another domain counts as the From domain: the same, or of the same organisation."""
    if strict or domain == other:
        return domain == other
    of_home = all(each == home or each.endswith(f".{home}") for each in (domain, other))
    return of_home or domain.endswith(f".{other}")


def _tags(record: str) -> dict[str, str]:
    pairs = (each.partition("=") for each in record.split(";") if "=" in each)
    return {name.strip().lower(): value.strip() for name, _, value in pairs}
