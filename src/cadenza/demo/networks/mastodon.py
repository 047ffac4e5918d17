"""A Mastodon server: statuses with idempotency keys, media that take their time, ISO rate headers.

Reproduced: the key store of an hour per account and its lock (503), 200/202/206/422 of media, limits of
the instance, the words of refusals, silent drops, rate windows by real counting, servers without the
second media endpoint, and servers of other makes that ignore the key (`Rules`). Stricter than the original: unknown fields are refused. Not reproduced: federation,
polls, server-side scheduling (we never use it).
"""

from datetime import datetime, timedelta
from typing import Any, ClassVar

from cadenza.demo.networks.mastodon_apps import Apps
from cadenza.demo.networks.mastodon_html import render
from cadenza.demo.networks.mastodon_model import (
    BAD_VISIBILITY,
    FIELDS,
    KEY_LIFE,
    MIXED,
    NO_SUCH_POST,
    NO_TYPE,
    NOT_FINISHED,
    NOT_YOURS,
    OUTSIDE_SCOPES,
    SCOPES,
    TEMPORARY,
    TOKEN_TROUBLE,
    VISIBILITIES,
    Media,
    Person,
    Rules,
    Status,
    Token,
)
from cadenza.demo.simulator.counters import FixedWindows, Hit
from cadenza.demo.simulator.ledger import Entry
from cadenza.demo.simulator.network import route
from cadenza.demo.simulator.sniff import sniff
from cadenza.demo.simulator.wire import Answer, Received, Unreadable, say
from cadenza.providers import counting


