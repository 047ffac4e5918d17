"""A Graph: who may enter, in which version, how much is used up, and how it is said.

Reproduced: tokens by query, form or header; people's and pages' tokens with expiry and reasons; calls
counted by app, person and page, with usage headers on every reply and refusals at 100 %; versions that
are silently served as another. Unknown fields are refused, which the original does only sometimes.
"""

import json
from datetime import datetime, timedelta
from typing import Any

from cadenza.demo.networks.meta_model import (
    TROUBLE,
    VERSION,
    GraphRefused,
    Member,
    Token,
    envelope,
)
from cadenza.demo.simulator.counters import FixedWindows, Hit
from cadenza.demo.simulator.network import Route, SimulatedNetwork
from cadenza.demo.simulator.wire import Answer, Received, Unreadable

PROOFS = {"access_token", "appsecret_proof"}


class SimulatedGraph(SimulatedNetwork):
    """One Graph with its tokens, members and counters."""

    def __init__(self) -> None:
        super().__init__()
        self.refuses = False  # people say no to our app
        self.served = VERSION
        self.tokens: dict[str, Token] = {}
        self.members: dict[str, Member] = {}
        self.app_calls = FixedWindows(10_000, timedelta(hours=1))
        self.user_calls = FixedWindows(10_000, timedelta(hours=1))
        self.page_calls = FixedWindows(10_000, timedelta(hours=1))
        self.business_calls = FixedWindows(10_000, timedelta(hours=24))
        self.business = "pages"
        self.business_code = 80001
        self.lag = timedelta()

    # What a test or a demo sets up

    def issue(
        self,
        kind: str,
        owner: str,
        *,
        life: timedelta | None = None,
        scopes: tuple[str, ...] = (),
        value: str = "",
        parent: str = "",
    ) -> Token:
        """Hand out a token."""
        value = value or f"EAA{self.shared.ids.letters(60)}"
        ends_at = self.now + life if life else None
        token = Token(value, kind, owner, self.now, ends_at, scopes, parent=parent)
        self.tokens[value] = token
        return token

    # What the kernel asks

    def account_of(self, call: Received) -> str | None:
        token = self.tokens.get(self.token_in(call))
        return token.owner if token else None

    def expire_token(self, call: Received) -> None:
        token = self.tokens.get(self.token_in(call))
        if token is not None:
            token.ends_at = self.now - timedelta(seconds=1)

    def unreadable(self, call: Received, why: str) -> Answer:
        return envelope(100, f"Invalid parameter: {why}")

    def not_found(self, call: Received) -> Answer:
        return envelope(2500, f"Unknown path components: {call.path}")

    async def answer(self, found: Route | None, call: Received) -> Answer:
        """Count the call, let the handler work, and put the usage on whatever it says."""
        hits = self._count(call)
        try:
            self._throttle(hits)
            answer = await super().answer(found, call)
        except GraphRefused as refused:
            answer = refused.answer(self.shared.ids.letters(11))
        headers = (*answer.headers, *self._usage(call, hits))
        return Answer(answer.status, answer.body, headers)

    # Who may enter

    def token_in(self, call: Received) -> str:
        """Return the token, wherever it stands."""
        named = call.headers.get("authorization", "")
        oauth = named.removeprefix("OAuth ") if named.startswith("OAuth ") else ""
        return call.bearer or oauth or call.query.get("access_token") or _from_body(call)

    def enter(self, call: Received, *, kind: str = "", owner: str = "") -> Token:
        """Let a call in, or raise what is wrong with its token."""
        value = self.token_in(call)
        if not value:
            raise GraphRefused(2500, "An active access token must be used to query information")
        token = self.tokens.get(value)
        if token is None:
            raise GraphRefused(190, "Invalid OAuth access token.")
        trouble = self.trouble_of(token)
        if trouble:
            subcode, words = TROUBLE[trouble]
            raise GraphRefused(190, words, subcode, status=401 if trouble == "expired" else 400)
        if kind and token.kind != kind:
            raise GraphRefused(190, "This method must be called with a Page Access Token", 2069032)
        if owner and token.owner != owner:
            raise GraphRefused(100, f"Object with ID '{owner}' does not exist or no permission", 33)
        member = self.members.get(token.owner)
        if member is not None and member.trouble and call.method == "POST":
            code, subcode, words = member.trouble
            raise GraphRefused(code, words, subcode)
        return token

    def trouble_of(self, token: Token) -> str:
        """Say why a token is not taken; a page's token dies with what happened to the person's."""
        parent = self.tokens.get(token.parent)
        if token.trouble or (parent and parent.trouble):
            return token.trouble or (parent.trouble if parent else "")
        return "expired" if token.ends_at and token.ends_at <= self.now else ""

    def need(self, token: Token, scope: str) -> None:
        """Ask for a permission."""
        if scope not in token.scopes:
            raise GraphRefused(200, f"Requires {scope} permission", status=403)

    # Counting

    def _count(self, call: Received) -> dict[str, Hit]:
        token = self.tokens.get(self.token_in(call))
        hits = {"app": self.app_calls.hit("app", self.now)}
        if token is None:
            return hits
        if token.kind == "USER":
            hits["user"] = self.user_calls.hit(token.owner, self.now)
        else:
            hits["page"] = self.page_calls.hit(token.owner, self.now)
        hits["business"] = self.business_calls.hit(token.owner, self.now)
        return hits

    def _throttle(self, hits: dict[str, Hit]) -> None:
        codes = {"app": 4, "user": 17, "page": 32, "business": self.business_code}
        for name, hit in hits.items():
            if not hit.allowed:
                raise GraphRefused(codes[name], f"{name} request limit reached", status=403)

    def _usage(self, call: Received, hits: dict[str, Hit]) -> list[tuple[str, str]]:
        share = {name: _percent(hit) for name, hit in hits.items()}
        headers = [("facebook-api-version", self.served)]
        headers.append(("x-app-usage", json.dumps(_shares(share["app"]))))
        if "business" in hits:
            hit = hits["business"]
            minutes = 0 if hit.allowed else _minutes(hit.resets_at, self.now)
            use = {**_shares(share["business"]), "type": self.business}
            use["estimated_time_to_regain_access"] = minutes
            owner = self.tokens[self.token_in(call)].owner
            headers.append(("x-business-use-case-usage", json.dumps({owner: [use]})))
        return headers


