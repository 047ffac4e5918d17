"""What both clients share: how a request is written, an answer read, a wait chosen, an event told apart.

No network here. Repeated is what got no answer and what a server asks to repeat (429, 502, 503, 504; 409 while
the first try is still under way), three times at most. Each write has one idempotency key over all its tries,
so a repetition after a lost answer does nothing twice.
"""

from collections import deque
from collections.abc import AsyncIterator, Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Protocol, TypeAlias, cast
from urllib.parse import quote

import httpx2
import msgspec

from cadenza.client.errors import ClientError, Problem, Unreachable, problem_of

API = "/api/v1"
TRIES = 3
AGAIN = frozenset({429, 502, 503, 504})
LONGEST_WAIT = 20.0
SILENCE = 60.0  # seconds; a stream of events gives a sign of life every 15
REMEMBERED = 1000  # events, to know those that come again after a break

File: TypeAlias = Path | str | tuple[str, bytes]
"""A file to upload: where it lies, or its name and its bytes."""
Told: TypeAlias = Callable[[int, int], None]
"""Is called while a file is sent: so many bytes of so many."""


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened in a workspace; `place` is where to go on after a break."""

    id: str
    kind: str
    subject_id: str
    actor: str | None
    data: Any
    at: str
    place: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request, the same in all its tries."""

    method: str
    path: str
    params: dict[str, Any]
    headers: dict[str, str]
    content: bytes | None = None


class Requester(Protocol):
    """What the methods of `calls.py` need."""

    async def request(
        self,
        method: str,
        path: str,
        *,
        json: object = None,
        query: Mapping[str, Any] | None = None,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
    ) -> Any:
        """Ask."""
        ...

    def pages(
        self, path: str, *, query: Mapping[str, Any] | None = None, most: int | None = None
    ) -> AsyncIterator[Any]:
        """Go through a list."""
        ...

    async def upload(
        self,
        path: str,
        file: File,
        *,
        fields: Mapping[str, str | None],
        dry_run: bool = False,
        told: Told | None = None,
    ) -> Any:
        """Send a file."""
        ...

    def download(self, path: str) -> AsyncIterator[bytes]:
        """Receive a file."""
        ...

    def follow(self, path: str, *, last: str | None = None) -> AsyncIterator[Event]:
        """Follow what happens."""
        ...


class SyncRequester(Protocol):
    """What the methods of `calls_sync.py` need."""

    def request(
        self,
        method: str,
        path: str,
        *,
        json: object = None,
        query: Mapping[str, Any] | None = None,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
    ) -> Any:
        """Ask."""
        ...

    def pages(
        self, path: str, *, query: Mapping[str, Any] | None = None, most: int | None = None
    ) -> Iterator[Any]:
        """Go through a list."""
        ...

    def upload(
        self,
        path: str,
        file: File,
        *,
        fields: Mapping[str, str | None],
        dry_run: bool = False,
        told: Told | None = None,
    ) -> Any:
        """Send a file."""
        ...

    def download(self, path: str) -> Iterator[bytes]:
        """Receive a file."""
        ...

    def follow(self, path: str, *, last: str | None = None) -> Iterator[Event]:
        """Follow what happens."""
        ...


def part(text: str) -> str:
    """Make an id safe as one part of a path."""
    return quote(text, safe="")


def prepare(
    method: str,
    path: str,
    *,
    key: str,
    json: object = None,
    query: Mapping[str, Any] | None = None,
    dry_run: bool = False,
    if_match: str | None = None,
) -> Request:
    """Write a request."""
    params = {name: _param(value) for name, value in (query or {}).items() if value is not None}
    headers: dict[str, str] = {}
    if method != "GET":
        headers["idempotency-key"] = key
    if dry_run:
        params["dry_run"] = "true"
    if if_match is not None:
        headers["if-match"] = if_match
    content = None if json is None else msgspec.json.encode(json)
    if content is not None:
        headers["content-type"] = "application/json"
    return Request(method=method, path=API + path, params=params, headers=headers, content=content)


def read(response: httpx2.Response) -> Any:
    """Return the body of an answer, or raise what was refused."""
    if response.is_success:
        return msgspec.json.decode(response.content) if response.content else None
    raise refusal(response)


def refusal(response: httpx2.Response) -> Problem | Unreachable:
    """Make the exception of an answer that is no success; its body was read."""
    try:
        body = msgspec.json.decode(response.content)
    except (msgspec.DecodeError, UnicodeDecodeError):
        body = None
    if not isinstance(body, dict) or "type" not in body:  # a problem always has one
        return Unreachable(
            f"{response.request.url.host} answered {response.status_code}, and not as Cadenza does: "
            "is the address right?"
        )
    said = response.headers.get("retry-after", "")
    return problem_of(
        response.status_code, body, retry_after=float(said) if said.isdigit() else None
    )


def silent(base: httpx2.URL, error: Exception) -> Unreachable:
    """Make the exception of an address where nobody answers."""
    return Unreachable(f"nobody answers at {base}: {error or type(error).__name__}")


def pause_before(response: httpx2.Response | None, count: int) -> float | None:
    """Say how long to wait before another try, the `count`-th; None: this answer is the one."""
    if count >= TRIES:
        return None
    if response is None:
        return 0.2 * count
    under_way = response.status_code == 409 and b":under_way" in response.content
    if response.status_code not in AGAIN and not under_way:
        return None
    said = response.headers.get("retry-after", "")
    return min(float(said) if said.isdigit() else 0.3 * count, LONGEST_WAIT)


@contextmanager
def opened_file(file: File, told: Told | None) -> Generator[tuple[str, BinaryIO]]:
    """Open what is to be sent, and tell while it is read."""
    import io

    if isinstance(file, tuple):
        name, size = file[0], len(file[1])
        source: BinaryIO = io.BytesIO(file[1])
    else:
        path = Path(file)
        try:
            name, size, source = path.name, path.stat().st_size, path.open("rb")
        except OSError as error:
            raise ClientError(f"{path} cannot be read: {error.strerror}") from error
    with source:
        yield name, source if told is None else cast("BinaryIO", _Counted(source, size, told))


class _Counted:
    """A file that says how far it was read."""

    def __init__(self, source: BinaryIO, size: int, told: Told) -> None:
        self._source, self._size, self._told = source, size, told

    def read(self, count: int = -1) -> bytes:
        data = self._source.read(count)
        self._told(self._source.tell(), self._size)
        return data

    def __getattr__(self, name: str) -> Any:
        return getattr(self._source, name)


@dataclass(slots=True)
class EventReader:
    """Reads a stream of events line by line, and knows those that it heard already."""

    place: str | None = None
    _data: list[str] = field(default_factory=list[str])
    _heard: deque[str] = field(default_factory=lambda: deque(maxlen=REMEMBERED))

    def hear(self, line: str) -> Event | None:
        """Take one line; return the event that it ends, if it is new."""
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "id":
            self.place = value
        elif name == "data":
            self._data.append(value)
        if line or not self._data:
            return None
        said = msgspec.json.decode("\n".join(self._data))
        self._data.clear()
        if said["id"] in self._heard:
            return None
        self._heard.append(said["id"])
        return Event(**said, place=self.place or "")

    def headers(self) -> dict[str, str]:
        """Say where the stream was left; what was heard by halves is forgotten."""
        self._data.clear()
        said = {"accept": "text/event-stream"}
        return said if self.place is None else {**said, "last-event-id": self.place}


def _param(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value.isoformat() if hasattr(value, "isoformat") else value
