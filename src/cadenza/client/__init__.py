"""A typed client for Cadenza's HTTP API: over an address, with a key, with an event loop or without.

    async with connect("https://cadenza.example", key=key) as client:
        home = await client.home()
        post = await home.posts.create(text="hello")
        await home.queues.add_to_queue(post_id=post["id"])

Methods and shapes are made from the OpenAPI document; `connect_sync` gives the same without `await`. Nothing of
the server is imported. What is refused is a `Problem` of the class that says why.
"""

from typing import TYPE_CHECKING

from cadenza.core.lazy import names_from

if TYPE_CHECKING:
    from cadenza.client.core import Client, Workspace, connect
    from cadenza.client.core_sync import SyncClient, SyncWorkspace, connect_sync
    from cadenza.client.errors import (
        Changed,
        ClientError,
        Conflict,
        Fault,
        Invalid,
        NotAllowed,
        NotAvailable,
        NotFound,
        NotSignedIn,
        Problem,
        TooOften,
        Unreachable,
    )
    from cadenza.client.wire import Event

__getattr__ = names_from(
    __name__,
    {
        "Client": "core",
        "Workspace": "core",
        "connect": "core",
        "SyncClient": "core_sync",
        "SyncWorkspace": "core_sync",
        "connect_sync": "core_sync",
        "Changed": "errors",
        "ClientError": "errors",
        "Conflict": "errors",
        "Fault": "errors",
        "Invalid": "errors",
        "NotAllowed": "errors",
        "NotAvailable": "errors",
        "NotFound": "errors",
        "NotSignedIn": "errors",
        "Problem": "errors",
        "TooOften": "errors",
        "Unreachable": "errors",
        "Event": "wire",
    },
)

__all__ = [
    "Changed",
    "Client",
    "ClientError",
    "Conflict",
    "Event",
    "Fault",
    "Invalid",
    "NotAllowed",
    "NotAvailable",
    "NotFound",
    "NotSignedIn",
    "Problem",
    "SyncClient",
    "SyncWorkspace",
    "TooOften",
    "Unreachable",
    "Workspace",
    "connect",
    "connect_sync",
]
