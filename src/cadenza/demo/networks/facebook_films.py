"""Videos of pages: a session of pieces with offsets, a last word, then work that takes its time.

A piece that is not the next one is refused, and the refusal names the next. A session takes its last word
once; the second is refused, and no second video appears. A film shows in the ledger when the last word
was said, though people see it a little later.
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from cadenza.demo.networks.meta_graph import chosen, fields_of
from cadenza.demo.networks.meta_model import GraphRefused, Token
from cadenza.demo.networks.meta_signin import FacebookSignIn
from cadenza.demo.simulator.ledger import Entry
from cadenza.demo.simulator.network import route
from cadenza.demo.simulator.sniff import sniff
from cadenza.demo.simulator.wire import Answer, Received, say

FIELDS = {
    *("upload_phase", "file_size", "upload_session_id", "start_offset", "video_file_chunk"),
    *("description", "published", "title"),
}


@dataclass(slots=True)
class Film:
    id: str
    session: str
    page: str
    size: int
    data: bytearray = field(default_factory=bytearray)
    finished_at: datetime | None = None


class Films(FacebookSignIn):
    """The part of Facebook that takes videos."""

    def __init__(self) -> None:
        super().__init__()
        self.films: dict[str, Film] = {}
        self.piece = 40  # bytes that are asked for at a time
        self.processing = timedelta(seconds=20)

    @route("POST", "/{version}/{page}/videos")
    async def videos(self, call: Received) -> Answer:
        token = self.enter(call, kind="PAGE", owner=call.args["page"])
        self.need(token, "pages_manage_posts")
        fields = fields_of(call, FIELDS)
        match fields.get("upload_phase"):
            case "start":
                return self._start(token, int(fields.get("file_size") or 0))
            case "transfer":
                film = self._session(token, str(fields.get("upload_session_id")))
                piece, start = fields.get("video_file_chunk"), int(fields.get("start_offset") or 0)
                return self._transfer(film, start, piece)
            case "finish":
                film = self._session(token, str(fields.get("upload_session_id")))
                return self._finish(film, str(fields.get("description") or ""))
            case _:
                raise GraphRefused(100, "upload_phase must be start, transfer or finish")

    def _start(self, token: Token, size: int) -> Answer:
        if size <= 0:
            raise GraphRefused(100, "file_size is missing", 1363021)
        ids = self.shared.ids
        film = Film(ids.number(16), ids.number(16), token.owner, size)
        self.films[film.id] = film
        requested = {"video_id": film.id, "upload_session_id": film.session}
        return say(200, {**requested, **self._wanted(film)})

    def _transfer(self, film: Film, start: int, piece: object) -> Answer:
        if not isinstance(piece, bytes) or not piece:
            raise GraphRefused(100, "video_file_chunk is missing", 1363030)
        if start != len(film.data):  # a piece that came before is not taken twice
            raise GraphRefused(100, "Invalid start offset", 1363037, data=dict(self._wanted(film)))
        film.data += piece[: self.piece]
        return say(200, self._wanted(film))

    def _finish(self, film: Film, description: str) -> Answer:
        if len(film.data) != film.size:
            raise GraphRefused(100, "The video is not complete", 1363033)
        found = sniff(bytes(film.data))
        if found is None or not found.mime.startswith("video/"):
            raise GraphRefused(352, "The video file format is not supported", 1363024)
        if film.finished_at is not None:
            raise GraphRefused(100, "This upload session is over", 1363041)
        film.finished_at = self.now
        account = self.members[film.page].name
        self.show(
            Entry(
                simulated=self.name,
                account=account,
                remote_id=film.id,
                text=description,
                at=self.now,
                detail={"video": True},
            )
        )
        return say(200, {"success": True})

    def read_film(self, call: Received, token: Token) -> Answer:
        """Tell how far a film is."""
        film = self.films[call.args["node"]]
        if film.page != token.owner:
            raise GraphRefused(
                100, f"Object with ID '{film.id}' does not exist or no permission", 33
            )
        chosen(call, {"id", "status", "permalink_url"})
        shown = {"video_status": self._status(film)}
        return say(200, {"id": film.id, "status": shown, "permalink_url": f"/reel/{film.id}/"})

    def _status(self, film: Film) -> str:
        if film.finished_at is None:
            return "uploading"
        return "ready" if film.finished_at + self.processing <= self.now else "processing"

    def _session(self, token: Token, session: str) -> Film:
        found = [f for f in self.films.values() if (f.session, f.page) == (session, token.owner)]
        if not found:
            raise GraphRefused(100, "The upload session is not there", 33)
        return found[0]

    def _wanted(self, film: Film) -> dict[str, str]:
        start = len(film.data)
        return {"start_offset": str(start), "end_offset": str(min(start + self.piece, film.size))}
