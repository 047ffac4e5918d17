"""A Facebook of pages: posts and photos that nobody sees until they are switched on.

Reproduced: `attached_media` in both spellings, photos used once (also by a post that nobody sees) and
thrown away after a day, the switch that may be pressed twice, 506 for the same words twice in a row,
addresses that cannot be made from ids, lists that lag. Videos are in facebook_films.py, reels, stories
and comments in facebook_shorts.py.
"""

import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, ClassVar

from cadenza.demo.networks.facebook_shorts import COMMENTS, Shorts
from cadenza.demo.networks.meta_graph import chosen, fields_of, stamp
from cadenza.demo.networks.meta_model import UNSEEN_LIFE, GraphRefused
from cadenza.demo.simulator.fetch import Fetched, fetch
from cadenza.demo.simulator.ledger import Entry
from cadenza.demo.simulator.network import route
from cadenza.demo.simulator.sniff import sniff
from cadenza.demo.simulator.wire import Answer, Received, say

SCOPES = ("pages_show_list", "pages_read_engagement", "pages_manage_posts", COMMENTS)
CHARACTERS = 63_206
PHOTO_BYTES = 10_000_000
PHOTO_TYPES = ("image/jpeg", "image/png", "image/gif")
POST_FIELDS = {"message", "link", "published", "attached_media"}
PHOTO_FIELDS = {"source", "url", "message", "caption", "alt_text_custom", "published"}
SHOWN_FIELDS = {"id", "message", "created_time", "permalink_url", "is_published"}


@dataclass(slots=True)
class Photo:
    id: str
    page: str
    at: datetime
    used: bool = False


@dataclass(slots=True)
class Post:
    id: str
    page: str
    message: str
    link: str
    photos: tuple[str, ...]
    permalink: str
    at: datetime
    published: bool = False
    listed_at: datetime | None = None


