"""An Instagram of professional accounts: pictures, reels, carousels and stories from containers.

Reproduced: both sign-ins on their own doors, files really fetched and looked into, containers with time
and status, publishing too early (also pictures and stories), once only, quotas over 24 hours, the
caption's limits, addresses that have nothing to do with ids, films sent as bytes to a place of their
own, comments. Not reproduced: tags' positions, films in several pieces.
"""

import json
import re
from typing import ClassVar

from cadenza.demo.networks.meta_containers import DAY, Container, Containers, Rules
from cadenza.demo.networks.meta_graph import chosen, fields_of
from cadenza.demo.networks.meta_longlived import LongTokens
from cadenza.demo.networks.meta_model import GraphRefused, Member, Token
from cadenza.demo.networks.meta_signin import FacebookSignIn
from cadenza.demo.simulator.fetch import Fetched, fetch
from cadenza.demo.simulator.network import route
from cadenza.demo.simulator.sniff import sniff
from cadenza.demo.simulator.wire import Answer, Received, say

OWN_COMMENTS, COMMENTS = "instagram_business_manage_comments", "instagram_manage_comments"
OWN_SCOPES = ("instagram_business_basic", "instagram_business_content_publish", OWN_COMMENTS)
SCOPES = (
    *("instagram_basic", "instagram_content_publish", COMMENTS),
    *("pages_show_list", "pages_read_engagement"),
)
FIELDS = {
    *("image_url", "video_url", "media_type", "caption", "alt_text", "is_carousel_item"),
    *("children", "share_to_feed", "cover_url", "thumb_offset", "location_id"),
    *("collaborators", "user_tags", "upload_type"),
}
TYPES = ("image/jpeg", "image/png", "image/gif", "image/webp", "video/mp4", "video/quicktime")
KINDS = {"", "REELS", "STORIES", "VIDEO", "CAROUSEL"}
IMAGE_BYTES, VIDEO_BYTES = 8_000_000, 300_000_000
STATUS_FIELDS = {"id", "status", "status_code"}
MEDIA_FIELDS = {"id", "caption", "timestamp", "permalink", "shortcode"}


