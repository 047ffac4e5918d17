"""A sending domain is judged by what it published, looked up at a real name server: each finding says what to do."""

import base64
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from cadenza.accounts.check_domain import (
    DomainReport,
    DomainToCheck,
    Level,
    check_domain,
    read_domain,
    read_selector,
)
from cadenza.providers.http.resolve import SystemTextResolver
from tests.servers.names import name_server

DOMAIN = "ada.example"
KEY = f"s1._domainkey.{DOMAIN}"


def rsa_key(bits: int) -> str:
    public = rsa.generate_private_key(65537, bits).public_key()
    raw = public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return f"v=DKIM1; k=rsa; p={base64.b64encode(raw).decode()}"


GOOD_KEY = rsa_key(2048)
GOOD = {
    DOMAIN: ["v=spf1 include:mail.example ip4:192.0.2.0/24 -all", "some-site-verification=1"],
    "mail.example": ["v=spf1 a mx ~all"],
    KEY: [GOOD_KEY],
    f"_dmarc.{DOMAIN}": ["v=DMARC1; p=reject; rua=mailto:ada@ada.example"],
}


async def check(changes: dict[str, list[str]] | None = None, **wanted: Any) -> DomainReport:
    texts = {name: said for name, said in {**GOOD, **(changes or {})}.items() if said}
    async with name_server(texts) as server:
        return await check_domain(
            SystemTextResolver(server.address),
            DomainToCheck(**{"domain": DOMAIN, "selector": "s1", **wanted}),
        )


def codes(report: DomainReport) -> dict[str, Level]:
    return {each.code: each.level for each in report.findings}


async def test_a_domain_that_has_everything_is_good() -> None:
    report = await check()
    assert codes(report) == dict.fromkeys(("spf_ok", "dkim_ok", "dmarc_ok", "aligned"), Level.OK)
    assert report.is_good
    assert "SPF and DKIM" in report.findings[-1].message


@pytest.mark.parametrize(
    ("record", "code", "level"),
    [
        ([], "spf_missing", Level.PROBLEM),
        (["v=spf1 -all", "v=spf1 ~all"], "spf_twice", Level.PROBLEM),
        (["v=spf1 +all"], "spf_open", Level.PROBLEM),
        (["v=spf1 all"], "spf_open", Level.PROBLEM),
        (["v=spf1 mx"], "spf_neutral", Level.ADVICE),
        (["v=spf1 ?all"], "spf_neutral", Level.ADVICE),
        (["v=spf1 ptr -all"], "spf_ptr", Level.ADVICE),
        (["v=spf1 include:nowhere.example -all"], "spf_broken", Level.PROBLEM),
        (["v=spf1 include:ada.example -all"], "spf_broken", Level.PROBLEM),
        (["v=spf1 everybody -all"], "spf_broken", Level.PROBLEM),
        (["v=spf1 " + "a:a.example " * 11 + "-all"], "spf_too_long", Level.PROBLEM),
        (["v=spf1 redirect=mail.example"], "spf_ok", Level.OK),
        (["V=SPF1 ip6:2001:db8::/32 custom=1 ~all"], "spf_ok", Level.OK),
    ],
)
async def test_spf_is_judged(record: list[str], code: str, level: Level) -> None:
    assert codes(await check({DOMAIN: record})).get(code) == level


@pytest.mark.parametrize(
    ("record", "code", "level"),
    [
        ([], "dkim_missing", Level.PROBLEM),
        (["v=DKIM1; p="], "dkim_revoked", Level.PROBLEM),
        (["v=DKIM1; p=not base64!"], "dkim_broken", Level.PROBLEM),
        ([GOOD_KEY, GOOD_KEY.replace("rsa", "rsa ")], "dkim_twice", Level.PROBLEM),
        ([rsa_key(1024)], "dkim_weak", Level.ADVICE),
        ([f"{GOOD_KEY}; t=y:s"], "dkim_testing", Level.ADVICE),
    ],
)
async def test_dkim_is_judged(record: list[str], code: str, level: Level) -> None:
    assert codes(await check({KEY: record})).get(code) == level


