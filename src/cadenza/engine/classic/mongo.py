"""A MongoDB collection as a classic store, also one that the Node package mongodb-cron works on.

The same filter, the same three writes, no other field touched, the document as it was before the
lock handed to the handler. A lock is the time that was written; a settlement must find that very
value, so a Node worker that took over is never written over. Limit: the Node side has no such
fence, so its own locks must be longer than its handlers take.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from bson.codec_options import CodecOptions
from pymongo import ReturnDocument
from pymongo.asynchronous.collection import AsyncCollection

from cadenza.engine.adopt.plain import to_instant
from cadenza.engine.classic.document import Document, FieldPaths, pick
from cadenza.engine.errors import InvalidJob


class MongoDocuments:
    """Documents of somebody's collection; `condition` is a filter in MongoDB's own words.

    An index on the time is the owner's to make, as for the Node package: `{sleepUntil: 1}`, sparse.
    """

    def __init__(
        self,
        collection: AsyncCollection[dict[str, Any]],
        *,
        paths: FieldPaths | None = None,
        condition: Mapping[str, Any] | None = None,
    ) -> None:
        self._paths = paths or FieldPaths()
        if self._paths.id != "_id":
            raise InvalidJob(f"a document's id is its _id in MongoDB, not {self._paths.id!r}")
        self._condition = dict(condition or {})
        self._collection = collection.with_options(
            codec_options=CodecOptions(tz_aware=True, tzinfo=UTC)
        )

    async def lock_next(self, lock_until: datetime, *, now: datetime) -> Document | None:
        """Lock the document that has been due longest; what is no date at all is due."""
        path = self._paths.sleep_until
        due: list[dict[str, Any]] = [
            {path: {"$exists": True, "$ne": None}},
            {path: {"$not": {"$gt": now}}},
        ]
        if self._condition:
            due.append(self._condition)
        found = await self._collection.find_one_and_update(
            {"$and": due},
            {"$set": {path: lock_until}},
            sort=[(path, 1)],
            return_document=ReturnDocument.BEFORE,
        )
        return None if found is None else self.read(found, locked_until=lock_until)

    async def update(
        self, id: Any, *, sleep_until: datetime | None, locked_until: datetime | None
    ) -> bool:
        """Write the next time or none, if the lock is still ours; a later lock renews it."""
        path = self._paths.sleep_until
        change = {"$set": {path: sleep_until}}
        done = await self._collection.update_one({"_id": id, path: locked_until}, change)
        return done.matched_count > 0

    async def remove(self, id: Any, *, locked_until: datetime | None) -> bool:
        """Delete, if the lock is still ours."""
        fence = {"_id": id, self._paths.sleep_until: locked_until}
        return (await self._collection.delete_one(fence)).deleted_count > 0

    def read(self, document: dict[str, Any], *, locked_until: datetime | None) -> Document:
        """Read the known fields as the Node package does."""
        until = pick(document, self._paths.sleep_until)
        interval = pick(document, self._paths.interval)
        time = to_instant(until)
        # A time that cannot be read gives no next start there, so the document ends here as well.
        readable = until is None or time is not None
        return Document(
            id=document["_id"],
            sleep_until=time,
            interval=interval if isinstance(interval, str) and interval and readable else None,
            repeat_until=to_instant(pick(document, self._paths.repeat_until)),
            auto_remove=bool(pick(document, self._paths.auto_remove)),
            data=document,
            locked_until=locked_until,
        )
