"""The tool `clock`: date and time, where the person is or at a place."""

import asyncio
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from bot.agent.tools.registry import Tool, ToolContext, text_property, text_tool
from bot.agent.tools.time_zones import ZonedPlace, find_places
from bot.agent.tools.who import FindZone
from memory.model import Scope
from memory.ports import Clock


async def _utc(_: Scope) -> str:
    return "UTC"


def clock_tool(clock: Clock, zone_of: FindZone = _utc) -> Tool:
    """The tool `clock`."""
    where = text_property("a city, a country or an IANA time zone, or several; leave it out for the person's own")

    @text_tool("clock", {"place": where}, are_optional=True)
    async def tell(context: ToolContext, place: str) -> str:
        """Tells the current time and date, in any city, country or time zone.

        For example: what time is it in Tokyo?; what day is it today?; what is the date?
        """
        now = clock()
        places = await asyncio.to_thread(find_places, place) if place else [_of_zone(await zone_of(context.scope))]
        return "\n".join(tell_time(now, each) for each in places)

    return tell


def _of_zone(name: str) -> ZonedPlace:
    """A person's time zone, which is the place of nothing else."""
    return ZonedPlace(label="", zone=ZoneInfo(name), zone_name=name.removeprefix("Etc/"))


def tell_time(now: datetime, place: ZonedPlace) -> str:
    """The time at a place: `It is 18:05 on Saturday 21 November 2026 in Tokyo (Asia/Tokyo, UTC+9).`"""
    local = now.astimezone(place.zone)
    moment = f"It is {local:%H:%M} on {local:%A} {local.day} {local:%B} {local.year}"
    if place.zone_name == "UTC":
        return f"{moment} (UTC)."
    if place.label == place.zone_name:
        return f"{moment} in {place.label}."
    where = f" in {place.label}" if place.label else ""
    return f"{moment}{where} ({place.zone_name}, {offset_name(local.utcoffset() or timedelta())})."


def offset_name(offset: timedelta) -> str:
    """The name of an offset from UTC: `UTC`, `UTC+9`, `UTC-3:30`."""
    minutes = round(offset.total_seconds() / 60)
    if minutes == 0:
        return "UTC"
    hours, rest = divmod(abs(minutes), 60)
    return f"UTC{'+' if minutes > 0 else '-'}{hours}" + (f":{rest:02}" if rest else "")
