"""The bot's ports: a messenger and a language model. (The store and the embedder are memory's.)"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from bot.model import (
    Attachment,
    BotMessage,
    ChannelCard,
    IsForBot,
    MessageRef,
    ModelReply,
    ModelRequest,
    PersonEvent,
    PersonReaction,
    PersonVote,
    Profile,
    Remark,
    SetInChat,
    any_reply,
    nothing_set,
)
from memory.model import Role, Scope
from memory.model.saved import AnsweredQuestion

EventSink = Callable[[PersonEvent], Awaitable[None]]
"""Takes one event of a person. Returns when the event is safely stored (a message) or handled (everything else)."""


async def no_lesson(reader: Scope, role: Role, ending: str) -> str:
    """For a messenger without a memory behind it."""
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationQueries:
    """What a messenger asks the conversation before it makes an event of what somebody did."""

    teaches: Callable[[str], bool] = lambda emoji: True
    """Whether an emoji counts on an answer. All others cost nothing."""
    saves: Callable[[str], bool] = lambda emoji: False
    """Whether it counts on a person's message."""
    is_for_bot: IsForBot = any_reply
    """Whether a message without a mention is for the bot."""
    set_in_chat: SetInChat = nothing_set
    """Which settings and lists people keep in chat."""
    lesson_text: Callable[[Scope, Role, str], Awaitable[str]] = no_lesson
    """What the waiting lesson with an id that ends so says, for a form to change it in."""


class LanguageModel(Protocol):
    """Answers one request at a time; the loop around it is ours."""

    @property
    def name(self) -> str:
        """As configured, for example `offline` or `openai:gpt-5-mini`."""
        ...

    async def warm_up(self) -> None:
        """Do what takes long (imports, loading) before the first request. Never blocks the event loop."""
        ...

    async def reply(self, request: ModelRequest) -> ModelReply:
        """One reply. Raises `ModelError` or one of its kinds; never a vendor's exception."""
        ...

    async def close(self) -> None:
        """Give up connections. Closing twice is fine."""
        ...


class Messenger(Protocol):
    """One chat platform. Drives `sink` with what people do, and says what the bot says."""

    @property
    def platform(self) -> str:
        """The first part of its workspaces' names."""
        ...

    async def run(self, sink: EventSink) -> None:
        """Deliver events until the platform ends or `close` is called, but never this bot's own."""
        ...

    def split(self, text: str) -> list[str]:
        """The parts `text` must be sent in: within the platform's limit, code fences, links and emoji unbroken."""
        ...

    def spell(self, command: str) -> str:
        """How a person types one of the bot's commands here: `undo` is `/undo` at the terminal."""
        ...

    async def post(self, message: BotMessage) -> MessageRef:
        """Say it. The text is within the limit (`split`). Raises `MessengerError`."""
        ...

    async def mark(self, ref: MessageRef, emoji: str, present: bool) -> None:
        """Show or take away the bot's own emoji on a message of its own. Doing it twice is fine."""
        ...

    async def ask_correction(self, event: PersonReaction | PersonVote, ref: MessageRef, question: str) -> None:
        """Ask the person who rejected an answer what would have been right, in the least intrusive way there is.

        Called once for each person and answer. A platform that asks at the button itself does nothing here.
        """
        ...

    async def progress(self, workspace: str, channel: str, thread: str, text: str) -> None:
        """Show that work goes on (`text`), or that it ended (empty text)."""
        ...

    async def hand_over(self, message: BotMessage, attachment: Attachment) -> None:
        """Give a file to one person, privately."""
        ...

    async def close(self) -> None:
        """Stop `run` and release everything. Closing twice is fine."""
        ...


@runtime_checkable
class ReadsAlong(Protocol):
    """What a messenger may have too: it looks up what people said to each other before a message, and their names."""

    async def remarks(self, scope: Scope, message_id: str, wanted: Sequence[str], last: int) -> list[Remark]:
        """The messages of people with these ids, and the `last` ones before this message in its thread or channel.

        Oldest first; what is gone or may not be read is left out, and so is every bot. Raises `MessengerError`.
        """
        ...

    async def name_of(self, workspace: str, person: str) -> str:
        """What a person is called; empty if the platform does not say. Never an id."""
        ...


@runtime_checkable
class ReadsAnswers(Protocol):
    """What a messenger may have too: it looks up a person's message with the question that it answers."""

    async def answered_question(self, scope: Scope, message_id: str) -> AnsweredQuestion | None:
        """The message, and what begins its thread or what it replies to, with names in place of mentions.

        None if it answers nobody's question, is gone, or either of them is a bot's. Raises `MessengerError`.
        """
        ...


@runtime_checkable
class StreamsAnswers(Protocol):
    """What a messenger may have too: it shows an answer while it is written."""

    @property
    def pace_s(self) -> float:
        """The least time between two calls of `stream_partial` for one answer, in seconds."""
        ...

    async def stream_partial(self, message: BotMessage) -> None:
        """Show what there is of the first part of an answer; `post` of the same run makes it whole, and what it is.

        Each text begins with the one before, or the platform waits for the whole. Raises `MessengerError`.
        """
        ...

    async def drop_partial(self, message: BotMessage) -> None:
        """Take away what was shown of an answer that is not to come. Raises `MessengerError`."""
        ...


@runtime_checkable
class KnowsWorkspaces(Protocol):
    """A messenger that knows for which workspaces it can answer."""

    @property
    def workspaces(self) -> frozenset[str]:
        """Which ones, as in scopes; none until events come in."""
        ...


@runtime_checkable
class AnswersEverywhere(Protocol):
    """A messenger for every workspace of its platform, also where it can only bring what waits to an end."""

    @property
    def answers_everywhere(self) -> bool:
        """Whether it does so now: false until events come in."""
        ...


@runtime_checkable
class KnowsConnection(Protocol):
    """What a messenger may have too: it knows whether its platform is connected now."""

    @property
    def is_connected(self) -> bool:
        """Whether what people do comes in. Safe from any thread."""
        ...


@runtime_checkable
class HoldsShards(KnowsConnection, Protocol):
    """A messenger whose platform sends events by numbered shards, each to the process that holds it."""

    def hold(self, shards: frozenset[int], before_session: Callable[[int], Awaitable[None]]) -> None:
        """Take in the events of these shards, and of no others any more.

        `before_session` is waited for before a session begins, with the number of its bucket: Discord wants a pause
        between two of one bucket.
        """
        ...


@runtime_checkable
class KnowsPeople(Protocol):
    """What a messenger may have too: it looks up what its platform tells about people and channels."""

    async def profile(self, scope: Scope) -> Profile:
        """About the scope's person, as far as the platform says. Raises `MessengerError`."""
        ...

    async def channel_card(self, scope: Scope) -> ChannelCard:
        """About the scope's channel. Raises `MessengerError`."""
        ...


@runtime_checkable
class KnowsTeachers(Protocol):
    """What a messenger may have too: it knows who can approve lessons for others."""

    async def approvers(self, scope: Scope) -> list[str]:
        """Who can approve what is taught there, people by name and groups in words. Never raises."""
        ...

    async def teachers(self, workspace: str) -> list[str]:
        """The ids of people who can, as far as they are known without asking for every member. Never raises."""
        ...
