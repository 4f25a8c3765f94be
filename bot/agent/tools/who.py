"""The tool `who_and_where`: the person who asks, their time zone and channel, as the platform knows them."""

from collections.abc import Awaitable, Callable
from datetime import datetime
from zoneinfo import ZoneInfo

from bot.agent.tools.registry import Tool, ToolContext, text_tool
from bot.model import ChannelCard, Profile
from memory.model import Scope, Visibility
from memory.ports import Clock
from memory.rules.retrieval.prompt import shown_line

_SHOWN_CHARACTERS = 300
_PARTS = ("person", "time zone", "channel")

FindProfile = Callable[[Scope], Awaitable[Profile]]
FindZone = Callable[[Scope], Awaitable[str]]
FindChannel = Callable[[Scope], Awaitable[ChannelCard]]
"""Look-ups on the platform. None of the three raises."""


def who_tool(profile_of: FindProfile, zone_of: FindZone, channel_of: FindChannel, clock: Clock) -> Tool:
    """The tool `who_and_where`."""
    one = {"type": "string", "enum": list(_PARTS), "description": "all of it if left out"}

    @text_tool("who_and_where", {"part": one}, are_optional=True, is_outside=True)
    async def who(context: ToolContext, part: str) -> str:
        """Tells who the person is that asks, their time zone, and the channel with its topic.

        For example: who am I?; what is my time zone?; what is this channel about?; what is its topic?
        """
        scope, parts = context.scope, list[str]()
        if part in ("", "person"):
            profile = await profile_of(scope)
            title = f", {_line(profile.title)}" if profile.title else ""
            parts.append(f"You are {_line(profile.name) or scope.person}{title}.")
        if part in ("", "time zone"):
            zone = await zone_of(scope)
            parts.append(_local_time(clock().astimezone(ZoneInfo(zone)), zone))
        if part in ("", "channel"):
            parts += _about_channel(await channel_of(scope), scope)
        return "\n".join(parts)

    return who


def _about_channel(channel: ChannelCard, scope: Scope) -> list[str]:
    if scope.visibility is Visibility.DIRECT:
        return ["We are in a direct message."]
    name = _line(channel.name or scope.place) or "a channel without a name"
    described = (("Topic", channel.topic), ("Purpose", channel.purpose))
    return [f"We are in {name}.", *(f"{each}: {_line(text)}" for each, text in described if text)]


def _line(text: str) -> str:
    return shown_line(text, _SHOWN_CHARACTERS)


def _local_time(local: datetime, zone: str) -> str:
    return f"Your time zone is {zone}, where it is {local:%H:%M} on {local:%A}."
