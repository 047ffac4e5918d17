"""`python -m bench`: prepare the peers, start the servers, run the rounds, write the report.

The command moves itself into the peers' environment (.venv-bench) and remembers the Python it
was called with, because Cadenza's own processes run in that one.
"""

import argparse
import os
import signal
import sys
import time
from dataclasses import replace
from pathlib import Path

from bench.prepare import ROOT, VENV, prepare_node, prepare_python

HOST = "BENCH_HOST_PYTHON"


def parse(arguments: list[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m bench", description="Measure Cadenza beside its peers."
    )
    parser.add_argument(
        "--quick", action="store_true", help="one round of small counts: does everything work?"
    )
    parser.add_argument(
        "--only",
        metavar="NAME,...",
        help="these systems, or stores (postgres, sqlite, redis, mongo)",
    )
    parser.add_argument(
        "--work", metavar="NAME,...", help="these works: rate, idle, growth, pressure"
    )
    parser.add_argument("--rounds", type=int, help="rounds of every work (5, 3, 3, 1)")
    parser.add_argument(
        "--patience", type=int, help="repeats of a measurement with noisy neighbours (2)"
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=ROOT / "bench" / "results" / "latest.md",
        help="where the report goes",
    )
    return parser.parse_args(arguments)


def move_store() -> None:
    """Run again under the peers' Python, unless this is it."""
    if Path(sys.prefix) == VENV:
        return
    python = prepare_python()
    os.environ[HOST] = sys.executable
    os.chdir(ROOT)
    os.execv(python, [str(python), "-m", "bench", *sys.argv[1:]])


def main() -> None:
    """Run it all."""
    options = parse(sys.argv[1:])
    move_store()
    from bench import catalogue, report, servers
    from bench.rounds import ROUNDS, Plan, Results, run_rounds
    from bench.session import Ground
    from bench.works import WORKS, Scale

    works = options.work.split(",") if options.work else list(WORKS)
    if unknown := set(works) - set(WORKS):
        raise SystemExit(
            f"bench: no work called {', '.join(sorted(unknown))}; there are: {', '.join(WORKS)}"
        )
    plan = Plan(
        systems=catalogue.choose(options.only),
        works=works,
        rounds={work: options.rounds or (1 if options.quick else ROUNDS[work]) for work in WORKS},
        patience=options.patience if options.patience is not None else (0 if options.quick else 2),
        named=options.only is not None,
        scale=Scale(divisor=5, held=10.0) if options.quick else Scale(),
    )
    # Ended from outside, the servers below must still go away.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    begin, results = time.monotonic(), Results()
    with (
        servers.start_postgres() as postgres,
        servers.start_valkey() as valkey,
        servers.start_mongo(wanted=any(s.store == "mongo" for s in plan.systems)) as mongo,
    ):
        connection = Ground(
            postgres=postgres,
            valkey=valkey,
            bench_python=sys.executable,
            host_python=os.environ.get(HOST, sys.executable),
            node=str(prepare_node()),
            mongo=mongo,
        )
        if mongo is None:
            plan = replace(plan, systems=[s for s in plan.systems if s.store != "mongo"])
        try:
            run_rounds(plan, connection, results)
        finally:
            seconds = time.monotonic() - begin
            text = report.write_report(results, plan, postgres=postgres.version, seconds=seconds)
            options.out.parent.mkdir(parents=True, exist_ok=True)
            options.out.write_text(text)
    print(text)


if __name__ == "__main__":
    main()
