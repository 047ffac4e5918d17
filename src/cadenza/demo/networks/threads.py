"""A Threads: texts, pictures, films, carousels and replies from containers.

Reproduced: `status` with its error names, code 24 for publishing too early as well as twice, 500
characters with emoji by their bytes, five links, 250 posts and 1,000 replies in 24 hours, tokens that
are renewed only when a day old. Replies are listed apart from posts, and reading them is a permission
of its own.
"""

from datetime import timedelta
from typing import ClassVar

from cadenza.demo.networks.meta_containers import Container, Containers, Rules
from cadenza.demo.networks.meta_graph import chosen, fields_of
from cadenza.demo.networks.meta_longlived import LongTokens
from cadenza.demo.networks.meta_model import GraphRefused
from cadenza.demo.simulator.fetch import Fetched, NotFetched, fetch
from cadenza.demo.simulator.network import route
from cadenza.demo.simulator.sniff import sniff
from cadenza.demo.simulator.wire import Answer, Received, say
from cadenza.providers import counting

SCOPES = ("threads_basic", "threads_content_publish", "threads_read_replies")
FIELDS = {
    *("media_type", "text", "image_url", "video_url", "is_carousel_item", "children"),
    *("reply_to_id", "quote_post_id", "link_attachment", "reply_control", "alt_text"),
}
TYPES = ("image/jpeg", "image/png", "image/gif", "image/webp", "video/mp4", "video/quicktime")
BYTES = {"IMAGE": 8_000_000, "VIDEO": 1_000_000_000}
TOO_MANY_LINKS = "THREADS_API__LINK_LIMIT_EXCEEDED"
MEDIA_FIELDS = {"id", "text", "timestamp", "permalink"}


