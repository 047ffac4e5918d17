"""The link that opens an empty installation, to be printed once where the process was started.

Only who can read that place becomes the first owner. A new start makes a new link; the one before is
worth nothing then.
"""

from cadenza.bootstrap.model import Runtime
from cadenza.people.sign_up import offer_first_start
from cadenza.people.tokens import draw_token


async def first_start_link(runtime: Runtime) -> str | None:
    """Return the link to print; None: the application has an owner."""
    token = draw_token()
    offered = await runtime.operations.run(
        lambda tx, now: offer_first_start(tx, now, token_hash=token.hash)
    )
    return f"{runtime.settings.home}/first-start#token={token.text}" if offered else None
