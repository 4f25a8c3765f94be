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
)
from memory.model import Role, Scope
from memory.model.saved_messages import AnsweredQuestion

EventSink = Callable[[PersonEvent], Awaitable[None]]
"""Takes one event of a person. Returns when the event is safely stored (a message) or handled (everything else)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationQueries:
    """The questions that a messenger asks before it turns something into an event."""

    has_meaning: Callable[[str], bool]
    """Whether an emoji on an answer means anything. Others are ignored at no cost."""
    saves: Callable[[str], bool]
    """Whether an emoji on a person's message saves it."""
    is_for_bot: IsForBot
    """Whether a message without a mention is for the bot."""
    set_in_chat: SetInChat
    """Reads the settings and lists that people keep in chat."""
    form_for: Callable[[Scope, Role, str], Awaitable[tuple[str, str] | None]]
    """What the form that `teach ID` opens begins with: the question, and the answer that it has so far.

    None if nothing with that id waits, or this person may not decide about it.
    """


class LanguageModel(Protocol):
    """A language model that answers single requests; the agent loop is the bot's."""

    @property
    def name(self) -> str:
        """The configured name, for example `offline` or `openai:gpt-5-mini`."""

    async def warm_up(self) -> None:
        """Do slow preparations (imports, loading) before the first request. Never blocks the event loop."""

    async def reply(self, request: ModelRequest) -> ModelReply:
        """One reply. Raises `ModelError` or one of its kinds; never a vendor's exception."""

    async def close(self) -> None:
        """Close connections. Idempotent."""


class Messenger(Protocol):
    """One chat platform: passes people's events to `sink`, and posts the bot's messages."""

    @property
    def platform(self) -> str:
        """The name of the platform, which is the first part of its workspaces' names."""

    async def run(self, sink: EventSink) -> None:
        """Deliver events, except this bot's own, until the platform ends or `close` is called."""

    def split(self, text: str) -> list[str]:
        """Split a text into parts within the platform's limit, without breaking code fences, links or emoji."""

    def how_to_type(self, command: str) -> str:
        """How a person types one of the bot's commands here: `undo` is `/undo` at the terminal."""

    async def post(self, message: BotMessage) -> MessageRef:
        """Post a message, whose text is within the limit (`split`). Raises `MessengerError`."""

    async def mark(self, ref: MessageRef, emoji: str, present: bool) -> None:
        """Add or remove the bot's own emoji on a message of its own. Idempotent."""

    async def ask_correction(self, event: PersonReaction | PersonVote, ref: MessageRef, question: str) -> None:
        """Ask the person who rejected an answer what would have been right, as unobtrusively as possible.

        Called once for each person and answer. Does nothing on a platform that asks at the button itself.
        """

    async def progress(self, workspace: str, channel: str, thread: str, text: str) -> None:
        """Show that the bot is working (`text`), or that it has finished (empty text)."""

    async def hand_over(self, message: BotMessage, attachment: Attachment) -> None:
        """Give a file to one person, privately."""

    async def close(self) -> None:
        """Stop `run` and release all resources. Idempotent."""


@runtime_checkable
class ReadsAlong(Protocol):
    """Optional interface of a messenger that can look up earlier messages of people, and their names."""

    async def remarks(self, scope: Scope, message_id: str, wanted: Sequence[str], last: int) -> list[Remark]:
        """People's messages with these ids, and the `last` ones before this message in its thread or channel.

        Oldest first, without bots' messages and those that are deleted or unreadable. Raises `MessengerError`.
        """

    async def name_of(self, workspace: str, person: str) -> str:
        """A person's name, never an id; empty if the platform does not tell it."""


@runtime_checkable
class ReadsAnswers(Protocol):
    """Optional interface of a messenger that can look up a person's message with the question that it answers."""

    async def answered_question(self, scope: Scope, message_id: str) -> AnsweredQuestion | None:
        """The message, and what it replies to or what begins its thread, with names in place of mentions.

        None if it answers no question, is deleted, or either is a bot's. Raises `MessengerError`.
        """


@runtime_checkable
class StreamsAnswers(Protocol):
    """Optional interface of a messenger that can show an answer while it is being written."""

    @property
    def pace_s(self) -> float:
        """The least time between two calls of `stream_partial` for one answer, in seconds."""

    async def stream_partial(self, message: BotMessage) -> None:
        """Show the beginning of the first part of an answer; `post` of the same run completes it.

        Each text should begin with the one before; else the platform shows nothing new until the answer is complete.
        Raises `MessengerError`.
        """

    async def drop_partial(self, message: BotMessage) -> None:
        """Remove what was shown of an answer that will not be completed. Raises `MessengerError`."""


@runtime_checkable
class KnowsWorkspaces(Protocol):
    """Optional interface of a messenger that knows for which workspaces it can answer."""

    @property
    def workspaces(self) -> frozenset[str]:
        """These workspaces, named as in scopes; empty until events come in."""


@runtime_checkable
class AnswersEverywhere(Protocol):
    """Optional interface of a messenger that can finish answers in every workspace of its platform."""

    @property
    def answers_everywhere(self) -> bool:
        """Whether it can do so now: false until events come in."""


@runtime_checkable
class KnowsConnection(Protocol):
    """Optional interface of a messenger that knows whether its platform is connected."""

    @property
    def is_connected(self) -> bool:
        """Whether events come in. Safe to call from any thread."""


@runtime_checkable
class HoldsShards(KnowsConnection, Protocol):
    """Optional interface of a messenger whose platform sends events by numbered shards, held by one process each."""

    def hold(self, shards: frozenset[int], before_session: Callable[[int], Awaitable[None]]) -> None:
        """Receive the events of exactly these shards.

        `before_session` is awaited before a session begins, with the number of its bucket, because Discord requires a
        pause between two sessions of a bucket.
        """


@runtime_checkable
class KnowsPeople(Protocol):
    """Optional interface of a messenger that can look up people and channels."""

    async def profile(self, scope: Scope) -> Profile:
        """The profile of the scope's person. Raises `MessengerError`."""

    async def channel_card(self, scope: Scope) -> ChannelCard:
        """The description of the scope's channel. Raises `MessengerError`."""


@runtime_checkable
class KnowsTeachers(Protocol):
    """Optional interface of a messenger that knows who can approve lessons for others."""

    async def approvers(self, scope: Scope) -> list[str]:
        """The names of people and groups who can approve what is taught there. Never raises."""

    async def teachers(self, workspace: str) -> list[str]:
        """The ids of these people, as far as known without listing all members. Never raises."""
