"""XOAUTH2 with a real Postfix, whose clients are checked by a real Dovecot, which asks the issuer of the tokens."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from cadenza.core.clock import SystemClock
from cadenza.providers.http.client import OutboundClient
from cadenza.providers.http.policy import HostRule, Policy
from cadenza.providers.message import AccountRef, Recipient, Tokens
from cadenza.providers.outcome import Disconnected, Sent
from cadenza.providers.registry import all_connectors
from tests.providers.http.conftest import certificate
from tests.providers.mail_oauth.fixtures import MailScene, mail_oauth
from tests.servers.dovecot import dovecot
from tests.servers.place import ServerUnavailableError
from tests.servers.postfix import DOMAIN, Postfix, postfix
from tests.servers.run import skip_or_fail

__all__ = ["certificate"]
_SASL = """
smtpd_sasl_auth_enable = yes
smtpd_sasl_type = dovecot
smtpd_sasl_path = {path}
smtpd_sasl_security_options = noanonymous
smtpd_tls_auth_only = yes
smtpd_recipient_restrictions = permit_sasl_authenticated, reject
smtpd_relay_restrictions = permit_sasl_authenticated, reject
"""


def _servers(certificate: Path, introspection: str) -> Iterator[Postfix]:
    try:
        with (
            dovecot(certificate, introspection=introspection) as checks,
            postfix(certificate, more=_SASL.format(path=checks.sasl)) as takes,
        ):
            yield takes
    except ServerUnavailableError as reason:
        skip_or_fail("postfix and dovecot", reason)


def _point_at(scene: MailScene, server: Postfix, certificate: Path) -> OutboundClient:
    """Let the mailbox's server be the real one; return a client that may call it."""
    options = {**scene.app.options, "smtp_port": str(server.port), "smtp_security": "starttls"}
    scene.app = replace(scene.app, options=options)
    ports = (server.port, *scene.simulated.ports.values())
    rules = tuple(HostRule("127.0.0.1", port) for port in ports)
    return OutboundClient(Policy(allow=rules, ca_file=str(certificate)), clock=SystemClock())


async def test_a_token_signs_in_is_refused_when_it_has_ended_and_works_once_renewed(
    certificate: Path,
) -> None:
    async with mail_oauth() as (scene, simulated):
        for server in _servers(certificate, f"{simulated.url()}/introspect"):
            async with _point_at(scene, server, certificate) as scene.http:
                connected = await scene.sign_in(all_connectors()["google_mail"])
                assert isinstance(connected, tuple), connected
                (ada,) = connected
                scene.account = AccountRef(id="a1", remote_id=ada.remote_id, settings=ada.settings)
                scene.tokens = ada.tokens
                scene.message = replace(scene.message, recipient=Recipient(f"ben@{DOMAIN}"))
                assert isinstance(await scene.provider.publish(scene.call()), Sent)
                server.wait_for_log("sasl_method=XOAUTH2, sasl_username=ada@example.com")
                await scene.http.idle.aclose()
                scene.simulator.clock.advance(timedelta(hours=1))
                refused = await scene.provider.publish(replace(scene.call(), key="two"))
                assert isinstance(refused, Disconnected), refused
                fresh = await scene.provider.refresh(scene.call())
                assert isinstance(fresh, Tokens)
                scene.tokens = fresh
                again = await scene.provider.publish(replace(scene.call(), key="three"))
                assert isinstance(again, Sent), again
                server.wait_for_log("status=sent", times=2)
                assert len(server.mails()) == 2


@pytest.mark.parametrize("name", ["microsoft_mail"])
async def test_somebody_elses_token_is_not_taken(certificate: Path, name: str) -> None:
    async with mail_oauth(name) as (scene, simulated):
        for server in _servers(certificate, f"{simulated.url()}/introspect"):
            async with _point_at(scene, server, certificate) as scene.http:
                settings = {**scene.account.settings, "username": "ben@example.com"}
                settings |= {"port": server.port, "security": "starttls"}
                scene.account = replace(scene.account, settings=settings)
                refused = await scene.provider.publish(scene.call())
                assert isinstance(refused, Disconnected), refused