class SimulatedInstagram(Containers, LongTokens, FacebookSignIn):
    """All accounts. Instagram's own tokens go in by `api`, those of pages by `facebook`."""

    name: ClassVar[str] = "instagram"
    endpoints: ClassVar[tuple[str, ...]] = ("api", "facebook")

    def __init__(self, rules: Rules | None = None) -> None:
        super().__init__(rules)
        self.own_grants, self.grants = OWN_SCOPES, SCOPES
        self.business, self.business_code = "instagram", 80002
        self.comments: list[tuple[str, str]] = []  # of which media, and their words

    @route("POST", "/{version}/{account}/media")
    async def make(self, call: Received) -> Answer:
        account = self._account(call, "content_publish")
        fields = {name: str(value) for name, value in fields_of(call, FIELDS).items()}
        kind = fields.get("media_type", "")
        if kind not in KINDS:
            raise GraphRefused(100, "Unknown media type", 2207023)
        caption = fields.get("caption", "")
        _check_caption(caption)
        _check_choices(kind, fields)
        if kind == "CAROUSEL":
            ids = self.children(account, fields.get("children", ""), 10)
            return say(200, {"id": self.fill(account, kind, caption, children=ids).id})
        if fields.get("upload_type") == "resumable":
            made = self._awaiting(account, kind, fields)
            place = f"{self.url(call.endpoint)}/ig-api-upload/{call.args['version']}/{made.id}"
            return say(200, {"id": made.id, "uri": place})
        made = await self._from_file(account, kind, fields)
        return say(200, {"id": made.id})

    def _awaiting(self, account: str, kind: str, fields: dict[str, str]) -> Container:
        """Make a container that waits for its bytes."""
        if kind not in {"REELS", "STORIES", "VIDEO"} or {"video_url", "image_url"} & set(fields):
            raise GraphRefused(100, "Only videos can be uploaded", 2207023)
        piece = fields.get("is_carousel_item") == "true"
        caption = "" if piece or kind == "STORIES" else fields.get("caption", "")
        made = self.fill(account, kind, caption, piece=piece)
        made.ready_at = made.made_at + DAY
        return made

    @route("POST", "/ig-api-upload/{version}/{container}")
    async def take_bytes(self, call: Received) -> Answer:
        token = self._enter(call)
        made = self.containers.get(call.args["container"])
        if made is None or not self._owns(token, made.account):
            raise GraphRefused(100, "The upload is not there", 33)
        if self.status(made) == "EXPIRED":
            raise GraphRefused(24, "The media builder has expired", 2207008)
        size, offset = call.headers.get("file_size"), call.headers.get("offset")
        if offset != "0" or size != str(len(call.body)):
            raise GraphRefused(100, "offset and file_size must fit the bytes")
        made.ready_at, made.error = self.now + self.rules.film, _film_error(call.body)
        return say(200, {"success": True, "message": "Upload successful."})

    @route("POST", "/{version}/{media}/comments")
    async def comment(self, call: Received) -> Answer:
        token = self._enter(call)
        self.need(token, COMMENTS if token.kind == "PAGE" else OWN_COMMENTS)
        media = self.media.get(call.args["media"])
        if media is None or not self._owns(token, media.account):
            raise GraphRefused(100, "The media is not there", 33)
        text = str(fields_of(call, {"message"}).get("message") or "")
        self.comments.append((media.id, text))
        return say(200, {"id": self.shared.ids.number(17)})

    async def _from_file(self, account: str, kind: str, fields: dict[str, str]) -> Container:
        piece = fields.get("is_carousel_item") == "true"
        caption = "" if piece or kind == "STORIES" else fields.get("caption", "")
        moving = "video_url" in fields
        if moving == ("image_url" in fields) or (moving and not kind):
            raise GraphRefused(100, "Give image_url, or video_url with a media_type", 2207023)
        if piece and fields.get("caption"):
            raise GraphRefused(100, "A piece of a carousel has no caption", 2207028)
        url = fields["video_url" if moving else "image_url"]
        got = await fetch(url, types=TYPES, limit=VIDEO_BYTES)
        error = ""
        if moving:
            error = _film_error(got.data if isinstance(got, Fetched) else None)
        elif not isinstance(got, Fetched):
            raise GraphRefused(9004, "Only photo or video can be accepted as media type.", 2207052)
        else:
            _check_picture(got.data, story=kind == "STORIES")
        shape = kind or "IMAGE"
        made = self.fill(account, shape, caption, piece=piece, error=error)
        if moving:
            made.ready_at = self.now + self.rules.film
        return made

    @route("POST", "/{version}/{account}/media_publish")
    async def publish_media(self, call: Received) -> Answer:
        account = self._account(call, "content_publish")
        fields = fields_of(call, {"creation_id"})
        media = self.publish(account, str(fields.get("creation_id", "")), call)
        return say(200, {"id": media.id})

    @route("GET", "/{version}/{account}/media")
    async def list_media(self, call: Received) -> Answer:
        account = self._account(call, "basic")
        chosen(call, MEDIA_FIELDS)
        posts = self.listed(account, call, lambda media: media.kind != "STORIES", "caption")
        return say(200, {"data": posts})

    @route("GET", "/{version}/{account}/stories")
    async def list_stories(self, call: Received) -> Answer:
        account = self._account(call, "basic")
        chosen(call, MEDIA_FIELDS)
        stories = self.listed(account, call, lambda media: media.kind == "STORIES", "caption")
        return say(200, {"data": stories})

    @route("GET", "/{version}/{account}/content_publishing_limit")
    async def quota(self, call: Received) -> Answer:
        account = self._account(call, "basic")
        config = {"quota_total": self.rules.posts, "quota_duration": 86400}
        used = self.shown.used(account, self.now)
        return say(200, {"data": [{"quota_usage": used, "config": config}]})

    @route("GET", "/{version}/{node}")
    async def node(self, call: Received) -> Answer:
        name = call.args["node"]
        if name in self.members and call.endpoint == "facebook":
            return self.read_page(call, self.members[name])
        token = self._enter(call)
        if name == "me":
            account = self.members[token.owner]
            return say(200, {"user_id": account.id, "username": account.name, "id": account.id})
        container = self.containers.get(name)
        if container is not None and self._owns(token, container.account):
            chosen(call, STATUS_FIELDS)
            return say(200, self._told(container))
        media = self.media.get(name)
        if media is not None and self._owns(token, media.account):
            chosen(call, MEDIA_FIELDS)
            return say(200, self.told(media, "caption"))
        raise GraphRefused(100, f"Object with ID '{name}' does not exist or no permission", 33)

    def permalink(self, container: Container) -> str:
        kind = "stories" if container.kind == "STORIES" else "p"
        return f"https://www.instagram.com/{kind}/{self.shared.ids.letters(11)}/"

    def _told(self, container: Container) -> dict[str, str]:
        code = self.status(container)
        words = {"ERROR": f"Error: Media upload has failed with error code {container.error}"}
        status = words.get(code, f"{code.title()}: Media is {code.lower()}.")
        return {"id": container.id, "status_code": code, "status": status}

    def _enter(self, call: Received) -> Token:
        token = self.enter(call)
        if (token.kind == "PAGE") != (call.endpoint == "facebook"):
            raise GraphRefused(190, "Invalid OAuth access token - Cannot parse access token")
        return token

    def _account(self, call: Received, right: str) -> str:
        token = self._enter(call)
        account = call.args["account"]
        if not self._owns(token, account):
            raise GraphRefused(
                100, f"Object with ID '{account}' does not exist or no permission", 33
            )
        prefix = "instagram" if token.kind == "PAGE" else "instagram_business"
        self.need(token, f"{prefix}_{right}")
        trouble = self.members[account].trouble
        if trouble and call.method == "POST":
            raise GraphRefused(trouble[0], trouble[2], trouble[1])
        return account

    def _owns(self, token: Token, account: str) -> bool:
        owner: Member | None = self.members.get(token.owner)
        return owner is not None and account in {owner.id, owner.twin}


