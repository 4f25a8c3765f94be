"""The handler of reactions, buttons, corrections and taught lessons: it stores each and shows the result."""

import logging
import re
from collections.abc import Sequence
from dataclasses import replace

from bot.conversation import messages
from bot.conversation.counts import count
from bot.conversation.executor import Executor
from bot.conversation.feedback.answer_parts import NOTED_WRONG_APPROACH, part_choices, parts_of, which_parts
from bot.conversation.feedback.feedback_hints import MAY_BE_FEEDBACK
from bot.conversation.feedback.feedback_in_words import feedback_in
from bot.conversation.feedback.in_words_handler import InWordsHandler
from bot.conversation.feedback.note_in_words import NOTE, note_in
from bot.conversation.feedback.preference_in_words import (
    StylePreference,
    is_plain,
    preference_in,
    preference_noted,
    preference_of,
)
from bot.conversation.messages import HowToType
from bot.conversation.notifications import notice, notify, try_to_notify
from bot.errors import MessengerError
from bot.model import (
    Address,
    MessageRef,
    PersonCorrection,
    PersonEdit,
    PersonMessage,
    PersonReaction,
    PersonTeaching,
    PersonVote,
    ReactionsCleared,
)
from bot.model.events import WRONG_APPROACH
from bot.ports import KnowsTeachers, Messenger
from memory.errors import NotFound
from memory.model import Episode, Incoming, Reaction, Scope, Verdict, Visibility
from memory.model.teaching import EmojiMap, TeachingPolicy
from memory.rules.audience import visibility_of
from memory.rules.evidence.named_action import named_action
from memory.services import LessonMark, Memory, VoteResult

log = logging.getLogger(__name__)


LESSON_MARK = "🧠"

_BUTTON = "button"
_LIKE_A_CORRECTION = re.compile(r"correct\s+\S", re.IGNORECASE)
_NOT_YOU = re.compile(r"(?:no[,.]?\s+)?not\s+(?:for\s+)?you\b(?:[,\s]+(?:bot|goodbot|@\S++))?[\s.!]*", re.IGNORECASE)


