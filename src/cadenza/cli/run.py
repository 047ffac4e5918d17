"""From words to an exit code: the command tree, and what each kind of failure becomes.

The tree names its groups by import path, so that `cadenza --help` loads none of them. A refusal is
one line on the error stream without a traceback; a fault of ours keeps its traceback.
"""

import sys
from collections.abc import Sequence

from cyclopts import App, CycloptsError, Group

from cadenza.cli.codes import AWAY, INTERRUPTED, MISUSED, OK, REFUSED, UsageError

KINDS = {
    "Start": {
        "up": ("cadenza.cli.up:app", "Start everything in one process: web app, API and worker."),
        "demo": (
            "cadenza.cli.demo:app",
            "Look around in a filled installation, with networks of its own.",
        ),
        "serve": ("cadenza.cli.up:serve_app", "Serve the web app and the API, without a worker."),
        "worker": ("cadenza.cli.worker:app", "Send what is due; or run an application's engine."),
        "simulate": ("cadenza.cli.simulate:app", "Open every network here, to try things out."),
    },
    "Posts and queues": {
        "post": ("cadenza.cli.post:app", "Write posts, approve them, send them, take them back."),
        "queue": ("cadenza.cli.queue:app", "Look at queues, add posts, change order and weeks."),
        "rule": ("cadenza.cli.rule:app", "Look at rules, make and change them."),
        "category": ("cadenza.cli.category:app", "Keep categories, their copy and their pools."),
        "template": (
            "cadenza.cli.template:app",
            "Write templates, preview and check them, try them on yourself.",
        ),
        "message": ("cadenza.cli.message:app", "Send a template to one recipient."),
        "media": ("cadenza.cli.media:app", "Upload the files that posts show, delete them."),
        "explain": ("cadenza.cli.explain:app", "Say why a delivery does not go now."),
        "decide": ("cadenza.cli.decide:app", "Say whether an unconfirmed delivery is there."),
        "export": ("cadenza.cli.posts_files:export_app", "Write a whole workspace into a ZIP."),
    },
    "Contacts": {
        "contact": ("cadenza.cli.contact:app", "Keep contacts, import and export files of them."),
        "campaign": ("cadenza.cli.campaign:app", "Send one template to an audience."),
        "form": ("cadenza.cli.form:app", "Let people sign up by a form on your site."),
        "audience": ("cadenza.cli.audience:app", "Keep lists and saved filters of recipients."),
        "channel": ("cadenza.cli.channel:app", "Keep recipient channels, see which fail."),
        "inbox": ("cadenza.cli.inbox:app", "Read and answer replies; see bounces and complaints."),
        "outreach": (
            "cadenza.cli.outreach:app",
            "Write to people in steps, under the limits of accounts.",
        ),
        "suppression": (
            "cadenza.cli.suppression:app",
            "Keep the list of whom not to write to.",
        ),
    },
    "Accounts and people": {
        "account": (
            "cadenza.cli.account:app",
            "Look at accounts, connect them, pause them, limit them.",
        ),
        "workspace": (
            "cadenza.cli.workspace:app",
            "Look at workspaces, change them, stop and start sending.",
        ),
        "person": ("cadenza.cli.person:app", "Make the first owner, invite others, list them."),
        "key": ("cadenza.cli.key:app", "Make, list and revoke API keys."),
        "mcp": ("cadenza.cli.mcp:app", "Let an agent's program in, over stdin and stdout."),
    },
    "Look after it": {
        "doctor": ("cadenza.cli.doctor:app", "Examine the store, the workers and the clocks."),
        "config": ("cadenza.cli.config:app", "See what is set, and what is missing."),
        "db": ("cadenza.cli.db:app", "Upgrade, look at, copy and confirm the database."),
        "limits": (
            "cadenza.cli.limits:app",
            "Look at what limits allowed, and prove that they held.",
        ),
        "jobs": ("cadenza.cli.jobs:app", "Look at jobs and change what becomes of them."),
        "bundle": ("cadenza.cli.bundle:app", "Pack what a maintainer needs, without secrets."),
        "keys": ("cadenza.cli.keys:app", "Look after the keys that seal credentials."),
        "promote": ("cadenza.cli.promote:app", "Move the installation from SQLite to PostgreSQL."),
        "cron": ("cadenza.cli.cron:app", "Read cron expressions and preview them."),
    },
}
GROUPS = {name: place for commands in KINDS.values() for name, place in commands.items()}
SCOPES = (
    "what a key may do is chosen when it is made: `cadenza key make NAME --scope …`, by a person, "
    "on the server's machine or in the web app"
)
FIRST_STEPS = """\
First steps: `cadenza demo` to look around, or `cadenza up` for one of
your own; then `cadenza account connect`, `cadenza queue schedule`, and
`cadenza post create "Hello" --queue ACCOUNT`.

Commands work on this machine's database, or on a server: --server URL and
--key KEY, or CADENZA_SERVER and CADENZA_KEY. --json prints for programs.
Exit codes: 0 done, 1 refused, 2 used wrongly, 3 the store or server is away."""


