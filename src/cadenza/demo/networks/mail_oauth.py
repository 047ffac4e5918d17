"""Mailboxes behind a sign-in page, as Google's and Microsoft's: codes, tokens of an hour, and SMTP that takes them.

Reproduced: PKCE, codes that are good once, ID tokens that name the mailbox, Google's refresh tokens that keep their
value and come only with `access_type=offline`, Microsoft's that are replaced at every use, `invalid_grant` once access
is taken back, XOAUTH2 with its error challenge, and an introspection page for mail servers that ask. Not reproduced:
signatures of ID tokens, IMAP.
"""

import base64
import hashlib
import json
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, ClassVar

from cadenza.demo.networks.smtp import SimulatedSmtp
from cadenza.demo.networks.smtp_model import ReplyLine, Rules
from cadenza.demo.simulator.consent import consent, same_place
from cadenza.demo.simulator.network import route
from cadenza.demo.simulator.wire import Answer, Received, say

ACCESS_LIFE = timedelta(seconds=3600)
CODE_LIFE = timedelta(minutes=10)


@dataclass(slots=True)
class OAuthClient:
    """An app that its owner registered."""

    id: str
    secret: str
    redirect_uri: str
    codes: dict[str, "Grant"] = field(default_factory=dict[str, "Grant"])


@dataclass(frozen=True, slots=True)
class Grant:
    """What a person agreed to."""

    address: str
    scopes: str
    challenge: str
    offline: bool
    ends: datetime


class SimulatedMailSignIn(SimulatedSmtp):
    """A mail provider with a sign-in page."""

    rotates: ClassVar[bool] = False

    def __init__(self, **more: Any) -> None:
        super().__init__(Rules(offers_auth="XOAUTH2 PLAIN"), **more)
        self.clients: dict[str, OAuthClient] = {}
        self.tokens: dict[str, tuple[str, datetime]] = {}
        self.refreshes: dict[str, tuple[str, str]] = {}
        self.people: list[str] = ["ada@example.com"]
        self.refuses = False  # the person says no

    def add_app(self, redirect_uri: str) -> OAuthClient:
        """Register an app."""
        client = OAuthClient(self.shared.ids.letters(30), self.shared.ids.letters(24), redirect_uri)
        self.clients[client.id] = client
        return client

    def take_back(self, address: str) -> None:
        """Let a person end the app's access."""
        self.tokens = {k: v for k, v in self.tokens.items() if v[0] != address}
        self.refreshes = {k: v for k, v in self.refreshes.items() if v[0] != address}

    def sign_in(self, name: str, secret: str) -> ReplyLine:
        """Take a token instead of a password."""
        self.sign_ins += 1
        owner, ends = self.tokens.get(secret, ("", self.now))
        if not owner or owner != name or ends <= self.now:
            return ReplyLine(535, "5.7.8 Username and Password not accepted")
        return ReplyLine(235, "2.7.0 Accepted")

    def _authorize(self, call: Received) -> Answer:
        client = self.clients.get(call.query.get("client_id", ""))
        challenge = call.query.get("code_challenge", "")
        proves = bool(challenge) and call.query.get("code_challenge_method") == "S256"
        same = client is not None and same_place(
            client.redirect_uri, call.query.get("redirect_uri")
        )

        def give() -> str:
            assert client is not None
            code, scopes = self.shared.ids.letters(60), call.query.get("scope", "")
            client.codes[code] = Grant(
                self.people[0], scopes, challenge, self._is_offline(call), self.now + CODE_LIFE
            )
            return code

        return consent(call, known=same and proves, give=give, refuses=self.refuses)

    def _token(self, call: Received) -> Answer:
        wanted = dict(call.form())
        client = self.clients.get(wanted.get("client_id", ""))
        if client is None or client.secret != wanted.get("client_secret"):
            return _refused(401, "invalid_client")
        if wanted.get("grant_type") == "refresh_token":
            given = wanted.get("refresh_token", "")
            if given not in self.refreshes:
                return _refused(400, "invalid_grant", "Token has been expired or revoked.")
            address, scopes = self.refreshes[given]
            return self._hand_out(address, scopes, offline=self.rotates)
        grant = client.codes.pop(wanted.get("code", ""), None)
        digest = hashlib.sha256(wanted.get("code_verifier", "").encode()).digest()
        proof = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        at_home = same_place(client.redirect_uri, wanted.get("redirect_uri"))
        if grant is None or grant.ends <= self.now or not at_home or proof != grant.challenge:
            return _refused(400, "invalid_grant", "Malformed auth code.")
        return self._hand_out(grant.address, grant.scopes, offline=grant.offline, sign_in=True)

    @route("GET", "/introspect")
    async def introspect(self, call: Received) -> Answer:
        owner, ends = self.tokens.get(call.bearer or "", ("", self.now))
        if not owner or ends <= self.now:
            return say(401, {"error": "invalid_token"})
        return say(200, {"active": True, "email": owner})

    def _is_offline(self, call: Received) -> bool:
        raise NotImplementedError

    def _hand_out(
        self, address: str, scopes: str, *, offline: bool, sign_in: bool = False
    ) -> Answer:
        token = f"ya29.{self.shared.ids.letters(60)}"
        self.tokens[token] = (address, self.now + ACCESS_LIFE)
        body: dict[str, Any] = {"access_token": token, "token_type": "Bearer", "scope": scopes}
        body["expires_in"] = int(ACCESS_LIFE.total_seconds())
        if offline:
            refresh = f"1//{self.shared.ids.letters(60)}"
            self.refreshes[refresh] = (address, scopes)
            body["refresh_token"] = refresh
        if sign_in and "openid" in scopes.split():
            body["id_token"] = _id_token({"sub": "1", "email": address, "email_verified": True})
        return say(200, body)


class SimulatedGoogleMail(SimulatedMailSignIn):
    """Google's."""

    name: ClassVar[str] = "google_mail"

    @route("GET", "/o/oauth2/v2/auth")
    async def authorize(self, call: Received) -> Answer:
        return self._authorize(call)

    @route("POST", "/token")
    async def token(self, call: Received) -> Answer:
        return self._token(call)

    def _is_offline(self, call: Received) -> bool:
        return call.query.get("access_type") == "offline"


class SimulatedMicrosoftMail(SimulatedMailSignIn):
    """Microsoft's."""

    name: ClassVar[str] = "microsoft_mail"
    rotates: ClassVar[bool] = True

    @route("GET", "/{tenant}/oauth2/v2.0/authorize")
    async def authorize(self, call: Received) -> Answer:
        return self._authorize(call)

    @route("POST", "/{tenant}/oauth2/v2.0/token")
    async def token(self, call: Received) -> Answer:
        return self._token(call)

    def _is_offline(self, call: Received) -> bool:
        return "offline_access" in call.query.get("scope", "").split()


def _id_token(said: dict[str, Any]) -> str:
    parts = ({"alg": "RS256"}, said)
    coded = (base64.urlsafe_b64encode(json.dumps(each).encode()).rstrip(b"=") for each in parts)
    return ".".join([*(each.decode() for each in coded), "a-signature"])


def _refused(status: int, code: str, words: str = "") -> Answer:
    return say(status, {"error": code, "error_description": words})
