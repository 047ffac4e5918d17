"""How X hands out tokens: PKCE, codes of half a minute, refresh tokens that are dead once used."""

import base64
import hashlib
from datetime import timedelta
from urllib.parse import unquote

from cadenza.demo.networks.x_model import (
    ACCESS_LIFE,
    CODE_LIFE,
    SCOPES,
    Client,
    Token,
    User,
    problem,
)
from cadenza.demo.simulator.consent import consent, same_place
from cadenza.demo.simulator.network import SimulatedNetwork, route
from cadenza.demo.simulator.wire import Answer, Received, say


class SignIn(SimulatedNetwork):
    """The part of X that knows people, apps and tokens."""

    def __init__(self) -> None:
        super().__init__()
        self.users: dict[str, User] = {}
        self.tokens: dict[str, Token] = {}
        self.refreshes: dict[str, tuple[str, tuple[str, ...]]] = {}
        self.clients: dict[str, Client] = {}
        self.refuses = False  # the person says no

    # What a test or a demo sets up

    def add_user(self, name: str, *, token: str = "", scopes: tuple[str, ...] = SCOPES) -> str:
        """Let a person join; return their token."""
        user = User(self.shared.ids.number(19), name)
        self.users[user.id] = user
        return self.issue(user.id, scopes, token)

    def add_app(self, redirect_uri: str, *, secret: bool = True) -> Client:
        """Register an app, as its owner does by hand; one without a secret is public."""
        key = self.shared.ids.letters(50) if secret else None
        client = Client(self.shared.ids.letters(34), key, redirect_uri)
        self.clients[client.id] = client
        return client

    def approve(self, client: Client, user: str, *, scopes: str, challenge: str) -> str:
        """Let a person press the button; return the code that their browser brings back."""
        code = self.shared.ids.letters(90)
        client.codes[code] = (user, tuple(scopes.split()), challenge, self.now + CODE_LIFE)
        return code

    def issue(self, user: str, scopes: tuple[str, ...], token: str = "") -> str:
        """Hand out an access token."""
        token = token or self.shared.ids.letters(91)
        self.tokens[token] = Token(user, scopes, self.now + ACCESS_LIFE)
        return token

    def issue_refresh(self, token: str, refresh: str = "") -> str:
        """Hand out a refresh token beside an access token."""
        refresh = refresh or self.shared.ids.letters(91)
        owner = self.tokens[token]
        self.refreshes[refresh] = (owner.user, owner.scopes)
        return refresh

    # Tokens

    @route("GET", "/i/oauth2/authorize")
    async def authorize(self, call: Received) -> Answer:
        client = self.clients.get(call.query.get("client_id", ""))
        challenge = call.query.get("code_challenge", "")
        proves = bool(challenge) and call.query.get("code_challenge_method") == "S256"
        back = call.query.get("redirect_uri")
        same = client is not None and same_place(client.redirect_uri, back)

        def give() -> str:
            person = next(iter(self.users))
            wanted = call.query.get("scope", "")
            return self.approve(
                self.clients[call.query["client_id"]], person, scopes=wanted, challenge=challenge
            )

        return consent(call, known=same and proves, give=give, refuses=self.refuses)

    @route("POST", "/2/oauth2/token")
    async def token(self, call: Received) -> Answer:
        wanted = dict(call.form())
        client = self._client(call, wanted)
        if client is None:
            words = "Missing valid authorization header"
            return say(401, {"error": "unauthorized_client", "error_description": words})
        if wanted.get("grant_type") == "refresh_token":
            known = self.refreshes.pop(wanted.get("refresh_token", ""), None)
            if known is None:
                return _invalid("Value passed for the token was invalid.")
            return self._hand_out(*known)
        user, scopes, challenge, ends = client.codes.pop(
            wanted.get("code", ""), ("", (), "", self.now)
        )
        digest = hashlib.sha256(wanted.get("code_verifier", "").encode()).digest()
        proof = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        at_home = same_place(client.redirect_uri, wanted.get("redirect_uri"))
        if not user or ends <= self.now or not at_home:
            return _invalid("Value passed for the authorization code was invalid.")
        if proof != challenge:
            return _invalid("Value passed for the code verifier did not match the code challenge.")
        return self._hand_out(user, scopes)

    def _client(self, call: Received, wanted: dict[str, str]) -> Client | None:
        scheme, _, given = call.headers.get("authorization", "").partition(" ")
        if scheme.lower() == "basic":
            name, _, secret = base64.b64decode(given).decode().partition(":")
            client = self.clients.get(unquote(name))
            return client if client and client.secret == unquote(secret) else None
        client = self.clients.get(wanted.get("client_id", ""))
        return client if client and client.secret is None else None

    def _hand_out(self, user: str, scopes: tuple[str, ...]) -> Answer:
        token = self.issue(user, scopes)
        body = {
            "token_type": "bearer",
            "expires_in": int(ACCESS_LIFE / timedelta(seconds=1)),
            "access_token": token,
            "scope": " ".join(scopes),
        }
        if "offline.access" in scopes:
            body["refresh_token"] = self.issue_refresh(token)
        return say(200, body)

    # Who may enter

    def enter(self, call: Received, scope: str) -> tuple[Token | None, Answer]:
        """Let a call in, or return the refusal."""
        token = self.tokens.get(call.bearer or "")
        if token is None or token.trouble or token.expires_at <= self.now:
            return None, problem(401, "", "Unauthorized", "Unauthorized")
        if scope not in token.scopes:
            words = "When authenticating requests to the X API v2 endpoints, you must use keys and tokens from an app with the right scopes."
            return None, problem(403, "client-forbidden", words, "Client Forbidden")
        if self.users[token.user].suspended:
            return None, problem(403, "", "User is suspended", "Forbidden")
        return token, Answer(200)

    @route("GET", "/2/users/me")
    async def me(self, call: Received) -> Answer:
        token, refusal = self.enter(call, "users.read")
        if token is None:
            return refusal
        user = self.users[token.user]
        return say(200, {"data": {"id": user.id, "name": user.name, "username": user.name}})


def _invalid(words: str) -> Answer:
    return say(400, {"error": "invalid_request", "error_description": words})