class SimulatedFacebook(Shorts):
    """All pages."""

    name: ClassVar[str] = "facebook"

    def __init__(self) -> None:
        super().__init__()
        self.grants = SCOPES
        self.photos: dict[str, Photo] = {}
        self.posts: dict[str, Post] = {}
        self.last: dict[str, str] = {}  # page -> the words that were shown last

    @route("POST", "/{version}/{page}/photos")
    async def upload_photo(self, call: Received) -> Answer:
        page = self._page_of(call)
        fields = fields_of(call, PHOTO_FIELDS)
        data = fields.get("source")
        if isinstance(fields.get("url"), str):
            got = await fetch(fields["url"], types=PHOTO_TYPES, limit=PHOTO_BYTES)
            if not isinstance(got, Fetched):
                raise GraphRefused(324, "Missing or invalid image file", 2069019)
            data = got.data
        found = sniff(data) if isinstance(data, bytes) else None
        if found is None or found.mime not in PHOTO_TYPES or not isinstance(data, bytes):
            raise GraphRefused(324, "Missing or invalid image file", 2069019)
        if len(data) > PHOTO_BYTES:
            raise GraphRefused(1, "Photo is too big", 1366046)
        photo = Photo(self.shared.ids.number(16), page, self.now)
        self.photos[photo.id] = photo
        if _flag(fields.get("published", True)):
            post = self._new(page, str(fields.get("message") or ""), "", (photo.id,))
            photo.used = True
            self._show(post, call)
            return say(200, {"id": photo.id, "post_id": post.id})
        return say(200, {"id": photo.id})

    @route("POST", "/{version}/{page}/photo_stories")
    async def photo_stories(self, call: Received) -> Answer:
        page = self._page_of(call)
        photo = self.photos.get(str(fields_of(call, {"photo_id"}).get("photo_id")))
        if photo is None or photo.page != page or photo.at + UNSEEN_LIFE <= self.now:
            raise GraphRefused(100, "Invalid parameter: a photo is not there", 1366056)
        if photo.used:
            raise GraphRefused(100, "These photos were already posted.", 1366051)
        photo.used = True
        post_id = f"{page}_{self.shared.ids.number(16)}"
        self.reveal(page, post_id, "", "story")
        return say(200, {"success": True, "post_id": post_id})

    @route("POST", "/{version}/{page}/feed")
    async def feed(self, call: Received) -> Answer:
        page = self._page_of(call)
        fields = fields_of(call, POST_FIELDS)
        message, link = str(fields.get("message") or ""), str(fields.get("link") or "")
        photos = self._attached(fields, page)
        if not (message or link or photos):
            raise GraphRefused(100, "The status you are trying to publish is empty", 1349125)
        if len(message) > CHARACTERS:
            raise GraphRefused(100, "The message is too long")
        post = self._new(page, message, link, photos)
        for each in photos:
            self.photos[each].used = True  # by a post that nobody sees as well
        if _flag(fields.get("published", True)):
            self._show(post, call)
        return say(200, {"id": post.id, "post_supports_client_mutation_id": True})

    @route("POST", "/{version}/{node}")
    async def switch(self, call: Received) -> Answer:
        token = self.enter(call, kind="PAGE")
        self.need(token, "pages_manage_posts")
        post = self.posts.get(call.args["node"])
        if post is None or post.page != token.owner:
            raise _missing(call.args["node"])
        fields = fields_of(call, {"is_published"})
        if not _flag(fields.get("is_published", False)):
            raise GraphRefused(100, "is_published cannot be taken back")
        if not post.published:
            self._show(post, call)
        return say(200, {"success": True})

    @route("GET", "/{version}/{node}")
    async def node(self, call: Received) -> Answer:
        name = call.args["node"]
        if name in self.members:
            return self.read_page(call, self.members[name])
        token = self.enter(call, kind="PAGE")
        self.need(token, "pages_read_engagement")
        if name in self.films:
            return self.read_film(call, token)
        post = self.posts.get(name)
        if post is None or post.page != token.owner:
            raise _missing(name)
        return say(200, _shown(post, chosen(call, SHOWN_FIELDS)))

    @route("GET", "/{version}/{page}/published_posts")
    async def published(self, call: Received) -> Answer:
        token = self.enter(call, kind="PAGE", owner=call.args["page"])
        self.need(token, "pages_read_engagement")
        wanted = chosen(call, SHOWN_FIELDS)
        mine = [p for p in self.posts.values() if p.page == token.owner and p.published]
        mine = [p for p in mine if p.listed_at is not None and p.listed_at <= self.now]
        mine.sort(key=lambda each: each.at, reverse=True)
        start, limit = int(call.query.get("after", "0")), int(call.query.get("limit", "25"))
        shown = [_shown(each, wanted) for each in mine[start : start + limit]]
        return say(200, {"data": shown, "paging": {"cursors": {"after": str(start + limit)}}})

    def _page_of(self, call: Received) -> str:
        token = self.enter(call, kind="PAGE", owner=call.args["page"])
        self.need(token, "pages_manage_posts")
        return token.owner

    def _attached(self, fields: dict[str, Any], page: str) -> tuple[str, ...]:
        """Read attached media: an array in JSON, or indexed fields of a form."""
        spelled = fields.get("attached_media") or [
            fields[f"attached_media[{index}]"]
            for index in range(len(fields))
            if f"attached_media[{index}]" in fields
        ]
        try:
            items = [json.loads(each) if isinstance(each, str) else each for each in spelled]
            ids = tuple(str(each["media_fbid"]) for each in items)
        except (ValueError, TypeError, KeyError) as error:
            raise GraphRefused(100, "attached_media must name media_fbid") from error
        found = [self.photos.get(each) for each in ids]
        for photo in found:
            if photo is None or photo.page != page or photo.at + UNSEEN_LIFE <= self.now:
                raise GraphRefused(100, "Invalid parameter: a photo is not there", 1366056)
            if photo.used:
                raise GraphRefused(100, "These photos were already posted.", 1366051)
        return ids

    def _new(self, page: str, message: str, link: str, photos: tuple[str, ...]) -> Post:
        permalink = f"https://www.facebook.com/{page}/posts/pfbid{self.shared.ids.letters(56)}"
        post_id = f"{page}_{self.shared.ids.number(16)}"
        post = Post(post_id, page, message, link, photos, permalink, self.now)
        self.posts[post.id] = post
        return post

    def _show(self, post: Post, call: Received) -> None:
        if post.message and self.last.get(post.page) == post.message and not post.photos:
            raise GraphRefused(506, "Duplicate status message")
        post.published, post.at = True, self.now
        post.listed_at = self.now + max(self.lag, timedelta(seconds=call.lag))
        self.last[post.page] = post.message
        self.show(
            Entry(
                simulated=self.name,
                account=self.members[post.page].name,
                remote_id=post.id,
                text=post.message,
                at=self.now,
                detail={"photos": len(post.photos), "link": post.link},
            )
        )


def _missing(name: str) -> GraphRefused:
    return GraphRefused(100, f"Object with ID '{name}' does not exist or no permission", 33)


def _shown(post: Post, wanted: set[str]) -> dict[str, Any]:
    everything = {
        "id": post.id,
        "message": post.message,
        "created_time": stamp(post.at),
        "permalink_url": post.permalink,
        "is_published": post.published,
    }
    return {name: value for name, value in everything.items() if name in wanted}


def _flag(value: object) -> bool:
    if value in {True, "true", "1"}:
        return True
    if value in {False, "false", "0"}:
        return False
    raise GraphRefused(100, "must be a boolean")
