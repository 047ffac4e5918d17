"""A workspace with contacts, on both databases, and a runtime whose background jobs run when asked."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from cadenza.bootstrap import Runtime, open_runtime
from cadenza.bootstrap.import_contacts import import_contacts
from cadenza.config.model import Settings
from cadenza.contacts import imports
from cadenza.contacts.columns import Defaults
from cadenza.contacts.imports import Import, Options
from cadenza.contacts.model import Contact, ContactForm
from cadenza.contacts.read_table import Head, convert_xlsx, read_head
from cadenza.contacts.save import create_contact
from cadenza.people.workspaces import NewWorkspace, create_workspace
from cadenza.sql.tx import Tx

HOME, NEXT_DOOR = "home-of-ada", "home-of-cy"
ADA = "member:ada"


class Desk:
    """What people do with contacts."""

    def __init__(self, runtime: Runtime, folder: Path) -> None:
        self.runtime = runtime
        self.folder = folder

    async def run(self, operation: Any) -> Any:
        return await self.runtime.operations.run(operation)

    async def read(self, operation: Any) -> Any:
        return await self.runtime.operations.read(operation)

    async def add(self, *, home: str = HOME, **said: Any) -> Any:
        if "email" in said:
            said["addresses"] = [("email", said.pop("email"))]
        form = ContactForm(**said)
        return await self.run(
            lambda tx, now: create_contact(tx, now, form, workspace_id=home, by=ADA)
        )

    async def upload(
        self, text: str | bytes, *, kind: str = "contacts", format_: str = "csv"
    ) -> Import:
        """Store a file as the API does."""
        id_ = self.runtime.ids.new()
        path = self.folder / id_  # as the API keeps it: without an ending
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        head: Any = None
        if format_ == "xlsx":
            start = self.folder / f"{id_}-head.csv"
            assert convert_xlsx(path, start, most_rows=6) is None
            head = read_head(start)
        else:
            head = read_head(path)
        assert isinstance(head, Head), head
        name = f"imports/{id_}.{format_}"
        await self.runtime.library.storage.write(name, path, mime="text/csv", sha256="")
        return await self.run(
            lambda tx, now: imports.add_import(
                tx,
                now,
                head,
                workspace_id=HOME,
                id_=id_,
                kind=kind,  # pyright: ignore[reportArgumentType]
                name="people.csv",
                format_=format_,
                size=path.stat().st_size,
                by=ADA,
            )
        )

    async def start(self, there: Import, *, dry_run: bool = False, **options: Any) -> Any:
        mapping = options.pop("mapping", there.suggested)
        defaults = Defaults(**options.pop("defaults", {}))
        chosen = Options(defaults=defaults, **options)
        return await self.run(
            lambda tx, now: imports.start_import(
                tx,
                now,
                workspace_id=HOME,
                import_id=there.id,
                mapping=mapping,
                options=chosen,
                by=ADA,
                dry_run=dry_run,
            )
        )

    async def work(self, there: Import) -> Import:
        """Run the background job of an import."""
        await import_contacts(self.runtime, {"workspace_id": HOME, "import_id": there.id})
        return await self.found(there)

    async def found(self, there: Import) -> Import:
        return await self.read(lambda tx, _: imports.find_import(tx, HOME, there.id))

    async def do(self, text: str | bytes, **options: Any) -> Import:
        """Upload and import a file whole."""
        there = await self.upload(
            text, kind=options.pop("kind", "contacts"), format_=options.pop("format_", "csv")
        )
        started = await self.start(there, **options)
        assert isinstance(started, Import), started
        return await self.work(there)

    async def rows(self, sql: str, **params: Any) -> list[dict[str, Any]]:
        return await self.read(lambda tx, _: tx.all(sql, **params))

    async def report(self, there: Import) -> list[dict[str, Any]]:
        return await self.read(
            lambda tx, _: imports.list_rows(tx, workspace_id=HOME, import_id=there.id, limit=1000)
        )

    async def undo(self, there: Import) -> Any:
        return await self.run(
            lambda tx, now: imports.undo_import(
                tx, now, workspace_id=HOME, import_id=there.id, by=ADA
            )
        )


def person(made: object) -> Contact:
    assert isinstance(made, Contact), made
    return made


def settle_in(tx: Tx, now: Any) -> None:
    for home in (HOME, NEXT_DOOR):
        new = NewWorkspace(id=home, name=home, zone="Europe/Berlin")
        create_workspace(tx, now, new=new, by="system")


@pytest.fixture
async def desk(database: str, tmp_path: Path) -> AsyncIterator[Desk]:
    settings = Settings(data=tmp_path, database=database)
    async with open_runtime(settings) as runtime:
        await runtime.operations.run(settle_in)
        yield Desk(runtime, tmp_path)
