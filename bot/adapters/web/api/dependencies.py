"""Dependencies and types of the routes."""

from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from fastapi import Depends, Query, Request
from pydantic import BaseModel, ConfigDict, Field

from bot.adapters.web.authentication import Caller, caller
from memory.library.export import plain
from memory.model import Visibility
from memory.model.api_key import Right
from memory.services import Memory


async def memory_of(request: Request) -> Memory:
    """The memory of a request. Async only because FastAPI would run a plain function in a thread."""
    found = request.state.memory
    assert isinstance(found, Memory)  # noqa: S101 - the application put it there
    return found


def with_right(right: Right) -> Callable[[Request], Awaitable[Caller]]:
    """A dependency for the caller, who must have this right."""

    async def checked(request: Request) -> Caller:
        who = caller(request)
        who.require(right)
        return who

    return checked


def plain_object(value: object) -> dict[str, Any]:
    """A dataclass as a JSON object."""
    shown = plain(value)
    assert isinstance(shown, dict)  # noqa: S101 - made of its fields
    return shown


ServedMemory = Annotated[Memory, Depends(memory_of)]
Asker = Annotated[Caller, Depends(with_right(Right.QUERY))]
Teacher = Annotated[Caller, Depends(with_right(Right.TEACH))]
Admin = Annotated[Caller, Depends(with_right(Right.ADMIN))]

Id = Annotated[str, Field(min_length=1, max_length=200)]
Text = Annotated[str, Field(min_length=1, max_length=100_000)]


class Place(BaseModel):
    """Who asks or speaks, and where. Without it: the key itself, in its channel."""

    model_config = ConfigDict(extra="forbid")

    person: str = Field(default="", max_length=200)
    channel: str = Field(default="", max_length=200)
    thread: str = Field(default="", max_length=200)
    visibility: Visibility = Visibility.PUBLIC


There = Annotated[Place, Query()]
"""A place in the parameters of an address."""
