"""How Instagram and Threads hand out their own tokens: an hour, sixty days, and sixty more.

A long token is renewed only if it is a day old and not over; a code is good once.
"""

from datetime import timedelta

from cadenza.demo.networks.meta_graph import SimulatedGraph
from cadenza.demo.networks.meta_model import (
    LONG,
    YOUNGEST,
    Codes,
    GraphRefused,
    Member,
    Token,
)
from cadenza.demo.simulator.consent import consent
from cadenza.demo.simulator.network import route
from cadenza.demo.simulator.wire import Answer, Received, Unreadable, say

HOUR = timedelta(hours=1)


class LongTokens(SimulatedGraph):
    """The part that hands out tokens by the network's own sign-in."""

    grant = "ig"

    def __init__(self) -> None:
        super().__init__()
        self.own_id = "9876543210987654"
        self.own_secret = "simulated-0wn"  # noqa: S105 - of nobody
        self.own_codes = Codes()
        self.own_grants: tuple[str, ...] = ()

    def add_account(self, name: str, *, token: str = "") -> Member:
        """Let an account be there, with a long token of its own."""
        account = Member(self.shared.ids.number(17), name)
        self.members[account.id] = account
        self.issue("USER", account.id, life=LONG, scopes=self.own_grants, value=token)
        return account

    def let_in(self, account: str, redirect_uri: str) -> str:
        """Let a person press the button; return the code as the browser brings it."""
        code = self.shared.ids.letters(80)
        self.own_codes.redirect_uri = redirect_uri
        self.own_codes.open[code] = (account, self.now)
        return f"{code}#_"

    @route("GET", "/oauth/authorize")
    async def own_dialog(self, call: Received) -> Answer:
        def give() -> str:
            return self.let_in(next(iter(self.members)), call.query["redirect_uri"])

        known = call.query.get("client_id") == self.own_id and bool(self.members)
        return consent(call, known=known, give=give, refuses=self.refuses)

    @route("POST", "/oauth/access_token")
    async def exchange_code(self, call: Received) -> Answer:
        wanted = dict(call.form())
        known = {"client_id", "client_secret", "grant_type", "redirect_uri", "code"}
        if set(wanted) != known or wanted["grant_type"] != "authorization_code":
            raise Unreadable(f"expected {sorted(known)}")
        account, _ = self.own_codes.open.pop(wanted["code"], ("", self.now))
        right = (wanted["client_id"], wanted["client_secret"]) == (self.own_id, self.own_secret)
        if not account or not right or wanted["redirect_uri"] != self.own_codes.redirect_uri:
            return self.no_code()
        token = self.issue("USER", account, life=HOUR, scopes=self.own_grants)
        return say(200, {"access_token": token.value, "user_id": int(account)})

    def no_code(self) -> Answer:
        """Refuse a code in the flat shape of the sign-in's own host."""
        words = "This authorization code has been used"
        return say(400, {"error_type": "OAuthException", "code": 400, "error_message": words})

    @route("GET", "/access_token")
    async def exchange_token(self, call: Received) -> Answer:
        self._asked(call, f"{self.grant}_exchange_token")
        if call.query.get("client_secret") != self.own_secret:
            raise GraphRefused(101, "Error validating client secret.")
        return self._long(self.enter(call))

    @route("GET", "/refresh_access_token")
    async def refresh_token(self, call: Received) -> Answer:
        self._asked(call, f"{self.grant}_refresh_token")
        token = self.enter(call)
        if self.now - token.made_at < YOUNGEST:
            raise GraphRefused(100, "The token must be at least 24 hours old")
        return self._long(token)

    def _asked(self, call: Received, grant: str) -> None:
        if call.query.get("grant_type") != grant:
            raise Unreadable(f"grant_type must be {grant}")

    def _long(self, token: Token) -> Answer:
        made = self.issue("USER", token.owner, life=LONG, scopes=token.scopes)
        seconds = int(LONG.total_seconds())
        return say(200, {"access_token": made.value, "token_type": "bearer", "expires_in": seconds})
