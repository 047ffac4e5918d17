"""Jobs in MongoDB: see store.py."""

from cadenza.engine.stores.mongo.store import MongoStore

__all__ = ["MongoStore"]
