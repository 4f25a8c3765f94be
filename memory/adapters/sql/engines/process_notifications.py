"""Notifications from the other processes on a PostgreSQL database (`ConversationLeaseTable.announce`)."""

import time
from contextlib import suppress

import psycopg

from memory.adapters.sql.engines.postgres import CONNECT_SECONDS
from memory.adapters.sql.queries.conversation_leases import CHANNEL


class ProcessNotifications:
    """Listens on a connection of its own, for one thread at a time.

    Without a connection it only waits, so that whoever looks goes on looking.
    """

    def __init__(self, url: str) -> None:
        self._url = "postgresql" + url[url.index("://") :]
        self._connection: psycopg.Connection | None = None

    def wait(self, seconds: float) -> frozenset[str]:
        """What was announced since, or within these seconds. Blocking; never raises."""
        began = time.monotonic()
        try:
            return self._announced(seconds)
        except psycopg.Error:
            self.close()
            time.sleep(max(0.0, began + seconds - time.monotonic()))
            return frozenset()

    def _announced(self, seconds: float) -> frozenset[str]:
        if self._connection is None:
            self._connection = psycopg.connect(
                self._url, autocommit=True, connect_timeout=CONNECT_SECONDS, application_name="goodbot news"
            )
            self._connection.execute(f"LISTEN {CHANNEL}")
        return frozenset(news.payload for news in self._connection.notifies(timeout=seconds, stop_after=1))

    def close(self) -> None:
        """Listen no more."""
        with suppress(psycopg.Error):
            if self._connection is not None:
                self._connection.close()
        self._connection = None
