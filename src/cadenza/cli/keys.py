"""`cadenza keys`: the keys that credentials are sealed with.

`rotate` puts a new key in front and seals everything again; old keys stay in the file, so that a backup
from before still opens. Processes that run on this key file take the new key up by themselves.
"""

from cyclopts import App

from cadenza.accounts.rotate_key import rotate_all
from cadenza.accounts.seal import add_key
from cadenza.bootstrap.keyring import open_keyring
from cadenza.cli.codes import OK
from cadenza.cli.settings import USUAL, ConfigOptions, opened_database
from cadenza.cli.show import echo, print_json

app = App(name="keys", help="Look after the keys that seal credentials.")


@app.command
async def rotate(*, chosen: ConfigOptions = USUAL) -> int:
    """Make a new key and seal everything with it: accounts, webhooks, second factors, letters."""
    async with opened_database(chosen) as runtime:
        path = runtime.settings.keys
        open_keyring(runtime.settings)  # made where there is none
        key_id = add_key(path)
        done = await rotate_all(runtime.operations, open_keyring(runtime.settings))
    if chosen.json:
        print_json({"key": key_id, "sealed": done.sealed, "lost": done.lost, "file": str(path)})
    else:
        each = ", ".join(f"{table} {count}" for table, count in done.sealed.items() if count)
        echo(
            f"key {key_id} is in front in {path}; sealed again: {each or 'nothing was sealed yet'}"
        )
        for row in done.lost:
            echo(f"no key in the file opens {row}: it was left as it is")
        echo(
            "copy the key file to every other machine now, and back it up, apart from the database"
        )
    return OK
