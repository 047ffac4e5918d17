"""System status: workers and what they have in hand, clocks, how late the pipeline is, how the networks answer,
what holds sending.
"""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from importlib.metadata import version
from typing import Annotated, Literal

from fastapi import Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from cadenza.api.metrics import delivery_lag
from cadenza.api.problems import conflict
from cadenza.api.request_context import Reader, Writer
from cadenza.api.routes import INSTANCE, Resource
from cadenza.api.schemas import Answer, InputModel
from cadenza.bootstrap.bundle import write_bundle
from cadenza.bootstrap.guard import read_witness
from cadenza.bootstrap.overdue import Overdue
from cadenza.bootstrap.resume_sending import reschedule_overdue
from cadenza.core.zones import tz_version
from cadenza.deliveries import installation
from cadenza.deliveries.audit_limits import audit_limits
from cadenza.engine.job import Filter, Job, State
from cadenza.sql.tx import Row, Tx

routes = Resource("system", "/system")
DAY = timedelta(days=1)
MOST = 1000  # running jobs that are looked at


class WorkerView(BaseModel):
    """A worker, as it said of itself last."""

    name: str
    queues: list[str]
    concurrency: int
    running: int
    version: str
    started_at: datetime
    seen_at: datetime
    clock_skew_seconds: float


class LeasesView(BaseModel):
    """What one worker has in hand; it renews a lease with every sign of life."""

    worker: str
    kind: Literal["deliveries", "jobs"]
    held: int
    lapsed: int = Field(description="Of these: ran out, and waits for another worker to take over")
    ends_at: datetime = Field(description="When the oldest of them runs out, unless it is renewed")


class Rate(BaseModel):
    """How a network answered within a day."""

    provider: str
    calls: int
    sent: int
    outcomes: dict[str, int]


class HoldView(BaseModel):
    """Why nothing leaves until a person confirms."""

    kind: str
    message: str
    since: datetime
    overdue: int = Field(
        description="Posts that were due since the backup and may be out already: they are missed until you confirm"
    )


class System(BaseModel):
    """System status."""

    version: str
    tz_version: str
    database_time: datetime
    clock_skew_seconds: float
    delivery_lag_seconds: float
    notices_waiting: int
    hold: HoldView | None
    workers: list[WorkerView]
    leases: list[LeasesView]
    providers: list[Rate]


class ConfirmInput(InputModel):
    """What becomes of posts that were due since the backup; after a jump of the clock there are none."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"overdue": "check"}]})
    overdue: Overdue = Field(
        default=Overdue.CHECK,
        description="check: they stay missed, look at each; the others only if none of them was sent",
    )


class ConfirmedView(Answer):
    """Sending goes on."""

    kind: str
    missed: int = Field(description="Posts that were due since the backup")
    moved: int = Field(default=0, description="Of these: got a new time")
    drafts: int = Field(default=0, description="Of these: are drafts again")


class WorstView(BaseModel):
    """A rule, and the worst that was ever reached under it."""

    workspace_id: str
    scope: str
    action: str
    kind: str
    limit: int
    reached: float
    at: str
    broken: bool


class DriftView(BaseModel):
    """A counter that does not say what the ledger says."""

    workspace_id: str
    scope: str
    action: str
    kind: str
    period: str
    counter: int
    ledger: int


class AuditView(BaseModel):
    """Whether limits held, and whether counters tell the truth."""

    clean: bool
    worst: list[WorstView]
    drift: list[DriftView]


@routes.get(needs=INSTANCE, scope="system:read")
async def show_system(ask: Reader) -> System:
    """Show workers, clocks, lag and success rates."""
    workers = await ask.runtime.engine.workers()
    running = await ask.runtime.engine.store.find(Filter(states=(State.RUNNING,), limit=MOST))
    here = ask.runtime.clock.now()

    def look(tx: Tx, now: datetime) -> System:
        signs = installation.read_signs(tx, now)
        hold = None if signs is None else signs.hold
        waiting = tx.value(
            "SELECT count(*) FROM notice WHERE state = 'waiting' AND due_at <= :now", now=now
        )
        return System(
            version=version("cadenza"),
            tz_version=tz_version(),
            database_time=now,
            clock_skew_seconds=round((here - now).total_seconds(), 3),
            delivery_lag_seconds=delivery_lag(tx, now),
            notices_waiting=waiting,
            hold=None if hold is None else _shown(tx, hold),
            workers=[
                WorkerView(
                    name=each.name,
                    queues=list(each.queues),
                    concurrency=each.concurrency,
                    running=each.running,
                    version=each.version,
                    started_at=each.started_at,
                    seen_at=each.seen_at,
                    clock_skew_seconds=each.skew,
                )
                for each in workers
            ],
            leases=[*_delivering(tx, now), *_working(running, now)],
            providers=_rates(_outcomes(tx, now)),
        )

    return await ask.read(look)


@routes.get("/limits-audit", needs=INSTANCE, scope="system:read")
async def audit_all_limits(
    ask: Reader,
    *,
    whole: Annotated[
        bool, Query(description="Replay the whole ledger, not only what came since the last night")
    ] = False,
) -> AuditView:
    """Replay the ledger against every rule of every account, and show the worst that was ever reached."""
    found = await ask.read(lambda tx, now: audit_limits(tx, now, whole=whole))
    return AuditView(
        clean=found.clean,
        worst=[WorstView(**asdict(each), broken=each.broken) for each in found.worst],
        drift=[DriftView(**asdict(each)) for each in found.drift],
    )


@routes.get(
    "/bundle",
    needs=INSTANCE,
    scope="system:read",
    response_class=Response,
    responses={200: {"description": "A ZIP file", "content": {"application/zip": {}}}},
)
async def pack_bundle(ask: Reader) -> Response:
    """Pack what a maintainer needs to help: versions, settings, counts, tries; no texts, no secrets."""
    return Response(
        await write_bundle(ask.runtime),
        headers={"content-disposition": 'attachment; filename="cadenza-bundle.zip"'},
        media_type="application/zip",
    )


@routes.post("/confirm", needs=INSTANCE)
async def confirm(act: Writer, body: ConfirmInput) -> ConfirmedView:
    """Say that all is well after a restore or a clock's jump: sending goes on."""
    witness = read_witness(act.runtime.settings.witness)

    def operation(tx: Tx, now: datetime) -> ConfirmedView:
        answer = installation.confirm(tx, now, by=act.by, witness=witness)
        if isinstance(answer, installation.NothingHeld):
            raise conflict("nothing_held", "There is nothing to confirm: sending is not held.")
        return ConfirmedView(kind=answer.kind, missed=answer.missed)

    answer = await act.write(operation, locks=[installation.LOCK])
    if act.dry_run or not answer.missed:
        return answer
    done = await reschedule_overdue(act.runtime.operations, body.overdue, by=act.by)
    return answer.model_copy(update={"moved": done.moved, "drafts": done.drafts})


