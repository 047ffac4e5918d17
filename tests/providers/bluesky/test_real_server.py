"""The same adapter against the reference server of the AT Protocol, which we did not write."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from cadenza.core.channels import Channel
from cadenza.core.clock import SystemClock
from cadenza.providers.base import AttemptContext, Prepared, StillPreparing
from cadenza.providers.bluesky import CONNECTOR, PROVIDER
from cadenza.providers.connect import Connected, Connecting
from cadenza.providers.http.client import OutboundClient
from cadenza.providers.http.policy import HostRule, Policy
from cadenza.providers.http.redact import Secret
from cadenza.providers.message import AccountRef, App, Message, Tokens
from cadenza.providers.outcome import (
    Absent,
    Disconnected,
    Found,
    Outcome,
    Rejected,
    Sent,
    Transient,
    Unconfirmed,
)
from tests.providers.bluesky.server import PdsServer, Person, running
from tests.providers.pictures import film, picture
from tests.servers.place import ServerUnavailableError

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Site:
    """A server with two people on it."""

    server: PdsServer
    ada: Person
    ben: Person


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    try:
        with running(tmp_path_factory.mktemp("pds")) as server:
            yield Site(server, server.add_person("ada"), server.add_person("ben"))
    except ServerUnavailableError as reason:
        # It compiles a part of itself: only where npm can do that, and never a reason to fail.
        pytest.skip(f"the Bluesky server could not be installed: {reason}")


@pytest.fixture
async def http(site: Site) -> AsyncIterator[OutboundClient]:
    policy = Policy(allow=(HostRule("localhost", site.server.port),))
    async with OutboundClient(policy, clock=SystemClock()) as client:
        yield client


async def _sign_in(site: Site, http: OutboundClient, password: str | None = None) -> Any:
    connecting = Connecting(
        http=http,
        app=App(base_url=site.server.url),
        now=datetime.now(UTC),
        typed={"handle": site.ada.handle, "password": Secret(password or site.ada.password)},
    )
    return await CONNECTOR.begin(connecting)


async def _call(site: Site, http: OutboundClient, message: Message) -> AttemptContext:
    signed_in = await _sign_in(site, http)
    assert isinstance(signed_in, tuple), signed_in
    (ada,) = signed_in
    return AttemptContext(
        account=AccountRef(id="a1", remote_id=ada.remote_id, settings=ada.settings),
        tokens=ada.tokens,
        app=App(base_url=site.server.url),
        http=http,
        now=datetime.now(UTC),
        message=message,
        key=f"attempt-of-{message.text}",
    )


async def _prepared(call: AttemptContext) -> AttemptContext:
    found: Prepared | StillPreparing | Outcome = StillPreparing({})
    while isinstance(found, StillPreparing):
        call = replace(call, state=found.state)
        found = await PROVIDER.prepare(call)
    assert isinstance(found, Prepared), found
    return replace(call, state=found.state)


def _post(text: str, **more: Any) -> Message:
    return Message(channel=Channel.BLUESKY, text=text, **more)


def _of(site: Site, text: str) -> list[dict[str, Any]]:
    """Return the stored posts with a text."""
    stored: list[Any] = [each["value"] for each in site.server.records(site.ada.did)]
    return [each for each in stored if each["text"] == text]


async def test_an_app_password_opens_a_session_on_the_accounts_own_server(
    site: Site, http: OutboundClient
) -> None:
    (ada,) = await _sign_in(site, http)
    assert isinstance(ada, Connected)
    assert (ada.remote_id, ada.handle) == (site.ada.did, "@ada.test")
    assert ada.settings == {"pds": site.server.url}
    assert ada.tokens.expires_at is not None
    assert ada.tokens.expires_at > datetime.now(UTC)


async def test_a_wrong_password_is_told(site: Site, http: OutboundClient) -> None:
    assert isinstance(await _sign_in(site, http, "wrong"), Disconnected)


async def test_links_mentions_and_tags_stand_at_their_bytes(
    site: Site, http: OutboundClient
) -> None:
    text = "✨ @ben.test and @nobody.test on #Über https://example.org/a."
    call = await _prepared(await _call(site, http, _post(text)))
    assert isinstance(await PROVIDER.publish(call), Sent)
    (stored,) = _of(site, text)
    marked = {
        text.encode()[each["index"]["byteStart"] : each["index"]["byteEnd"]].decode(): each[
            "features"
        ][0]
        for each in stored["facets"]
    }
    assert list(marked) == ["@ben.test", "#Über", "https://example.org/a"]
    assert marked["@ben.test"]["did"] == site.ben.did


async def test_a_picture_goes_up_as_a_blob(site: Site, http: OutboundClient) -> None:
    call = await _prepared(await _call(site, http, _post("The sea", media=(picture(),))))
    assert isinstance(await PROVIDER.publish(call), Sent)
    (stored,) = _of(site, "The sea")
    (shown,) = stored["embed"]["images"]
    assert shown["alt"] == "The sea"
    assert shown["image"]["mimeType"] == "image/png"


async def test_a_video_goes_up_as_a_blob(site: Site, http: OutboundClient) -> None:
    item = replace(film(), alt="Waves", width=16, height=9)
    call = await _prepared(await _call(site, http, _post("The waves", media=(item,))))
    assert isinstance(await PROVIDER.publish(call), Sent)
    (stored,) = _of(site, "The waves")
    assert stored["embed"]["$type"] == "app.bsky.embed.video"
    assert stored["embed"]["video"]["mimeType"] == "video/mp4"


async def test_links_that_others_cut_are_taken_as_they_are(
    site: Site, http: OutboundClient
) -> None:
    text = "#हिन्दी example.com/it's (https://example.org/a_(b)) httpbin.org https://. $ADA"
    call = await _prepared(await _call(site, http, _post(text)))
    assert isinstance(await PROVIDER.publish(call), Sent)
    (stored,) = _of(site, text)
    assert len(stored["facets"]) == 5


async def test_the_same_key_twice_is_one_post(site: Site, http: OutboundClient) -> None:
    call = await _prepared(await _call(site, http, _post("Once")))
    first = await PROVIDER.publish(call)
    assert isinstance(first, Sent)
    assert await PROVIDER.publish(call) == first  # the same record, to the letter: nothing is new
    later = replace(call, now=call.now + timedelta(seconds=9))  # its `createdAt` differs
    assert isinstance(await PROVIDER.publish(later), Unconfirmed)
    assert len(_of(site, "Once")) == 1
    found = await PROVIDER.find_out(call)
    assert isinstance(found, Found)
    assert found.remote_id == first.remote_id


async def test_what_was_never_sent_is_provably_absent(site: Site, http: OutboundClient) -> None:
    call = await _prepared(await _call(site, http, _post("Never")))
    assert await PROVIDER.find_out(call) == Absent()


async def test_the_parts_of_a_thread_name_each_other(site: Site, http: OutboundClient) -> None:
    call = await _prepared(await _call(site, http, _post("One", parts=("Two",))))
    first = await PROVIDER.publish(call)
    assert isinstance(first, Sent)
    assert first.remote_id
    second = replace(call, part=1, key="attempt-of-two", sent_parts=(first.remote_id,))
    assert isinstance(await PROVIDER.publish(await _prepared(second)), Sent)
    (stored,) = _of(site, "Two")
    assert stored["reply"]["parent"]["uri"] == first.remote_id


async def test_a_refresh_rotates_the_pair_and_a_repeat_gets_a_session_too(
    site: Site, http: OutboundClient
) -> None:
    call = await _call(site, http, _post("Fresh"))
    fresh = await PROVIDER.refresh(call)
    assert isinstance(fresh, Tokens)
    assert fresh.refresh not in {None, call.tokens.refresh}
    # Its answer might have been lost: within the grace the old token is good once more.
    assert isinstance(await PROVIDER.refresh(call), Tokens)
    call = await _prepared(replace(call, tokens=fresh))
    assert isinstance(await PROVIDER.publish(call), Sent)


async def test_a_session_that_is_none_is_refused_as_one(site: Site, http: OutboundClient) -> None:
    call = await _prepared(await _call(site, http, _post("Forged")))
    forged = replace(call, tokens=Tokens(access=Secret("no.such.token"), refresh=Secret("none")))
    assert isinstance(await PROVIDER.publish(forged), Disconnected)
    assert isinstance(await PROVIDER.refresh(forged), Disconnected)
    assert _of(site, "Forged") == []


async def test_a_text_that_is_too_long_is_rejected(site: Site, http: OutboundClient) -> None:
    text = "x" * 301
    call = await _prepared(await _call(site, http, _post(text)))
    assert PROVIDER.validate(call.message, call.account)
    assert isinstance(await PROVIDER.publish(call), Rejected)
    assert _of(site, text) == []


async def test_a_blob_that_the_server_does_not_have_is_sent_up_again(
    site: Site, http: OutboundClient
) -> None:
    call = await _prepared(await _call(site, http, _post("Gone", media=(picture(),))))
    blob = {**call.state["blobs"][0]}
    blob["ref"] = {"$link": "bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku"}
    lost = replace(call, state={**call.state, "blobs": [blob]})
    refused = await PROVIDER.publish(lost)
    assert isinstance(refused, Transient), refused
    assert refused.restart
