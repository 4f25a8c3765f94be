"""The command `reminders`: lists a person's reminders, and cancels one."""

from bot.agent.tools.reminders import reminder_line
from bot.conversation.commands.command_context import CommandContext
from bot.conversation.messages import titled_list
from bot.conversation.reply import CommandReply, page_number, page_of, page_slice, short_id
from bot.model import Choice

REMINDERS = "reminders"
_NONE = "You have no reminders here. Ask for one, for example: remind me tomorrow at 9 to call Ana."


def show(context: CommandContext) -> CommandReply:
    """`reminders [page N]`, `reminders cancel ID`."""
    kept, action, known = context.memory.reminders, *context.argument.partition(" ")[::2]
    if action != "cancel":
        return _page(context, page_number(context.argument))
    gone = kept.cancel(context.scope, known)
    outcome = f"Cancelled: “{gone.text}”." if gone else "There is no such reminder of yours here."
    return CommandReply(text=outcome).above(_page(context, 1))


def _page(context: CommandContext, number: int) -> CommandReply:
    kept = context.memory.reminders.of(context.scope)
    page = page_of(kept[page_slice(len(kept), number)], len(kept), number)
    lines = page.numbered([reminder_line(each) for each in page.items])
    choices = [
        Choice(label=f"Cancel {place}", command=REMINDERS, argument=f"cancel {short_id(each.id)}")
        for place, each in enumerate(page.items, start=page.first)
    ]
    text = titled_list("Your reminders", lines, page.place) if kept else _NONE
    return CommandReply(text=text, choices=(*choices, *page.page_choices(REMINDERS)))
