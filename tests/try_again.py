"""Runs pytest; the few tests that failed beside others are tried once more, alone, and called by name.

Two runs of tests share the machine, and some tests race real processes against real clocks. A failure that
comes again alone is a failure. One that does not is printed as unsteady, to be mended: it is a defect of the
test or a race of the product, but no reason to throw the whole run away. More than a few are never forgiven.
"""

import json
import subprocess
import sys
from pathlib import Path

FAILED = 1  # pytest's word for: all ran, some failed
MOST = 3
LAST = Path(".pytest_cache/v/cache/lastfailed")  # of the folder that the run is started in


def main(words: list[str]) -> int:
    """Return pytest's own code, or 0 where what failed passed alone."""
    pytest = [sys.executable, "-m", "pytest"]
    LAST.unlink(missing_ok=True)
    code = subprocess.run([*pytest, *words], check=False).returncode
    failed = sorted(json.loads(LAST.read_text())) if code == FAILED and LAST.exists() else []
    if not 0 < len(failed) <= MOST:
        return code
    print(f"\nOnce more, alone: {', '.join(failed)}", flush=True)
    alone = subprocess.run([*pytest, "-q", "-p", "no:cacheprovider", *failed], check=False)
    if alone.returncode == 0:
        print(f"\nUNSTEADY, passed alone only (mend them): {', '.join(failed)}", flush=True)
    return alone.returncode


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
