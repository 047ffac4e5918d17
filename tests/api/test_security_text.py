"""Who finds a fault is told whom to tell, once somebody is named."""

from dataclasses import replace
from datetime import datetime, timedelta

from tests.api.conftest import Place

PATH = "/.well-known/security.txt"


async def test_whoever_is_named_is_told_of_faults(small: Place) -> None:
    assert (await (await small.client()).get(PATH)).status_code == 404
    settings = replace(small.runtime.settings, security_contact="mailto:security@house.test")
    small.app.state.runtime = replace(small.runtime, settings=settings)
    answer = await (await small.client()).get(PATH)
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    contact, expires = answer.text.splitlines()
    assert contact == "Contact: mailto:security@house.test"
    until = datetime.fromisoformat(expires.removeprefix("Expires: "))
    assert timedelta(days=1) < until - small.runtime.clock.now() < timedelta(days=365)
    assert (await (await small.client()).get("/.well-known/other")).status_code == 404
