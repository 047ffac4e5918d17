"""Java servers for tests: their jars are fetched once by Maven into the checkout's `.cache`.

A pom beside this file names what is needed; a new pom is fetched again. Several processes may ask at once.
"""

import fcntl
import hashlib
import shutil
import subprocess
from pathlib import Path

from tests.servers.place import ServerUnavailableError

HERE = Path(__file__).parent
CACHE = HERE.parent.parent / ".cache"
FETCH_SECONDS = 600
# A small machine that starts quickly:
JAVA = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx512m")


def fetch_jars(pom: str, *, instead: str) -> Path:
    """Return the folder of the jars that `pom` names; `instead` says what would do without Java."""
    source = HERE / pom
    digest = hashlib.sha256(source.read_bytes()).hexdigest()[:16]
    jars = CACHE / source.stem.removesuffix("-pom") / digest
    java, maven = shutil.which("javac"), shutil.which("mvn")
    if java is None or (maven is None and not (jars / "whole").exists()):
        raise ServerUnavailableError(
            f"no Java with Maven to run a stand-in: install java 17 and mvn, or {instead}"
        )
    jars.mkdir(parents=True, exist_ok=True)
    with (jars / "lock").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (jars / "whole").exists():
            words = ["dependency:copy-dependencies", f"-DoutputDirectory={jars}"]
            done = subprocess.run(
                [str(maven), "-q", "-B", "-f", str(source), *words],
                capture_output=True,
                text=True,
                timeout=FETCH_SECONDS,
                check=False,
            )
            if done.returncode != 0:
                raise ServerUnavailableError(f"Maven fetched nothing: {done.stdout[-1000:]}")
            (jars / "whole").touch()
    return jars
