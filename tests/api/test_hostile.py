"""Every route with what attackers send: foreign columns, SQL, operators, and a house that breaks inside."""

import json
from typing import Any

import pytest

from cadenza.api.routes import Access
from tests.api.conftest import Place, furnish_rooms
from tests.api.test_walk import UNENDING, ids_of, walked
from tests.api.walk import Step, Unknown, everything
from tests.product_tables import product_tables

SQL = (
    "' OR '1'='1",
    "x' UNION SELECT password FROM person --",
    "'; DROP TABLE post; --",
    "1 OR 1=1",
    "created_at; DELETE FROM audit",
    '" OR ""="',
    "%",
    "(SELECT secret_hash FROM api_key)",
    "a') OR randomblob(100000000) --",
    "\\' OR 1=1 #",
)
OPERATORS: tuple[Any, ...] = ({"$gt": ""}, {"$ne": None}, {"$where": "1"}, [{"$gt": ""}])
LOOSE = frozenset({"audit", "login_attempt", "idempotency_key"})  # what refusals may write


def write_steps(place: Place) -> list[Step]:
    """All that take a JSON object; `/mcp` takes an envelope, and walks the same routes with what is in it."""
    return [
        step
        for step in walked(place)
        if step.schema().get("properties") and not step.path.endswith("/mcp")
    ]


def names(step: Step) -> set[str]:
    return set(step.schema()["properties"])


async def test_no_column_can_be_set_that_a_route_does_not_offer(small: Place) -> None:
    everywhere = set[str]().union(*product_tables().values())
    browser = await small.client("owner")
    before = await everything(small)
    requested = 0
    for step in write_steps(small):
        if step.declared.needs is Access.KEY:
            continue
        foreign = sorted(everywhere - names(step))
        for some in batched(foreign, 40):  # more are not taken, or not told of, in one go
            answer = await browser.request(
                step.declared.method,
                step.fill(Unknown(ids_of(small, "ada"))),
                json=step.body() | dict.fromkeys(some, "x"),
            )
            if answer.status_code == 404:
                break
            requested += 1
            assert answer.status_code == 422, (step.name, answer.text)
            faults = {each["path"] for each in answer.json()["errors"]}
            missed = [name for name in some if f"body.{name}" not in faults]
            assert missed == [], step.name
    assert requested > 50
    assert await everything(small, but=LOOSE) == {
        name: rows for name, rows in before.items() if name not in LOOSE
    }


def batched(names: list[str], size: int) -> list[list[str]]:
    return [names[first : first + size] for first in range(0, len(names), size)]


@pytest.mark.parametrize("bad", OPERATORS, ids=str)
async def test_an_operator_is_no_value(small: Place, bad: Any) -> None:
    browser = await small.client("owner")
    before = await everything(small, but=LOOSE)
    requested = 0
    for step in write_steps(small):
        example = step.body()
        texts = [name for name, value in example.items() if isinstance(value, str)]
        if not texts:
            continue
        body = example | dict.fromkeys(texts, bad)
        answer = await browser.request(
            step.declared.method, step.fill(Unknown(ids_of(small, "ada"))), json=body
        )
        if answer.status_code == 404:
            continue
        requested += 1
        assert answer.status_code in (403, 422), (step.name, answer.text)
    assert requested > 30
    assert await everything(small, but=LOOSE) == before


async def test_no_filter_and_no_order_is_read_as_sql(place: Place) -> None:
    await place.runtime.operations.run(
        lambda tx, now: furnish_rooms(tx, now, "ada", place.ids["owner.member"])
    )
    browser = await place.client("owner")
    before = await everything(place)
    requested = 0
    for step in walked(place):
        if step.declared.writes or step.path in UNENDING or step.declared.needs is Access.KEY:
            continue
        for name in step.filters():
            for attack in SQL:
                path = step.fill(Unknown(ids_of(place, "ada")))
                answer = await browser.get(path, params={name: attack})
                requested += 1
                assert answer.status_code in (200, 400, 404, 422), (step.name, name, answer.text)
                if answer.status_code == 200:
                    assert found(answer.json()) == [], (step.name, name, attack)
    assert requested > 200
    assert await everything(place) == before


async def test_no_id_is_read_as_sql(place: Place) -> None:
    browser = await place.client("owner")
    before = await everything(place)
    for step in walked(place):
        if step.declared.writes or "{" not in step.path or step.path in UNENDING:
            continue
        for attack in ("x' OR '1'='1", "1;DROP TABLE post", '"', "..%2f..%2fetc%2fpasswd"):
            ids = dict.fromkeys(ids_of(place, "ada"), attack)
            for home in ("home-of-ada", attack):
                answer = await browser.get(step.fill(Unknown(ids | {"workspace_id": home})))
                assert answer.status_code in (200, 400, 403, 404, 422), (step.name, answer.text)
                if answer.status_code == 200:  # nothing but the home itself was named
                    assert set(step.path.split("/")) & {"{workspace_id}"}, step.name
    assert await everything(place) == before


def found(answer: Any) -> list[Any]:
    """What a list or a page holds; an answer that is neither was not filtered."""
    if isinstance(answer, list):
        return answer
    return answer.get("items", []) if isinstance(answer, dict) else []


async def test_whatever_breaks_inside_no_route_tells_more_than_its_id(
    small: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser = await small.client("owner")
    operations = small.runtime.operations
    look = operations.read  # who is asking is still seen; everything behind the gate breaks

    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("canary: SELECT password FROM person at /srv/cadenza/people.py")

    monkeypatch.setattr(operations, "peek", lambda op: look(lambda tx, _: op(tx)))
    for way in ("run", "read"):
        monkeypatch.setattr(operations, way, broken)
    told = 0
    for step in walked(small):
        if step.path in UNENDING or step.path.endswith("/export"):
            continue  # a stream that has begun can only be cut
        path = step.fill(Unknown(ids_of(small, "ada")))
        answer = await browser.request(step.declared.method, path, json=step.body())
        told += answer.status_code == 500
        assert "canary" not in answer.text, step.name
        assert "Traceback" not in answer.text, step.name
        if answer.status_code == 500:
            said = answer.json()
            assert set(said) == {"type", "title", "status", "detail", "instance", "errors"}
            assert said["instance"] == answer.headers["x-request-id"]
    assert told > 80


async def test_what_the_database_says_stays_here(small: Place) -> None:
    browser = await small.client("owner")
    long = json.dumps({"name": "x" * 100_000}).encode()
    answer = await browser.patch(
        "/api/v1/me", content=long, headers={"content-type": "application/json"}
    )
    assert answer.status_code == 422
    assert "xxxxxxxx" not in answer.text, "what was sent is not sent back"
