"""Welcome messages: one for each place where the bot is new, and one for each new person."""

import logging
from collections.abc import Sequence

from bot.conversation.executor import Executor
from bot.conversation.messages import HowToType
from bot.conversation.notifications import notice
from bot.errors import MessengerError
from bot.model import BotInvited, BotMessage, NameTeachers
from bot.ports import Messenger
from memory.model import Scope, Visibility
from memory.services import Memory

log = logging.getLogger(__name__)


class Welcomer:
    """Greets each person and place once: each greeting is claimed in memory before it is posted."""

    def __init__(self, memory: Memory, executor: Executor, *, is_on: bool) -> None:
        self._memory = memory
        self._executor = executor
        self._is_on = is_on

    async def to_place(self, messenger: Messenger, event: BotInvited) -> None:
        """Greet a channel. Teachers are not named in a channel shared with another organisation."""
        scope, channel = event.scope, "" if event.is_server else event.scope.channel
        if await self._claims(scope, channel=channel):
            teachers = await event.teachers() if scope.visibility is not Visibility.SHARED else None
            text = to_place(messenger.how_to_type, teachers)
            await self._say(messenger, BotMessage(workspace=scope.workspace, channel=scope.channel, text=text))

    async def to_person(self, messenger: Messenger, scope: Scope, teachers: NameTeachers | None = None) -> bool:
        """Greet a person in their direct conversation. Returns whether they are greeted now."""
        if not await self._claims(scope, person=scope.person):
            return False
        named = await teachers() if teachers is not None else []
        return await self._say(messenger, notice(scope, to_person(messenger.how_to_type, named)))

    async def _claims(self, scope: Scope, *, channel: str = "", person: str = "") -> bool:
        claim = self._memory.welcomes.claim
        return self._is_on and await self._executor(claim, scope.workspace, channel=channel, person=person)

    async def _say(self, messenger: Messenger, message: BotMessage) -> bool:
        try:
            await messenger.post(message)
        except MessengerError as error:
            log.info("could not post a welcome in %s: %s", message.channel, error)
            return False
        return True


def to_place(how_to_type: HowToType, teachers: Sequence[str] | None) -> str:
    """The greeting to a channel. `teachers` are names; None where they are not to be named."""
    others = "What somebody else teaches counts for them at once, and for everybody when it is approved."
    if not teachers:
        others = "nobody yet. What somebody teaches counts for them at once, and for everybody when others agree."
    return _text(
        how_to_type,
        "Mention me with a question and I answer it by what people here have taught me.",
        "" if teachers is None else f"**Who teaches here:** {_listed(teachers)}{others}",
    )


def to_person(how_to_type: HowToType, teachers: Sequence[str]) -> str:
    """The greeting to a person in their direct conversation."""
    elsewhere = f" In channels it counts for everybody when a teacher approves it: {_listed(teachers).rstrip()}"
    return _text(
        how_to_type,
        "Ask me anything in your own words and I answer it by what people have taught me.",
        f"**Who teaches:** you; what you teach me here counts for you alone.{elsewhere if teachers else ''}",
    )


def _text(how_to_type: HowToType, purpose: str, who: str) -> str:
    points = (
        "**Teach me with one tap:** 👍 or 👎 on an answer. After a 👎 you can say what would have been right: "
        f"`{how_to_type('correct')} ...`",
        who,
        "**What I keep:** questions to me, my answers, reactions and corrections; nothing else that is said, "
        "unless somebody saves it with 📚. "
        f"`{how_to_type('privacy')}` says more, `{how_to_type('forget')}` erases what is yours.",
    )
    lines = [f"- {point}" for point in points if point]
    return "\n".join([f"Hello! {purpose} I am a machine and may be wrong.", "", *lines])


def _listed(names: Sequence[str]) -> str:
    """`Ana, Ben and the workspace's owners. `; empty for no names."""
    *others, last = names or [""]
    return f"{' and '.join(filter(None, [', '.join(others), last]))}. " if last else ""