def make_app() -> App:
    """Make the tree of commands."""
    app = App(
        name="cadenza",
        help="Sends the right thing at the right minute, once. This is its operator's hand.",
        version=_version,
        help_format="plaintext",  # markdown would load a parser for it first
        help_epilogue=FIRST_STEPS,
        result_action="return_value",
    )
    groups = [Group(kind, sort_key=number) for number, kind in enumerate(KINDS)]
    for group, commands in zip(groups, KINDS.values(), strict=True):
        for name, (path, text) in commands.items():
            app.command(path, name=name, help=text, group=group)
    app.register_install_completion_command(
        name="completion",
        help="Install tab completion for your shell.",
        group=groups[-1],
    )
    return app


def _version() -> str:
    from importlib.metadata import version

    return version("cadenza")


def run(words: Sequence[str]) -> int:
    """Run one command; return its exit code."""
    try:
        answer = make_app()(list(words), exit_on_error=False, print_error=False)
    except (CycloptsError, UsageError) as wrong:
        return _put_right(wrong)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # the reader of our output, such as `head`, has seen enough
        sys.stdout = None
        return OK
    except SystemExit as left:
        if not isinstance(left.__context__, BrokenPipeError):
            raise
        return OK  # rich met it first, while it drew a table or a help
    except Exception as error:  # noqa: BLE001 - what is no refusal is raised again
        return _refuse(error)
    return answer if isinstance(answer, int) else OK


def _put_right(wrong: CycloptsError | UsageError) -> int:
    """Tell in one line what is wrong with a command's words."""
    if isinstance(wrong, CycloptsError):
        from cadenza.cli.usage_errors import describe_usage_error

        print(f"cadenza: {describe_usage_error(wrong)}", file=sys.stderr)
    else:
        print(f"cadenza: {wrong}", file=sys.stderr)
    return MISUSED


def _refuse(error: Exception) -> int:
    """Tell a refusal in one line; anything else is a fault of ours and stays loud."""
    from cadenza.client.errors import ClientError, Problem, Unreachable

    if isinstance(error, ClientError):
        for line in error.lines() if isinstance(error, Problem) else [str(error)]:
            print(f"cadenza: {line}", file=sys.stderr)
        if isinstance(error, Problem) and error.code == "scope_needed":
            print(f"cadenza: {SCOPES}", file=sys.stderr)
        if isinstance(error, Problem) and error.code == "invalid_input":
            return MISUSED
        away = isinstance(error, Unreachable) or (
            isinstance(error, Problem) and error.status == 503
        )
        return AWAY if away else REFUSED

    from cadenza.bootstrap.errors import CannotStart
    from cadenza.config.load import BadSettings
    from cadenza.core.cron import CronError
    from cadenza.core.zones import UnknownZoneError
    from cadenza.engine.errors import EngineError, InvalidJob
    from cadenza.providers.http.redact import redact
    from cadenza.sql.errors import SqlError

    if isinstance(error, BadSettings):
        for problem in error.problems:
            print(f"cadenza: {problem}", file=sys.stderr)
        return MISUSED
    known = (EngineError, CronError, UnknownZoneError, CannotStart, SqlError)
    if not isinstance(error, known):
        raise error
    print(f"cadenza: {redact(str(error))}", file=sys.stderr)
    if isinstance(error, (InvalidJob, CronError, UnknownZoneError)):
        return MISUSED
    away = isinstance(error, EngineError) and error.kind == "unavailable"
    return AWAY if away or isinstance(error, SqlError) else REFUSED
