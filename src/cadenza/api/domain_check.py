"""Whether mailbox providers will believe a sending domain: SPF, DKIM, DMARC, and whether they fit together."""

from datetime import datetime
from typing import Annotated

from fastapi import Query
from pydantic import BaseModel, Field

from cadenza.accounts.check_domain import (
    DomainReport,
    DomainToCheck,
    Level,
    check_domain,
    read_domain,
    read_selector,
)
from cadenza.accounts.model import read_account
from cadenza.accounts.open import refer
from cadenza.api.problems import Problem, invalid, not_found
from cadenza.api.request_context import Reader
from cadenza.api.routes import Resource
from cadenza.api.schemas import ID, Id
from cadenza.people.model import Role
from cadenza.providers.message import AccountRef
from cadenza.providers.smtp.limits import sender_of
from cadenza.sql.tx import Tx

routes = Resource("domain_check", "/workspaces/{workspace_id}/domain-check")
AccountId = Annotated[str | None, Query(max_length=128, pattern=ID)]
Name = Annotated[str | None, Query(max_length=253)]


class DomainFinding(BaseModel):
    """One thing about a domain, and what to do about it."""

    check: str = Field(description="spf, dkim, dmarc or alignment")
    code: str
    level: Level
    message: str
    fix: str = Field(description="What to do; empty where nothing is to be done")


class DomainCheck(BaseModel):
    """What mailbox providers find when they look a sending domain up."""

    domain: str
    good: bool = Field(description="Whether nothing stands against sending")
    findings: list[DomainFinding]


@routes.get(needs=Role.VIEWER, scope="accounts:read")
async def show_domain_check(
    ask: Reader,
    workspace_id: Id,
    account_id: AccountId = None,
    domain: Name = None,
    selector: Name = None,
) -> DomainCheck:
    """Look up what is published for a domain, or for the one that an account sends from."""
    if (account_id is None) == (domain is None):
        raise invalid("query.domain", "name a domain or an account, one of the two", "one_needed")
    wanted = (
        await _of_account(ask, workspace_id, account_id)
        if account_id is not None
        else DomainToCheck(domain=_domain(domain or ""))
    )
    if selector is not None:
        read = read_selector(selector)
        if read is None:
            raise invalid("query.selector", "it is a word such as s1 or google", "bad_selector")
        wanted = DomainToCheck(
            domain=wanted.domain,
            return_domain=wanted.return_domain,
            dkim_domain=wanted.dkim_domain,
            selector=read,
        )
    return _view(await check_domain(ask.runtime.http.texts, wanted))


async def _of_account(ask: Reader, workspace_id: str, account_id: str) -> DomainToCheck:
    ask.check_account(account_id)

    def look(tx: Tx, now: datetime) -> AccountRef | None:
        found = read_account(tx, workspace_id, account_id)
        return None if found is None else refer(found)

    account = await ask.read(look)
    if account is None:
        raise not_found("account")
    settings = account.settings
    address = sender_of(account) if "@" in sender_of(account) else account.handle
    domain = read_domain(address.rpartition("@")[2]) if "@" in address else None
    if domain is None:
        raise Problem(422, "no_mail_address", "The account has no mail address: name the domain.")
    return DomainToCheck(
        domain=domain,
        return_domain=read_domain(str(settings.get("bounce_domain") or "")) or "",
        dkim_domain=read_domain(str(settings.get("dkim_domain") or "")) or "",
        selector=read_selector(str(settings.get("dkim_selector") or "")) or "",
    )


def _domain(text: str) -> str:
    found = read_domain(text)
    if found is None:
        raise invalid("query.domain", "it is a name such as example.com", "bad_domain")
    return found


def _view(report: DomainReport) -> DomainCheck:
    findings = [
        DomainFinding(
            check=each.check, code=each.code, level=each.level, message=each.message, fix=each.fix
        )
        for each in report.findings
    ]
    return DomainCheck(domain=report.domain, good=report.is_good, findings=findings)