class FeedbackHandler:
    """Handles what people do to teach, on any platform."""

    def __init__(
        self, memory: Memory, executor: Executor, emoji: EmojiMap, actions: Sequence[str], in_words: InWordsHandler
    ) -> None:
        self._memory = memory
        self._executor = executor
        self._emoji = emoji
        self._actions = actions
        self._in_words = in_words

    def is_vote(self, emoji: str) -> bool:
        """Whether an emoji on an answer means anything."""
        return self._emoji.value(emoji) is not None

    async def on_reaction(self, messenger: Messenger, event: PersonReaction) -> VoteResult | None:
        """Handle a reaction that was added or removed. Emoji without meaning cost no query."""
        value = self._emoji.value(event.emoji)
        if value is None:
            return None
        return await self._vote(messenger, event, f"emoji:{event.emoji}", value, is_active=event.added)

    async def on_vote(self, messenger: Messenger, event: PersonVote) -> None:
        """Handle a pressed button: the last press counts, 0 takes it back."""
        await self._vote(messenger, event, _BUTTON, event.value, is_active=event.value != 0)

    async def _vote(
        self, messenger: Messenger, event: PersonReaction | PersonVote, source: str, value: int, *, is_active: bool
    ) -> VoteResult:
        reaction = Reaction(
            workspace=event.scope.workspace,
            channel=event.scope.channel,
            message_id=event.message_id,
            actor=event.scope.person,
            source=source,
            value=value,
            at=event.at,
            role=event.role,
            is_active=is_active,
        )
        result = await self._executor(
            self._memory.teaching.react,
            reaction,
            event_id=event.event_id,
            on_own_message=event.on_own_message,
            place=event.scope,
        )
        if not result.is_known and isinstance(event, PersonVote):
            # Buttons outlive their answer. A reaction may be on any message, or arrive before the answer is stored.
            await notify(messenger, event, messages.NO_SUCH_ANSWER)
            return result
        await self._show(messenger, event.scope.workspace, result.marks)
        if result.is_first_beyond_limit:
            # Sent once an hour, to that person only.
            await notify(messenger, event, too_many_votes(self._memory.core.policy))
        if result.is_first_objection:
            # Asked once for each person and answer; the vote counts without a reply.
            ref = MessageRef(workspace=event.scope.workspace, channel=event.scope.channel, message_id=event.message_id)
            await messenger.ask_correction(event, ref, ask_correction(messenger.how_to_type))
            await self._ask_parts(messenger, event, result.parts)  # the 👎 is about the whole answer
        return result

    async def _ask_parts(
        self, messenger: Messenger, event: PersonReaction | PersonVote | PersonCorrection, nodes: Sequence[Episode]
    ) -> bool:
        """Ask which parts of an answer were right. Returns False, asking nothing, where it has fewer than two parts."""
        if len(parts_of(nodes)) < 2:
            return False
        try:
            await messenger.post(replace(notice(event.scope, which_parts(nodes)), choices=part_choices(nodes)))
        except MessengerError as error:
            log.info("nobody could be asked about the parts of %s: %s", nodes[0].run_id, error)
        return True

    async def on_cleared(self, messenger: Messenger, event: ReactionsCleared) -> None:
        """Withdraw the votes given by reactions that a moderator removed from an answer."""
        changed = await self._executor(
            self._memory.teaching.clear,
            event.scope,
            event.message_id,
            source=f"emoji:{event.emoji}" if event.emoji else "",
            at=event.at,
            event_id=event.event_id,
        )
        await self._show(messenger, event.scope.workspace, changed.marks)

    async def on_correction(self, messenger: Messenger, event: PersonCorrection, held_by: str) -> Incoming | None:
        """Handle a correction. Returns it as a message, if its answer asks which part it is about (`ask_part`)."""
        run_id = await self._run_to_correct(event, event.message_id)
        style = preference_in(event.text or event.reason)
        if run_id is None:
            await notify(messenger, event, messages.NO_SUCH_ANSWER if event.message_id else messages.NO_ANSWER_YET)
        elif event.reason == WRONG_APPROACH and not event.text.strip():
            await self._on_wrong_approach(messenger, event, run_id)
        elif style and (event.reason or is_plain(style, event.text)):
            await self._on_preference(messenger, event, style, run_id)
        elif event.is_answerable and await self._in_words.questions.may_be_of_parts(event, run_id):
            return await self._in_words.questions.ask_part(event, run_id, held_by)
        else:
            await self._teach(messenger, event, run_id)
        return None

    async def _teach(self, messenger: Messenger, event: PersonCorrection, run_id: str) -> None:
        """Store a correction of an answer."""
        try:
            outcome = await self._executor(
                self._memory.teaching.correct,
                event.scope,
                run_id,
                event.text,
                role=event.role,
                at=event.at,
                event_id=event.event_id,
                reason=event.reason,
            )
        except NotFound:
            await notify(messenger, event, messages.NO_SUCH_ANSWER)
            return
        if outcome is not None:
            await self.refresh_mark(messenger, event.scope.workspace, outcome.failed.run_id)
            await self.say_saved(messenger, event, outcome.lesson)

    async def _on_wrong_approach(self, messenger: Messenger, event: PersonCorrection, run_id: str) -> None:
        """Handle the form's "wrong approach": ask which part it was, or grade an answer without parts as a failure."""
        scope, nodes = event.scope, (await self._executor(self._memory.audit.run, event.scope.workspace, run_id)).nodes
        if await self._ask_parts(messenger, event, nodes):
            return
        judged = next(iter(parts_of(nodes)), nodes[0])
        await self._executor(
            self._memory.teaching.grade,
            scope.workspace,
            judged.id,
            Verdict.FAILURE,
            actor=scope.person,
            role=event.role,
            reason=event.reason,
            event_id=event.event_id,
        )
        await self.refresh_mark(messenger, scope.workspace, run_id)
        await notify(messenger, event, NOTED_WRONG_APPROACH)

    async def _on_preference(
        self, messenger: Messenger, event: PersonCorrection, style: StylePreference, run_id: str
    ) -> None:
        """Keep the form's text as a preference about style; the 👎 then does not count against the content."""
        scope, preference = event.scope, preference_of(style, event.event_id)
        if await self._executor(self._memory.preferences.keep, scope, preference, at=event.at, run_id=run_id):
            await self.refresh_mark(messenger, scope.workspace, run_id)
            follows_style = self._in_words.follows_style
            await notify(messenger, event, preference_noted(style, messenger.how_to_type, follows_style=follows_style))

    async def explain_feedback(self, messenger: Messenger, event: PersonMessage) -> bool:
        """Tell a person that their message looks like feedback but is none, and how to give it.

        It is a misspelled correction (told at most once a month), or judges what another person was answered (told
        once for each answer).

        Returns whether they were told. The message is then not answered: a correction sent next would otherwise apply
        to the answer to it.
        """
        scope = event.scope
        if _LIKE_A_CORRECTION.match(event.text.strip()) and await self._run_to_correct(event):
            text, occasion = _how_to_correct(messenger.how_to_type), f"{event.at:%Y-%m}"
        elif run_id := await self._judged_run_of_others(event):
            text, occasion = _how_to_judge(messenger.how_to_type), run_id
        else:
            return False
        admission = await self._executor(self._memory.chat_settings.admission, scope, event.role)
        if not admission.is_admitted:
            return False
        claim_occasion = self._memory.recording.claim_occasion
        is_first = await self._executor(claim_occasion, scope.workspace, f"correcting/{scope.person}/{occasion}")
        return is_first and await try_to_notify(messenger, event, text)

    async def _judged_run_of_others(self, event: PersonMessage) -> str:
        """The run whose answer to another person a message to the bot judges in plain words; empty for any other.

        A correction may be about the newest answer there, anything else only about the one that it follows.
        """
        text, scope = event.text, event.scope
        if event.address is not Address.MENTION:
            return ""
        style = preference_in(text)
        reading = feedback_in(text) if style is None and MAY_BE_FEEDBACK.match(text) else None
        if style is None and reading is None:
            return ""
        is_correction = reading is not None and bool(reading.correction)
        if not (is_correction or event.reply_to or scope.thread):
            return ""
        run_id = await self._run_to_correct(event, event.reply_to)
        nodes = (await self._executor(self._memory.audit.run, scope.workspace, run_id)).nodes if run_id else ()
        return nodes[0].run_id if nodes and nodes[0].person != scope.person else ""

    async def _run_to_correct(self, event: PersonCorrection | PersonMessage, message_id: str = "") -> str | None:
        """The run of the answer to correct; in a thread of a channel, only an answer given there."""
        scope = event.scope
        if not message_id and scope.thread and scope.visibility is not Visibility.DIRECT:
            has_answered = self._memory.exchanges.has_answered_in
            if not await self._executor(has_answered, scope.workspace, scope.channel, scope.thread):
                return None
        return await self._executor(self._memory.answers.addressed, scope, message_id, event.at)

    async def note_of(self, event: PersonMessage | PersonEdit) -> PersonTeaching | None:
        """The lesson that a message to the bot asks to remember; None if it asks nothing like that."""
        is_bare = NOTE.match(event.text.strip()) and not (event.files or event.images)
        note = note_in(event.text) if is_bare else None
        role = await self._in_words.roles.of_author(event) if note is not None else None
        return note.taught(event, role) if note is not None and role is not None else None

    async def on_teaching(self, messenger: Messenger, event: PersonTeaching) -> None:
        """Handle a lesson that somebody teaches without having asked a question."""
        lesson = await self._executor(
            self._memory.teaching.teach,
            event.scope,
            event.question,
            event.answer,
            role=event.role,
            audience=event.audience,
            at=event.at,
            event_id=event.event_id,
            filled_from=event.filled_from,
            of_event=event.of_message,
        )
        if lesson is not None:
            await self.say_saved(messenger, event, lesson)

    async def say_saved(
        self, messenger: Messenger, event: PersonCorrection | PersonTeaching | PersonEdit, lesson: Episode
    ) -> None:
        """Confirm a lesson. Where its text names a tool, the confirmation says that the tool will be used."""
        saved = messages.lesson_saved(lesson, messenger.how_to_type, named_action(lesson.output, self._actions))
        await notify(messenger, event, saved + await self._approvers(messenger, event.scope, lesson))

    async def _approvers(self, messenger: Messenger, scope: Scope, lesson: Episode) -> str:
        """Name who can approve the first lesson of a channel that waits for it, in a sentence to append.

        Empty where no approval is needed, or it was said there before.
        """
        is_waiting = bool(lesson.quarantine) or not lesson.verdicts.channel.is_validated
        if not is_waiting or visibility_of(lesson) is Visibility.DIRECT or not isinstance(messenger, KnowsTeachers):
            return ""
        # In a channel shared with another organisation, people of ours are not named.
        if scope.visibility is Visibility.SHARED:
            return ""
        first = self._memory.recording.claim_occasion
        if not await self._executor(first, scope.workspace, f"approvers/{scope.channel}"):
            return ""
        return who_can_approve(await messenger.approvers(scope))

    # Marks ----------------------------------------------------------------------------------------------------

    async def refresh_mark(self, messenger: Messenger, workspace: str, run_id: str) -> None:
        """Show on the answer whether it is a lesson now."""
        mark = await self._executor(self._memory.teaching.lesson_mark, workspace, run_id)
        await self._show(messenger, workspace, [mark] if mark is not None else [])

    async def _show(self, messenger: Messenger, workspace: str, marks: Sequence[LessonMark]) -> None:
        """Add 🧠 to answers that became a lesson and remove it from those that no longer are one."""
        for mark in marks:
            if mark.message is None:
                continue
            ref = MessageRef(workspace=workspace, channel=mark.message.channel, message_id=mark.message.message_id)
            try:
                await messenger.mark(ref, LESSON_MARK, mark.is_lesson)
            except MessengerError as error:
                log.info("could not update the mark on %s: %s", mark.run_id, error)


