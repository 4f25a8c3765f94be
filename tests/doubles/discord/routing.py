"""From a request to the function that answers it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tests.doubles.discord.errors import ApiError
from tests.doubles.discord.model import File, Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Incoming:
    """One request, read and taken apart. `params` are the segments that the route left open."""

    params: tuple[str, ...] = ()
    query: Mapping[str, str]
    body: Any
    files: tuple[File, ...] = ()

    @property
    def form(self) -> Json:
        """The body where an object is expected."""
        return self.body if isinstance(self.body, dict) else {}


Body = Json | list[Json] | None
"""What is answered; None is 204."""
Handler = Callable[[Incoming], Body]


class Router:
    """Finds handlers by patterns such as `POST /channels/*/messages`."""

    def __init__(self, *tables: Mapping[str, Handler]) -> None:
        self._routes: dict[tuple[str, int], list[tuple[list[str], Handler]]] = {}
        for table in tables:
            for pattern, handler in table.items():
                method, path = pattern.split(" ", 1)
                segments = path.strip("/").split("/")
                self._routes.setdefault((method, len(segments)), []).append((segments, handler))

    def find(self, method: str, segments: list[str]) -> tuple[Handler, tuple[str, ...]]:
        """The handler and the open segments. Raises 404 as Discord does for a path it does not have."""
        for wanted, handler in self._routes.get((method, len(segments)), ()):
            pairs = list(zip(wanted, segments, strict=True))
            if all(one in ("*", given) for one, given in pairs):
                return handler, tuple(given for one, given in pairs if one == "*")
        raise ApiError(404, 0, f"404: Not Found: this stand-in does not serve {method} /{'/'.join(segments)}")
