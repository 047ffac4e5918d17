"""Serve our API for `bench.api`: python -m bench.api_ours ADDRESS FOLDER FD [paced]; the port goes to FD.

Unless it is paced, nobody is slowed down.

BENCH_PROFILE names a file for cProfile's figures of the loop's thread.
"""

import asyncio
import cProfile
import os
import signal
import sys
import time
from pathlib import Path

from cadenza.api.app import create_app
from cadenza.api.rate_limit import Pace
from cadenza.api.serve import serve
from cadenza.bootstrap import open_runtime
from cadenza.cli.run_server import freeze_garbage
from cadenza.config.model import Settings


async def main(address: str, folder: Path, tell: int, *, paced: bool) -> None:
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)

    def started(port: int) -> None:
        os.write(tell, f"{port}\n".encode())
        os.close(tell)

    async with open_runtime(Settings(data=folder, database=address)) as runtime:
        free = Pace(per_second=1e9, at_once=10**9)
        paces = {} if paced else {"pace": free, "shared": free}
        app = create_app(runtime, stop=stop, **paces)
        freeze_garbage()
        await serve(app, "127.0.0.1", 0, stop, started=started)


if __name__ == "__main__":
    work = main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), paced=len(sys.argv) > 4)
    where = os.environ.get("BENCH_PROFILE")
    if where is None:
        asyncio.run(work)
    else:
        with cProfile.Profile(time.process_time) as profile:
            asyncio.run(work)
        profile.dump_stats(where)
