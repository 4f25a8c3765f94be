"""From an accepted message to its committed answer, which is then delivered: runs the agent and commits the run."""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from typing import TypeAlias

from cachetools import FIFOCache

from bot.agent.prompts import DIGEST
from bot.agent.tools.registry import ToolRegistry
from bot.agent.tree import AgentTree, RunResult
from bot.conversation import messages
from bot.conversation.answers.background import Background, BackgroundConfig, BackgroundLookup, PreparedRecall
from bot.conversation.answers.delivery import Delivery
from bot.conversation.answers.live_answers import LiveAnswers, ProgressLine
from bot.conversation.answers.resuming import Resumed, Resuming
from bot.conversation.answers.unknown_answers import UnknownAnswers
from bot.conversation.executor import Executor, run_unless
from bot.conversation.feedback.asker_roles import AskerRoles
from bot.conversation.feedback.feedback_hints import MAY_ANSWER, MAY_BE_FEEDBACK, MAY_CONTRADICT, MAY_TELL
from bot.conversation.feedback.feedback_question import FeedbackQuestions
from bot.conversation.feedback.feedback_reader import FeedbackReader, by_rule
from bot.conversation.feedback.in_words_handler import InWordsHandler, NotedOpinion, NotedPreference
from bot.conversation.feedback.preference_in_words import preference_in
from bot.conversation.reply import short_id
from bot.errors import ModelError
from bot.model import ImageFile
from bot.ports import Messenger
from memory.model import Incoming, Progress, Role
from memory.ports import NewId
from memory.rules.audience import may_be_repeated
from memory.services import Answer, FinishedRun, Memory

log = logging.getLogger(__name__)

_MOST_EDITS = 5
"""How often at most an edit starts the work on a message again."""

_MOST_IMAGE_BYTES = 60_000_000

_Work: TypeAlias = FinishedRun | NotedOpinion | NotedPreference
"""The result of the work on a message, to be committed."""
RecordInProgress = Callable[[Incoming], AbstractContextManager[None]]
"""A context for the work on a message, which notes it in case the process crashes."""


def without_crash_report(_: Incoming) -> AbstractContextManager[None]:
    """The default for `record_in_progress`: nothing is noted."""
    return nullcontext()


