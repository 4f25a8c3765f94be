"""The tools `remind`, `list_reminders` and `cancel_reminder`."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

from bot.agent.tools.registry import Tool, ToolContext, text_property, text_tool
from bot.agent.tools.when import LONGEST, read_when
from bot.agent.tools.who import FindZone
from bot.errors import ToolFailed, ToolRetry
from memory.errors import InvalidInput, MemoryFault
from memory.model import Scope
from memory.ports import Clock
from memory.rules.recurrence import ONCE, Recurrence
from memory.services.conversation.reminders import TEXT_CHARACTERS, Reminder

AddReminder = Callable[[Scope, str, datetime, str, Recurrence, str], Awaitable[Reminder]]
"""Stores a reminder: text, local time, zone, recurrence, and the message that asked for it. Raises `MemoryFault`."""
FindReminders = Callable[[Scope], Awaitable[Sequence[Reminder]]]
"""The person's reminders, the next due first. Raises `MemoryFault`."""
CancelReminder = Callable[[Scope, str], Awaitable[Reminder | None]]
"""Cancels a reminder by its id or the end of it; None if it is gone. Raises `MemoryFault`."""

_SHORT_ID = 8
_NO_REMINDERS = "You have no reminders here."


def remind_tool(add: AddReminder, zone_of: FindZone, clock: Clock) -> Tool:
    """The tool `remind`."""
    texts = {
        "what": text_property("what to remind of", TEXT_CHARACTERS),
        "when": text_property("tomorrow at 9; in 20 minutes; 2027-01-31 14:30; every weekday at 8:30", LONGEST),
    }

    @text_tool("remind", texts)
    async def remind(context: ToolContext, what: str, when: str) -> str:
        """Reminds this person of something at a time, once or again and again.

        For example: remind me tomorrow at 9 to call Ana; remind me in 20 minutes to check the oven;
        remind me every Monday at 10 to send the report; remind me every two weeks on Friday to water the plants
        """
        if not when.strip():
            raise ToolRetry(f"When? Say it with a time, for example: remind me tomorrow at 9 to {what}")
        zone = await zone_of(context.scope)
        due = await asyncio.to_thread(read_when, when, clock().astimezone(ZoneInfo(zone)))
        try:
            kept = await add(context.scope, what, due.first, zone, due.repeat, context.question)
        except InvalidInput as problem:
            raise ToolRetry(f"That reminder cannot be kept: {problem}.") from problem
        except MemoryFault as fault:
            raise ToolFailed("Reminders cannot be kept at the moment.") from fault
        return f"I will remind you: “{kept.text}”, {schedule_text(kept)}."

    return remind


def list_tool(reminders_of: FindReminders) -> Tool:
    """The tool `list_reminders`."""

    @text_tool(
        "list_reminders",
        {"containing": text_property("only those with these words; leave it out for all")},
        are_optional=True,
    )
    async def listed(context: ToolContext, containing: str) -> str:
        """Lists this person's reminders. For example: what are my reminders?; which reminders do I have?"""
        words = containing.casefold()
        try:
            kept = [each for each in await reminders_of(context.scope) if words in each.text.casefold()]
        except MemoryFault as fault:
            raise ToolFailed("Reminders cannot be read at the moment.") from fault
        if not kept:
            return _NO_REMINDERS
        return "\n".join(f"- {reminder_line(each)}" for each in kept)

    return listed


def cancel_tool(reminders_of: FindReminders, cancel: CancelReminder) -> Tool:
    """The tool `cancel_reminder`."""

    @text_tool("cancel_reminder", {"reminder": text_property("words of what it reminds of, or its id")})
    async def cancel_one(context: ToolContext, reminder: str) -> str:
        """Cancels one of this person's reminders. For example: cancel the reminder about the report"""
        wanted = " ".join(reminder.split()).casefold()
        try:
            kept = await reminders_of(context.scope)
            fitting = [each for each in kept if wanted and (wanted in each.text.casefold() or each.id.endswith(wanted))]
            if not kept:
                raise ToolFailed(_NO_REMINDERS)
            if len(fitting) != 1:
                listed = "; ".join(map(reminder_line, fitting or kept))
                problem = "Which one is meant?" if fitting else "None of your reminders here has these words:"
                raise ToolRetry(f"{problem} {listed}.")
            cancelled = await cancel(context.scope, fitting[0].id)
        except MemoryFault as fault:
            raise ToolFailed("Reminders cannot be changed at the moment.") from fault
        return f"Cancelled: “{fitting[0].text}”." if cancelled else "That reminder is gone already."

    return cancel_one


def schedule_text(reminder: Reminder) -> str:
    """When a reminder is due, and how often: `on Wednesday 25 November 2026 at 09:00 (Europe/Berlin)`."""
    local = reminder.local
    on = f"on {local:%A} {local.day} {local:%B} {local.year} at {local:%H:%M} ({reminder.zone})"
    plural = "s" if reminder.repeat.every > 1 else ""
    return f"every {reminder.repeat}{plural}, next {on}" if reminder.repeat != ONCE else on


def reminder_line(reminder: Reminder) -> str:
    """A reminder in one line, for lists."""
    return f"“{reminder.text}”, {schedule_text(reminder)} `{reminder.id[-_SHORT_ID:]}`"


def due_text(reminder: Reminder, is_late: bool) -> str:
    """The message sent when a reminder is due."""
    late = f"\n\n(This is late: it was for {reminder.local:%H:%M} on {reminder.local:%A}, when I was away.)"
    return f"⏰ Reminder: {reminder.text}{late if is_late else ''}"
