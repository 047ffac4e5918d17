"""Reels and stories of pages, and comments below posts.

A reel or a story's video is named, its bytes are taken at a place of its own, and it shows after a last
word that is taken once. A story's photo shows at once; nothing tells afterwards whether it does.
"""

from cadenza.demo.networks.facebook_films import Film, Films
from cadenza.demo.networks.meta_graph import fields_of
from cadenza.demo.networks.meta_model import GraphRefused, Token
from cadenza.demo.simulator.ledger import Entry
from cadenza.demo.simulator.network import route
from cadenza.demo.simulator.sniff import sniff
from cadenza.demo.simulator.wire import Answer, Received, say

REEL_FIELDS = {"upload_phase", "video_id", "video_state", "description"}
COMMENTS = "pages_manage_engagement"


class Shorts(Films):
    """The part of Facebook that takes reels and stories."""

    def __init__(self) -> None:
        super().__init__()
        self.comments: list[tuple[str, str]] = []  # below which post, and their words

    @route("POST", "/{version}/{page}/video_reels")
    async def reels(self, call: Received) -> Answer:
        token, fields = self._short(call)
        if fields.get("upload_phase") == "finish" and fields.get("video_state") != "PUBLISHED":
            raise GraphRefused(100, "video_state must be PUBLISHED")
        return self._phase(call, token, fields, "reel")

    @route("POST", "/{version}/{page}/video_stories")
    async def video_stories(self, call: Received) -> Answer:
        token, fields = self._short(call)
        if "description" in fields:
            raise GraphRefused(100, "A story has no description")
        return self._phase(call, token, fields, "story")

    @route("POST", "/video-upload/{version}/{video}")
    async def take_bytes(self, call: Received) -> Answer:
        token = self.enter(call, kind="PAGE")
        film = self._mine(token, call.args["video"])
        size, offset = call.headers.get("file_size"), call.headers.get("offset")
        if offset != "0" or size != str(len(call.body)):
            raise GraphRefused(100, "offset and file_size must fit the bytes", 1363030)
        film.data[:], film.size = call.body, len(call.body)
        return say(200, {"success": True})

    @route("POST", "/{version}/{post}/comments")
    async def comment(self, call: Received) -> Answer:
        token = self.enter(call, kind="PAGE")
        self.need(token, COMMENTS)
        text = str(fields_of(call, {"message"}).get("message") or "")
        if not text:
            raise GraphRefused(100, "message is missing")
        self.comments.append((call.args["post"], text))
        return say(200, {"id": self.shared.ids.number(16)})

    def _short(self, call: Received) -> tuple[Token, dict[str, object]]:
        token = self.enter(call, kind="PAGE", owner=call.args["page"])
        self.need(token, "pages_manage_posts")
        return token, fields_of(call, REEL_FIELDS)

    def _phase(self, call: Received, token: Token, fields: dict[str, object], kind: str) -> Answer:
        if fields.get("upload_phase") == "start":
            film = Film(self.shared.ids.number(16), "", token.owner, -1)
            self.films[film.id] = film
            place = f"{self.url(call.endpoint)}/video-upload/{call.args['version']}/{film.id}"
            return say(200, {"video_id": film.id, "upload_url": place})
        if fields.get("upload_phase") != "finish":
            raise GraphRefused(100, "upload_phase must be start or finish")
        film = self._mine(token, str(fields.get("video_id")))
        found = sniff(bytes(film.data))
        if len(film.data) != film.size:
            raise GraphRefused(100, "The video is not complete", 1363033)
        if found is None or not found.mime.startswith("video/"):
            raise GraphRefused(352, "The video file format is not supported", 1363024)
        if film.finished_at is not None:
            raise GraphRefused(100, "This upload session is over", 1363041)
        film.finished_at = self.now
        text = str(fields.get("description") or "")
        self.reveal(film.page, film.id, text, kind)
        return say(200, {"success": True, "post_id": film.id})

    def reveal(self, page: str, remote_id: str, text: str, kind: str) -> None:
        """Let people see a reel or a story."""
        self.show(
            Entry(
                simulated=self.name,
                account=self.members[page].name,
                remote_id=remote_id,
                text=text,
                at=self.now,
                detail={"kind": kind},
            )
        )

    def _mine(self, token: Token, video: str) -> Film:
        film = self.films.get(video)
        if film is None or film.page != token.owner:
            raise GraphRefused(100, f"Object with ID '{video}' does not exist or no permission", 33)
        return film