async def test_a_key_of_the_newer_kind_is_taken() -> None:
    raw = ed25519.Ed25519PrivateKey.generate().public_key().public_bytes_raw()
    found = await check({KEY: [f"v=DKIM1; k=ed25519; p={base64.b64encode(raw).decode()}"]})
    assert found.is_good


@pytest.mark.parametrize(
    ("record", "code", "level"),
    [
        ([], "dmarc_missing", Level.PROBLEM),
        (["v=DMARC1; p=none; rua=mailto:a@b.example"], "dmarc_watches", Level.ADVICE),
        (["v=DMARC1; p=reject"], "dmarc_no_reports", Level.ADVICE),
        (["v=DMARC1; p=perhaps"], "dmarc_broken", Level.PROBLEM),
        (["v=DMARC1; p=none", "v=DMARC1; p=reject"], "dmarc_twice", Level.PROBLEM),
    ],
)
async def test_dmarc_is_judged(record: list[str], code: str, level: Level) -> None:
    assert codes(await check({f"_dmarc.{DOMAIN}": record})).get(code) == level


async def test_a_subdomain_has_the_policy_of_its_parent() -> None:
    mail = f"mail.{DOMAIN}"
    changes = {mail: ["v=spf1 -all"], f"s1._domainkey.{mail}": [GOOD_KEY]}
    policy = ["v=DMARC1; p=reject; sp=none; rua=mailto:a@ada.example"]
    report = await check({**changes, f"_dmarc.{DOMAIN}": policy}, domain=mail)
    assert codes(report).get("dmarc_watches") == Level.ADVICE


async def test_what_belongs_to_another_domain_does_not_count() -> None:
    others = {"bounces.example": ["v=spf1 -all"], "s1._domainkey.relay.example": [GOOD_KEY]}
    both = await check(others, return_domain="bounces.example", dkim_domain="relay.example")
    assert codes(both)["not_aligned"] == Level.PROBLEM
    one = await check(others, return_domain="bounces.example")
    assert "by DKIM" in one.findings[-1].message
    own = {f"bounce.{DOMAIN}": ["v=spf1 -all"]}
    assert codes(await check(own, return_domain=f"bounce.{DOMAIN}"))["aligned"] == Level.OK
    strict = {f"_dmarc.{DOMAIN}": ["v=DMARC1; p=reject; aspf=s; rua=mailto:a@b.example"]}
    told = await check({**own, **strict}, return_domain=f"bounce.{DOMAIN}")
    assert "by DKIM." in told.findings[-1].message


async def test_without_a_selector_the_signature_is_not_known_and_said_so() -> None:
    report = await check(selector="")
    assert codes(report)["dkim_not_checked"] == Level.UNKNOWN
    assert not report.is_good
    assert "--selector" in next(each.fix for each in report.findings if each.check == "dkim")


async def test_a_name_server_that_fails_is_no_finding_against_the_domain() -> None:
    async with name_server(dict(GOOD)) as server:
        server.broken = {KEY}
        report = await check_domain(
            SystemTextResolver(server.address), DomainToCheck(domain=DOMAIN, selector="s1")
        )
    assert codes(report)["dkim_unknown"] == Level.UNKNOWN
    assert codes(report)["spf_ok"] == Level.OK


@pytest.mark.parametrize(
    ("typed", "domain"),
    [
        *(("Example.COM.", "example.com"), ("bücher.example", "xn--bcher-kva.example")),
        *(("localhost", None), ("a b.example", None), ("-x.example", None), ("", None)),
        ("x" * 64 + ".example", None),
    ],
)
def test_only_a_domain_is_looked_up(typed: str, domain: str | None) -> None:
    assert read_domain(typed) == domain


def test_only_a_selector_is_looked_up() -> None:
    assert [read_selector(each) for each in ("S1", "google", "a/b", "..", "")] == [
        *("s1", "google", None, None, None),
    ]
