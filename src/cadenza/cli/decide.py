"""`cadenza decide`: a person has looked whether an unconfirmed delivery is there, and says so.

A decision names the try that was looked at, by the fence that `cadenza explain` prints: what was seen of
one try says nothing of the next.
"""

from typing import Annotated

from cyclopts import App, Parameter

from cadenza.cli.codes import OK
from cadenza.cli.open_workspace import USUALLY, WorkspaceOptions, opened_workspace
from cadenza.cli.show import echo, print_json

app = App(name="decide", help="Say whether an unconfirmed delivery is there.")


@app.default
async def decide(
    delivery: str,
    /,
    *,
    fence: int,
    there: Annotated[bool, Parameter(negative="--not-there")],
    remote_id: str | None = None,
    rest: Annotated[bool, Parameter(negative="--leave-rest")] = True,
    options: WorkspaceOptions = USUALLY,
) -> int:
    """Say whether an unconfirmed delivery is there; --not-there sends it again.

    Parameters
    ----------
    delivery
        The delivery's id, as `post show` prints it.
    fence
        The try that was looked at, as `explain` prints it.
    there
        What was seen on the account itself.
    remote_id
        Of a thread: the id over there, which the other parts follow.
    rest
        Of a thread: whether the other parts follow.
    """
    async with opened_workspace(options) as home:
        answer = await home.deliveries.decide(
            delivery, fence=fence, is_there=there, remote_id=remote_id, rest=rest
        )
    if options.json:
        print_json(answer)
    else:
        echo("it is kept as sent" if answer["state"] == "sent" else "it is sent again")
    return OK
