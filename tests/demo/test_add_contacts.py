"""The demo's customers are real contacts, on lists, with channels beside them."""

from pathlib import Path

from cadenza.bootstrap import open_runtime
from cadenza.config.model import Settings
from cadenza.contacts.audiences import list_audiences
from cadenza.contacts.find import count_contacts
from cadenza.demo import script
from cadenza.demo.add_contacts import add_contacts
from tests.contacts.conftest import ADA, HOME, settle_in


async def test_the_demo_has_customers_lists_and_channels(
    sqlite_database: str, tmp_path: Path
) -> None:
    async with open_runtime(Settings(data=tmp_path, database=sqlite_database)) as runtime:
        await runtime.operations.run(settle_in)
        await add_contacts(runtime, HOME, ADA)
        people = await runtime.operations.read(lambda tx, _: count_contacts(tx, workspace_id=HOME))
        lists = await runtime.operations.read(lambda tx, _: list_audiences(tx, workspace_id=HOME))
    assert people == len(script.CONTACTS)
    assert {each.name: each.size for each in lists} == {"May get mail": 8, "Regulars": 6}
