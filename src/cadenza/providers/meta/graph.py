"""Speak to a Graph: where it is, in which version, as whom.

The token goes in the `Authorization` header, so that it stands in no address; fields go as a form. An
app that demands a proof of its secret gets one (option `appsecret_proof`). A Graph serves old or unknown
versions silently as another one: the reply's header tells, and a difference is logged, not failed on.
"""

import hashlib
import hmac
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode, urlsplit

from cadenza.providers.base import AttemptContext
from cadenza.providers.errors import Table
from cadenza.providers.http.redact import Secret
from cadenza.providers.http.request import File, Form, Multipart, Request, Timeouts
from cadenza.providers.message import App
from cadenza.providers.outcome import Outcome
from cadenza.providers.reply import HttpSuccess, ask, bearer

log = logging.getLogger("cadenza.meta")

FACEBOOK = "https://graph.facebook.com"
VERSION = "v26.0"
SERVED = "facebook-api-version"
QUICK = Timeouts(connect=10, read=30, total=30)
SLOW = Timeouts(connect=10, read=60, total=300)


@dataclass(frozen=True, slots=True)
class Graph:
    """One Graph, asked with one token."""

    base: str
    version: str
    token: Secret
    proof: Secret | None = None

    def get(self, path: str, query: Mapping[str, str] | None = None) -> Request:
        """Make a request that reads."""
        secrets = (self.token,) if self.proof is None else (self.token, self.proof)
        proof = {"appsecret_proof": self.proof.reveal()} if self.proof else {}
        fields = {**(query or {}), **proof}
        url = self.url(path) + (f"?{urlencode(fields)}" if fields else "")
        return Request("GET", url, self._headers(), timeout=QUICK, secrets=secrets)

    def post(
        self, path: str, fields: Mapping[str, str | Secret], *, idempotent: bool = True
    ) -> Request:
        """Make a request that writes; `idempotent`: once more does no harm."""
        body = Form({**fields, **self._proof()})
        return Request(
            "POST",
            self.url(path),
            self._headers(),
            body,
            timeout=QUICK,
            idempotent=idempotent,
            secrets=(self.token,),
        )

    def upload(self, path: str, files: Mapping[str, File], fields: Mapping[str, str]) -> Request:
        """Make a request that sends files; uploads are invisible, so they may be repeated."""
        return Request(
            "POST",
            self.url(path),
            self._headers(),
            Multipart(files, {**fields, **self._proof()}),
            timeout=SLOW,
            idempotent=True,
            secrets=(self.token,),
        )

    def url(self, path: str) -> str:
        return f"{self.base.rstrip('/')}/{self.version}/{path.lstrip('/')}"

    def _headers(self) -> dict[str, str | Secret]:
        return {"authorization": bearer(self.token)}

    def _proof(self) -> dict[str, str | Secret]:
        return {"appsecret_proof": self.proof} if self.proof else {}


def graph(app: App, token: Secret, *, base: str = "", version: str = VERSION) -> Graph:
    """Return the Graph that an app is registered with; settings may name another version."""
    wanted = app.options.get("version") or version
    proves = app.client_secret is not None and bool(app.options.get("appsecret_proof"))
    proof = prove(token, app.client_secret) if proves and app.client_secret else None
    return Graph(base or app.base_url or FACEBOOK, wanted, token, proof)


def prove(token: Secret, secret: Secret) -> Secret:
    """Prove that we know the app's secret, for this token."""
    digest = hmac.new(secret.reveal().encode(), token.reveal().encode(), hashlib.sha256)
    return Secret(digest.hexdigest())


async def ask_graph(call: AttemptContext, request: Request, table: Table) -> HttpSuccess | Outcome:
    """Ask, and notice when another version answered than the one that was asked."""
    got = await ask(call, request, table)
    if isinstance(got, HttpSuccess):
        requested = urlsplit(request.url).path.partition("/v")[2].partition("/")[0]
        served = (got.reply.header(SERVED) or "").removeprefix("v")
        if served and served != requested:
            log.warning("a Graph served v%s instead of v%s: raise the version", served, requested)
    return got
