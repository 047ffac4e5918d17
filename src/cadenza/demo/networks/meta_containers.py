"""Containers of a Graph: filled from fetched files, worked on, published once, thrown away after a day.

What is common to Instagram and Threads; each adds its routes, checks and words. Files are really
fetched. A picture that cannot be had is refused at once, a film shows it later by its status, as there.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from cadenza.demo.networks.meta_graph import SimulatedGraph, stamp
from cadenza.demo.networks.meta_model import GraphRefused
from cadenza.demo.simulator.ledger import Entry
from cadenza.demo.simulator.wire import Received

DAY = timedelta(hours=24)


@dataclass(slots=True)
class Container:
    """Something that will be a post."""

    id: str
    account: str
    kind: str
    text: str
    made_at: datetime
    ready_at: datetime
    piece: bool = False
    children: tuple[str, ...] = ()
    reply_to: str = ""
    error: str = ""
    media: str = ""  # the post's id, once it is out


@dataclass(slots=True)
class Media:
    """A post that is out."""

    id: str
    account: str
    kind: str
    text: str
    at: datetime
    listed_at: datetime
    permalink: str
    reply_to: str = ""


@dataclass(slots=True)
class Rules:
    """What differs between accounts and days; times are on the networks' clock."""

    picture: timedelta = timedelta(seconds=3)
    film: timedelta = timedelta(seconds=25)
    posts: int = 50
    replies: int = 1000  # counted apart from posts
    containers: int = 400
    again: tuple[int, int] = (24, 2207006)  # what a second publishing is answered
    early: tuple[int, int] = (9007, 2207027)  # and one that comes too early


@dataclass(slots=True)
class Rolling:
    """Counts in the last 24 hours."""

    at: dict[str, list[datetime]] = field(default_factory=dict[str, list[datetime]])

    def used(self, key: str, now: datetime) -> int:
        self.at[key] = [each for each in self.at.get(key, []) if each > now - DAY]
        return len(self.at[key])

    def add(self, key: str, now: datetime) -> None:
        self.at.setdefault(key, []).append(now)


class Containers(SimulatedGraph):
    """The part of a Graph that keeps containers."""

    def __init__(self, rules: Rules | None = None) -> None:
        super().__init__()
        self.rules = rules or Rules()
        self.containers: dict[str, Container] = {}
        self.media: dict[str, Media] = {}
        self.made = Rolling()
        self.shown = Rolling()

    def fill(self, account: str, kind: str, text: str, **more: Any) -> Container:
        """Make a container."""
        if self.made.used(account, self.now) >= self.rules.containers:
            raise GraphRefused(9, "The user has created too many containers", 2207042)
        self.made.add(account, self.now)
        takes = {"VIDEO": self.rules.film, "TEXT": timedelta()}.get(kind, self.rules.picture)
        made = Container(
            self.shared.ids.number(17), account, kind, text, self.now, self.now + takes, **more
        )
        self.containers[made.id] = made
        return made

    def status(self, container: Container) -> str:
        """Say how far a container is."""
        if container.media:
            return "PUBLISHED"
        if container.made_at + DAY <= self.now:
            return "EXPIRED"
        if container.ready_at > self.now:
            return "IN_PROGRESS"
        return "ERROR" if container.error else "FINISHED"

    def children(self, account: str, listed: str, most: int) -> tuple[str, ...]:
        """Check the pieces of a carousel."""
        ids = tuple(filter(None, listed.split(",")))
        found = [self.containers.get(each) for each in ids]
        good = [c for c in found if c is not None and c.piece and c.account == account]
        if not 2 <= len(ids) <= most or len(good) != len(ids) or len(set(ids)) != len(ids):
            raise GraphRefused(100, "The carousel is not valid", 2207028)
        if any(self.status(each) != "FINISHED" for each in good):
            raise GraphRefused(*_spread(self.rules.early, "Media ID is not available"))
        return ids

    def publish(self, account: str, creation_id: str, call: Received) -> Media:
        """Let people see a container, once."""
        container = self.containers.get(creation_id)
        if container is None or container.account != account or container.piece:
            raise GraphRefused(24, "The requested resource does not exist", self.rules.again[1])
        match self.status(container):
            case "PUBLISHED":
                raise GraphRefused(
                    *_spread(self.rules.again, "The requested resource does not exist")
                )
            case "IN_PROGRESS":
                raise GraphRefused(*_spread(self.rules.early, "Media ID is not available"))
            case "EXPIRED":
                raise GraphRefused(24, "The media builder has expired", 2207008)
            case "ERROR":
                raise GraphRefused(-1, "The media could not be made", 2207032)
            case _:
                pass
        posts, replies = (account, self.rules.posts), (f"{account}/replies", self.rules.replies)
        counted, most = replies if container.reply_to else posts
        if self.shown.used(counted, self.now) >= most:
            raise GraphRefused(9, "The user has reached the maximum number of posts", 2207042)
        self.shown.add(counted, self.now)
        return self._show(container, call)

    def _show(self, container: Container, call: Received) -> Media:
        lag = max(self.lag, timedelta(seconds=call.lag))
        media = Media(
            id=self.shared.ids.number(17),
            account=container.account,
            kind=container.kind,
            text=container.text,
            at=self.now,
            listed_at=self.now + lag,
            permalink=self.permalink(container),
            reply_to=container.reply_to,
        )
        container.media = media.id
        self.media[media.id] = media
        self.show(
            Entry(
                simulated=self.name,
                account=self.members[media.account].name,
                remote_id=media.id,
                text=media.text,
                at=media.at,
                kind="story" if media.kind == "STORIES" else "post",
                to=media.reply_to,
                detail={"kind": media.kind, "pieces": len(container.children)},
            )
        )
        return media

    def permalink(self, container: Container) -> str:
        """Make an address that has nothing to do with the id."""
        raise NotImplementedError

    def listed(
        self, account: str, call: Received, keep: Callable[[Media], bool], text: str
    ) -> list[dict[str, Any]]:
        """List what is out, newest first."""
        limit = min(int(call.query.get("limit", "25")), 100)
        mine = [m for m in self.media.values() if m.account == account and keep(m)]
        mine = [m for m in mine if m.listed_at <= self.now]
        mine.sort(key=lambda each: each.at, reverse=True)
        return [self.told(each, text) for each in mine[:limit]]

    def told(self, media: Media, text: str) -> dict[str, Any]:
        """Tell what is known of a post."""
        words = {text: media.text} if media.text else {}
        return {
            "id": media.id,
            "timestamp": stamp(media.at),
            "permalink": media.permalink,
            **words,
        }


def _spread(codes: tuple[int, int], words: str) -> tuple[int, str, int]:
    return codes[0], words, codes[1]
