"""Things that go wrong with Web API calls, on request."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]


@dataclass(frozen=True)
class RateLimited:
    """HTTP 429 with `Retry-After`, in whole seconds."""

    retry_after_s: int = 1


@dataclass(frozen=True)
class ServerBroken:
    """A 5xx answer that is not JSON."""

    status: int = 503


@dataclass(frozen=True)
class Refused:
    """Any error code: `missing_scope`, `channel_not_found`, `is_archived`, `token_revoked`, `invalid_auth`, ..."""

    code: str
    extra: Json = field(default_factory=dict)


@dataclass(frozen=True)
class ConnectionReset:
    """The connection breaks before anything happened."""


@dataclass(frozen=True)
class ResponseLost:
    """The call took effect, but the connection breaks before the answer."""


class Hang:
    """The call waits until `release`; then it goes on as usual."""

    def __init__(self) -> None:
        self._gate = asyncio.Event()
        self.is_met = False
        """Whether a call hangs, or did."""

    def release(self) -> None:
        """Let all calls that hang here go on."""
        self._gate.set()

    async def wait(self) -> None:
        """Until released."""
        self.is_met = True
        await self._gate.wait()


Fault = RateLimited | ServerBroken | Refused | ConnectionReset | ResponseLost | Hang


@dataclass
class _Planned:
    method: str
    fault: Fault
    left: int | None
    where: Callable[[Json], bool] | None


class Faults:
    """Which calls fail how. The first fitting fault is used up first."""

    def __init__(self) -> None:
        self._planned: list[_Planned] = []

    def next(
        self, method: str, fault: Fault, *, times: int | None = 1, where: Callable[[Json], bool] | None = None
    ) -> None:
        """The next `times` calls of `method` (`*` for any) fail so; None means until `clear`.

        `where` looks at the call's arguments, to fail only some: `where=lambda args: args["channel"] == "C1"`.
        """
        self._planned.append(_Planned(method, fault, times, where))

    def clear(self) -> None:
        """Nothing fails any more; whatever hangs goes on."""
        for planned in self._planned:
            if isinstance(planned.fault, Hang):
                planned.fault.release()
        self._planned.clear()

    def take(self, method: str, args: Json) -> Fault | None:
        """The fault of this call, which is one less from now on."""
        for planned in self._planned:
            if planned.method not in ("*", method) or (planned.where is not None and not planned.where(args)):
                continue
            if planned.left == 0:
                continue
            if planned.left is not None:
                planned.left -= 1
            return planned.fault
        return None
