"""The operations of one workspace, a small class a resource: names and arguments as people say them.

Everything else of the API is reached with `Workspace.get` and `Workspace.post`, by its path.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol, TypeAlias

Data: TypeAlias = dict[str, Any]


class Asker(Protocol):
    """What a resource needs of the client."""

    async def request(
        self,
        method: str,
        path: str,
        *,
        json: object = None,
        query: Mapping[str, Any] | None = None,
        dry_run: bool = False,
        if_match: str | None = None,
    ) -> Any:
        """Ask."""
        ...

    def pages(
        self, path: str, *, query: Mapping[str, Any] | None = None, most: int | None = None
    ) -> AsyncIterator[Data]:
        """Go through a list."""
        ...


class Workspace:
    """One workspace."""

    def __init__(self, client: Asker, id: str) -> None:
        self.client = client
        self.id = id
        self.accounts = Accounts(self)
        self.queues = Queues(self)
        self.posts = Posts(self)
        self.rules = Rules(self)
        self.deliveries = Deliveries(self)
        self.keys = Keys(self)

    async def show(self) -> Data:
        """Show the workspace itself."""
        return await self.get("")

    async def get(self, path: str, **query: Any) -> Any:
        """Look at something of the workspace."""
        return await self.client.request("GET", f"/workspaces/{self.id}{path}", query=query)

    async def post(self, path: str, body: object = None, *, dry_run: bool = False) -> Any:
        """Do something in the workspace."""
        return await self.send("POST", path, body, dry_run=dry_run)

    async def send(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
    ) -> Any:
        """Change something of the workspace."""
        place = f"/workspaces/{self.id}{path}"
        return await self.client.request(
            method, place, json=body, dry_run=dry_run, if_match=if_match
        )

    def list(self, path: str, most: int | None = None, **query: Any) -> AsyncIterator[Data]:
        """Go through one of its lists."""
        return self.client.pages(f"/workspaces/{self.id}{path}", query=query, most=most)


class Accounts:
    """Accounts on networks."""

    def __init__(self, home: Workspace) -> None:
        self._home = home

    async def list(self) -> Sequence[Data]:
        """List all of them."""
        return await self._home.get("/accounts")

    async def show(self, id: str) -> Data:
        """Show one."""
        return await self._home.get(f"/accounts/{id}")

    async def networks(self) -> Sequence[Data]:
        """List what can be connected, and what each network asks a person for."""
        return await self._home.get("/connect")

    async def connect(
        self, provider: str, fields: Mapping[str, str], *, account_id: str | None = None
    ) -> Data:
        """Connect an account; the answer has the accounts, or where a person must sign in."""
        body = {"fields": dict(fields), "account_id": account_id}
        return await self._home.post(f"/connect/{provider}", body)

    async def limits(self, id: str) -> Data:
        """Show what limits it."""
        return await self._home.get(f"/accounts/{id}/limits")

    async def set_limits(self, id: str, limits: Sequence[Data], *, dry_run: bool = False) -> Data:
        """Set its limits."""
        return await self._home.send(
            "PUT", f"/accounts/{id}/limits", {"limits": list(limits)}, dry_run=dry_run
        )

    async def pause(self, id: str, reason: str, *, until: datetime | None = None) -> Data:
        """Let nothing of it be sent."""
        return await self._home.post(f"/accounts/{id}/pause", {"reason": reason, "until": until})

    async def resume(self, id: str, choice: str | None = None) -> Data:
        """Let it send again; `choice` says what becomes of what was held."""
        return await self._home.post(f"/accounts/{id}/resume", {"choice": choice})


class Queues:
    """Weekly queues."""

    def __init__(self, home: Workspace) -> None:
        self._home = home

    async def show(self, account_id: str, *, days: int | None = None) -> Data:
        """Show some days."""
        return await self._home.get(f"/accounts/{account_id}/queue", days=days)

    async def schedule(self, account_id: str) -> Data:
        """Show the weekly slots."""
        return await self._home.get(f"/accounts/{account_id}/queue/schedule")

    async def give_schedule(self, account_id: str, slots: object, **said: Any) -> Data:
        """Give an account its first weekly slots."""
        body = {"slots": slots, **said}
        return await self._home.send("PUT", f"/accounts/{account_id}/queue/schedule", body)

    async def change_schedule(
        self, account_id: str, *, dry_run: bool = False, **changes: Any
    ) -> Data:
        """Change slots, zone or cap."""
        place = f"/accounts/{account_id}/queue/schedule"
        return await self._home.send("PATCH", place, changes, dry_run=dry_run)

    async def add(
        self,
        post_id: str,
        accounts: Sequence[str] | None = None,
        *,
        to: str = "first_free",
        at: datetime | None = None,
        dry_run: bool = False,
    ) -> Data:
        """Give a post a place in the queues of accounts."""
        places = None if accounts is None else [{"account_id": each} for each in accounts]
        body = {"post_id": post_id, "accounts": places, "to": to, "at": at}
        return await self._home.post("/queue", body, dry_run=dry_run)

    async def order(
        self, account_id: str, verb: str, *, dry_run: bool = False, **said: Any
    ) -> Data:
        """Change the order: move, to_top, swap, shuffle, reverse, or the whole order."""
        body = {"verb": verb, **said}
        return await self._home.post(f"/accounts/{account_id}/queue/order", body, dry_run=dry_run)

    async def skip(self, account_id: str, count: int = 1, *, reason: str | None = None) -> Data:
        """Leave out the next slots."""
        body = {"count": count, "reason": reason}
        return await self._home.post(f"/accounts/{account_id}/queue/skips", body)

    async def unskip(self, account_id: str) -> Data:
        """Offer the slots again that were left out."""
        return await self._home.post(f"/accounts/{account_id}/queue/skips/lift", {})

    async def pause(self, account_id: str, reason: str, *, until: datetime | None = None) -> Data:
        """Let nothing of the queue be sent."""
        body = {"reason": reason, "until": until}
        return await self._home.post(f"/accounts/{account_id}/queue/pause", body)

    async def resume(self, account_id: str, choice: str = "shift") -> Data:
        """Let it send again."""
        return await self._home.post(f"/accounts/{account_id}/queue/resume", {"choice": choice})

    async def clear(self, account_id: str, *, by_hand: bool = False, dry_run: bool = False) -> Data:
        """Take everything off the queue."""
        place = f"/accounts/{account_id}/queue/clear"
        return await self._home.post(place, {"by_hand": by_hand}, dry_run=dry_run)

    async def undo(self, clear_id: str) -> Data:
        """Bring back what was cleared."""
        return await self._home.post(f"/queue/clears/{clear_id}/undo")

    async def runway(self, account_id: str) -> Data:
        """Say when the queue runs dry."""
        return await self._home.get(f"/accounts/{account_id}/queue/runway")


class Posts:
    """Posts."""

    def __init__(self, home: Workspace) -> None:
        self._home = home

    def list(self, most: int | None = None, **query: Any) -> AsyncIterator[Data]:
        """Go through posts; the query is that of the API."""
        return self._home.list("/posts", most, **query)

    async def show(self, id: str) -> Data:
        """Show one."""
        return await self._home.get(f"/posts/{id}")

    async def create(self, *, dry_run: bool = False, **content: Any) -> Data:
        """Write one: text, title, hashtags, link, labels, …"""
        return await self._home.post("/posts", content, dry_run=dry_run)

    async def edit(
        self, id: str, *, if_match: str | None = None, dry_run: bool = False, **changes: Any
    ) -> Data:
        """Change what is given."""
        return await self._home.send(
            "PATCH", f"/posts/{id}", changes, if_match=if_match, dry_run=dry_run
        )

    async def delete(self, id: str) -> Data:
        """Take it away; what was sent stays sent."""
        return await self._home.send("DELETE", f"/posts/{id}")

    async def approve(self, id: str, *, revision: int | None = None) -> Data:
        """Approve what it says now."""
        return await self._home.post(f"/posts/{id}/approve", {"revision": revision})

    async def publish_now(
        self, id: str, accounts: Sequence[str] | None = None, *, approve: bool = False
    ) -> Data:
        """Send it now; with `approve`, approve what it says now first."""
        places = None if accounts is None else [{"account_id": each} for each in accounts]
        verb = "approve-and-publish-now" if approve else "publish-now"
        return await self._home.post(f"/posts/{id}/{verb}", {"accounts": places})

    async def schedule(
        self,
        id: str,
        at: datetime,
        *,
        zone: str | None = None,
        accounts: Sequence[str] | None = None,
    ) -> Data:
        """Give it an instant of its own."""
        places = None if accounts is None else [{"account_id": each} for each in accounts]
        body = {"at": at, "zone": zone, "accounts": places}
        return await self._home.post(f"/posts/{id}/schedule", body)

    async def cancel(self, id: str, reason: str = "canceled by hand") -> Data:
        """Take it off the road."""
        return await self._home.post(f"/posts/{id}/cancel", {"reason": reason})

    async def retry(self, id: str) -> Data:
        """Try again what failed."""
        return await self._home.post(f"/posts/{id}/retry", {})


class Rules:
    """Rules that lay out drafts, and the categories that they take their words and pictures from."""

    def __init__(self, home: Workspace) -> None:
        self._home = home

    async def list(self) -> Sequence[Data]:
        """List them."""
        return await self._home.get("/rules")

    async def show(self, id: str) -> Data:
        """Show one."""
        return await self._home.get(f"/rules/{id}")

    async def categories(self) -> Sequence[Data]:
        """List the categories."""
        return await self._home.get("/categories")

    async def create(self, *, dry_run: bool = False, **form: Any) -> Data:
        """Make one; a dry run says what it would lay out."""
        return await self._home.post("/rules", form, dry_run=dry_run)

    async def edit(self, id: str, *, dry_run: bool = False, **form: Any) -> Data:
        """Save one anew, whole; a dry run says what would become of its posts."""
        return await self._home.send("PUT", f"/rules/{id}", form, dry_run=dry_run)

    async def pause(self, id: str) -> Data:
        """Let it lay out nothing more."""
        return await self._home.post(f"/rules/{id}/pause")

    async def resume(self, id: str) -> Data:
        """Let it lay out again."""
        return await self._home.post(f"/rules/{id}/resume")

    async def generate(self) -> Data:
        """Lay out what is missing, now."""
        return await self._home.post("/drafts/generate")


class Deliveries:
    """What goes out, one a post, account and channel."""

    def __init__(self, home: Workspace) -> None:
        self._home = home

    def list(self, most: int | None = None, **query: Any) -> AsyncIterator[Data]:
        """Go through them; the query is that of the API."""
        return self._home.list("/deliveries", most, **query)

    async def show(self, id: str) -> Data:
        """Show one."""
        return await self._home.get(f"/deliveries/{id}")

    async def explain(self, id: str) -> Data:
        """Say why it has not gone out yet, or what became of it."""
        return await self._home.get(f"/deliveries/{id}/explain")

    async def attempts(self, id: str) -> Sequence[Data]:
        """List what was tried."""
        return await self._home.get(f"/deliveries/{id}/attempts")

    async def decide(self, id: str, *, fence: int, is_there: bool, **said: Any) -> Data:
        """Say of one in doubt whether it is there; `fence` is that of the look."""
        body = {"fence": fence, "is_there": is_there, **said}
        return await self._home.post(f"/deliveries/{id}/decide", body)


class Keys:
    """API keys; a person makes them, no key does."""

    def __init__(self, home: Workspace) -> None:
        self._home = home

    async def list(self) -> Sequence[Data]:
        """List them, without what proves them."""
        return await self._home.get("/keys")

    async def make(self, name: str, scopes: Sequence[str], **said: Any) -> Data:
        """Make one; the answer shows it once."""
        return await self._home.post("/keys", {"name": name, "scopes": list(scopes), **said})

    async def revoke(self, id: str) -> Data:
        """End one."""
        return await self._home.send("DELETE", f"/keys/{id}")
