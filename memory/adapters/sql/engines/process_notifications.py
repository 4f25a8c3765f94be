"""Notifications from other processes through a PostgreSQL database (`ConversationLeaseTable.announce`)."""

import time
from contextlib import suppress

import psycopg

from memory.adapters.sql.engines.postgres import CONNECT_SECONDS
from memory.adapters.sql.queries.conversation_leases import CHANNEL


class ProcessNotifications:
    """Receives notifications on its own connection. For one thread at a time.

    Without a connection it only waits, so that its caller can poll instead.
    """

    def __init__(self, url: str) -> None:
        self._url = "postgresql" + url[url.index("://") :]
        self._connection: psycopg.Connection | None = None

    def wait(self, seconds: float) -> frozenset[str]:
        """The texts announced since the last call, or within `seconds`. Blocking; database errors give an empty set."""
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
        """Close the connection."""
        with suppress(psycopg.Error):
            if self._connection is not None:
                self._connection.close()
        self._connection = None
