"""A client for Cadenza's HTTP API: over an address with a key, or in this process on the local database.

    async with connect("https://cadenza.example", key=key) as client:
        home = client.workspace(workspace_id)
        post = await home.posts.create(text="hello")
        await home.queues.add(post["id"])

Answers are plain dictionaries in the shapes of the OpenAPI document. What is refused is a `Problem` with
all its faults. Limit: streams of events and uploads of media are not in it yet.
"""

from cadenza.client.core import Client, connect
from cadenza.client.errors import ClientError, Fault, Problem, Unreachable
from cadenza.client.workspace import Workspace

__all__ = ["Client", "ClientError", "Fault", "Problem", "Unreachable", "Workspace", "connect"]
