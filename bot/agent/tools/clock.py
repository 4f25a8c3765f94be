"""The tool `clock`: date and time, in UTC or at a place."""

import asyncio
from datetime import UTC, datetime, timedelta

from bot.agent.tools.registry import Tool, ToolContext, text_property, text_tool
from bot.agent.tools.time_zones import ZonedPlace, find_places
from memory.ports import Clock


def clock_tool(clock: Clock) -> Tool:
    """The tool `clock`."""
    where = text_property("a city, a country or an IANA time zone, or several; leave it out for UTC")

    @text_tool("clock", {"place": where}, are_optional=True)
    async def tell(_: ToolContext, place: str) -> str:
        """Tells the current time and date, in any city, country or time zone.

        For example: what time is it in Tokyo?; what day is it today?; what is the date?
        """
        now = clock()
        places = await asyncio.to_thread(find_places, place) if place else [None]
        return "\n".join(tell_time(now, each) for each in places)

    return tell


def tell_time(now: datetime, place: ZonedPlace | None) -> str:
    """The time at a place: `It is 18:05 on Saturday 21 November 2026 in Tokyo (Asia/Tokyo, UTC+9).`"""
    local = now.astimezone(UTC if place is None else place.zone)
    moment = f"It is {local:%H:%M} on {local:%A} {local.day} {local:%B} {local.year}"
    if place is None or place.zone_name == "UTC":
        return f"{moment} (UTC)."
    if place.label == place.zone_name:
        return f"{moment} in {place.label}."
    return f"{moment} in {place.label} ({place.zone_name}, {offset_name(local.utcoffset() or timedelta())})."


def offset_name(offset: timedelta) -> str:
    """The name of an offset from UTC: `UTC`, `UTC+9`, `UTC-3:30`."""
    minutes = round(offset.total_seconds() / 60)
    if minutes == 0:
        return "UTC"
    hours, rest = divmod(abs(minutes), 60)
    return f"UTC{'+' if minutes > 0 else '-'}{hours}" + (f":{rest:02}" if rest else "")
