"""X's posts: weighed text, t.co in every link, no key against repeats but a refusal of lately used words.

Reproduced: rate headers on every reply, by real counting per user; credits of the app; duplicate refusals;
uploads in pieces with processing; refresh tokens that are dead once used; lists that lag, escape `&`, hide
links, with a scheme or without, and cut what is long. Guessed: how long a text counts as lately used. Not reproduced: summoned replies, cashtags.
"""

import html
from datetime import datetime, timedelta
from typing import Any, ClassVar

from cadenza.demo.networks.x_media import Uploads
from cadenza.demo.networks.x_model import (
    BAD_MEDIA,
    DUPLICATE,
    EPOCH_MS,
    NOT_PERMITTED,
    SAME_TEXT,
    Post,
    Token,
    invalid,
    problem,
)
from cadenza.demo.simulator.counters import FixedWindows, Hit
from cadenza.demo.simulator.ledger import Entry
from cadenza.demo.simulator.network import Route, route
from cadenza.demo.simulator.wire import Answer, Received, say
from cadenza.providers import counting

SHOWN = 280  # of a longer post, lists show so much, and the rest in its note
_FIELDS = {
    *("text", "media", "reply", "reply_settings", "poll", "made_with_ai"),
    *("paid_partnership", "community_id"),
}


