"""A sending domain is checked over HTTP, by its name or by an account that sends from it."""

from cadenza.providers.http.resolve import SystemTextResolver
from cadenza.sql.tx import Tx
from tests.accounts.test_check_domain import DOMAIN, GOOD
from tests.api.conftest import Place
from tests.servers.names import name_server

CHECK = "/api/v1/workspaces/home-of-ada/domain-check"


async def test_a_domain_and_an_accounts_domain_are_checked(small: Place) -> None:
    def mailbox(tx: Tx, now: object) -> int:
        return tx.run(
            "UPDATE account SET settings = :settings WHERE id = 'account-of-ada'",
            settings=f'{{"from_address":"ada@{DOMAIN}","dkim_selector":"s1"}}',
        )

    await small.runtime.operations.run(mailbox)
    async with name_server(dict(GOOD)) as server:
        small.runtime.http.texts = SystemTextResolver(server.address)
        viewer = await small.client("viewer")
        named = await viewer.get(CHECK, params={"domain": "Ada.Example", "selector": "s1"})
        assert named.status_code == 200, named.text
        assert (named.json()["domain"], named.json()["good"]) == (DOMAIN, True)
        own = (await viewer.get(CHECK, params={"account_id": "account-of-ada"})).json()
        assert own == named.json()
        missing = (await viewer.get(CHECK, params={"domain": "nobody.example"})).json()
        levels = {each["code"]: each["level"] for each in missing["findings"]}
        assert levels["spf_missing"] == levels["dmarc_missing"] == "problem"
        assert all(each["fix"] for each in missing["findings"] if each["level"] == "problem")


async def test_what_names_no_domain_is_refused_and_nothing_is_looked_up(small: Place) -> None:
    async with name_server({}) as server:
        small.runtime.http.texts = SystemTextResolver(server.address)
        viewer = await small.client("viewer")
        for params in (
            {},
            {"domain": "ada@ada.example"},
            {"domain": "127.0.0.1:53"},
            {"domain": DOMAIN, "selector": "a/b"},
            {"domain": DOMAIN, "account_id": "account-of-ada"},
        ):
            assert (await viewer.get(CHECK, params=params)).status_code == 422, params
        nobody = await viewer.get(CHECK, params={"account_id": "account-of-cy"})
        assert nobody.status_code == 404
        assert server.asked == []
