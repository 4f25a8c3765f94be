"""`goodbot web` as a process of its own, on a database that is there."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

KEY = "a key for measuring"


@contextmanager
def serving(database: Path, **settings: str) -> Iterator[tuple[str, int]]:
    """The URL it is served at and the id of the process, until the block ends."""
    environment = os.environ | {
        "DATABASE_URL": f"sqlite:///{database}",
        "GOODBOT_LOG_FILE": str(database.with_suffix(".log")),
        "GOODBOT_EMBEDDER_NAME": "hashing",
        "GOODBOT_API_KEY": KEY,
        "GOODBOT_WEB_WORKSPACE": "terminal:w",
        "GOODBOT_WEB_PORT": "0",
        "GOODBOT_WEB_REQUESTS_PER_MINUTE": "1000000",
        **settings,
    }
    command = [sys.executable, "-m", "bot", "web"]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            found = re.search(r"http://\S+?(?=\. )", process.stdout.readline())
            assert found is not None
            yield found[0], process.pid
        finally:
            process.send_signal(signal.SIGTERM)


def cpu_s(pid: int) -> float:
    """The processor's time that a process has taken so far."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
