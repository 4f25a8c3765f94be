"""The HTTP server that the application runs on."""

import asyncio
import logging
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress

import uvicorn
from starlette.applications import Starlette

from bot.errors import ConfigError

log = logging.getLogger(__name__)

_END_S = 5
"""How long, in seconds, running requests may take when the server ends."""


class _Server(uvicorn.Server):
    """A uvicorn server without signal handlers, which are the process's."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@asynccontextmanager
async def serving(application: Starlette, *, host: str, port: int) -> AsyncIterator[str]:
    """Serve at this address inside the block; yields the URL. Port 0 is a free port.

    Raises `ConfigError` if the address cannot be used.
    """
    config = uvicorn.Config(
        application,
        host=host,
        port=port,
        log_config=None,
        access_log=False,
        lifespan="off",
        server_header=False,
        timeout_graceful_shutdown=_END_S,
    )
    server = _Server(config)
    try:
        listening = config.bind_socket()
        # Inherited by accepted connections. asyncio sets it only if the socket's protocol is explicit; without it the
        # second part of each response waits 40 ms for the acknowledgement of the first.
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        listening.listen(config.backlog)  # clients may connect as soon as they know the URL
    except (OSError, SystemExit) as error:
        raise ConfigError(
            f"cannot serve at {host}:{port}: the address is taken or not this machine's; set [web] host and port"
        ) from error
    url = f"http://{host}:{listening.getsockname()[1]}"
    running = asyncio.create_task(server.serve(sockets=[listening]))
    log.info("serving at %s", url)
    try:
        yield url
    finally:
        server.should_exit = True
        with suppress(asyncio.CancelledError):
            await running
        listening.close()
