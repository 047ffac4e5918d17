"""Addresses of webhooks are secrets: those that older versions kept in plain text are sealed at the next start."""

from datetime import datetime
from pathlib import Path

import msgspec

from cadenza.accounts.connect import connect
from cadenza.accounts.open import row_name
from cadenza.accounts.seal import open_tokens
from cadenza.bootstrap import open_runtime
from cadenza.config.model import Settings
from cadenza.notices.preferences import webhook_url_row
from cadenza.people.workspaces import NewWorkspace, create_workspace
from cadenza.providers.connect import Connected
from cadenza.providers.http.redact import Secret
from cadenza.providers.message import Tokens
from cadenza.sql.tx import Row, Tx

URL = "https://hooks.example/services/canary-that-nobody-may-read"
SHOWN = "https://hooks.example/…read"


async def test_what_lies_in_plain_text_is_sealed_at_the_next_start(
    database: str, tmp_path: Path
) -> None:
    settings = Settings(data=tmp_path, database=database)
    async with open_runtime(settings) as runtime:
        ring = runtime.keyring

        def furnish(tx: Tx, now: datetime) -> None:
            create_workspace(
                tx, now, new=NewWorkspace(id="home", name="Ada", zone="UTC"), by="person:ada"
            )
            tx.run(
                """
                INSERT INTO webhook (workspace_id, id, url, sealed, created_at)
                VALUES ('home', 'hook', :url, 'x', :now)
                """,
                url=URL,
                now=now,
            )
            for id_, url in (("a1", URL), ("a2", f"{URL}-2")):
                connected = Connected(
                    remote_id=url,
                    handle="hooks.example",
                    name="hooks.example",
                    tokens=Tokens(access=Secret("whsec_x"), extra={"previous": Secret("whsec_y")}),
                    settings={"url": url},
                )
                connect(
                    tx,
                    now,
                    workspace_id="home",
                    new_id=id_,
                    provider="webhook",
                    connected=connected,
                    ring=ring,
                )
            tx.run("UPDATE account SET sealed = NULL, state = 'disabled' WHERE id = 'a2'")

        await runtime.operations.run(furnish)

    def look(tx: Tx, _now: datetime) -> tuple[Row | None, list[Row]]:
        return tx.one("SELECT * FROM webhook"), tx.all("SELECT * FROM account ORDER BY id")

    for _ in range(2):  # a second start finds nothing to do
        async with open_runtime(settings) as runtime:
            hook, (one, two) = await runtime.operations.read(look)
        assert hook is not None
        assert "canary" not in f"{hook}{one}{two}"
        assert hook["url"] == SHOWN
        assert ring.open(hook["sealed_url"], row=webhook_url_row("home", "hook")) == URL
        tokens = open_tokens(ring, one["sealed"], row=row_name("home", one["id"]))
        assert tokens is not None
        extra = {name: secret.reveal() for name, secret in tokens.extra.items()}
        assert extra == {"previous": "whsec_y", "url": URL}
        assert msgspec.json.decode(one["settings"])["url"] == SHOWN
        assert two["sealed"] is None
        assert one["remote_id"].startswith("hook_")
        assert one["remote_id"] != two["remote_id"]
