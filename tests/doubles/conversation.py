"""A bot on doubles: the real conversation, agent tree and memory; a messenger and a model that do as they are told."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence

from bot.agent.tools.registry import Tool
from bot.config.tool_rules import ToolRule
from bot.conversation.answers.answering import Answering, RecordInProgress, without_crash_report
from bot.conversation.answers.background import BackgroundConfig, MemoryRecall
from bot.conversation.commands.settings_command import SettingsFile
from bot.conversation.executor import Executor
from bot.conversation.goodbot import Goodbot
from bot.errors import MessengerError, MessengerUnavailable
from bot.model import (
    Attachment,
    BotMessage,
    MessageRef,
    ModelReply,
    ModelRequest,
    PersonCommand,
    PersonCorrection,
    PersonMessage,
    PersonReaction,
    PersonVote,
)
from bot.ports import EventSink, LanguageModel
from memory.model import Role, Scope, Visibility
from memory.ports import Store
from tests.doubles.emoji import DEFAULT_EMOJI
from tests.doubles.memory_world import World, scope
from tests.doubles.model import ReadyModel, answer, fail, goal_of, make_tree, opening

ANA, BOB, TEA = scope("ana"), scope("bob"), scope("tea")
PART = "\n---\n"
"""Where this messenger splits."""


class RecordingMessenger:
    """Keeps what it is told; takes messages unless `fails`."""

    platform = "terminal"

    def __init__(self) -> None:
        self.posts: list[BotMessage] = []
        self.marks: list[tuple[str, str, bool]] = []
        self.files: list[Attachment] = []
        self.shown: list[str] = []
        self.fails: set[str] = set()
        """`post`, `mark` or `progress`; or the text of a message that is not taken."""
        self.refusal: MessengerError = MessengerUnavailable("the platform is down")
        self.arrived: asyncio.Queue[BotMessage] = asyncio.Queue()
        self.after_post: Callable[[], Awaitable[None]] | None = None

    async def run(self, sink: EventSink) -> None:
        return

    def split(self, text: str) -> list[str]:
        return text.split(PART)

    def how_to_type(self, command: str) -> str:
        return f"!{command}"

    async def post(self, message: BotMessage) -> MessageRef:
        if self.fails & {"post", message.text}:
            raise self.refusal
        self.posts.append(message)
        self.arrived.put_nowait(message)
        message_id = f"post-{len(self.posts)}"
        if self.after_post is not None:
            await self.after_post()
        return MessageRef(workspace=message.workspace, channel=message.channel, message_id=message_id)

    async def mark(self, ref: MessageRef, emoji: str, present: bool) -> None:
        if "mark" in self.fails:
            raise MessengerUnavailable("the platform is down")
        self.marks.append((ref.message_id, emoji, present))

    async def ask_correction(self, event: PersonReaction | PersonVote, ref: MessageRef, question: str) -> None:
        scope = event.scope
        message = BotMessage(workspace=scope.workspace, channel=scope.channel, text=question, private_to=scope.person)
        await self.post(message)

    async def progress(self, workspace: str, channel: str, thread: str, text: str) -> None:
        if "progress" in self.fails:
            raise MessengerUnavailable("the platform is down")
        self.shown.append(text)

    async def hand_over(self, message: BotMessage, attachment: Attachment) -> None:
        self.posts.append(message)
        self.files.append(attachment)

    async def close(self) -> None:
        return

    @property
    def answers(self) -> list[str]:
        return [post.text for post in self.posts if post.is_answer]

    @property
    def notices(self) -> list[str]:
        return [post.text for post in self.posts if not post.is_answer]


class Oracle(ReadyModel):
    """Knows the answer to each goal, raises what it was told to raise, and waits where a gate is closed."""

    name = "oracle"

    def __init__(self, answers: Mapping[str, str | ModelReply | Exception] | None = None) -> None:
        self.answers = dict(answers or {})
        self.unknown: set[str] = set()
        """Goals it gives up."""
        self.gates: dict[str, asyncio.Event] = {}
        self.asked: list[str] = []
        self.arrived: asyncio.Queue[str] = asyncio.Queue()
        self.requests: list[ModelRequest] = []

    async def reply(self, request: ModelRequest) -> ModelReply:
        if "<last-message>" in opening(request):  # it takes every message as it stands
            return answer("")
        goal = goal_of(request)
        self.asked.append(goal)
        self.arrived.put_nowait(goal)
        self.requests.append(request)
        if goal in self.gates:
            await self.gates[goal].wait()
        if goal in self.unknown:
            return fail(f"I do not know {goal} It is so, for nobody told me.")
        known = self.answers.get(goal, f"the answer to {goal}")
        if isinstance(known, Exception):
            raise known
        return known if isinstance(known, ModelReply) else answer(known)


class Chat:
    """The bot with people talking to it."""

    def __init__(
        self,
        world: World | None = None,
        model: LanguageModel | None = None,
        warm_up: "asyncio.Future[None] | None" = None,
        record_in_progress: RecordInProgress = without_crash_report,
        messenger: RecordingMessenger | None = None,
        *,
        known_answers: bool = False,
        tools: Sequence[Tool] = (),
        rules: Sequence[ToolRule] = (),
        asks_first: bool = False,
        background: BackgroundConfig | None = None,
        settings_file: SettingsFile | None = None,
    ) -> None:
        self.world = world or World()
        self.oracle = Oracle()
        self.messenger = messenger or RecordingMessenger()
        self.executor = Executor(threads=2)
        memory = self.world.memory
        recall = MemoryRecall(memory, self.executor)
        answering = Answering(
            memory=memory,
            executor=self.executor,
            agent=make_tree(
                model or self.oracle,
                *tools,
                recall=recall,
                new_id=self.world.ids,
                clock=self.world.clock,
                known_answers=known_answers,
                asks_first=asks_first,
                rules=rules,
            ),
            new_id=self.world.ids,
            warm_up=warm_up,
            record_in_progress=record_in_progress,
            background=background,
        )
        self.bot = Goodbot(
            memory=memory,
            executor=self.executor,
            answering=answering,
            emoji=DEFAULT_EMOJI,
            new_id=self.world.ids,
            welcomes=False,
            settings_file=settings_file,
        )
        self.sink = self.bot.sink(self.messenger)

    @property
    def store(self) -> Store:
        return self.world.memory.store

    def message(
        self, text: str, by: Scope = ANA, *, event_id: str = "", message_id: str = "", role: Role = Role.MEMBER
    ) -> PersonMessage:
        event = event_id or self.world.ids()
        return PersonMessage(
            event_id=event, scope=by, message_id=message_id or event, text=text, at=self.world.clock.tick(), role=role
        )

    async def ask(self, text: str, by: Scope = ANA, **more: str) -> str:
        """Ask and wait; returns the id of the last message posted."""
        await self.sink(self.message(text, by, **more))  # type: ignore[arg-type]  # event_id and message_id
        await self.bot.idle()
        return f"post-{len(self.messenger.posts)}"

    async def react(
        self,
        message_id: str,
        emoji: str = "👍",
        by: Scope = ANA,
        *,
        added: bool = True,
        role: Role = Role.MEMBER,
        event_id: str = "",
    ) -> None:
        await self.sink(
            PersonReaction(
                event_id=event_id or self.world.ids(),
                scope=by,
                message_id=message_id,
                emoji=emoji,
                added=added,
                at=self.world.clock.tick(),
                role=role,
            )
        )

    async def correct(
        self,
        text: str,
        by: Scope = ANA,
        *,
        message_id: str = "",
        role: Role = Role.MEMBER,
        event_id: str = "",
        reason: str = "",
    ) -> str:
        """Correct; returns what the bot said."""
        await self.sink(
            PersonCorrection(
                event_id=event_id or self.world.ids(),
                scope=by,
                text=text,
                at=self.world.clock.tick(),
                role=role,
                message_id=message_id,
                reason=reason,
            )
        )
        return self.messenger.posts[-1].text

    async def command(
        self, name: str, argument: str = "", by: Scope = ANA, *, message_id: str = "", role: Role = Role.MEMBER
    ) -> str:
        """Give a command; returns what the bot said."""
        await self.sink(
            PersonCommand(
                event_id=self.world.ids(),
                scope=by,
                name=name,
                argument=argument,
                at=self.world.clock.tick(),
                role=role,
                message_id=message_id,
            )
        )
        return [each for each in self.messenger.posts if not each.is_direct][-1].text

    @property
    def mark(self) -> dict[str, bool]:
        """By message, whether 🧠 is on it now."""
        return {message_id: present for message_id, emoji, present in self.messenger.marks if emoji == "🧠"}


def direct(person: str) -> Scope:
    return scope(person, channel=f"D-{person}", visibility=Visibility.DIRECT)