class Answering:
    """Answers accepted messages. Different messages may be answered concurrently."""

    def __init__(
        self,
        *,
        memory: Memory,
        executor: Executor,
        agent: AgentTree,
        new_id: NewId,
        warm_up: "asyncio.Future[None] | None" = None,
        record_in_progress: RecordInProgress = without_crash_report,
        background: BackgroundConfig | None = None,
        read_feedback: FeedbackReader = by_rule,
        follows_style: bool = True,
        live_answers: LiveAnswers | None = None,
    ) -> None:
        self._live_answers = live_answers
        self._memory = memory
        self._executor = executor
        self.warm_up = warm_up
        self._record_in_progress = record_in_progress
        self._agent = agent
        self._new_id = new_id
        background = background or BackgroundConfig()
        self._backgrounds = BackgroundLookup(memory, executor, background)
        self.images: FIFOCache[str, tuple[ImageFile, ...]] = FIFOCache(
            _MOST_IMAGE_BYTES, getsizeof=lambda images: sum(len(each.content) for each in images)
        )
        """Pictures of messages that wait to be answered, by event id."""
        self._lines: Counter[tuple[str, ...]] = Counter()
        self.actions = agent.tools.known_names
        """The names of the agent's tools."""
        self.roles = AskerRoles(memory, executor)
        self.questions = FeedbackQuestions(memory, executor, self.actions, background.pause)
        self.in_words = InWordsHandler(memory, executor, read_feedback, self.questions, self.roles, follows_style)
        self.unknown_answers = UnknownAnswers(memory, executor)
        self.delivery = Delivery(memory, executor, self.questions, self.unknown_answers)
        self._resuming = Resuming(memory, executor)
        self._edit_events: dict[str, asyncio.Event] = {}
        """Set if the message with this event id is edited before or while the agent works on it."""
        self._last_tries: set[str] = set()
        """Messages whose work is not begun again, by event id."""
        self.is_shutting_down = False
        """Whether the process is about to end: then an answer that was cut short is not kept."""

    async def answer(self, messenger: Messenger, incoming: Incoming, cancel: asyncio.Event) -> str:
        """Run the agent on the message, commit the run, and deliver the answer. Returns what `Delivery.deliver` does.

        If the channel got other readers since the question, the asker is told so instead.
        """
        if not may_be_repeated(incoming.scope.visibility, incoming.channel_visibility):
            await self.delivery.withhold(messenger, incoming)
            return ""
        progress = ProgressLine(messenger, incoming.scope, self._lines)
        try:
            await self._warm(progress.show, cancel)
            with self._record_in_progress(incoming):
                committed = await self._commit(messenger, incoming, cancel, progress.show)
                progress.end()
                return "" if committed is None else await self.delivery.deliver(messenger, *committed)
        finally:
            progress.end()
            await progress.ended()

    async def answer_unseen(self, messenger: Messenger, incoming: Incoming, cancel: asyncio.Event) -> bool:
        """Run the agent and commit the answer without posting it. False if it was cut short."""
        await self._warm(lambda _: None, cancel)
        with self._record_in_progress(incoming):
            return await self._commit(messenger, incoming, cancel, lambda _: None) is not None

    def restart(self, event_id: str) -> bool:
        """Restart the work on a message that was edited before it was answered, or let it begin with the new text.

        False if it was edited too often, or already did something with effects.
        """
        if event_id in self._resuming.with_effects or event_id in self._last_tries:
            return False
        self._edit_events.setdefault(event_id, asyncio.Event()).set()
        return True

    async def _commit(
        self, messenger: Messenger, incoming: Incoming, cancel: asyncio.Event, show: Callable[[str], None]
    ) -> tuple[Incoming, Answer] | None:
        """Work on a message until its answer is committed; returns both. None if it was cut short or withdrawn.

        If the message was edited meanwhile, or used words that were forgotten meanwhile, the work is repeated.
        """
        try:
            return await self._committed(messenger, incoming, cancel, show)
        finally:
            self._edit_events.pop(incoming.event_id, None)
            self._last_tries.discard(incoming.event_id)
            self.unknown_answers.admitted.discard(incoming.event_id)
            self.roles.events.pop(incoming.event_id, None)

    async def _committed(
        self, messenger: Messenger, incoming: Incoming, cancel: asyncio.Event, show: Callable[[str], None]
    ) -> tuple[Incoming, Answer] | None:
        current: Incoming | None = incoming
        if incoming.event_id in self._edit_events:
            current = await self._executor(self._memory.recording.current, incoming)
        images, tries = self.images.pop(incoming.event_id, ()), 0
        while current is not None and current.progress is Progress.ACCEPTED:
            tries += 1
            run_id, is_last = self._new_id(), tries > _MOST_EDITS
            edited = self._edit_events[incoming.event_id] = asyncio.Event()
            if is_last:
                self._last_tries.add(incoming.event_id)
            show("thinking")
            shown = self._live_answers.of(messenger, current, run_id) if self._live_answers else nullcontext()
            async with shown as live:
                work = self._work(messenger, current, run_id, cancel, show, images, live.update if live else None)
                finished = await run_unless(edited, work)
                if finished is None and not edited.is_set():
                    return None
                if finished is not None:
                    if isinstance(finished, NotedOpinion | NotedPreference):
                        answer = await self.in_words.commit(finished)
                    else:
                        is_settled = is_last or incoming.event_id in self._resuming.with_effects
                        finished = replace(finished, question="" if is_settled else current.text)
                        answer = await self._executor(self._memory.recording.finish, finished)
                    if answer is not None:
                        if live is not None:
                            live.is_kept = answer.total > 0
                        if incoming.event_id in self._resuming.written:
                            await self._resuming.drop(incoming)
                        done = replace(incoming, progress=Progress.ANSWERED, run_id=run_id)
                        return replace(done, understood=finished.understood), answer
            current = await self._executor(self._memory.recording.current, incoming)
        return None

    async def _warm(self, show: Callable[[str], None], cancel: asyncio.Event) -> None:
        """Wait until the models are loaded, unless cancelled, so that no thread of the pool has to wait."""
        if self.warm_up is None or self.warm_up.done():
            return
        show("loading what I need to understand you (this once)")
        await run_unless(cancel, asyncio.wait({self.warm_up}))

    async def _work(
        self,
        messenger: Messenger,
        incoming: Incoming,
        run_id: str,
        cancel: asyncio.Event,
        show: Callable[[str], None],
        images: tuple[ImageFile, ...],
        on_answer: Callable[[str], None] | None,
    ) -> _Work | None:
        """Run the agent, or take the message as feedback in words. None if it was cut short as the process ends."""
        text = incoming.text
        hints = (MAY_BE_FEEDBACK, MAY_CONTRADICT, MAY_ANSWER, MAY_TELL)
        may_judge = any(each.match(text) for each in hints) or preference_in(text) is not None
        since = self._agent.monotonic()
        without = await self._backgrounds.control_arm_recall(incoming, run_id)
        tools = await self._tools_for(incoming)
        recall = None if may_judge or without or cancel.is_set() else partial(self._recall, incoming, run_id, tools)
        background = await self._backgrounds.of(messenger, incoming, recall)
        asked, resumed = background.asked(incoming), Resumed()
        if asked or incoming.tap or incoming.has_notes:
            resumed = await self._resuming.of(incoming, asked, is_fresh=incoming.event_id in self.roles.events)
        if resumed.broken_off:
            return resumed.finished(self._with_text(incoming, run_id, resumed.broken_off))
        if may_judge and resumed.earlier is None:
            noted = await self.in_words.note(messenger, incoming, background.exchanges, run_id)
            if noted is not None:
                return noted
        try:
            result = await self._agent.run(
                incoming.text,
                incoming.scope,
                run_id=run_id,
                on_progress=show,
                on_answer=on_answer,
                cancel=cancel,
                chosen=resumed.chosen,
                resumed=resumed.earlier,
                journal=partial(self._resuming.write, incoming),
                images=images,
                earlier=background.earlier,
                preferences=background.preferences,
                recalled=background.recollection,
                role=incoming.tap.role if incoming.tap is not None else Role.MEMBER,
                recall=without,
                since=since,
                allowance=await self._backgrounds.allowance(incoming),
                tools=tools,
            )
            if self.is_shutting_down and cancel.is_set():
                return None
            result = replace(result, allowed=(*resumed.allowed, *result.allowed))
            return await self._finished(messenger, incoming, run_id, result, background)
        except ModelError as error:
            known = short_id(run_id)
            log.error("no answer [%s] to %s in %s: %s", known, incoming.event_id, incoming.scope.workspace, error)
            return self._with_text(incoming, run_id, messages.apology(known, error))

    async def _tools_for(self, incoming: Incoming) -> ToolRegistry:
        """The tools that the asker may use there."""
        role = await self.roles.of(incoming) if self._agent.tools.asks_for_role else None
        return self._agent.tools.within(incoming.scope, role or Role.MEMBER)

    def _recall(self, incoming: Incoming, run_id: str, tools: ToolRegistry) -> PreparedRecall:
        """The recall of the first node, if the message needs no earlier ones to be understood. Blocking."""
        context = self._agent.surroundings(incoming.scope, tools)
        recall = self._memory.recalling.prepared
        return recall(incoming.scope, incoming.text, run_id=run_id, context=context, actions=tools.actions)

    async def _finished(
        self, messenger: Messenger, incoming: Incoming, run_id: str, result: RunResult, background: Background
    ) -> FinishedRun:
        """A run as it is committed, with its answer split into parts."""
        words = result.output
        if result.knows_nothing or result.lacks_parts:
            words = await self.unknown_answers.words(messenger, incoming, result)
        return replace(
            self._with_text(incoming, run_id, *(messenger.split(words) if words else ())),
            nodes=result.nodes,
            recalls=result.recollections,
            usage=result.usage,
            prompts=DIGEST,
            embedding_model=self._memory.embedder.name,
            asked_by=incoming.asked_by,
            tap=incoming.tap if result.chosen else None,
            understood=result.understood,
            allowed=result.allowed,
            earlier_texts=background.texts if self._agent.model.name != "offline" or result.understood else (),
            words_of=result.words_of - {incoming.scope.person} | background.people_in(result.understood),
        )

    def _with_text(self, incoming: Incoming, run_id: str, *parts: str) -> FinishedRun:
        return FinishedRun(
            workspace=incoming.scope.workspace,
            run_id=run_id,
            event_id=incoming.event_id,
            parts=parts,
            channel=incoming.scope.channel,
            thread=incoming.scope.thread,
        )

    async def deliver(self, messenger: Messenger, incoming: Incoming) -> str:
        """Post what is unsent of a committed answer. Returns what `Delivery.deliver` does."""
        with self._record_in_progress(incoming):
            answer = await self._executor(self._memory.recording.unsent, incoming.scope.workspace, incoming.run_id)
            return await self.delivery.deliver(messenger, incoming, answer)