class SimulatedThreads(Containers, LongTokens):
    """All accounts."""

    name: ClassVar[str] = "threads"
    grant = "th"

    def __init__(self, rules: Rules | None = None) -> None:
        super().__init__(rules or Rules(posts=250, again=(24, 0), early=(24, 0)))
        self.own_grants = SCOPES
        self.served = "v1.0"
        self.business, self.business_code = "threads", 80014

    @route("POST", "/{version}/{account}/threads")
    async def make(self, call: Received) -> Answer:
        account = self._account(call, "threads_content_publish")
        fields = {name: str(value) for name, value in fields_of(call, FIELDS).items()}
        kind, text = fields.get("media_type", ""), fields.get("text", "")
        _check_text(text)
        above = fields.get("reply_to_id", "")
        if above and above not in self.media:
            raise GraphRefused(100, "The post to reply to does not exist", 4279004)
        match kind:
            case "TEXT":
                if not text or "image_url" in fields or "video_url" in fields:
                    raise GraphRefused(100, "A text needs text and nothing else")
                made = self.fill(account, kind, text, reply_to=above)
            case "CAROUSEL":
                ids = self.children(account, fields.get("children", ""), 20)
                made = self.fill(account, kind, text, children=ids, reply_to=above)
            case "IMAGE" | "VIDEO":
                made = await self._from_file(account, kind, fields)
            case _:
                raise GraphRefused(100, "media_type must be TEXT, IMAGE, VIDEO or CAROUSEL")
        return say(200, {"id": made.id})

    async def _from_file(self, account: str, kind: str, fields: dict[str, str]) -> Container:
        if "link_attachment" in fields:
            raise GraphRefused(100, "link_attachment is for texts only")
        name = "video_url" if kind == "VIDEO" else "image_url"
        if name not in fields:
            raise GraphRefused(100, f"{name} is missing")
        got = await fetch(fields[name], types=TYPES, limit=BYTES[kind])
        error = _error(kind, got)
        if kind == "IMAGE" and isinstance(got, NotFetched):
            raise GraphRefused(9004, "The media could not be fetched from this URI.", 2207052)
        piece = fields.get("is_carousel_item") == "true"
        text = "" if piece else fields.get("text", "")
        above = fields.get("reply_to_id", "")
        return self.fill(account, kind, text, piece=piece, error=error, reply_to=above)

    @route("POST", "/{version}/{account}/threads_publish")
    async def publish_thread(self, call: Received) -> Answer:
        account = self._account(call, "threads_content_publish")
        fields = fields_of(call, {"creation_id"})
        media = self.publish(account, str(fields.get("creation_id", "")), call)
        return say(200, {"id": media.id})

    @route("GET", "/{version}/{account}/threads")
    async def list_threads(self, call: Received) -> Answer:
        account = self._account(call, "threads_basic")
        chosen(call, MEDIA_FIELDS)
        return say(200, {"data": self.listed(account, call, lambda m: not m.reply_to, "text")})

    @route("GET", "/{version}/{account}/replies")
    async def list_replies(self, call: Received) -> Answer:
        account = self._account(call, "threads_read_replies")
        chosen(call, MEDIA_FIELDS)
        return say(200, {"data": self.listed(account, call, lambda m: bool(m.reply_to), "text")})

    @route("GET", "/{version}/{account}/threads_publishing_limit")
    async def quota(self, call: Received) -> Answer:
        account = self._account(call, "threads_basic")
        config = {"quota_total": self.rules.posts, "quota_duration": 86400}
        used = self.shown.used(account, self.now)
        replies = self.shown.used(f"{account}/replies", self.now)
        theirs = {**config, "quota_total": self.rules.replies}
        answered = {"reply_quota_usage": replies, "reply_config": theirs}
        return say(200, {"data": [{"quota_usage": used, "config": config, **answered}]})

    @route("GET", "/{version}/{node}")
    async def node(self, call: Received) -> Answer:
        token, name = self.enter(call), call.args["node"]
        self.need(token, "threads_basic")
        if name == "me":
            chosen(call, {"id", "username"})
            return say(200, {"id": token.owner, "username": self.members[token.owner].name})
        container = self.containers.get(name)
        if container is not None and container.account == token.owner:
            chosen(call, {"id", "status", "error_message"})
            return say(200, self._told(container))
        media = self.media.get(name)
        if media is not None and media.account == token.owner:
            chosen(call, MEDIA_FIELDS)
            return say(200, self.told(media, "text"))
        raise GraphRefused(100, f"Object with ID '{name}' does not exist or no permission", 33)

    def permalink(self, container: Container) -> str:
        handle = self.members[container.account].name
        return f"https://www.threads.net/@{handle}/post/{self.shared.ids.letters(11)}"

    def no_code(self) -> Answer:
        """Refuse a code in the Graph's own envelope, as Threads does."""
        raise GraphRefused(100, "This authorization code has been used", 36009)

    def _told(self, container: Container) -> dict[str, str]:
        status = self.status(container)
        more = {"error_message": container.error} if status == "ERROR" else {}
        return {"id": container.id, "status": status, **more}

    def _account(self, call: Received, right: str) -> str:
        token = self.enter(call, owner=call.args["account"])
        self.need(token, right)
        return token.owner

    def slow(self, by: timedelta) -> None:
        """Let everything with a file take longer."""
        self.rules.picture = self.rules.film = by


def _check_text(text: str) -> None:
    if counting.threads(text) > 500:
        raise GraphRefused(100, "Param text must be at most 500 characters long.")
    if len(set(counting.URL.findall(text))) > 5:
        raise GraphRefused(100, TOO_MANY_LINKS)


def _error(kind: str, got: Fetched | NotFetched) -> str:
    if isinstance(got, NotFetched):
        return "FAILED_DOWNLOADING_VIDEO"
    found = sniff(got.data)
    if found is None or not found.mime.startswith(kind.lower()):
        return "FAILED_PROCESSING_VIDEO" if kind == "VIDEO" else "UNKNOWN"
    sides = sorted((found.width or 1, found.height or 1))
    return "INVALID_ASPEC_RATIO" if kind == "IMAGE" and sides[1] > 10 * sides[0] else ""
