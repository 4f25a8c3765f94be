"""Handles choices: of an option of the bot's question ("Did you mean ...?"), or whether a message was feedback."""

from dataclasses import dataclass, replace

from bot.conversation.answers.choice_messages import NEEDS_TAP, not_chosen, reply_to_choice
from bot.conversation.answers.conversations import Conversations
from bot.conversation.executor import Executor
from bot.conversation.feedback.feedback_question import FeedbackQuestions
from bot.conversation.feedback.handler import FeedbackHandler
from bot.conversation.notifications import notice, notify
from bot.conversation.reply import CHOICE, CHOOSE, NO, NONE
from bot.errors import NotPermitted
from bot.model import PersonCommand, PersonDeletion, PersonReaction
from bot.ports import Messenger
from memory.errors import NotFound
from memory.model import Episode, EventKind, Grant, Option, Scope, offers_of
from memory.services import ChoiceResult, Memory, VoteResult


@dataclass(frozen=True, slots=True)
class ChoiceHandler:
    """Stores choices and replies to them."""

    _memory: Memory
    _executor: Executor
    _conversations: Conversations
    _questions: FeedbackQuestions
    _feedback: FeedbackHandler

    async def choose(self, messenger: Messenger, event: PersonCommand) -> None:
        """Answer the asker's choice; confirm anybody else's."""
        chosen = await self._chosen(event)
        if chosen is None:
            await self._decide_feedback(messenger, event)
            return
        if chosen.message is not None:
            self._conversations.enqueue(messenger, chosen.message)
        elif reply := reply_to_choice(chosen, messenger.how_to_type):
            await notify(messenger, event, reply)
        for run_id in chosen.changed_runs:
            await self._feedback.refresh_mark(messenger, event.scope.workspace, run_id)

    async def _chosen(self, event: PersonCommand) -> ChoiceResult | None:
        """Store a choice. None if the question does not exist, is gone, or may not be seen by this person."""
        found = CHOICE.fullmatch(event.argument.strip())
        if found is None:
            return None
        grant = Grant(found["grant"].lower()) if found["grant"] else Grant.ONCE
        return await self._executor(self._store, event, found["run"], found["which"].lower(), grant)

    def _store(self, event: PersonCommand, run: str | None, which: str, grant: Grant) -> ChoiceResult | None:
        run_id = run.lower() if run else self._memory.answers.addressed(event.scope, event.message_id, event.at)
        try:
            return self._memory.choices.choose(
                event.scope,
                run_id or "",
                None if which in (NONE, NO) else int(which),
                role=event.role,
                at=event.at,
                event_id=event.event_id,
                grant=grant,
            )
        except NotFound:
            return None

    async def _decide_feedback(self, messenger: Messenger, event: PersonCommand) -> None:
        """Handle the author's answer to the question whether their message was feedback."""
        decision = await self._questions.choose(event, messenger.how_to_type)
        if decision is None:
            await notify(messenger, event, not_chosen(event.argument))
            return
        if decision.text:
            try:
                await messenger.post(replace(notice(event.scope, decision.text), choices=decision.choices))
            except NotPermitted:  # its buttons would be in a direct message, which the person does not accept
                await notify(messenger, event, decision.text)
        if decision.message is not None:
            self._conversations.enqueue(messenger, decision.message)
        if decision.changed_run:
            await self._feedback.refresh_mark(messenger, event.scope.workspace, decision.changed_run)

    async def on_thumb(self, messenger: Messenger, event: PersonReaction, result: VoteResult) -> None:
        """The asker's 👍 on a question that offers one thing chooses it, as long as it stays.

        A tool with effects is allowed by its button or a command only, which the asker is told.
        """
        options = _offered_to(event, result)
        if any(option.is_approval for option in options):
            if result.value > 0 and result.root is not None and not await self._is_decided(result.root):
                await notify(messenger, event, NEEDS_TAP)
            return
        choice = _chosen_by_thumb(event, result) if len(options) == 1 else None
        if choice is not None and result.value > 0:
            await self.choose(messenger, choice)
        elif choice is not None:
            await self.take_back(messenger, event)

    async def _is_decided(self, question: Episode) -> bool:
        """Whether somebody decided on the tool that a question is about."""
        run = await self._executor(self._memory.audit.run, question.workspace, question.run_id)
        return any(each.kind is EventKind.DECIDED for each in run.events)

    async def take_back(self, messenger: Messenger, event: PersonDeletion | PersonReaction) -> None:
        """Take back the choice that a message made, or a thumb on it."""
        workspace, choice = event.scope.workspace, choice_event(event.scope, event.message_id)
        changed = await self._executor(self._memory.choices.take_back, workspace, choice, event.at)
        self._conversations.stop_event((workspace, choice))
        if changed:
            await self._feedback.refresh_mark(messenger, workspace, changed)


def choice_event(scope: Scope, message_id: str) -> str:
    """The event id of the choice that a message makes, or a thumb on it; taken back if that is removed."""
    return f"choice/{scope.channel}/{message_id}"


def _offered_to(event: PersonReaction, result: VoteResult) -> list[Option]:
    """The options of the question that the asker voted on; none for any other vote, or one that repeats theirs."""
    root = result.root
    if root is None or not result.is_new_opinion or root.person != event.scope.person:
        return []
    return [each.option for each in offers_of([root, *result.parts])]


def _chosen_by_thumb(event: PersonReaction, result: VoteResult) -> PersonCommand | None:
    """The choice of the only option of a question."""
    if result.root is None:
        return None
    return PersonCommand(
        event_id=choice_event(event.scope, event.message_id),
        scope=event.scope,
        at=event.at,
        role=event.role,
        name=CHOOSE,
        argument=f"{result.root.run_id} 1",
    )