class SimulatedX(Uploads):
    """X."""

    name: ClassVar[str] = "x"

    def __init__(self) -> None:
        super().__init__()
        self.posts: dict[str, Post] = {}
        self.lag = timedelta()
        self.credits: int | None = None  # posts that the app has paid for; None: enough
        self.post_rate = FixedWindows(100, timedelta(minutes=15))
        self.other_rate = FixedWindows(900, timedelta(minutes=15))

    # What the kernel asks

    def account_of(self, call: Received) -> str | None:
        token = self.tokens.get(call.bearer or "")
        return token.user if token else None

    def expire_token(self, call: Received) -> None:
        if call.bearer in self.tokens:
            self.tokens[call.bearer].trouble = True

    def unreadable(self, call: Received, why: str) -> Answer:
        return invalid(why)

    def not_found(self, call: Received) -> Answer:
        return problem(404, "", "Not Found", "Not Found")

    async def answer(self, found: Route | None, call: Received) -> Answer:
        """Count every call and name the limits on every reply."""
        posting = found is not None and found.name == "POST /2/tweets"
        rate = self.post_rate if posting else self.other_rate
        user = self.account_of(call) or "nobody"
        hit = rate.hit(f"{user} {found.name if found else call.path}", self.now)
        if hit.allowed:
            answer = await super().answer(found, call)
        else:
            answer = problem(429, "rate-limit-exceeded", "Too Many Requests", "Too Many Requests")
        return Answer(answer.status, answer.body, (*answer.headers, *_limits(hit)))

    # Posts

    @route("POST", "/2/tweets")
    async def post(self, call: Received) -> Answer:
        token, refusal = self.enter(call, "tweet.write")
        if token is None:
            return refusal
        wanted = call.json()
        refusal = (
            self._shape(wanted)
            or self._paid()
            or self._media_problem(token, wanted)
            or self._words_problem(token, wanted)
        )
        if refusal:
            return refusal
        post = self._create(token, wanted, timedelta(seconds=call.lag))
        return say(201, {"data": {**self._shown(post, ""), "edit_history_post_ids": [post.id]}})

    def _create(self, token: Token, wanted: dict[str, Any], lag: timedelta) -> Post:
        text = wanted.get("text", "")
        ids = self.shared.ids
        post = Post(
            id=ids.snowflake(self.now, epoch_ms=EPOCH_MS, shift=22),
            user=token.user,
            text=text,
            at=self.now,
            listed_at=self.now + max(self.lag, lag),
            reply_to=(wanted.get("reply") or {}).get("in_reply_to_tweet_id"),
            media=tuple((wanted.get("media") or {}).get("media_ids") or ()),
            links=tuple(
                (f"https://t.co/{ids.letters(10)}", u) for u in counting.X_LINK.findall(text)
            ),
        )
        self.posts[post.id] = post
        if self.credits is not None:
            self.credits -= 1
        self.show(
            Entry(
                simulated=self.name,
                account=self.users[token.user].name,
                remote_id=post.id,
                text=text,
                at=post.at,
                to=post.reply_to or "",
                detail={"media": [self.media[each].alt for each in post.media]},
            )
        )
        return post

    def _shape(self, wanted: dict[str, Any]) -> Answer | None:
        unknown = sorted(set(wanted) - _FIELDS)
        media, reply = wanted.get("media"), wanted.get("reply")
        ids = media.get("media_ids") if isinstance(media, dict) else None
        settings = {None, "following", "mentionedUsers", "subscribers", "verified"}
        checks = (
            (bool(unknown), f"{unknown} is not defined in the schema"),
            (not wanted.get("text") and not ids, "text or media is required"),
            (not isinstance(wanted.get("text", ""), str), "text is not a string"),
            (media is not None and not ids, "media.media_ids is required"),
            (isinstance(ids, list) and len(ids) > 4, "media.media_ids has more than 4 items"),
            (
                reply is not None
                and (not isinstance(reply, dict) or set(reply) != {"in_reply_to_tweet_id"}),
                "reply.in_reply_to_tweet_id is required",
            ),
            (wanted.get("reply_settings") not in settings, "reply_settings is not in the enum"),
        )
        for wrong, words in checks:
            if wrong:
                return invalid(words)
        return None

    def _paid(self) -> Answer | None:
        if self.credits is None or self.credits > 0:
            return None
        words = "Usage cap exceeded: Monthly product cap"
        return problem(429, "usage-capped", words, "UsageCapExceeded", period="Monthly")

    def _media_problem(self, token: Token, wanted: dict[str, Any]) -> Answer | None:
        found = [self.media.get(each) for each in (wanted.get("media") or {}).get("media_ids", ())]
        usable = [
            media
            for media in found
            if media is not None
            and media.user == token.user
            and media.ends_at > self.now
            and media.state(self.now) == "succeeded"
        ]
        if len(usable) != len(found):
            return invalid(BAD_MEDIA)
        moving = [media for media in usable if media.category != "tweet_image"]
        return invalid("Only one video or GIF") if moving and len(usable) > 1 else None

    def _words_problem(self, token: Token, wanted: dict[str, Any]) -> Answer | None:
        text, parent = (
            wanted.get("text", ""),
            (wanted.get("reply") or {}).get("in_reply_to_tweet_id"),
        )
        if counting.x_weight(text) > self.users[token.user].characters:
            return problem(403, "", NOT_PERMITTED, "Forbidden")
        if parent is not None and parent not in self.posts:
            words = "You attempted to reply to a Tweet that is deleted or not visible to you."
            return problem(403, "", words, "Forbidden")
        for post in self.posts.values():
            lately = self.now - post.at < SAME_TEXT
            if text and lately and (post.user, post.text) == (token.user, text):
                return problem(403, "", DUPLICATE, "Forbidden")
        return None

    @route("GET", "/2/users/{id}/tweets")
    async def list_posts(self, call: Received) -> Answer:
        token, refusal = self.enter(call, "tweet.read")
        if token is None:
            return refusal
        most = int(call.query.get("max_results", "10"))
        if not 5 <= most <= 100:
            return invalid("max_results is not between 5 and 100")
        since = datetime.fromisoformat(call.query.get("start_time", "2010-11-06T00:00:00Z"))
        listed = [
            post
            for post in self.posts.values()
            if post.user == call.args["id"] and since <= post.at and post.listed_at <= self.now
        ]
        listed.sort(key=lambda post: int(post.id), reverse=True)
        shown = [self._shown(post, call.query.get("tweet.fields", "")) for post in listed[:most]]
        meta = {"meta": {"result_count": len(shown)}}
        return say(200, {"data": shown, **meta} if shown else meta)

    def _shown(self, post: Post, fields: str) -> dict[str, Any]:
        urls: list[dict[str, Any]] = [
            {"url": short, "expanded_url": link if "://" in link else f"http://{link}"}
            for short, link in post.links
        ]
        text, more = self._dressed(post), {}
        if counting.x_weight(post.text) > SHOWN:
            note = {"text": text, **({"entities": {"urls": urls}} if urls else {})}
            text, urls, more = f"{text[:SHOWN]}\u2026", [], {"note_tweet": note}
        if post.media:
            page = f"https://x.com/{self.users[post.user].name}/status/{post.id}/photo/1"
            short, key = f"https://t.co/{post.id[-10:]}", f"3_{post.media[0]}"
            urls.append({"url": short, "expanded_url": page, "media_key": key})
            text = f"{text} {short}".strip()
        more |= {
            "created_at": post.at.strftime("%Y-%m-%dT%H:%M:%S.000Z"),
            "entities": {"urls": urls} if urls else None,
            "referenced_tweets": (
                [{"type": "replied_to", "id": post.reply_to}] if post.reply_to else None
            ),
        }
        wanted = {name: more.get(name) for name in fields.split(",")}
        known = {name: value for name, value in wanted.items() if value is not None}
        return {"id": post.id, "text": text, **known}

    def _dressed(self, post: Post) -> str:
        """Write a text as X shows it: signs escaped, each link as t.co, in their order."""
        text, at = "", 0
        for (short, _), found in zip(post.links, counting.X_LINK.finditer(post.text), strict=True):
            text += html.escape(post.text[at : found.start()], quote=False) + short
            at = found.end()
        return text + html.escape(post.text[at:], quote=False)


def _limits(hit: Hit) -> tuple[tuple[str, str], ...]:
    return (
        ("x-rate-limit-limit", str(hit.limit)),
        ("x-rate-limit-remaining", str(hit.remaining)),
        ("x-rate-limit-reset", str(int(hit.resets_at.timestamp()))),
    )
