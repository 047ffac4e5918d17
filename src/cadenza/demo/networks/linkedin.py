"""LinkedIn's posts: 201 with an empty body, text that is cut where it is not escaped, days that end at midnight.

Reproduced: versions and their end (426), roles and scopes, the little text, uploads with places and marks,
the duplicate refusal that names the first post, day limits without any header, lists for organisations
only. Stricter than the original: unknown fields are refused. Guessed where LinkedIn documents nothing:
error numbers but 65601 and 101. Not reproduced: feeds, comments, whether URNs in paths are encoded.
"""

from datetime import timedelta
from typing import Any, ClassVar

from cadenza.demo.networks.linkedin_little import shown
from cadenza.demo.networks.linkedin_media import Uploads
from cadenza.demo.networks.linkedin_model import SAME_TEXT, THROTTLED, Post, Token, refuse
from cadenza.demo.simulator.counters import FixedWindows
from cadenza.demo.simulator.ledger import Entry
from cadenza.demo.simulator.network import route
from cadenza.demo.simulator.wire import Answer, Received, say

_NEEDED = {
    *("author", "commentary", "visibility", "distribution"),
    *("lifecycleState", "isReshareDisabledByAuthor"),
}
_CONTENT = {
    "media": ({"id"}, {"id", "title", "altText"}),
    "multiImage": ({"images"}, {"images", "altText"}),
    "article": ({"source", "title"}, {"source", "title", "description", "thumbnail"}),
}