class SimulatedMastodon(Apps):
    """One instance."""

    name: ClassVar[str] = "mastodon"

    def __init__(self, rules: Rules | None = None) -> None:
        super().__init__()
        self.rules = rules or Rules()
        self.media: dict[str, Media] = {}
        self.statuses: dict[str, Status] = {}
        self.lag = timedelta()
        self.lock_seconds = 0.0  # real time for which a key is held, so that calls can collide
        self.calls = FixedWindows(300, timedelta(minutes=5))
        self.uploads = FixedWindows(30, timedelta(minutes=30))
        self.posts = FixedWindows(300, timedelta(hours=3))
        self._keys: dict[tuple[str, str], tuple[str, datetime]] = {}
        self._held: set[tuple[str, str]] = set()

    # What a test or a demo sets up

    def add_account(self, handle: str, *, token: str = "", scopes: tuple[str, ...] = SCOPES) -> str:
        """Let a person join; return their token."""
        person = Person(self.shared.ids.snowflake(self.now), handle)
        self.people[person.id] = person
        token = token or self.shared.ids.letters(43)
        self.tokens[token] = Token(person.id, scopes)
        return token

    def person(self, token: str) -> Person:
        """Return whose token it is."""
        return self.people[self.tokens[token].account]

    def post_by(self, token: str, text: str, *, app: str, reblog: bool = False) -> Status:
        """Let the person post with another client, or boost what somebody else wrote."""
        return self._keep(
            self._new(self.tokens[token].account, {"status": text}, app, reblog=reblog)
        )

    def remove(self, status_id: str) -> None:
        """Let the person delete a post."""
        del self.statuses[status_id]

    # What the kernel asks

    def account_of(self, call: Received) -> str | None:
        token = self.tokens.get(call.bearer or "")
        return token.account if token else None

    def expire_token(self, call: Received) -> None:
        if call.bearer in self.tokens:
            self.tokens[call.bearer].trouble = "expired"

    def unreadable(self, call: Received, why: str) -> Answer:
        return say(422, {"error": f"Validation failed: {why}"})

    def not_found(self, call: Received) -> Answer:
        return say(404, {"error": "Record not found"})

    # Posts

    @route("POST", "/api/v1/statuses")
    async def post_status(self, call: Received) -> Answer:
        token, refusal = self._enter(call, "write:statuses")
        if token is None:
            return refusal
        hit = self.posts.hit(token.account, self.now)
        if not hit.allowed:
            return _too_many(hit)
        key = (token.account, call.headers.get("idempotency-key", ""))
        if not key[1] or not self.rules.keeps_keys:
            return self._with_limits(hit, self._create(token, call))
        if key in self._held:
            return say(503, {"error": TEMPORARY})
        self._held.add(key)
        try:
            return self._with_limits(hit, await self._create_once(token, call, key))
        finally:
            self._held.discard(key)

    async def _create_once(
        self, token: Token, call: Received, key: tuple[str, str]
    ) -> Status | Answer:
        if self.lock_seconds:
            await self.shared.clock.really_wait(self.lock_seconds)
        known = self._keys.get(key)
        if known and known[1] > self.now:
            return self.statuses.get(known[0]) or self.not_found(call)
        made = self._create(token, call)
        if (
            isinstance(made, Status) and made.id in self.statuses
        ):  # of what is dropped no key is kept
            self._keys[key] = (made.id, self.now + KEY_LIFE)
        return made

    def _create(self, token: Token, call: Received) -> Status | Answer:
        wanted = _fields(call)
        problem = self._problem(wanted, token.account)
        if problem:
            return problem
        lag = max(self.lag, timedelta(seconds=call.lag))
        status = self._new(token.account, wanted, token.app, lag=lag)
        if self.people[token.account].drops_silently:
            return status  # answered, but never there: anti-spam
        for media_id in status.media:
            self.media[media_id].attached = True
        return self._keep(status)

    def _new(
        self,
        account: str,
        wanted: dict[str, Any],
        app: str,
        *,
        lag: timedelta = timedelta(),
        reblog: bool = False,
    ) -> Status:
        return Status(
            id=self.shared.ids.snowflake(self.now),
            account=account,
            text=wanted.get("status") or "",
            at=self.now,
            listed_at=self.now + lag,
            reply_to=wanted.get("in_reply_to_id"),
            media=tuple(wanted.get("media_ids") or ()),
            app=app,
            reblog=reblog,
        )

    def _keep(self, status: Status) -> Status:
        self.statuses[status.id] = status
        if not status.reblog:
            self._publish(status)
        return status

    def _publish(self, status: Status) -> None:
        person = self.people[status.account]
        self.show(
            Entry(
                simulated=self.name,
                account=person.handle,
                remote_id=status.id,
                text=status.text,
                at=status.at,
                to=status.reply_to or "",
                detail={"media": len(status.media)},
            )
        )

    def _problem(self, wanted: dict[str, Any], account: str) -> Answer | None:
        unknown = sorted(set(wanted) - FIELDS)
        text, spoiler = wanted.get("status") or "", wanted.get("spoiler_text") or ""
        media = wanted.get("media_ids") or []
        length = counting.mastodon(spoiler + text, url_length=self.rules.url_length)
        checks: tuple[tuple[bool, int, str], ...] = (
            (bool(unknown), 422, f"Validation failed: unknown {', '.join(unknown)}"),
            (wanted.get("visibility", "public") not in VISIBILITIES, 422, BAD_VISIBILITY),
            (not text and not media, 422, "Validation failed: Text can't be blank"),
            (
                length > self.rules.max_characters,
                422,
                f"Validation failed: Text character limit of {self.rules.max_characters} exceeded",
            ),
            (
                bool(wanted.get("in_reply_to_id"))
                and wanted.get("in_reply_to_id") not in self.statuses,
                404,
                NO_SUCH_POST,
            ),
        )
        for wrong, status, words in checks:
            if wrong:
                return say(status, {"error": words})
        return self._media_problem(media, account)

    def _media_problem(self, ids: list[str], account: str) -> Answer | None:
        found = [self.media.get(each) for each in ids]
        missing = [
            each
            for each, media in zip(ids, found, strict=True)
            if media is None or media.account != account or media.attached
        ]
        there = [media for media in found if media is not None]
        videos = sum(media.mime.startswith("video/") for media in there)
        checks = (
            (
                len(ids) > self.rules.max_media,
                f"Cannot attach more than {self.rules.max_media} files",
            ),
            (bool(missing), f"Media {', '.join(missing)} {NOT_YOURS}"),
            (bool(videos) and len(ids) > 1, MIXED),
            (any(media.ready_at > self.now for media in there), NOT_FINISHED),
        )
        for wrong, words in checks:
            if wrong:
                return say(422, {"error": words})
        return None

    @route("GET", "/api/v1/statuses/{id}")
    async def get_status(self, call: Received) -> Answer:
        status = self.statuses.get(call.args["id"])
        return say(200, self._shown(status)) if status else self.not_found(call)

    @route("GET", "/api/v1/statuses/{id}/source")
    async def get_source(self, call: Received) -> Answer:
        token, refusal = self._enter(call, "read:statuses")
        if token is None:
            return refusal
        status = self.statuses.get(call.args["id"])
        if status is None or status.account != token.account or not self.rules.tells_source:
            return self.not_found(call)
        return say(200, {"id": status.id, "text": status.text, "spoiler_text": ""})

    @route("GET", "/api/v1/accounts/{id}/statuses")
    async def list_statuses(self, call: Received) -> Answer:
        token, refusal = self._enter(call, "read:statuses")
        if token is None:
            return refusal
        before = call.query.get("max_id")
        mine = [
            each
            for each in self.statuses.values()
            if each.account == call.args["id"]
            and each.listed_at <= self.now
            and (before is None or int(each.id) < int(before))
        ]
        if call.query.get("exclude_reblogs") == "true" and self.rules.hides_reblogs:
            mine = [each for each in mine if not each.reblog]
        mine.sort(key=lambda each: int(each.id), reverse=True)
        limit = min(int(call.query.get("limit", "20")), self.rules.page)
        return say(200, [self._shown(each) for each in mine[:limit]])

    # Media

    @route("POST", "/api/v2/media")
    async def upload(self, call: Received) -> Answer:
        if not self.rules.media_v2:
            return self.not_found(call)
        return self._upload(call, waits=False)

    @route("POST", "/api/v1/media")
    async def upload_old(self, call: Received) -> Answer:
        return self._upload(call, waits=True)

    def _upload(self, call: Received, *, waits: bool) -> Answer:
        token, refusal = self._enter(call, "write:media")
        if token is None:
            return refusal
        hit = self.uploads.hit(token.account, self.now)
        if not hit.allowed:
            return _too_many(hit)
        parts = {part.name: part for part in call.parts()}
        if set(parts) - {"file", "description", "focus", "thumbnail"} or "file" not in parts:
            raise Unreadable("File can't be blank")
        if "description" in parts and len(parts["description"].text) > self.rules.alt_limit:
            raise Unreadable("Description is too long")
        found = sniff(parts["file"].data)
        if found is None or not found.mime.startswith(("image/", "video/")):
            return say(422, {"error": NO_TYPE})
        moving = found.mime.startswith("video/")
        most = self.rules.video_size if moving else self.rules.image_size
        if len(parts["file"].data) > most:
            raise Unreadable(f"File file size must be less than {most // 1024 // 1024} MB")
        slow = moving and not waits
        ready_at = self.now + (self.rules.processing if slow else timedelta())
        media = Media(self.shared.ids.snowflake(self.now), token.account, found.mime, ready_at)
        self.media[media.id] = media
        return self._show_media(media, pending=202)

    @route("GET", "/api/v1/media/{id}")
    async def get_media(self, call: Received) -> Answer:
        token, refusal = self._enter(call, "write:media")
        if token is None:
            return refusal
        media = self.media.get(call.args["id"])
        if media is None or media.account != token.account or media.attached:
            return self.not_found(call)
        if media.broken:
            return say(422, {"error": "Error processing thumbnail for uploaded media"})
        return self._show_media(media, pending=206)

    def _show_media(self, media: Media, *, pending: int) -> Answer:
        ready = media.ready_at <= self.now
        url = f"{self.url()}/media/{media.id}" if ready else None
        shown = {"id": media.id, "type": media.mime.partition("/")[0], "url": url}
        return say(200 if ready else pending, shown)

    # The instance and its people

    @route("GET", "/.well-known/nodeinfo")
    async def nodeinfo_links(self, call: Received) -> Answer:
        if not self.rules.software:
            return self.not_found(call)
        schema = "http://nodeinfo.diaspora.software/ns/schema/2.0"
        return say(200, {"links": [{"rel": schema, "href": f"{self.url()}/nodeinfo/2.0"}]})

    @route("GET", "/nodeinfo/2.0")
    async def nodeinfo(self, call: Received) -> Answer:
        if not self.rules.software:
            return self.not_found(call)
        software = {"name": self.rules.software, "version": "1.2.3"}
        return say(200, {"version": "2.0", "software": software, "protocols": ["activitypub"]})

    @route("GET", "/api/v2/instance")
    async def instance(self, call: Received) -> Answer:
        if not self.rules.media_v2:
            return self.not_found(call)
        about = {"domain": "simulated.example", "configuration": self._configuration()}
        return say(200, about)

    @route("GET", "/api/v1/instance")
    async def instance_old(self, call: Received) -> Answer:
        about: dict[str, Any] = {"uri": "simulated.example", "version": "2.7.2"}
        if self.rules.pleroma:
            return say(200, {**about, "max_toot_chars": self.rules.max_characters})
        return say(200, {**about, "configuration": self._configuration()})

    def _configuration(self) -> dict[str, dict[str, int]]:
        rules = self.rules
        return {
            "statuses": {
                "max_characters": rules.max_characters,
                "max_media_attachments": rules.max_media,
                "characters_reserved_per_url": rules.url_length,
            },
            "media_attachments": {
                "image_size_limit": rules.image_size,
                "video_size_limit": rules.video_size,
                "description_limit": rules.alt_limit,
            },
        }

    @route("GET", "/api/v1/accounts/verify_credentials")
    async def verify(self, call: Received) -> Answer:
        token, refusal = self._enter(call, "read:accounts")
        if token is None:
            return refusal
        person = self.people[token.account]
        return say(200, {"id": person.id, "acct": person.handle, "display_name": person.handle})

    # Who may enter, and how it is said

    def _enter(self, call: Received, scope: str) -> tuple[Token | None, Answer]:
        """Let a call in, or return the refusal."""
        token = self.tokens.get(call.bearer or "")
        trouble = token.trouble if token else "invalid"
        if token is None or trouble:
            return None, say(401, {"error": TOKEN_TROUBLE[trouble]})
        hit = self.calls.hit(call.bearer or "", self.now)
        if not hit.allowed:
            return None, _too_many(hit)
        if not {scope, scope.partition(":")[0]} & set(token.scopes):
            return None, say(403, {"error": OUTSIDE_SCOPES})
        words = self.people[token.account].trouble
        return (None, say(403, {"error": words})) if words else (token, Answer(200))

    def _shown(self, status: Status) -> dict[str, Any]:
        person = self.people[status.account]
        return {
            "id": status.id,
            "uri": f"{self.url()}/users/{person.handle}/statuses/{status.id}",
            "url": f"{self.url()}/@{person.handle}/{status.id}",
            "created_at": status.at.strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z",
            "in_reply_to_id": status.reply_to,
            "content": render(status.text, markdown=self.rules.markdown),
            "reblog": {"id": "1"} if status.reblog else None,
            "application": {"name": status.app} if status.app else None,
            "media_attachments": [{"id": each} for each in status.media],
        }

    def _with_limits(self, hit: Hit, made: Status | Answer) -> Answer:
        answer = made if isinstance(made, Answer) else say(200, self._shown(made))
        return Answer(answer.status, answer.body, (*answer.headers, *_headers(hit)))


def _fields(call: Received) -> dict[str, Any]:
    """Read a status from JSON or a form; lists have `[]` in forms."""
    if call.mime == "application/json":
        return call.json()
    fields: dict[str, Any] = {}
    for name, value in call.form():
        if name.endswith("[]"):
            fields.setdefault(name.removesuffix("[]"), []).append(value)
        else:
            fields[name] = value
    return fields


def _headers(hit: Hit) -> tuple[tuple[str, str], ...]:
    return (
        ("x-ratelimit-limit", str(hit.limit)),
        ("x-ratelimit-remaining", str(hit.remaining)),
        ("x-ratelimit-reset", hit.resets_at.strftime("%Y-%m-%dT%H:%M:%S.%fZ")),
    )


def _too_many(hit: Hit) -> Answer:
    return say(429, {"error": "Too many requests"}, _headers(hit))