def fields_of(call: Received, known: set[str]) -> dict[str, Any]:
    """Read the fields of a call, from JSON, form or multipart; what is unknown is refused."""
    fields: dict[str, Any] = dict(call.query)
    if call.mime == "application/json":
        fields |= call.json()
    elif call.mime == "multipart/form-data":
        fields |= {p.name: p.data if p.filename is not None else p.text for p in call.parts()}
    elif call.body:
        fields |= dict(call.form())
    unknown = {name for name in fields if name.partition("[")[0] not in known | PROOFS}
    if unknown:
        raise Unreadable(f"unexpected {', '.join(sorted(unknown))}")
    return fields


def chosen(call: Received, known: set[str]) -> set[str]:
    """Read which fields are asked for."""
    wanted = set(filter(None, call.query.get("fields", "").split(",")))
    if wanted - known:
        raise GraphRefused(100, f"Tried accessing nonexisting field ({min(wanted - known)})")
    return wanted | {"id"}


def stamp(at: datetime) -> str:
    """Write an instant as a Graph does."""
    return at.strftime("%Y-%m-%dT%H:%M:%S+0000")


def _from_body(call: Received) -> str:
    try:
        if call.mime == "application/json":
            return str(call.json().get("access_token") or "")
        if call.mime == "application/x-www-form-urlencoded":
            return dict(call.form()).get("access_token", "")
    except Unreadable:
        pass
    return ""


def _percent(hit: Hit) -> int:
    return 100 if not hit.allowed else 100 * (hit.limit - hit.remaining) // max(1, hit.limit)


def _shares(percent: int) -> dict[str, Any]:
    return {"call_count": percent, "total_cputime": percent // 4, "total_time": percent // 3}


def _minutes(until: datetime, now: datetime) -> int:
    return max(1, -int(-(until - now).total_seconds() // 60))