class SimulatedLinkedIn(Uploads):
    """LinkedIn."""

    name: ClassVar[str] = "linkedin"
    endpoints: ClassVar[tuple[str, ...]] = ("api", "www")

    def __init__(self) -> None:
        super().__init__()
        self.posts: dict[str, Post] = {}
        self.lag = timedelta()
        self.app_day = FixedWindows(100_000, timedelta(days=1))
        self.member_day = FixedWindows(150, timedelta(days=1))

    # What the kernel asks

    def account_of(self, call: Received) -> str | None:
        token = self.tokens.get(call.bearer or "")
        return token.person if token else None

    def expire_token(self, call: Received) -> None:
        if call.bearer in self.tokens:
            self.tokens[call.bearer].trouble = "expired"

    def unreadable(self, call: Received, why: str) -> Answer:
        return refuse(400, "INVALID_VALUE_FOR_FIELD", why)

    def not_found(self, call: Received) -> Answer:
        return refuse(404, "RESOURCE_NOT_FOUND", f"No virtual resource found for {call.path}")

    # Posts

    @route("POST", "/rest/posts")
    async def post(self, call: Received) -> Answer:
        token, refusal = self.enter(call, "")
        if token is None:
            return refusal
        wanted = call.json()
        problem = (
            self._shape(wanted)
            or self._rights(token, wanted)
            or self._day(token)
            or self._media_problem(wanted)
            or self._duplicate(wanted)
        )
        if problem:
            return problem
        content = wanted.get("content") or {}
        kind = "ugcPost" if "media" in content and ":video:" in content["media"]["id"] else "share"
        post = Post(
            urn=f"urn:li:{kind}:{self.shared.ids.number(19)}",
            author=wanted["author"],
            commentary=wanted["commentary"],
            at=self.now,
            listed_at=self.now + max(self.lag, timedelta(seconds=call.lag)),
            content=content,
        )
        self.posts[post.urn] = post
        self._publish(post, wanted["visibility"])
        return Answer(201, headers=(("x-restli-id", post.urn), ("x-linkedin-id", post.urn)))

    def _publish(self, post: Post, visibility: str) -> None:
        self.show(
            Entry(
                simulated=self.name,
                account=post.author,
                remote_id=post.urn,
                text=shown(post.commentary),
                at=post.at,
                detail={"content": post.content, "visibility": visibility},
            )
        )

    def _shape(self, wanted: dict[str, Any]) -> Answer | None:
        missing = sorted(_NEEDED - set(wanted))
        unknown = sorted(set(wanted) - _NEEDED - {"content"})
        commentary = wanted.get("commentary")
        content = wanted.get("content")
        checks = (
            (bool(missing), "MISSING_FIELD", f"{missing} :: field is required"),
            (bool(unknown), "INVALID_VALUE_FOR_FIELD", f"{unknown} :: unrecognized field"),
            (not isinstance(commentary, str), "INVALID_VALUE_FOR_FIELD", "commentary is no text"),
            (
                isinstance(commentary, str) and len(commentary) > 3000,
                "FIELD_LENGTH_TOO_LONG",
                "commentary :: text length exceeds the maximum of 3000",
            ),
            (
                not commentary and not content,
                "INVALID_VALUE_BLANK_FIELD",
                "commentary :: must not be blank",
            ),
            (
                wanted.get("visibility") not in {"PUBLIC", "CONNECTIONS", "LOGGED_IN"},
                "INVALID_VALUE_FOR_FIELD",
                "visibility :: not one of the values",
            ),
            (
                wanted.get("lifecycleState") != "PUBLISHED",
                "INVALID_VALUE_FOR_FIELD",
                "lifecycleState :: must be PUBLISHED",
            ),
            (not _content_is_well_formed(content), "INVALID_VALUE_FOR_FIELD", "content :: wrong"),
        )
        for wrong, code, words in checks:
            if wrong:
                return refuse(400, code, words)
        return None

    def _rights(self, token: Token, wanted: dict[str, Any]) -> Answer | None:
        if not str(wanted["author"]).startswith(("urn:li:person:", "urn:li:organization:")):
            return refuse(400, "INVALID_URN_TYPE", "author :: not a person or organization")
        if self.may_speak_for(token, wanted["author"]):
            return None
        return refuse(403, "ACCESS_DENIED", "Field Value validation failed: author", 100)

    def _day(self, token: Token) -> Answer | None:
        for scope, counter, key in (
            ("APPLICATION", self.app_day, "app"),
            ("MEMBER", self.member_day, token.person),
        ):
            if not counter.hit(key, self.now).allowed:
                return refuse(429, "", THROTTLED.format(scope), 101)
        return None

    def _media_problem(self, wanted: dict[str, Any]) -> Answer | None:
        for urn in _urns(wanted.get("content") or {}):
            asset = self.assets.get(urn)
            if asset is None or asset.owner != wanted["author"]:
                return refuse(400, "INVALID_URN_ID", f"{urn} :: no such media of this author")
            status = asset.status(self.now)
            if status == "PROCESSING_FAILED":
                return refuse(400, "MEDIA_ASSET_PROCESSING_FAILED", f"{urn} failed processing")
            if status != "AVAILABLE":
                return refuse(400, "MEDIA_ASSET_WAITING_UPLOAD", f"{urn} is not ready")
            if asset.kind == "document" and not wanted["content"]["media"].get("title"):
                return refuse(400, "MISSING_FIELD", "content/media/title :: field is required")
        return None

    def _duplicate(self, wanted: dict[str, Any]) -> Answer | None:
        for post in self.posts.values():
            same = (post.author, post.commentary) == (wanted["author"], wanted["commentary"])
            if same and wanted["commentary"] and self.now - post.at < SAME_TEXT:
                return refuse(422, "", f"Content is a duplicate of {post.urn}")
        return None

    @route("GET", "/rest/posts")
    async def list_posts(self, call: Received) -> Answer:
        token, refusal = self.enter(call, "")
        if token is None:
            return refusal
        author = call.query.get("author", "")
        if call.query.get("q") != "author" or not author:
            return refuse(400, "MISSING_FIELD", "q=author and author are required")
        if author not in self.people[token.person].roles:
            # Members' posts are closed to everyone, their own token too.
            return refuse(403, "ACCESS_DENIED", "Not enough permissions to access: partnerApiPosts")
        listed = [
            post
            for post in self.posts.values()
            if post.author == author and post.listed_at <= self.now
        ]
        listed.sort(key=lambda post: post.at, reverse=True)
        count = min(int(call.query.get("count", "10")), 100)
        return say(200, {"elements": [_shown(post) for post in listed[:count]], "paging": {}})


def _shown(post: Post) -> dict[str, Any]:
    at = int(post.at.timestamp() * 1000)
    return {
        "id": post.urn,
        "author": post.author,
        "commentary": post.commentary,
        "createdAt": at,
        "publishedAt": at,
        "lastModifiedAt": at,
        "lifecycleState": "PUBLISHED",
        **({"content": post.content} if post.content else {}),
    }


def _content_is_well_formed(content: Any) -> bool:
    if content is None:
        return True
    if not isinstance(content, dict) or len(content) != 1 or not set(content) <= set(_CONTENT):
        return False
    ((kind, inner),) = content.items()
    needed, known = _CONTENT[kind]
    if not isinstance(inner, dict) or not needed <= set(inner) <= known:
        return False
    if kind != "multiImage":
        return True
    images = inner["images"]
    return (
        isinstance(images, list)
        and 2 <= len(images) <= 20
        and all(isinstance(i, dict) and {"id"} <= set(i) <= {"id", "altText"} for i in images)
    )


def _urns(content: dict[str, Any]) -> list[str]:
    if "multiImage" in content:
        return [image["id"] for image in content["multiImage"]["images"]]
    return [content["media"]["id"]] if "media" in content else []
