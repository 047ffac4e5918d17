"""`cadenza bundle`: what a maintainer needs to help you, in one ZIP, with secrets and content left out.

It holds versions, settings (secrets as a mark), counts of rows and states, health of the database, and
the last thousand things that were tried, without what they said. Read it before you send it.
"""

from pathlib import Path

from cyclopts import App

from cadenza.cli.codes import OK
from cadenza.cli.files import save
from cadenza.cli.open_workspace import USUALLY, WorkspaceOptions, reached_installation

app = App(name="bundle", help="Pack what a maintainer needs to help you, without secrets.")


@app.default
async def bundle(
    file: Path = Path("cadenza-bundle.zip"), /, *, options: WorkspaceOptions = USUALLY
) -> int:
    """Pack versions, settings without secrets, counts and what was tried; no texts, no tokens.

    On a server it needs a key with the scope system:read, made by an owner of the installation.

    Parameters
    ----------
    file
        Where to; one that is there is not overwritten.
    """
    async with reached_installation(options) as client:
        await save(client.system.pack_bundle(), file, "packing", json=options.json)
    return OK
