"""Send a file's bytes to where a Graph asked for them; no public address of ours is needed.

The Graph names the place when it makes a reel, a story or a container; the token goes along, so the
place must be one of Meta's own hosts, or the very server that we asked. Nobody sees what was sent until
it is published, so sending it again does no harm.
"""

from urllib.parse import urlsplit

from cadenza.providers.base import AttemptContext
from cadenza.providers.errors import Table
from cadenza.providers.http.redact import Secret
from cadenza.providers.http.request import Request
from cadenza.providers.message import MediaItem
from cadenza.providers.meta.graph import SLOW, ask_graph
from cadenza.providers.outcome import Outcome, Transient
from cadenza.providers.reply import HttpSuccess

HOSTS = ("facebook.com", "instagram.com")
ELSEWHERE = "The place for the file is not one of Meta's: nothing was sent there."


async def send_up(
    call: AttemptContext, place: str, item: MediaItem, *, table: Table, base: str
) -> HttpSuccess | Outcome:
    """Send the whole file."""
    if not trusted(place, base):
        return Transient(ELSEWHERE, restart=True)
    token = call.tokens.access
    data = await item.read()
    headers: dict[str, str | Secret] = {
        "authorization": Secret(f"OAuth {token.reveal()}"),
        "offset": "0",
        "file_size": str(len(data)),
        "content-type": "application/octet-stream",
    }
    request = Request("POST", place, headers, data, timeout=SLOW, idempotent=True, secrets=(token,))
    got = await ask_graph(call, request, table)
    if isinstance(got, HttpSuccess) and got.at("success") is not True:
        return Transient("The network did not take a file whole.")
    return got


def trusted(place: str, base: str) -> bool:
    """Say whether a token may be sent there."""
    requested, there = urlsplit(base), urlsplit(place)
    if (there.scheme, there.netloc) == (requested.scheme, requested.netloc):
        return True
    host = there.hostname or ""
    return there.scheme == "https" and any(host == h or host.endswith(f".{h}") for h in HOSTS)
