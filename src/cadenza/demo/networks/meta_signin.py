"""How people let apps into Facebook: codes good once, tokens of hours and of sixty days, pages' own tokens.

Reproduced: an expired token cannot be exchanged; `/me/accounts` pages its list and hides what is not
`listed`, though the page can be read by its id and `debug_token` names it.
"""

from typing import Any

from cadenza.demo.networks.meta_graph import SimulatedGraph, chosen
from cadenza.demo.networks.meta_model import (
    LONG,
    SHORT,
    Codes,
    GraphRefused,
    Member,
    Token,
)
from cadenza.demo.simulator.consent import consent
from cadenza.demo.simulator.network import route
from cadenza.demo.simulator.wire import Answer, Received, say

PAGE_FIELDS = {"id", "name", "access_token", "tasks", "instagram_business_account{id,username}"}
TWIN = "instagram_business_account{id,username}"


class FacebookSignIn(SimulatedGraph):
    """The part of a Graph that hands out tokens by Facebook's sign-in."""

    def __init__(self) -> None:
        super().__init__()
        self.app_id = "1234567890123456"
        self.app_secret = "simulated-5ecret"  # noqa: S105 - of nobody
        self.codes = Codes()
        self.grants: tuple[str, ...] = ()
        self.pages_a_page = 1

    def add_page(self, name: str, person: str, *, token: str = "", listed: bool = True) -> Member:
        """Let a page be there, run by a person; a given token is its own."""
        page = Member(self.shared.ids.number(15), name, listed=listed, admins=(person,))
        self.members[page.id] = page
        if token:
            self.issue("PAGE", page.id, scopes=self.grants, value=token, parent="")
        return page

    def approve(self, person: str, redirect_uri: str) -> str:
        """Let a person press the button; return the code."""
        code = self.shared.ids.letters(120)
        self.codes.redirect_uri = redirect_uri
        self.codes.open[code] = (person, self.now)
        return code

    @route("GET", "/{version}/dialog/oauth")
    async def facebooks_dialog(self, call: Received) -> Answer:
        people = [token.owner for token in self.tokens.values() if token.kind == "USER"]
        owners = [name for name in people if name not in self.members]

        def give() -> str:
            return self.approve(owners[0], call.query["redirect_uri"])

        known = call.query.get("client_id") == self.app_id and bool(owners)
        return consent(call, known=known, give=give, refuses=self.refuses)

    @route("GET", "/{version}/oauth/access_token")
    async def exchange(self, call: Received) -> Answer:
        query = call.query
        if query.get("client_id") != self.app_id or query.get("client_secret") != self.app_secret:
            raise GraphRefused(101, "Error validating application.")
        if query.get("grant_type") == "fb_exchange_token":
            return self._lengthen(query.get("fb_exchange_token", ""))
        person, _ = self.codes.open.pop(query.get("code", ""), ("", self.now))
        if not person:
            raise GraphRefused(100, "This authorization code has been used.", 36009)
        if query.get("redirect_uri") != self.codes.redirect_uri:
            raise GraphRefused(
                100, "Error validating verification code: redirect_uri differs", 36008
            )
        return _handed(self.issue("USER", person, life=SHORT, scopes=self.grants), SHORT)

    def _lengthen(self, value: str) -> Answer:
        token = self.tokens.get(value)
        if token is None or token.kind != "USER" or self.trouble_of(token):
            raise GraphRefused(190, "Error validating access token: Session has expired.", 463)
        return _handed(self.issue("USER", token.owner, life=LONG, scopes=token.scopes), LONG)

    @route("GET", "/{version}/me/accounts")
    async def accounts(self, call: Received) -> Answer:
        token = self.enter(call, kind="USER")
        self.need(token, "pages_show_list")
        wanted = _wanted(call)
        mine = [m for m in self.members.values() if token.owner in m.admins and m.listed]
        start = int(call.query.get("after", "0"))
        shown = mine[start : start + self.pages_a_page]
        end = start + len(shown)
        paging: dict[str, Any] = {"cursors": {"before": str(start), "after": str(end)}}
        if end < len(mine):
            paging["next"] = f"{self.url()}{call.path}?after={end}"
        return say(200, {"data": [self._page(m, token, wanted) for m in shown], "paging": paging})

    @route("GET", "/{version}/debug_token")
    async def debug(self, call: Received) -> Answer:
        if call.query.get("access_token") != f"{self.app_id}|{self.app_secret}":
            raise GraphRefused(190, "Invalid OAuth access token.")
        token = self.tokens.get(call.query.get("input_token", ""))
        if token is None:
            raise GraphRefused(100, "input_token is not a token")
        ids = [m.id for m in self.members.values() if token.owner in m.admins]
        ends = int(token.ends_at.timestamp()) if token.ends_at else 0
        data = {"is_valid": not self.trouble_of(token), "type": token.kind, "expires_at": ends}
        granular = [{"scope": each, "target_ids": ids} for each in token.scopes]
        return say(200, {"data": {**data, "scopes": token.scopes, "granular_scopes": granular}})

    def read_page(self, call: Received, page: Member) -> Answer:
        """Show a page to a person who has a role there, or to itself."""
        token = self.enter(call)
        if token.owner not in (*page.admins, page.id):
            raise GraphRefused(
                100, f"Object with ID '{page.id}' does not exist or no permission", 33
            )
        return say(200, self._page(page, token, _wanted(call)))

    def _page(self, page: Member, token: Token, wanted: set[str]) -> dict[str, Any]:
        shown: dict[str, Any] = {"id": page.id, "name": page.name, "tasks": list(page.tasks)}
        if TWIN in wanted and page.twin:
            twin = self.members[page.twin]
            shown["instagram_business_account"] = {"id": twin.id, "username": twin.name}
        if "access_token" in wanted:
            made = self.issue("PAGE", page.id, scopes=token.scopes, parent=token.value)
            shown["access_token"] = made.value
        return shown


def _wanted(call: Received) -> set[str]:
    if TWIN in call.query.get("fields", ""):
        rest = call.query["fields"].replace(TWIN, "").strip(",").replace(",,", ",")
        return {TWIN, *rest.split(",")}
    return chosen(call, PAGE_FIELDS)


def _handed(token: Token, life: Any) -> Answer:
    seconds = int(life.total_seconds())
    return say(200, {"access_token": token.value, "token_type": "bearer", "expires_in": seconds})
