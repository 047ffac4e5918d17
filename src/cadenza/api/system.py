"""How the house is: workers, clocks, how late the road is, how the networks answer, what holds sending."""

from dataclasses import asdict
from datetime import datetime, timedelta
from importlib.metadata import version

from pydantic import BaseModel
from starlette.responses import Response

from cadenza.api.ask import Act, Ask
from cadenza.api.declare import INSTANCE, Resource
from cadenza.api.metrics import road_lag
from cadenza.api.problems import conflict
from cadenza.api.shape import Answer
from cadenza.bootstrap.bundle import write_bundle
from cadenza.bootstrap.guard import read_witness
from cadenza.core.zones import tz_version
from cadenza.deliveries import installation
from cadenza.deliveries.audit_limits import audit_limits
from cadenza.sql.tx import Row, Tx

routes = Resource("system", "/system")
DAY = timedelta(days=1)


class WorkerShown(BaseModel):
    """A worker, as it said of itself last."""

    name: str
    queues: list[str]
    concurrency: int
    running: int
    version: str
    started_at: datetime
    seen_at: datetime
    clock_skew_seconds: float


class Rate(BaseModel):
    """How a network answered within a day."""

    provider: str
    calls: int
    sent: int
    outcomes: dict[str, int]


class HoldShown(BaseModel):
    """Why nothing leaves until a person confirms."""

    kind: str
    says: str
    since: datetime


class System(BaseModel):
    """How the house is."""

    version: str
    tz_version: str
    database_time: datetime
    clock_skew_seconds: float
    road_lag_seconds: float
    notices_waiting: int
    hold: HoldShown | None
    workers: list[WorkerShown]
    providers: list[Rate]


class ConfirmedShown(Answer):
    """Sending goes on."""

    kind: str
    missed: int


class WorstShown(BaseModel):
    """A rule, and the worst that was ever reached under it."""

    workspace_id: str
    scope: str
    action: str
    kind: str
    limit: int
    reached: float
    at: str
    broken: bool


class DriftShown(BaseModel):
    """A counter that does not say what the ledger says."""

    workspace_id: str
    scope: str
    action: str
    kind: str
    period: str
    counter: int
    ledger: int


class AuditShown(BaseModel):
    """Whether limits held, and whether counters tell the truth."""

    clean: bool
    worst: list[WorstShown]
    drift: list[DriftShown]


@routes.get(needs=INSTANCE, scope="system:read")
async def show_system(ask: Ask) -> System:
    """Show workers, clocks, lag and success rates."""
    workers = await ask.house.engine.workers()
    here = ask.house.clock.now()

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
            road_lag_seconds=road_lag(tx, now),
            notices_waiting=waiting,
            hold=None
            if hold is None
            else HoldShown(kind=hold.kind, says=hold.says, since=hold.since),
            workers=[
                WorkerShown(
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
            providers=_rates(_outcomes(tx, now)),
        )

    return await ask.read(look)


@routes.get("/limits-audit", needs=INSTANCE, scope="system:read")
async def audit_all_limits(ask: Ask) -> AuditShown:
    """Replay the ledger against every rule of every account, and show the worst that was ever reached."""
    found = await ask.read(audit_limits)
    return AuditShown(
        clean=found.clean,
        worst=[WorstShown(**asdict(each), broken=each.broken) for each in found.worst],
        drift=[DriftShown(**asdict(each)) for each in found.drift],
    )


@routes.get(
    "/bundle",
    needs=INSTANCE,
    scope="system:read",
    response_class=Response,
    responses={200: {"description": "A ZIP file", "content": {"application/zip": {}}}},
)
async def pack_bundle(ask: Ask) -> Response:
    """Pack what a maintainer needs to help: versions, settings, counts, tries; no texts, no secrets."""
    return Response(
        await write_bundle(ask.house),
        headers={"content-disposition": 'attachment; filename="cadenza-bundle.zip"'},
        media_type="application/zip",
    )


@routes.post("/confirm", needs=INSTANCE)
async def confirm(act: Act) -> ConfirmedShown:
    """Say that all is well after a restore or a clock's jump: sending goes on."""
    witness = read_witness(act.house.settings.witness)

    def operation(tx: Tx, now: datetime) -> ConfirmedShown:
        answer = installation.confirm(tx, now, by=act.by, witness=witness)
        if isinstance(answer, installation.NothingHeld):
            raise conflict("nothing_held", "There is nothing to confirm: sending is not held.")
        return ConfirmedShown(kind=answer.kind, missed=answer.missed)

    return await act.write(operation, locks=[installation.LOCK])


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
