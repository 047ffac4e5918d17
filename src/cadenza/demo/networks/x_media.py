"""X's uploads: pictures whole, films in numbered pieces, then processing that tells when to look again."""

from datetime import timedelta

from cadenza.demo.networks.x_model import (
    CATEGORIES,
    MEDIA_LIFE,
    Media,
    Token,
    invalid,
    problem,
)
from cadenza.demo.networks.x_signin import SignIn
from cadenza.demo.simulator.network import route
from cadenza.demo.simulator.sniff import sniff
from cadenza.demo.simulator.wire import Answer, Received, say


class Uploads(SignIn):
    """The part of X that takes files."""

    def __init__(self) -> None:
        super().__init__()
        self.media: dict[str, Media] = {}
        self.processing = timedelta()

    @route("POST", "/2/media/upload")
    async def whole(self, call: Received) -> Answer:
        token, refusal = self.enter(call, "media.write")
        if token is None:
            return refusal
        parts = {part.name: part for part in call.parts()}
        if set(parts) - {"media", "media_category", "media_type"} or "media" not in parts:
            return invalid("media is required and nothing unknown is taken")
        category = parts["media_category"].text if "media_category" in parts else ""
        if category != "tweet_image":
            return invalid("media_category is not one of the values for a whole upload")
        media = self._new(token, category)
        self._close(media, parts["media"].data)
        if media.broken:
            del self.media[media.id]
            return invalid("media type unrecognized or too large")
        media.ready_at = self.now
        return say(200, {"data": self._named(media)})

    @route("POST", "/2/media/upload/initialize")
    async def initialize(self, call: Received) -> Answer:
        token, refusal = self.enter(call, "media.write")
        if token is None:
            return refusal
        wanted = call.json()
        category, total = wanted.get("media_category"), wanted.get("total_bytes")
        if set(wanted) != {"media_type", "total_bytes", "media_category"}:
            return invalid("media_type, total_bytes and media_category are required")
        if category not in CATEGORIES or wanted["media_type"] not in CATEGORIES[category][0]:
            return invalid("media_type does not fit media_category")
        if not isinstance(total, int) or not 0 < total <= CATEGORIES[category][1]:
            return invalid("total_bytes is out of bounds")
        media = self._new(token, category)
        media.total = total
        return say(200, {"data": self._named(media)})

    @route("POST", "/2/media/upload/{id}/append")
    async def append(self, call: Received) -> Answer:
        token, refusal = self.enter(call, "media.write")
        if token is None:
            return refusal
        media = self._mine(token, call.args["id"])
        if media is None:
            return self._no_media(call.args["id"])
        parts = {part.name: part for part in call.parts()}
        if set(parts) != {"media", "segment_index"} or media.closed_at is not None:
            return invalid("media and segment_index are required, before the upload is finalized")
        number = int(parts["segment_index"].text)
        if not 0 <= number <= 999:
            return invalid("segment_index must be between 0 and 999")
        media.pieces[number] = parts["media"].data
        return say(200, {"data": {"expires_at": int(media.ends_at.timestamp())}})

    @route("POST", "/2/media/upload/{id}/finalize")
    async def finalize(self, call: Received) -> Answer:
        token, refusal = self.enter(call, "media.write")
        if token is None:
            return refusal
        media = self._mine(token, call.args["id"])
        if media is None:
            return self._no_media(call.args["id"])
        if sorted(media.pieces) != list(range(len(media.pieces))):
            return invalid("Segments do not add up to provided total file size.")
        data = b"".join(media.pieces[number] for number in sorted(media.pieces))
        if len(data) != media.total:
            return invalid("Segments do not add up to provided total file size.")
        if media.closed_at is None:
            self._close(media, data)
        return say(200, {"data": self._with_progress(media)})

    @route("GET", "/2/media/upload")
    async def status(self, call: Received) -> Answer:
        token, refusal = self.enter(call, "media.write")
        if token is None:
            return refusal
        if call.query.get("command") != "STATUS":
            return invalid("command must be STATUS")
        media = self._mine(token, call.query.get("media_id", ""))
        if media is None:
            return self._no_media(call.query.get("media_id", ""))
        return say(200, {"data": self._with_progress(media)})

    @route("POST", "/2/media/metadata")
    async def metadata(self, call: Received) -> Answer:
        token, refusal = self.enter(call, "media.write")
        if token is None:
            return refusal
        wanted = call.json()
        media = self._mine(token, str(wanted.get("id")))
        if media is None:
            return self._no_media(str(wanted.get("id")))
        inner = wanted.get("metadata")
        alt = inner.get("alt_text") if isinstance(inner, dict) else None
        text = alt.get("text") if isinstance(alt, dict) else None
        if not isinstance(text, str) or not 0 < len(text) <= 1000:
            return invalid("metadata.alt_text.text must have 1 to 1000 characters")
        media.alt = text
        return say(200, {"data": {"id": media.id, "associated_metadata": {"alt_text": alt}}})

    def _new(self, token: Token, category: str) -> Media:
        media = Media(self.shared.ids.number(19), token.user, category, self.now + MEDIA_LIFE)
        self.media[media.id] = media
        return media

    def _close(self, media: Media, data: bytes) -> None:
        found = sniff(data)
        types, most = CATEGORIES[media.category]
        media.broken = found is None or found.mime not in types or len(data) > most
        media.closed_at = self.now
        media.ready_at = self.now + self.processing

    def _mine(self, token: Token, media_id: str) -> Media | None:
        media = self.media.get(media_id)
        known = media is not None and media.user == token.user and media.ends_at > self.now
        return media if known else None

    def _no_media(self, media_id: str) -> Answer:
        words = f"Could not find media with id: [{media_id}]."
        return problem(404, "resource-not-found", words, "Not Found Error")

    def _named(self, media: Media) -> dict[str, object]:
        left = int((media.ends_at - self.now).total_seconds())
        return {"id": media.id, "media_key": f"3_{media.id}", "expires_after_secs": left}

    def _with_progress(self, media: Media) -> dict[str, object]:
        progress: dict[str, object] = {"state": media.state(self.now)}
        if progress["state"] in {"pending", "in_progress"} and media.ready_at is not None:
            left = (media.ready_at - self.now).total_seconds()
            progress["check_after_secs"] = max(1, min(5, int(left)))
        return {**self._named(media), "processing_info": progress}
