"""Two stores play the same steps, and each answer is held against the other's."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import msgspec

import cadenza.engine.testing.conformance.operations as op
from cadenza.engine.job import Debounce, Enqueued, NewJob, Pace, Schedule, Throttle, Unique
from cadenza.engine.outcomes import Park, Settlement
from cadenza.engine.store import Changed
from cadenza.engine.testing.conformance.compare import (
    Names,
    see_gates,
    see_jobs,
    see_next_due,
    see_not_late,
    see_schedules,
    see_tally,
)
from cadenza.engine.testing.conformance.harness import DAY, Harness
from cadenza.engine.testing.conformance.model import Model

ALL = 100_000
STRANGE = 10_000_000  # added to a lease, it is nobody's


@dataclass(slots=True)
class Comparison:
    """The reference, the store under test, and who is who on either side."""

    harness: Harness
    model: Model
    names: Names
    hand: list[tuple[int, int]] = field(
        default_factory=list
    )  # the model's (id, lease), once claimed

    @classmethod
    async def begin(cls, harness: Harness) -> "Comparison":
        """Start with an empty model at the store's own now."""
        now = await harness.store.now()
        return cls(harness, Model(now), Names(prefix=f"{now:%y%m%d%H%M%S}"))

    async def play(self, step: op.Step) -> None:
        """Do one step on both sides."""
        match step:
            case op.Insert(jobs):
                await self._insert(jobs)
            case op.Claim():
                await self._claim(step)
            case op.Settle(outcomes):
                await self._settle(outcomes)
            case op.Renew():
                await self._renew(step)
            case op.Shift(by):
                await self._shift(by)
            case op.Start(picks):
                await self._start(picks)
            case op.Rescue(crash_limit, silence):
                await self._shift(silence)
                await self._rescue(crash_limit)
            case op.Cancel() | op.Revive():
                await self._change(step)
            case op.Report(pick, stale):
                await self._report(pick, stale=stale)
            case op.SetGate():
                await self._set_gate(step)
            case op.PutSchedule():
                await self._put_schedule(step)
            case op.SetSchedule(name, paused):
                await self._set_schedule(self.names.own(name), paused=paused)
            case op.DropSchedule(name):
                name = self.names.own(name)
                theirs = await self.harness.store.drop_schedule(name)
                assert theirs == await self.model.drop_schedule(name)
            case op.Fire():
                await self._fire(step)
            case op.Prune(done, failed):
                theirs = await self.harness.store.prune(done=done, failed=failed, limit=ALL)
                assert theirs == await self.model.prune(done=done, failed=failed, limit=ALL)

    async def compare(self) -> None:
        """Hold all that can be seen of one side against the other."""
        names, store, model = self.names, self.harness.store, self.model
        for queue in map(names.own, op.QUEUES):
            everything = names.all_of(queue)
            see_jobs(names, await store.find(everything), await model.find(everything), model)
            due = await store.next_due(queue)
            see_not_late(due, await model.next_due(queue))
        see_gates(names, await store.gates(), await model.gates(), model.clock.now())
        see_schedules(names, await store.schedules(), await model.schedules())
        due = await store.schedules(due_only=True)
        see_schedules(names, due, await model.schedules(due_only=True))
        see_tally(names, await store.tally(), await model.tally())

    async def clean_up(self) -> None:
        """Leave nothing that a later run could meet."""
        store = self.harness.store
        await self.harness.shift(DAY)
        await store.rescue(crash_limit=1)
        await store.cancel(list(self.names.ids.values()), reason="the run is over")
        for schedule in await store.schedules():
            await store.drop_schedule(schedule.name)
        await self.harness.shift(DAY)
        await store.prune(done=timedelta(), failed=timedelta(), limit=ALL)

    async def _shift(self, by: timedelta) -> None:
        await self.harness.shift(by)
        self.model.clock.shift(by)

    async def _insert(self, jobs: tuple[NewJob, ...]) -> None:
        owned = [self._own(job) for job in jobs]
        theirs = await self.harness.store.insert(owned)
        self._compare_answers(theirs, await self.model.insert(owned))

    def _own(self, job: NewJob) -> NewJob:
        """Move a job into the queues and keys of this run."""
        changes: dict[str, Any] = {"queue": self.names.own(job.queue)}
        spans = self.harness.store.traits.keys_span_queues
        within = "" if spans else f"{job.queue}-"  # the reference shares keys between queues
        match job.rule:
            case Unique(key, while_):
                changes["rule"] = Unique(self.names.own(within + key), while_)
            case Throttle(key, period):
                changes["rule"] = Throttle(self.names.own(within + key), period)
            case Debounce(key, wait, max_wait):
                changes["rule"] = Debounce(self.names.own(within + key), wait, max_wait)
            case Pace(key, step):
                changes["rule"] = Pace(self.names.own(within + key), step)
            case None:
                pass
        return msgspec.structs.replace(job, **changes)

    def _compare_answers(self, theirs: list[Enqueued], ours: list[Enqueued]) -> None:
        assert [answer.outcome for answer in theirs] == [answer.outcome for answer in ours]
        for their, our in zip(theirs, ours, strict=True):
            if our.inserted:
                self.names.ids[our.id] = their.id
            assert their.id == self.names.ids[our.id]
            assert (their.run_at, their.until) == (our.run_at, our.until), f"instants of {our}"

    async def _claim(self, step: op.Claim) -> None:
        queue = self.names.own(step.queue)
        theirs = await self.harness.store.claim(
            queue,
            limit=step.limit,
            worker=step.worker,
            lease=step.lease,
            alone=step.alone,
            started=step.started,
        )
        self.model.plan = Counter(job.lane for job in theirs.jobs)
        self.model.runnable = 0
        ours = await self.model.claim(
            queue,
            limit=step.limit,
            worker=step.worker,
            lease=step.lease,
            alone=step.alone,
            started=step.started,
        )
        assert len(theirs.jobs) == self.model.runnable, "as many as may run are handed out"
        for lane in self.model.plan:
            handed = [job for job in theirs.jobs if job.lane == lane]
            rightly = [job for job in ours.jobs if job.lane == lane]
            assert [job.id for job in handed] == [self.names.ids[job.id] for job in rightly]
            for their, our in zip(handed, rightly, strict=True):
                self.names.same_claimed(their, our)
        assert theirs.crashed == ours.crashed, "crashed"
        if not ours.jobs:
            see_next_due(theirs.next_due, ours.next_due, self.model.clock.now())
            return
        self.names.leases[ours.lease] = theirs.lease
        self.hand += [(job.id, job.lease) for job in ours.jobs]

    async def _settle(self, outcomes: tuple[op.Outcome, ...]) -> None:
        if not self.hand:
            return
        pairs = {self.hand[outcome.pick % len(self.hand)]: outcome for outcome in outcomes}
        tried = {pair for pair, outcome in pairs.items() if not outcome.stale}
        self.hand = [pair for pair in self.hand if pair not in tried]
        left = {lease for _, lease in self.hand}
        closed = sorted({lease for _, lease in tried} - left)
        ours = [self._word(outcome, *pair) for pair, outcome in pairs.items()]
        theirs = [self._translate(settlement) for settlement in ours]
        refused = await self.harness.store.settle(
            theirs, closed=[self.names.leases[lease] for lease in closed]
        )
        expected = await self.model.settle(ours, closed=closed)
        assert {one.id for one in refused} == {self.names.ids[one.id] for one in expected}

    def _translate(self, settlement: Settlement) -> Settlement:
        id_, lease = settlement.id, settlement.lease
        return msgspec.structs.replace(
            settlement, id=self.names.ids[id_], lease=self.names.leases.get(lease, lease)
        )

    def _word(self, outcome: op.Outcome, id_: int, lease: int) -> Settlement:
        park = outcome.park and Park(self.names.own_scope(outcome.park), 5 * op.MINUTE)
        return Settlement(
            id_,
            lease + (STRANGE if outcome.stale else 0),
            outcome.verdict,
            delay=outcome.wait,
            at=self.model.clock.now() + 2 * outcome.wait if outcome.at else None,
            error='{"kind":"Noted"}' if outcome.at else None,
            output='{"out":1}',
            keep=outcome.keep,
            park=park,
        )

    async def _renew(self, step: op.Renew) -> None:
        leases = list(self.names.leases)
        picked = list(dict.fromkeys(leases[pick % len(leases)] for pick in step.picks if leases))
        mapped = [self.names.leases[lease] for lease in picked]
        theirs = await self.harness.store.renew(step.worker, mapped, lease=step.lease)
        ours = await self.model.renew(step.worker, picked, lease=step.lease)
        assert theirs.lost == {self.names.leases[lease] for lease in ours.lost}
        assert theirs.cancel == {self.names.ids[id_] for id_ in ours.cancel}

    async def _start(self, picks: tuple[int, ...]) -> None:
        ours: dict[int, list[int]] = {}
        for pick in picks if self.hand else ():
            id_, lease = self.hand[pick % len(self.hand)]
            ours.setdefault(lease, []).append(id_)
        theirs = {
            self.names.leases[lease]: [self.names.ids[id_] for id_ in ids]
            for lease, ids in ours.items()
        }
        await self.harness.store.start(theirs)
        await self.model.start(ours)

    async def _rescue(self, crash_limit: int) -> None:
        theirs = await self.harness.store.rescue(crash_limit=crash_limit)
        ours = await self.model.rescue(crash_limit=crash_limit)
        assert set(theirs.returned) == {self.names.ids[id_] for id_ in ours.returned}
        assert set(theirs.buried) == {self.names.ids[id_] for id_ in ours.buried}

    async def _change(self, step: op.Cancel | op.Revive) -> None:
        known = list(self.names.ids)
        picked = list(dict.fromkeys(known[pick % len(known)] for pick in step.picks if known))
        mapped = [self.names.ids[id_] for id_ in picked]
        answers: tuple[list[Changed], list[Changed]]
        if isinstance(step, op.Cancel):
            answers = (
                await self.harness.store.cancel(mapped, reason="not wanted"),
                await self.model.cancel(picked, reason="not wanted"),
            )
        else:
            answers = await self.harness.store.revive(mapped), await self.model.revive(picked)
        assert answers[0] == answers[1]

    async def _report(self, pick: int, *, stale: bool) -> None:
        if not self.hand:
            return
        id_, lease = self.hand[pick % len(self.hand)]
        extra = STRANGE if stale else 0
        theirs = await self.harness.store.report(
            self.names.ids[id_], self.names.leases[lease] + extra, f'{{"pick":{pick}}}'
        )
        assert theirs == await self.model.report(id_, lease + extra, f'{{"pick":{pick}}}')

    async def _set_gate(self, step: op.SetGate) -> None:
        scope = self.names.own_scope(step.scope)
        reason = "because" if step.paused else None
        theirs = await self.harness.store.set_gate(
            scope, paused=step.paused, reason=reason, limit=step.limit, park=step.park
        )
        ours = await self.model.set_gate(
            scope, paused=step.paused, reason=reason, limit=step.limit, park=step.park
        )
        see_gates(self.names, [theirs], [ours], self.model.clock.now())

    async def _put_schedule(self, step: op.PutSchedule) -> None:
        schedule = Schedule(
            name=self.names.own(step.name),
            task="greet",
            recurrence='{"every":60}',
            queue=self.names.own(op.QUEUES[0]),
            paused=step.paused,
            next_at=self.model.clock.now() + step.wait,
        )
        theirs = await self.harness.store.put_schedule(schedule, keep_paused=step.keep_paused)
        ours = await self.model.put_schedule(schedule, keep_paused=step.keep_paused)
        see_schedules(self.names, [theirs], [ours])

    async def _set_schedule(self, name: str, *, paused: bool) -> None:
        theirs = await self.harness.store.set_schedule(name, paused=paused)
        ours = await self.model.set_schedule(name, paused=paused)
        see_schedules(self.names, [theirs] if theirs else [], [ours] if ours else [])

    async def _fire(self, step: op.Fire) -> None:
        name = self.names.own(step.name)
        known = {schedule.name: schedule for schedule in await self.model.schedules()}.get(name)
        revision = known.revision if known is not None and not step.stale else 9
        expected: datetime = known.next_at if known and known.next_at else self.model.clock.now()
        jobs = [self._own(job) for job in step.jobs]
        following = None if step.ends else expected + op.MINUTE
        theirs = await self.harness.store.fire(
            name, revision=revision, expected=expected, next_at=following, note="n", jobs=jobs
        )
        ours = await self.model.fire(
            name, revision=revision, expected=expected, next_at=following, note="n", jobs=jobs
        )
        assert (theirs is None) == (ours is None)
        if theirs is not None and ours is not None:
            self._compare_answers(theirs, ours)
