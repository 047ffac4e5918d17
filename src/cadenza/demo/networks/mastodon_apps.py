"""How apps register with a Mastodon server and people let them in: codes are good once."""

import base64
import hashlib

from cadenza.demo.networks.mastodon_model import Client, Person, Token
from cadenza.demo.simulator.consent import consent
from cadenza.demo.simulator.network import SimulatedNetwork, route
from cadenza.demo.simulator.wire import Answer, Received, Unreadable, say


class Apps(SimulatedNetwork):
    """The part of a server that hands out tokens."""

    def __init__(self) -> None:
        super().__init__()
        self.people: dict[str, Person] = {}
        self.tokens: dict[str, Token] = {}
        self.clients: dict[str, Client] = {}
        self.challenges: dict[str, str] = {}  # code -> what its verifier must prove
        self.refuses = False  # the person says no

    @route("POST", "/api/v1/apps")
    async def register(self, call: Received) -> Answer:
        wanted = dict(call.form()) if call.mime.endswith("urlencoded") else call.json()
        if not {"client_name", "redirect_uris"} <= set(wanted):
            raise Unreadable("Application name can't be blank")
        scopes = tuple(str(wanted.get("scopes", "read")).split())
        client = Client(
            self.shared.ids.letters(43),
            self.shared.ids.letters(43),
            wanted["redirect_uris"],
            scopes,
            wanted["client_name"],
        )
        self.clients[client.id] = client
        return say(200, {"client_id": client.id, "client_secret": client.secret})

    def approve(self, client_id: str, handle: str) -> str:
        """Let a person press the button; return the code that their browser brings back."""
        account = next(each for each in self.people.values() if each.handle == handle)
        code = self.shared.ids.letters(43)
        self.clients[client_id].codes[code] = account.id
        return code

    @route("GET", "/oauth/authorize")
    async def authorize(self, call: Received) -> Answer:
        client = self.clients.get(call.query.get("client_id", ""))
        known = client is not None and call.query.get("redirect_uri") == client.redirect_uri

        def give() -> str:
            person = next(iter(self.people.values()))
            code = self.approve(call.query["client_id"], person.handle)
            if call.query.get("code_challenge_method") == "S256":
                self.challenges[code] = call.query.get("code_challenge", "")
            return code

        return consent(call, known=known, give=give, refuses=self.refuses)

    def _proven(self, wanted: dict[str, str]) -> bool:
        challenge = self.challenges.pop(wanted.get("code", ""), None)
        digest = hashlib.sha256(wanted.get("code_verifier", "").encode()).digest()
        proof = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        return challenge is None or proof == challenge

    @route("POST", "/oauth/token")
    async def token(self, call: Received) -> Answer:
        wanted = dict(call.form())
        client = self.clients.get(wanted.get("client_id", ""))
        if client is None or client.secret != wanted.get("client_secret"):
            return say(401, {"error": "invalid_client", "error_description": "Unknown client"})
        account = client.codes.pop(wanted.get("code", ""), None)
        same_place = wanted.get("redirect_uri") == client.redirect_uri and self._proven(wanted)
        if wanted.get("grant_type") != "authorization_code" or account is None or not same_place:
            return say(400, {"error": "invalid_grant", "error_description": "The code is invalid"})
        token = self.shared.ids.letters(43)
        self.tokens[token] = Token(account, client.scopes, app=client.name)
        return say(200, {"access_token": token, "token_type": "Bearer", "scope": "read write"})
