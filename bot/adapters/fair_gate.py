"""A gate that lets events in one by one, so that many at once do not block the event loop."""

import asyncio


class FairGate:
    """Lets one through in each turn of the event loop, first come first served; how many are inside does not matter.

    Both platforms' libraries begin a task for every event that they read from their socket, and all of those run to
    their first wait within one turn of the loop: with hundreds of them everything else stands still meanwhile.
    """

    def __init__(self) -> None:
        self._lock = asyncio.Lock()

    async def pass_through(self) -> None:
        """Wait for those that came before, and let the loop do everything else that is ready."""
        async with self._lock:
            await asyncio.sleep(0)
