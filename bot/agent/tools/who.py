"""Who asks and where, as their platform tells it."""

from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from zoneinfo import ZoneInfo

from bot.agent.tools.registry import Tool, ToolContext
from bot.model import ChannelCard, Profile
from memory.model import Scope, Visibility
from memory.ports import Clock
from memory.rules.retrieval.prompt import shown_line

_SHOWN_CHARACTERS = 300

FindProfile = Callable[[Scope], Awaitable[Profile]]
FindZone = Callable[[Scope], Awaitable[str]]
FindChannel = Callable[[Scope], Awaitable[ChannelCard]]
"""What a platform tells. None of the three raises."""


def who_tool(profile_of: FindProfile, zone_of: FindZone, channel_of: FindChannel, clock: Clock) -> Tool:
    """The tool `who_and_where`."""

    async def run(_: Mapping[str, object], context: ToolContext) -> str:
        scope = context.scope
        profile, zone, channel = await profile_of(scope), await zone_of(scope), await channel_of(scope)
        lines = [
            f"You are {_line(profile.name) or scope.person}"
            + (f", {_line(profile.title)}" if profile.title else "")
            + "."
        ]
        lines.append(_here(clock().astimezone(ZoneInfo(zone)), zone))
        if scope.visibility is Visibility.DIRECT:
            lines.append("We are in a direct message.")
        elif channel.name or scope.place:
            lines.append(f"We are in {_line(channel.name or scope.place)}.")
        lines += [
            f"{name}: {_line(text)}" for name, text in (("Topic", channel.topic), ("Purpose", channel.purpose)) if text
        ]
        return "\n".join(lines)

    return Tool(
        name="who_and_where",
        description=(
            "Tells who the person is that asks, their time zone, and the channel with its topic. "
            "For example: who am I?; what is my time zone?; what is this channel about?; what is its topic?"
        ),
        parameters={"type": "object", "properties": {}, "additionalProperties": False},
        run=run,
        is_outside=True,
    )


def _line(text: str) -> str:
    return shown_line(text, _SHOWN_CHARACTERS)


def _here(local: datetime, zone: str) -> str:
    return f"Your time zone is {zone}, where it is {local:%H:%M} on {local:%A}."
