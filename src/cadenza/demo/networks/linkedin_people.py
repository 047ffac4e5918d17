"""Who is on LinkedIn, who may do what, and how apps get their tokens: codes are good once.

Refresh tokens only for approved apps; theirs keep the end they were born with, so near it the access
tokens get shorter too.
"""

from datetime import timedelta

from cadenza.demo.networks.linkedin_model import (
    ACCESS_LIFE,
    MEMBER,
    NEWEST_VERSION,
    OLDEST_VERSION,
    PAGES,
    REFRESH_LIFE,
    ROLES,
    TOKEN_TROUBLE,
    Client,
    Grant,
    Person,
    Token,
    refuse,
)
from cadenza.demo.simulator.consent import consent, same_place
from cadenza.demo.simulator.network import SimulatedNetwork, route
from cadenza.demo.simulator.wire import Answer, Received, say


class People(SimulatedNetwork):
    """The part of LinkedIn that knows people, pages, apps and tokens."""

    def __init__(self) -> None:
        super().__init__()
        self.people: dict[str, Person] = {}
        self.pages: dict[str, str] = {}  # URN -> name
        self.tokens: dict[str, Token] = {}
        self.grants: dict[str, Grant] = {}
        self.clients: dict[str, Client] = {}
        self.refuses = False  # the person says no

    # What a test or a demo sets up

    def add_person(self, name: str, *, token: str = "", scopes: tuple[str, ...] = MEMBER) -> str:
        """Let a person join; return their token."""
        person = Person(f"urn:li:person:{self.shared.ids.letters(10)}", name)
        self.people[person.urn] = person
        return self.issue(person.urn, scopes, token)

    def add_page(self, name: str, token: str, role: str = "ADMINISTRATOR") -> str:
        """Let the person of a token run a page; return the page's URN."""
        urn = f"urn:li:organization:{self.shared.ids.number(8)}"
        self.pages[urn] = name
        self.people[self.tokens[token].person].roles[urn] = role
        self.tokens[token].scopes = (*self.tokens[token].scopes, *PAGES)
        return urn

    def add_app(self, redirect_uri: str, *, refreshes: bool = False) -> Client:
        """Register an app, as its owner does by hand."""
        client = Client(
            self.shared.ids.letters(14), self.shared.ids.letters(16), redirect_uri, refreshes
        )
        self.clients[client.id] = client
        return client

    def approve(self, client: Client, person: str, scopes: str) -> str:
        """Let a person press the button; return the code that their browser brings back."""
        code = self.shared.ids.letters(60)
        client.codes[code] = (person, tuple(scopes.split()))
        return code

    @route("GET", "/oauth/v2/authorization")
    async def authorization(self, call: Received) -> Answer:
        client = self.clients.get(call.query.get("client_id", ""))
        back = call.query.get("redirect_uri")
        known = client is not None and same_place(client.redirect_uri, back)

        def give() -> str:
            person = next(iter(self.people))
            scopes = call.query.get("scope", "")
            return self.approve(self.clients[call.query["client_id"]], person, scopes)

        return consent(call, known=known, give=give, refuses=self.refuses)

    def issue(self, person: str, scopes: tuple[str, ...], token: str = "") -> str:
        """Hand out an access token."""
        token = token or self.shared.ids.letters(200)
        self.tokens[token] = Token(person, scopes, self.now + ACCESS_LIFE)
        return token

    def issue_refresh(self, token: str, refresh: str = "") -> str:
        """Hand out a refresh token beside an access token."""
        refresh = refresh or self.shared.ids.letters(120)
        owner = self.tokens[token]
        self.grants[refresh] = Grant(owner.person, owner.scopes, self.now + REFRESH_LIFE)
        return refresh

    # Tokens

    @route("POST", "/oauth/v2/accessToken")
    async def access_token(self, call: Received) -> Answer:
        wanted = dict(call.form())
        client = self.clients.get(wanted.get("client_id", ""))
        if client is None or client.secret != wanted.get("client_secret"):
            return _no(401, "invalid_client", "Client authentication failed")
        if wanted.get("grant_type") == "refresh_token":
            return self._renew(client, wanted)
        if wanted.get("grant_type") != "authorization_code":
            return _no(400, "invalid_request", "A required parameter grant_type is wrong")
        person, scopes = client.codes.pop(wanted.get("code", ""), ("", ()))
        if not person or not same_place(client.redirect_uri, wanted.get("redirect_uri")):
            return _no(400, "invalid_request", "Unable to retrieve access token: code is invalid")
        token = self.issue(person, scopes)
        life = {"access_token": token, "expires_in": _seconds(ACCESS_LIFE)}
        if client.refreshes:
            life["refresh_token"] = self.issue_refresh(token)
            life["refresh_token_expires_in"] = _seconds(REFRESH_LIFE)
        return say(200, {**life, "scope": " ".join(scopes)})

    def _renew(self, client: Client, wanted: dict[str, str]) -> Answer:
        grant = self.grants.get(wanted.get("refresh_token", ""))
        if grant is None or grant.ends_at <= self.now or not client.refreshes:
            return _no(400, "invalid_grant", "The provided refresh token is invalid or expired")
        token = self.issue(grant.person, grant.scopes)
        left = grant.ends_at - self.now
        self.tokens[token].expires_at = self.now + min(ACCESS_LIFE, left)
        return say(
            200,
            {
                "access_token": token,
                "expires_in": _seconds(min(ACCESS_LIFE, left)),
                "refresh_token": wanted["refresh_token"],
                "refresh_token_expires_in": _seconds(left),
                "scope": " ".join(grant.scopes),
            },
        )

    # Who is who

    @route("GET", "/v2/userinfo")
    async def userinfo(self, call: Received) -> Answer:
        token, refusal = self.enter(call, "openid", versioned=False)
        if token is None:
            return refusal
        person = self.people[token.person]
        return say(200, {"sub": person.urn.rpartition(":")[2], "name": person.name})

    @route("GET", "/rest/organizationAcls")
    async def acls(self, call: Received) -> Answer:
        token, refusal = self.enter(call, "rw_organization_admin")
        if token is None:
            return refusal
        if call.query.get("q") != "roleAssignee":
            return refuse(400, "MISSING_FIELD", "q is missing")
        role = call.query.get("role")
        person = self.people[token.person]
        listed = [
            {
                "organization": page,
                "role": held,
                "state": "APPROVED",
                "roleAssignee": person.urn,
            }
            for page, held in person.roles.items()
            if role in {None, held}
        ]
        start, count = int(call.query.get("start", "0")), int(call.query.get("count", "10"))
        shown = listed[start : start + min(count, 100)]
        # There may be more though no link says so.
        paging = {"start": start, "count": count, "links": []}
        return say(200, {"elements": shown, "paging": paging})

    @route("GET", "/rest/organizations/{id}")
    async def organisation(self, call: Received) -> Answer:
        token, refusal = self.enter(call, "rw_organization_admin")
        if token is None:
            return refusal
        name = self.pages.get(f"urn:li:organization:{call.args['id']}")
        if name is None:
            return self.not_found(call)
        vanity = name.lower().replace(" ", "-")
        return say(200, {"id": int(call.args["id"]), "localizedName": name, "vanityName": vanity})

    # Who may enter

    def enter(
        self, call: Received, scope: str, *, versioned: bool = True
    ) -> tuple[Token | None, Answer]:
        """Let a call in, or return the refusal."""
        token = self.tokens.get(call.bearer or "")
        trouble = token.trouble if token else "invalid" if call.bearer else "empty"
        if token is not None and token.expires_at <= self.now:
            trouble = "expired"
        if token is None or trouble:
            number, code, words = TOKEN_TROUBLE[trouble]
            return None, refuse(401, code, words, number)
        refusal = _version_trouble(call) if versioned else None
        if refusal is None and scope and scope not in token.scopes:
            refusal = refuse(403, "ACCESS_DENIED", "Not enough permissions to access", 100)
        return (None, refusal) if refusal else (token, Answer(200))

    def may_speak_for(self, token: Token, author: str) -> bool:
        """Say whether a token may act as an author: the person, or a page with a role."""
        if author == token.person:
            return "w_member_social" in token.scopes
        role = self.people[token.person].roles.get(author)
        return role in ROLES and "w_organization_social" in token.scopes


def _version_trouble(call: Received) -> Answer | None:
    version = call.headers.get("linkedin-version")
    if version is None:
        return refuse(400, "VERSION_MISSING", "A version must be present. Please specify a version")
    if not OLDEST_VERSION <= version <= NEWEST_VERSION:
        words = f"Requested version {version} is not active"
        return refuse(426, "NONEXISTENT_VERSION", words)
    if call.headers.get("x-restli-protocol-version") != "2.0.0":
        return refuse(400, "INVALID_VALUE_FOR_FIELD", "X-Restli-Protocol-Version must be 2.0.0")
    return None


def _no(status: int, code: str, words: str) -> Answer:
    return say(status, {"error": code, "error_description": words})


def _seconds(span: timedelta) -> int:
    return int(span.total_seconds())