def dismisses_bot(text: str) -> bool:
    """Whether a text tells the bot that it was not addressed: "not you"."""
    return _NOT_YOU.fullmatch(text.strip()) is not None


def too_many_votes(policy: TeachingPolicy) -> str:
    """The message to somebody whose votes are beyond the limit: what became of them, and until when."""
    window = count(round(policy.window.total_seconds() / 60), "minute")
    return (
        f"That is more than {count(policy.votes_per_window, 'vote')} within {window}. I keep all of them, but those "
        f"beyond that count for you alone, also later. To let one count for others, take it back and give it again in "
        f"{window}."
    )


def who_can_approve(names: list[str]) -> str:
    """The sentence that names them, with a leading space."""
    if not names:
        return " Nobody is named as a teacher here yet; an administrator of mine can name one."
    *others, last = names
    return f" Who can approve it: {' and '.join(filter(None, [', '.join(others), last]))}."


def ask_correction(how_to_type: HowToType) -> str:
    """The question after a 👎; an answer is optional."""
    return f"Noted, I will avoid that. What would have been right? `{how_to_type('correct')} ...` tells me."


def _how_to_correct(how_to_type: HowToType) -> str:
    """The hint to a person whose question may be meant as a correction."""
    return (
        f"Is that what my last answer should have been? Then write `{how_to_type('correct')} ...`. If it was a "
        "question, send it once more."
    )


def _how_to_judge(how_to_type: HowToType) -> str:
    """The hint to a person who judges the answer to another's question."""
    return (
        "Is that about my answer to somebody else's question? Then react 👍 or 👎 to the answer, or write "
        f"`{how_to_type('correct')} ...` with what is right. If it was a question, send it once more."
    )
