"""The bars that Cadenza sets itself, each judged from ratios within one run.

"Ahead" means that the spreads do not cross: our worst round beats their best. A bar whose
figures are missing is "not measured", never met.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from bench.catalogue import SYSTEMS, Store, System
from bench.measure import Spread
from bench.rounds import Results


@dataclass(frozen=True, slots=True)
class Bar:
    """One verdict: met, not met, or None for not measured; and the figures behind it."""

    text: str
    met: bool | None
    figures: str


class Judge:
    """Looks cells up and judges; a missing cell makes the verdict None."""

    def __init__(self, results: Results) -> None:
        """Keep the results."""
        self.results = results

    def cell(self, name: str, metric: str) -> Spread | None:
        """Return one cell."""
        return self.results.spread(name, metric)

    def peers(self, store: Store, *, python: bool = False) -> list[System]:
        """Return the peers on a store."""
        return [
            s for s in SYSTEMS if s.store == store and s.role == "peer" and (s.python or not python)
        ]

    def ahead(self, text: str, ours: Spread | None, theirs: Spread | None) -> Bar:
        """Judge whether our worst round beats their best."""
        if ours is None or theirs is None:
            return Bar(text, None, "")
        return Bar(text, ours.ahead_of(theirs), f"{show(ours)} against {show(theirs)}")

    def sooner(self, text: str, ours: Spread | None, theirs: Spread | None) -> Bar:
        """Judge whether our slowest round beats their quickest."""
        if ours is None or theirs is None:
            return Bar(text, None, "")
        figures = f"{show(ours, 2)} against {show(theirs, 2)} ms"
        return Bar(text, theirs.ahead_of(ours), figures)

    def ratio(self, text: str, ours: Spread | None, theirs: Spread | None, *, least: float) -> Bar:
        """Judge whether our median is at least a share of theirs."""
        if ours is None or theirs is None or not theirs.median:
            return Bar(text, None, "")
        share = ours.median / theirs.median
        return Bar(text, share >= least, f"{share:.2f} ({show(ours)} against {show(theirs)})")

    def at_most(self, text: str, value: float | None, limit: float | None, *, unit: str) -> Bar:
        """Judge whether a value stays under a limit."""
        if value is None or limit is None:
            return Bar(text, None, "")
        return Bar(text, value <= limit, f"{value:,.2f} {unit}, limit {limit:,.2f}")


def show(spread: Spread, digits: int = 0) -> str:
    """Write a median with its spread."""
    return f"{spread.median:,.{digits}f} [{spread.low:,.{digits}f}–{spread.high:,.{digits}f}]"


def median(spread: Spread | None) -> float | None:
    """Return the median, if any."""
    return None if spread is None else spread.median


def best(values: Iterable[float | None], pick: Callable[[list[float]], float]) -> float | None:
    """Pick from the values that exist; None where none does."""
    known = [value for value in values if value is not None]
    return pick(known) if known else None


def scaled(value: float | None, factor: float) -> float | None:
    """Multiply a value that may be missing."""
    return None if value is None else value * factor


def judge_postgres(judge: Judge, ours: str, kept: str) -> list[Bar]:
    """Judge everything that is promised on PostgreSQL."""
    cell = judge.cell
    bars = [
        judge.ahead(
            "one worker, deleted at once: ahead of graphile-worker",
            cell(ours, "drain_1"),
            cell("graphile", "drain_1"),
        ),
        judge.ahead(
            "one worker, kept: ahead of pg-boss", cell(kept, "drain_1"), cell("pgboss", "drain_1")
        ),
        judge.ahead(
            "two workers faster than one (deletes)", cell(ours, "drain_2"), cell(ours, "drain_1")
        ),
        judge.ahead(
            "two workers faster than one (keeps)", cell(kept, "drain_2"), cell(kept, "drain_1")
        ),
        judge.ratio(
            "bulk enqueue at least 0.6 of raw COPY",
            cell(ours, "bulk"),
            cell("raw_postgres", "bulk"),
            least=0.6,
        ),
    ]
    bars.extend(
        judge.ahead(
            f"single enqueue ahead of {peer.label}", cell(ours, "one"), cell(peer.name, "one")
        )
        for peer in judge.peers("postgres", python=True)
    )
    pickups = [median(cell(peer.name, "pickup_p50")) for peer in judge.peers("postgres")]
    p50, p99 = median(cell(ours, "pickup_p50")), median(cell(ours, "pickup_p99"))
    bars.append(
        judge.at_most(
            "pick-up p50 no worse than the best peer's", p50, best(pickups, min), unit="ms"
        )
    )
    bars.append(judge.at_most("pick-up p99 within 10x of p50", p99, scaled(p50, 10), unit="ms"))
    base = cell(ours, "grow_1k")
    for metric, words in (("grow_1m", "1 M waiting"), ("deferred_1m", "1 M deferred")):
        bars.append(
            judge.ratio(
                f"{words}: at least 0.8 of the rate at 1 k", cell(ours, metric), base, least=0.8
            )
        )
    for metric, words in (("claim", "claim time"), ("wait", "pick-up of a batch")):
        free, held = median(cell(ours, f"{metric}_free")), median(cell(ours, f"{metric}_held"))
        text = f"old transaction held open: {words} within 3x"
        bars.append(judge.at_most(text, held, scaled(free, 3), unit="ms"))
    memory = [median(cell(name, "rss")) for name in ("procrastinate", "pgqueuer")]
    limit = scaled(best(memory, min), 1.25)
    bars.append(
        judge.at_most(
            "idle memory within the leaner Python peer's + 25 %",
            median(cell(ours, "rss")),
            limit,
            unit="MB",
        )
    )
    bars.append(
        judge.at_most("idle CPU under 0.5 % of a core", median(cell(ours, "cpu")), 0.5, unit="%")
    )
    return bars


def judge_sqlite(judge: Judge, ours: str) -> list[Bar]:
    """Judge everything that is promised on SQLite, all at synchronous=FULL."""
    mine = judge.cell(ours, "drain_1")
    bars = [
        judge.ratio(
            "at least 0.3 of the raw batched loop",
            mine,
            judge.cell("raw_sqlite", "drain_1"),
            least=0.3,
        )
    ]
    for peer in judge.peers("sqlite"):
        theirs = judge.cell(peer.name, "drain_1")
        bars.append(judge.ratio(f"ten times {peer.label}", mine, theirs, least=10.0))
    bars.append(
        judge.at_most(
            "idle CPU under 0.5 % of a core", median(judge.cell(ours, "cpu")), 0.5, unit="%"
        )
    )
    return bars


def judge_peers(judge: Judge, ours: str, store: Store) -> list[Bar]:
    """Judge that we are ahead of every peer of a store in drain rate and pick-up latency."""
    cell = judge.cell
    bars: list[Bar] = []
    for peer in judge.peers(store):
        text = f"one worker ahead of {peer.label}"
        bars.append(judge.ahead(text, cell(ours, "drain_1"), cell(peer.name, "drain_1")))
        for metric, word in (("pickup_p50", "p50"), ("pickup_p99", "p99")):
            text = f"pick-up {word} ahead of {peer.label}"
            bars.append(judge.sooner(text, cell(ours, metric), cell(peer.name, metric)))
    return bars


def judge_soundness(results: Results) -> Bar:
    """Judge that no reading of ours had a duplicate or a job left."""
    ours = {system.name for system in SYSTEMS if system.role == "ours"}
    measured = [name for name, _ in results.readings if name in ours]
    wrong = [text for text in results.problems() if text.split(",")[0] in ours]
    return Bar(
        "no job handled twice, none left", not wrong if measured else None, "; ".join(wrong)[:300]
    )


def judge_queues(kind: str, *, posts: int, ratio: float, turned: float, waited: float) -> list[Bar]:
    """Judge what is promised of long queues; times are seconds. On SQLite all writers wait for one."""
    bars = [
        Bar(
            f"adding to {posts:,} posts within twice adding to 10",
            ratio <= 2,
            f"{ratio:.2f} times",
        ),
        Bar(f"{posts:,} posts turned round within a second", turned <= 1, f"{turned:.2f} s"),
    ]
    if kind == "postgres":
        text = "another account's claim waits at most 0.5 s meanwhile"
        bars.append(Bar(text, waited <= 0.5, f"{waited * 1000:.0f} ms"))
    return bars


def judge_lists(kind: str, ratios: Mapping[str, float]) -> list[Bar]:
    """Judge that no list is much slower with much behind it."""
    slowest = max(ratios, key=lambda name: ratios[name])
    over = sum(ratio > 3 for ratio in ratios.values())
    text = f"{kind}: every list within 3 times of its time at 1,000 deliveries"
    return [Bar(text, not over, f"{over} over; the worst: {slowest}, {ratios[slowest]:.1f} times")]


def judge_pipeline(
    *,
    rate: float | None = None,
    of_bare: float | None = None,
    wide: float | None = None,
    beside: float | None = None,
    deep: float | None = None,
) -> list[Bar]:
    """Judge what is promised of the pipeline, of what this run measured."""
    bars: list[Bar] = []
    if rate is not None:
        text = "at least 1,000 deliveries a second, each with intent, ledger row and event"
        bars.append(Bar(text, rate >= 1000, f"{rate:,.0f}/s"))
    if of_bare is not None:
        text = "by HTTP at least half of the bare client's rate"
        bars.append(Bar(text, of_bare >= 0.5, f"{of_bare:.2f}"))
    if beside is not None:
        text = "a claim beside a pile that cannot run within twice the claim alone"
        bars.append(Bar(text, beside <= 2, f"{beside:.2f} times"))
    if wide is not None:
        text = "one lane with width 32 drains within 1.5 times the time of 32 lanes"
        bars.append(Bar(text, wide <= 1.5, f"{wide:.2f} times"))
    if deep is not None:
        text = (
            "a claim where a million wait in 100 lanes within 1.2 times the claim where 10,000 do"
        )
        bars.append(Bar(text, deep <= 1.2, f"{deep:.2f} times"))
    return bars


def tell(bars: Iterable[Bar]) -> int:
    """Print each verdict; return 1, for the exit code, if one is not met."""
    bars = list(bars)
    for bar in bars:
        print(f"{'met' if bar.met else 'NOT MET'}: {bar.text}: {bar.figures}")
    return 0 if all(bar.met for bar in bars) else 1
