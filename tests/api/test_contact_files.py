"""Files of contacts over HTTP: uploaded, tried, imported and undone in the background, and exported again."""

from typing import Any

from cadenza.bootstrap.export_contacts import export_contacts
from cadenza.bootstrap.import_contacts import import_contacts
from tests.api.conftest import Place

HOME = "/api/v1/workspaces/home-of-ada"
IMPORTS, EXPORTS = f"{HOME}/contact-imports", f"{HOME}/contact-exports"
FILE = (
    'Mail,First name,Tags\nada@example.org,Ada,"fair, vip"\nno address,Ben,\ncy@example.org,=1+1,\n'
)


async def work(place: Place, import_id: str) -> None:
    payload = {"workspace_id": "home-of-ada", "import_id": import_id}
    await import_contacts(place.runtime, payload)


async def uploaded(browser: Any, text: str | bytes = FILE, **fields: str) -> Any:
    file = ("people.csv", text, "text/csv")
    return await browser.post(IMPORTS, files={"file": file}, data=fields)


async def test_a_file_is_tried_imported_and_undone(place: Place) -> None:
    browser = await place.client("editor")
    answer = await uploaded(browser)
    assert answer.status_code == 201, answer.text
    there = answer.json()
    assert (there["state"], there["name"]) == ("uploaded", "people.csv")
    assert there["suggested"] == {"Mail": "email", "First name": "first_name", "Tags": "tags"}
    path = f"{IMPORTS}/{there['id']}"
    assert (await browser.post(f"{path}/try", json={})).json()["state"] == "trying"
    await work(place, there["id"])
    rows = (await browser.get(f"{path}/rows")).json()["items"]
    assert [row["verdict"] for row in rows] == ["created", "refused", "created"]
    assert (await browser.get(f"{HOME}/contacts")).json()["items"] == []
    assert (await browser.post(f"{path}/start", json={"tags": ["May"]})).json()["percent"] < 100
    again = await browser.post(f"{path}/start", json={})
    assert (again.status_code, again.json()["state"]) == (409, "running")
    await work(place, there["id"])
    done = (await browser.get(path)).json()
    assert (done["state"], done["percent"], done["created"]) == ("done", 100, 2)
    people = (await browser.get(f"{HOME}/contacts")).json()["items"]
    assert sorted(tuple(each["tags"]) for each in people) == [("fair", "may", "vip"), ("may",)]
    report = (await browser.get(f"{path}/report")).text.splitlines()
    assert len(report) == 2
    assert "bad_address" in report[1]
    assert (await browser.post(f"{path}/undo")).json()["state"] == "undoing"
    await work(place, there["id"])
    assert (await browser.get(path)).json()["removed"] == 2
    assert (await browser.get(f"{HOME}/contacts")).json()["items"] == []


async def test_uploads_that_are_no_table_are_refused(small: Place) -> None:
    browser = await small.client("editor")
    for wrong in (b"", b"\x00\x01\x02", b"PK\x03\x04 not a spreadsheet"):
        assert (await uploaded(browser, wrong)).status_code == 422
    assert (await uploaded(browser, kind="cats")).status_code == 422
    assert (await browser.post(IMPORTS, files={"other": ("a.csv", b"a\n")})).status_code == 422
    viewer = await small.client("viewer")
    assert (await uploaded(viewer)).status_code == 403


async def test_channels_are_imported(small: Place) -> None:
    browser = await small.client("editor")
    there = (await uploaded(browser, "username,title\n@bakers,Bakers\n", kind="channels")).json()
    await browser.post(f"{IMPORTS}/{there['id']}/start", json={})
    await work(small, there["id"])
    listed = (await browser.get(f"{HOME}/recipient-channels")).json()["items"]
    assert [(each["address"], each["title"]) for each in listed] == [("@bakers", "Bakers")]


async def test_what_is_exported_can_be_imported_again(place: Place) -> None:
    browser = await place.client("editor")
    first = (await uploaded(browser)).json()
    await browser.post(f"{IMPORTS}/{first['id']}/start", json={})
    await work(place, first["id"])
    for format_ in ("csv", "xlsx"):
        answer = await browser.post(EXPORTS, json={"format": format_})
        assert answer.status_code == 201, answer.text
        export = answer.json()
        early = await browser.get(f"{EXPORTS}/{export['id']}/file")
        assert early.status_code == 409, early.text
        payload = {"workspace_id": "home-of-ada", "export_id": export["id"]}
        await export_contacts(place.runtime, payload)
        ready = (await browser.get(f"{EXPORTS}/{export['id']}")).json()
        assert (ready["state"], ready["rows_done"]) == ("ready", 2)
        file = await browser.get(f"{EXPORTS}/{export['id']}/file")
        assert file.status_code == 200
        if format_ == "csv":
            assert "'=1+1" in file.text
        again = (await uploaded(browser, file.content)).json()
        assert again["format"] == format_
        await browser.post(f"{IMPORTS}/{again['id']}/start", json={})
        await work(place, again["id"])
        done = (await browser.get(f"{IMPORTS}/{again['id']}")).json()
        assert (done["created"], done["updated"], done["unchanged"]) == (0, 0, 2), done
