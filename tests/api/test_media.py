"""The library over HTTP: uploads in pieces, files that no browser runs, and addresses that open one file."""

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest

from cadenza.media.public import sign_public_url
from tests.api.conftest import Place
from tests.media.made import picture
from tests.media.test_convert import noise, written

HOME = "/api/v1/workspaces/home-of-ada"
MEDIA = f"{HOME}/media"


@pytest.fixture
async def editor(place: Place) -> httpx2.AsyncClient:
    return await place.client("editor")


async def take_in(editor: httpx2.AsyncClient, content: bytes | None = None, **data: str) -> Any:
    file = ("../../shop.png.exe", content or picture(), "text/html")
    answer = await editor.post(MEDIA, files={"file": file}, data=data)
    assert answer.status_code == 201, answer.text
    return answer.json()


async def test_an_upload_is_what_its_content_says(editor: httpx2.AsyncClient) -> None:
    made = await take_in(editor, alt="a shop")
    assert (made["mime"], made["width"], made["height"]) == ("image/png", 40, 30)
    assert (made["alt"], made["known"]) == ("a shop", False)
    assert made["name"].endswith(".png")
    assert "/" not in made["name"]
    assert (await take_in(editor))["known"], "the same content is the same file"
    listed = (await editor.get(MEDIA, params={"kind": "image"})).json()["items"]
    assert [each["id"] for each in listed] == [made["id"]]


async def test_fields_after_the_file_count_as_well(editor: httpx2.AsyncClient) -> None:
    body = (
        b'--b\r\ncontent-disposition: form-data; name="file"; filename="a.png"\r\n\r\n'
        + picture()
        + b'\r\n--b\r\ncontent-disposition: form-data; name="alt"\r\n\r\nlate\r\n--b--\r\n'
    )

    async def bit_by_bit() -> AsyncIterator[bytes]:
        for start in range(0, len(body), 7):
            yield body[start : start + 7]

    kind = {"content-type": "multipart/form-data; boundary=b"}
    answer = await editor.post(MEDIA, content=bit_by_bit(), headers=kind)
    assert answer.status_code == 201, answer.text
    assert answer.json()["alt"] == "late"
    for end in (-40, 120):
        cut = await editor.post(MEDIA, content=body[:end], headers=kind)
        assert cut.status_code == 400, "what ends in the middle is no upload"


async def test_what_is_no_picture_is_refused_with_its_reason(editor: httpx2.AsyncClient) -> None:
    page = {"file": ("cat.png", b"<html><script>alert(1)</script>", "image/png")}
    refused = await editor.post(MEDIA, files=page)
    assert refused.status_code == 422
    assert refused.json()["type"].endswith("unfit_type"), refused.text
    assert (await editor.post(MEDIA, data={"alt": "nothing"}, files={})).status_code in (415, 422)
    assert (await editor.post(MEDIA, content=b"x")).status_code == 415