def _shown(tx: Tx, hold: installation.Hold) -> HoldView:
    restored = hold.kind == installation.RESTORE
    return HoldView(
        kind=hold.kind,
        message=hold.message,
        since=hold.since,
        overdue=installation.count_maybe_sent(tx) if restored else 0,
    )


def _delivering(tx: Tx, now: datetime) -> list[LeasesView]:
    rows = tx.all(
        """
        SELECT worker, count(*) AS held, min(leased_until) AS first_until,
            sum(CASE WHEN leased_until <= :now THEN 1 ELSE 0 END) AS lapsed
        FROM delivery WHERE leased_until IS NOT NULL GROUP BY worker ORDER BY worker
        """,
        now=now,
    )
    return [
        LeasesView(
            worker=row["worker"] or "",
            kind="deliveries",
            held=row["held"],
            lapsed=row["lapsed"],
            ends_at=row["first_until"],
        )
        for row in rows
    ]


def _working(jobs: Sequence[Job], now: datetime) -> list[LeasesView]:
    ends: dict[str, list[datetime]] = {}
    for job in jobs:
        if job.lease_until is not None:
            ends.setdefault(job.worker or "", []).append(job.lease_until)
    return [
        LeasesView(
            worker=worker,
            kind="jobs",
            held=len(own),
            lapsed=sum(each <= now for each in own),
            ends_at=min(own),
        )
        for worker, own in sorted(ends.items())
    ]


def _outcomes(tx: Tx, now: datetime) -> list[Row]:
    return tx.all(
        """
        SELECT account.provider, coalesce(attempt.outcome, 'open') AS outcome, count(*) AS calls
        FROM attempt
        JOIN delivery ON delivery.workspace_id = attempt.workspace_id AND delivery.id = attempt.delivery_id
        JOIN account ON account.workspace_id = delivery.workspace_id AND account.id = delivery.account_id
        WHERE attempt.began_at > :since
        GROUP BY account.provider, coalesce(attempt.outcome, 'open')
        """,
        since=now - DAY,
    )


def _rates(rows: list[Row]) -> list[Rate]:
    rates: dict[str, Rate] = {}
    for row in rows:
        rate = rates.setdefault(
            row["provider"], Rate(provider=row["provider"], calls=0, sent=0, outcomes={})
        )
        rate.calls += row["calls"]
        rate.sent += row["calls"] if row["outcome"].lower() == "sent" else 0
        rate.outcomes[row["outcome"]] = row["calls"]
    return [rates[name] for name in sorted(rates)]