def _check_caption(caption: str) -> None:
    if max(len(caption), len(caption.encode("utf-16-le")) // 2) > 2200:
        raise GraphRefused(36004, "The caption is too long", 2207010)
    if len(re.findall(r"#\w+", caption)) > 30 or len(re.findall(r"@\w+", caption)) > 20:
        raise GraphRefused(100, "Too many tags", 2207040)


def _check_choices(kind: str, fields: dict[str, str]) -> None:
    if kind in {"STORIES", "REELS"} and "alt_text" in fields:
        raise GraphRefused(100, "alt_text is not supported for reels and stories")
    if fields.get("share_to_feed", "true") not in {"true", "false"}:
        raise GraphRefused(100, "Param share_to_feed must be a boolean")
    for name, most in (("collaborators", 3), ("user_tags", 20)):
        try:
            listed = json.loads(fields.get(name, "[]"))
        except ValueError:
            listed = None
        if not isinstance(listed, list) or len(listed) > most:
            raise GraphRefused(100, f"Param {name} must be an array", 2207040)


def _check_picture(data: bytes, *, story: bool) -> None:
    found = sniff(data)
    if found is None or found.mime != "image/jpeg":
        raise GraphRefused(36001, "The image format is not supported", 2207005)
    if len(data) > IMAGE_BYTES:
        raise GraphRefused(36000, "The image is too large", 2207004)
    shape = (found.width or 1) / (found.height or 1)
    if not story and not 0.79 <= shape <= 1.92:
        raise GraphRefused(36003, "The aspect ratio is not supported", 2207009)


def _film_error(data: bytes | None) -> str:
    if data is None:
        return "2207077"
    found = sniff(data)
    return "" if found is not None and found.mime.startswith("video/") else "2207026"
