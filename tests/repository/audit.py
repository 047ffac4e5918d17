"""Looks our locked dependencies up in the public advisories, and tells a finding from not having looked.

`python -m tests.repository.audit requirements/runtime.txt` (make audit). pip-audit itself ends well when the
advisories cannot be reached and it has looked up nothing; here that is said, and fails with `--strict`,
as a nightly run should have it. A finding always fails.
"""

import argparse
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
TOOL = ROOT / ".venv-audit" / "bin" / "pip-audit"
ASK = ("--disable-pip", "--require-hashes", "--progress-spinner", "off", "--format", "json")


@dataclass(frozen=True, slots=True)
class Report:
    """What was looked up, what was not, and what was found."""

    looked_up: tuple[str, ...]
    left_out: tuple[str, ...]
    found: tuple[str, ...]


def read_report(text: str) -> Report:
    """Read what pip-audit wrote; nothing at all means that nothing was looked up."""
    parts: list[dict[str, Any]] = json.loads(text)["dependencies"] if text.strip() else []
    names = [(part["name"], part) for part in parts]
    return Report(
        looked_up=tuple(name for name, part in names if "skip_reason" not in part),
        left_out=tuple(name for name, part in names if "skip_reason" in part),
        found=tuple(
            f"{name} {part['version']}: {fault['id']}, mended in {', '.join(fault['fix_versions'])}"
            for name, part in names
            for fault in part.get("vulns", ())
        ),
    )


def judge(report: Report, *, strict: bool) -> tuple[int, str]:
    """Return the exit code and what to say."""
    if report.found:
        return 1, "Known faults:\n" + "\n".join(report.found)
    if report.looked_up and not report.left_out:
        return 0, f"No known fault in {len(report.looked_up)} packages."
    missed = ", ".join(report.left_out) or "any package"
    return int(strict), f"The advisories could not be asked about {missed}: this says nothing."


def main() -> int:
    """Ask, and say what came of it."""
    requested = argparse.ArgumentParser()
    requested.add_argument(
        "--strict", action="store_true", help="fail when nothing could be looked up"
    )
    requested.add_argument("lock", type=Path)
    options = requested.parse_args()
    done = subprocess.run(
        [str(TOOL), *ASK, "-r", str(options.lock)], capture_output=True, text=True, check=False
    )
    code, message = judge(read_report(done.stdout), strict=options.strict)
    print(message if done.stdout.strip() else f"{message}\n{done.stderr.strip()[-400:]}")
    return code


if __name__ == "__main__":
    sys.exit(main())
