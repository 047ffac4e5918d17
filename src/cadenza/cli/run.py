"""From words to an exit code: the command tree, and what each kind of failure becomes.

The tree names its groups by import path, so that `cadenza --help` loads none of them. A refusal is
one line on the error stream without a traceback; a fault of ours keeps its traceback.
"""

import sys
from collections.abc import Sequence
from importlib.metadata import version

from cyclopts import App, CycloptsError

from cadenza.cli.codes import AWAY, INTERRUPTED, MISUSED, OK, REFUSED

GROUPS = {
    "jobs": ("cadenza.cli.jobs:app", "Look at jobs and change what becomes of them."),
    "worker": ("cadenza.cli.worker:app", "Run the jobs of an application's engine."),
    "cron": ("cadenza.cli.cron:app", "Read cron expressions and preview them."),
    "doctor": ("cadenza.cli.doctor:app", "Examine the store, the workers and the clocks."),
    "limits": ("cadenza.cli.limits:app", "Look at what limits allowed, and prove that they held."),
}


def make_app() -> App:
    """Make the tree of commands."""
    app = App(
        name="cadenza",
        help="Sends the right thing at the right minute, once. This is its operator's hand.",
        version=lambda: version("cadenza"),
        help_format="plaintext",  # markdown would load a parser for it first
        result_action="return_value",
    )
    for name, (path, text) in GROUPS.items():
        app.command(path, name=name, help=text)
    app.register_install_completion_command(
        name="completion", help="Install tab completion for your shell."
    )
    return app


def run(words: Sequence[str]) -> int:
    """Run one command; return its exit code."""
    try:
        answer = make_app()(list(words), exit_on_error=False)
    except CycloptsError:
        return MISUSED  # told already, beside the usage
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # the reader of our output, such as `head`, has seen enough
        sys.stdout = None
        return OK
    except Exception as error:  # noqa: BLE001 - what is no refusal is raised again
        return _refuse(error)
    return answer if isinstance(answer, int) else OK


def _refuse(error: Exception) -> int:
    """Tell a refusal in one line; anything else is a fault of ours and stays loud."""
    from cadenza.core.cron import CronError
    from cadenza.core.zones import UnknownZoneError
    from cadenza.engine.errors import EngineError

    if not isinstance(error, EngineError | CronError | UnknownZoneError):
        raise error
    print(f"cadenza: {error}", file=sys.stderr)
    return AWAY if isinstance(error, EngineError) and error.kind == "unavailable" else REFUSED