async def test_files_are_given_out_so_that_nothing_runs(editor: httpx2.AsyncClient) -> None:
    made = await take_in(editor)
    whole = await editor.get(made["file_url"])
    assert whole.content
    assert whole.headers["content-type"] == "image/png"
    assert whole.headers["content-disposition"].startswith("attachment;")
    assert "sandbox" in whole.headers["content-security-policy"]
    assert whole.headers["x-content-type-options"] == "nosniff"
    small = await editor.get(made["thumbnail_url"])
    assert small.headers["content-type"] == "image/jpeg"
    again = await editor.get(made["file_url"], headers={"if-none-match": whole.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


async def test_a_range_is_a_stretch_of_the_file(editor: httpx2.AsyncClient) -> None:
    made = await take_in(editor)
    whole = (await editor.get(made["file_url"])).content
    for requested, stretch in (
        ("bytes=0-9", whole[:10]),
        ("bytes=10-", whole[10:]),
        ("bytes=-5", whole[-5:]),
        ("bytes=5-999999", whole[5:]),
    ):
        answer = await editor.get(made["file_url"], headers={"range": requested})
        assert (answer.status_code, answer.content) == (206, stretch), requested
    beyond = await editor.get(made["file_url"], headers={"range": f"bytes={len(whole)}-"})
    assert beyond.status_code == 416
    assert beyond.headers["content-range"] == f"bytes */{len(whole)}"
    for strange in ("bytes=9-2", "bytes=-", "bytes=0-1,4-5", "lines=1-2"):
        answer = await editor.get(made["file_url"], headers={"range": strange})
        assert (answer.status_code, answer.content) == (200, whole), strange


async def test_a_file_that_a_post_shows_cannot_be_deleted(editor: httpx2.AsyncClient) -> None:
    made = await take_in(editor)
    post = await editor.post(
        f"{HOME}/posts", json={"text": "See:", "media": [{"media_id": made["id"], "alt": "a shop"}]}
    )
    assert post.json()["media"] == [{"media_id": made["id"], "alt": "a shop"}]
    refused = await editor.delete(f"{MEDIA}/{made['id']}")
    assert refused.status_code == 409
    assert refused.json()["posts"] == [post.json()["id"]]
    shown = (await editor.get(f"{MEDIA}/{made['id']}")).json()
    assert [each["id"] for each in shown["posts"]] == [post.json()["id"]]
    await editor.delete(f"{HOME}/posts/{post.json()['id']}")
    assert (await editor.delete(f"{MEDIA}/{made['id']}")).status_code == 200
    assert (await editor.get(f"{MEDIA}/{made['id']}")).status_code == 404


async def test_descriptions_can_be_changed(editor: httpx2.AsyncClient) -> None:
    made = await take_in(editor)
    changed = await editor.patch(f"{MEDIA}/{made['id']}", json={"alt": "a red shop"})
    assert changed.json()["alt"] == "a red shop"
    assert changed.headers["etag"]


async def test_a_signed_address_opens_one_file_to_anybody_until_its_end(
    small: Place,
) -> None:
    editor, stranger = await small.client("editor"), await small.client()
    made = await take_in(editor)
    row = await small.row("SELECT file, mime FROM media WHERE id = :id", id=made["id"])
    assert row is not None
    now = small.runtime.clock.now()
    signer = small.runtime.library.signer

    def address(hours: int) -> str:
        until = now + timedelta(hours=hours)
        url = sign_public_url(
            signer, "http://house.test", file=row["file"], mime=row["mime"], expires_at=until
        )
        return urlsplit(url).path

    found = await stranger.get(address(1))
    assert found.content == (await editor.get(made["file_url"])).content
    assert found.headers["cross-origin-resource-policy"] == "cross-origin"
    assert "sandbox" in found.headers["content-security-policy"]
    head = await stranger.head(address(1))
    assert head.headers["content-length"] == str(len(found.content))
    assert (await stranger.get(address(-1))).status_code == 410
    wrong = address(1).replace(".", "A.", 1)
    assert (await stranger.get(wrong)).status_code == 404
    assert (await stranger.get("/media/public/")).status_code == 404


async def test_a_preview_shows_the_picture_as_each_network_gets_it(
    place: Place, editor: httpx2.AsyncClient
) -> None:
    large = written(noise(1000, 900))
    made = await take_in(editor, large)
    channels = ["bluesky", "instagram_feed", "mastodon"]
    body = {"text": "Sea", "media": [{"media_id": made["id"]}], "channels": channels}
    answer = await editor.post(f"{HOME}/posts/preview", json=body)
    assert answer.status_code == 200, answer.text
    shown = {each["channel"]: each for each in answer.json()}
    assert shown["mastodon"]["fitted"] == []
    for channel, most in (("bluesky", 2_000_000), ("instagram_feed", 8_000_000)):
        (fitted,) = shown[channel]["fitted"]
        assert (fitted["media_id"], fitted["mime"]) == (made["id"], "image/jpeg")
        assert "converted to JPEG, 2.7 MB → " in fitted["message"]
        assert fitted["size"] <= most
        told = {each["code"]: each for each in shown[channel]["problems"]}
        assert (told["media_fitted"]["message"], told["media_fitted"]["blocking"]) == (
            fitted["message"],
            False,
        )
        assert not {"media_kind", "media_size"} & set(told)
        viewer = await place.client("viewer")
        file = await viewer.get(fitted["file_url"])
        assert file.status_code == 200
        assert file.headers["content-type"] == "image/jpeg"
        assert len(file.content) == fitted["size"]
    assert (await editor.get(f"{MEDIA}/{made['id']}/fitted/jpeg-1-0-0")).status_code == 404
    again = await editor.post(f"{HOME}/posts/preview", json=body)
    assert again.json() == answer.json(), "it is made once"


async def test_a_check_tells_of_a_change_and_stays_ready(editor: httpx2.AsyncClient) -> None:
    made = await take_in(editor, written(noise(100, 90), "WEBP", lossless=True))
    body = {
        "text": "Sea",
        "media": [{"media_id": made["id"]}],
        "accounts": [{"account_id": "account-of-ada"}],
    }
    checked = (await editor.post(f"{HOME}/posts/check", json=body)).json()
    assert checked == {"ready": True, "findings": []}, "Mastodon takes it as it is"


async def test_a_webhooks_file_can_be_fetched_where_the_instance_listens(
    place: Place, editor: httpx2.AsyncClient
) -> None:
    made = await take_in(editor)
    file = await place.runtime.operations.read(
        lambda tx, _: tx.value("SELECT file FROM media WHERE id = :id", id=made["id"])
    )
    url = place.runtime.library.files.own_url(file)
    assert url is not None
    assert url.startswith(place.runtime.settings.home)
    got = await editor.get(urlsplit(url).path)
    assert (got.status_code, len(got.content)) == (200, made["size"])
