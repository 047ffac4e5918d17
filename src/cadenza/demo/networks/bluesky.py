"""A Bluesky entry host and the server behind it, as two doors.

Reproduced: 400 for expired tokens, refresh rotation with grace, records under keys of the client's
choice (same record again: nothing happens; `swapRecord: null`: create only; createRecord on a taken
key: 500), blobs that vanish if unused, lengths, byte ranges, points with headers. The entry host
serves sessions only, so that an adapter must take the server from the session's document.
"""

from datetime import timedelta
from typing import Any, ClassVar

from cadenza.demo.networks.bluesky_records import (
    COLLECTION,
    TID,
    Blob,
    blobs_in,
    cid_of,
    image_problem,
    images,
    problem,
    video,
    video_problem,
)
from cadenza.demo.networks.bluesky_sessions import Pair, Sessions
from cadenza.demo.simulator.counters import FixedWindows, Hit
from cadenza.demo.simulator.ledger import Entry
from cadenza.demo.simulator.network import SimulatedNetwork, route
from cadenza.demo.simulator.sniff import sniff
from cadenza.demo.simulator.wire import Answer, Received, say

XRPC = "/xrpc/com.atproto"
Refused = Answer


class SimulatedBluesky(SimulatedNetwork):
    """Bluesky, as far as a poster sees it."""

    name: ClassVar[str] = "bluesky"
    endpoints: ClassVar[tuple[str, ...]] = ("api", "pds")

    def __init__(self) -> None:
        super().__init__()
        self.sessions = Sessions()
        self.people: dict[str, tuple[str, str]] = {}  # did -> handle, app password
        self.trouble: dict[str, str] = {}  # did -> AccountTakedown, AccountDeactivated
        self.records: dict[str, dict[str, Any]] = {}  # uri -> record
        self.blobs: dict[str, Blob] = {}
        self.blob_life = timedelta(hours=1)
        self.blob_bytes = 50 * 1024 * 1024  # as Bluesky's own servers
        self.needs_factor: set[str] = set()
        self.points = FixedWindows(5000, timedelta(hours=1))
        self.signs_in = FixedWindows(30, timedelta(minutes=5))

    def add_account(self, handle: str, password: str) -> str:
        """Let a person join; return their did."""
        did = f"did:plc:{self.shared.ids.letters(24, 'abcdefghijklmnopqrstuvwxyz234567')}"
        self.people[did] = (handle, password)
        return did

    def account_of(self, call: Received) -> str | None:
        pair = self.sessions.by_access.get(call.bearer or "")
        return self.people[pair.did][0] if pair else None

    def expire_token(self, call: Received) -> None:
        pair = self.sessions.by_access.get(call.bearer or "")
        if pair:
            pair.access_until = self.now

    def unreadable(self, call: Received, why: str) -> Answer:
        return _no("InvalidRequest", why)

    def not_found(self, call: Received) -> Answer:
        return _no("MethodNotImplemented", "Method Not Implemented", 501)

    # Sessions

    @route("POST", f"{XRPC}.server.createSession")
    async def create_session(self, call: Received) -> Answer:
        wanted = call.json()
        name = str(wanted.get("identifier", "")).removeprefix("@")
        hit = self.signs_in.hit(name, self.now)
        if not hit.allowed:
            return _too_many(hit, self.now.timestamp())
        for did, (handle, password) in self.people.items():
            if name in {did, handle} and wanted.get("password") == password:
                return self._sign_in(did, wanted)
        return _no("AuthenticationRequired", "Invalid identifier or password", 401)

    def _sign_in(self, did: str, wanted: dict[str, Any]) -> Answer:
        if did in self.trouble:
            return _no(self.trouble[did], "Account is not available", 401)
        if did in self.needs_factor and not wanted.get("authFactorToken"):
            return _no("AuthFactorTokenRequired", "A sign in code has been sent", 401)
        return say(200, self._session(self.sessions.begin(did, self.shared.ids, self.now)))

    @route("POST", f"{XRPC}.server.refreshSession")
    async def refresh_session(self, call: Received) -> Answer:
        if call.body:
            return _no("InvalidRequest", "A request body was provided when none was expected")
        if call.bearer not in self.sessions.by_refresh:
            return _no("InvalidToken", "Token could not be verified")
        pair = self.sessions.rotate(call.bearer or "", self.shared.ids, self.now)
        return say(200, self._session(pair)) if pair else _expired()

    def _session(self, pair: Pair) -> dict[str, Any]:
        service = {
            "id": "#atproto_pds",
            "type": "AtprotoPersonalDataServer",
            "serviceEndpoint": self.url("pds"),
        }
        return {
            "did": pair.did,
            "handle": self.people[pair.did][0],
            "accessJwt": pair.access,
            "refreshJwt": pair.refresh,
            "didDoc": {"id": pair.did, "service": [service]},
            "active": True,
        }

    @route("GET", f"{XRPC}.identity.resolveHandle")
    async def resolve(self, call: Received) -> Answer:
        for did, (handle, _) in self.people.items():
            if handle == call.query.get("handle"):
                return say(200, {"did": did})
        return _no("InvalidRequest", "Unable to resolve handle")

    # Blobs and records

    @route("POST", f"{XRPC}.repo.uploadBlob")
    async def upload(self, call: Received) -> Answer:
        pair = self._enter(call)
        if not isinstance(pair, Pair):
            return pair
        if len(call.body) > self.blob_bytes:
            return _no("PayloadTooLarge", "request entity too large", 413)
        found = sniff(call.body)
        mime = found.mime if found else call.mime
        blob = Blob(cid_of(call.body), pair.did, mime, len(call.body), self.now)
        self.blobs[blob.cid] = blob
        reference = {"$type": "blob", "ref": {"$link": blob.cid}, "mimeType": mime}
        return say(200, {"blob": {**reference, "size": blob.size}})

    @route("POST", f"{XRPC}.repo.putRecord")
    async def put(self, call: Received) -> Answer:
        return self._write(call, cost=2, known={"rkey", "swapRecord", "swapCommit"})

    @route("POST", f"{XRPC}.repo.createRecord")
    async def create(self, call: Received) -> Answer:
        return self._write(call, cost=3, known={"rkey", "swapCommit"})

    def _write(self, call: Received, *, cost: int, known: set[str]) -> Answer:
        pair = self._enter(call)
        if not isinstance(pair, Pair):
            return pair
        hit = self.points.hit(pair.did, self.now, cost)
        if not hit.allowed:
            return _too_many(hit, self.now.timestamp())
        wanted = call.json()
        rkey = wanted.get("rkey") or self.shared.ids.tid(self.now)
        refused = self._refuse(wanted, pair.did, rkey, known | {"repo", "collection", "record"})
        if refused:
            return refused
        uri, record = f"at://{pair.did}/{COLLECTION}/{rkey}", wanted["record"]
        if uri in self.records:
            refused = self._taken(uri, wanted, creating=cost == 3)
            if refused:
                return refused
        else:
            self._publish(uri, record, pair.did)
        headers = _headers(hit)
        return say(200, {"uri": uri, "cid": cid_of(record), "validationStatus": "valid"}, headers)

    def _taken(self, uri: str, wanted: dict[str, Any], *, creating: bool) -> Answer | None:
        """Judge a write on a key that has a record: nothing, an edit, or a refusal."""
        if creating:
            return _no("InternalServerError", "Internal Server Error", 500)
        if cid_of(wanted["record"]) == cid_of(self.records[uri]):
            return None  # the reference server looks at this before it looks at the swap
        if "swapRecord" in wanted and wanted["swapRecord"] != cid_of(self.records[uri]):
            return _no("InvalidSwap", f"Record was at {cid_of(self.records[uri])}")
        self.records[uri] = wanted["record"]  # an edit
        return None

    def _publish(self, uri: str, record: dict[str, Any], did: str) -> None:
        self.records[uri] = record
        for cid in blobs_in(record):
            self.blobs[cid].used = True
        parent = ((record.get("reply") or {}).get("parent") or {}).get("uri", "")
        self.show(
            Entry(
                simulated=self.name,
                account=self.people[did][0],
                remote_id=uri,
                text=record["text"],
                at=self.now,
                to=parent,
                detail={
                    "images": len(list(images(record))),
                    "video": video(record) is not None,
                    "facets": record.get("facets") or [],
                },
            )
        )

    def _refuse(
        self, wanted: dict[str, Any], did: str, rkey: str, known: set[str]
    ) -> Refused | None:
        record = wanted.get("record")
        if set(wanted) - known or wanted.get("collection") != COLLECTION or not record:
            return _no("InvalidRequest", "Input must have the right properties")
        if wanted.get("repo") != did:
            return _no("InvalidRequest", "Could not find repo")
        wrong = None if TID.fullmatch(rkey) else "the record key is not a valid TID"
        wrong = wrong or problem(record) or self._reply_problem(record)
        if wrong:
            return _no("InvalidRequest", f"Invalid {COLLECTION} record: {wrong}")
        self._forget_blobs()
        wrong = image_problem(record, self.blobs, did) or video_problem(record, self.blobs, did)
        if wrong == "BlobNotFound":
            return _no("BlobNotFound", "Could not find blob")
        return _no("InvalidRequest", f"Invalid {COLLECTION} record: {wrong}") if wrong else None

    def _reply_problem(self, record: dict[str, Any]) -> str | None:
        reply = record.get("reply")
        if reply is None:
            return None
        for name in ("root", "parent"):
            place = reply.get(name) or {}
            above = self.records.get(place.get("uri", ""))
            if above is None or cid_of(above) != place.get("cid"):
                return f"Record/reply/{name} is not there"
        return None

    def _forget_blobs(self) -> None:
        gone = [
            cid
            for cid, blob in self.blobs.items()
            if not blob.used and blob.at + self.blob_life <= self.now
        ]
        for cid in gone:
            del self.blobs[cid]

    @route("GET", f"{XRPC}.repo.getRecord")
    async def get(self, call: Received) -> Answer:
        query = call.query
        uri = f"at://{query.get('repo')}/{query.get('collection')}/{query.get('rkey')}"
        record = self.records.get(uri)
        if call.endpoint != "pds" or record is None:
            return _no("RecordNotFound", f"Could not locate record: {uri}")
        return say(200, {"uri": uri, "cid": cid_of(record), "value": record})

    def _enter(self, call: Received) -> Pair | Refused:
        """Let a call in, at the right door, or return the refusal."""
        if call.bearer is None:
            return _no("AuthMissing", "Authentication Required", 401)
        pair = self.sessions.by_access.get(call.bearer)
        if pair is None:
            return _no("InvalidToken", "Token could not be verified")
        if pair.access_until <= self.now:
            return _expired()
        if pair.did in self.trouble:
            return _no(self.trouble[pair.did], "Account is not available", 401)
        if call.endpoint != "pds":
            return _no("InvalidRequest", "Could not find repo")
        return pair


def _no(error: str, message: str, status: int = 400) -> Answer:
    return say(status, {"error": error, "message": message})


def _expired() -> Answer:
    return _no("ExpiredToken", "Token has expired")


def _headers(hit: Hit) -> tuple[tuple[str, str], ...]:
    return (
        ("ratelimit-limit", str(hit.limit)),
        ("ratelimit-remaining", str(hit.remaining)),
        ("ratelimit-reset", str(int(hit.resets_at.timestamp()))),
        ("ratelimit-policy", f"{hit.limit};w=3600"),
    )


def _too_many(hit: Hit, now: float) -> Answer:
    wait = ("retry-after", str(int(hit.resets_at.timestamp() - now)))
    error = {"error": "RateLimitExceeded", "message": "Rate Limit Exceeded"}
    return say(429, error, (*_headers(hit), wait))
