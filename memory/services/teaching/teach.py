"""The use cases of teaching: react, grade, correct, teach, undo. Each is one transaction."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from memory.errors import Conflict, InvalidInput
from memory.model import Audience, Episode, LedgerEntry, Reaction, Role, Scope, Verdict, Visibility
from memory.model.saved_messages import FilledFrom
from memory.ports import Transaction
from memory.rules.audience import visibility_of
from memory.rules.verdict import CORRECTION, REVIEW, changes_register
from memory.services.conversation.notices import note_decision
from memory.services.core import Core, require_episode
from memory.services.settings.chat_settings import admitted
from memory.services.teaching.correct import Correcting, CorrectionResult, Draft, own_vote, taught_by
from memory.services.teaching.saving import SAVED, take_back
from memory.services.teaching.sources import Sources
from memory.services.verdicts.channels import store_visibility
from memory.services.verdicts.promotion import set_audience, undo_promotion
from memory.services.verdicts.quarantine import usable_reason
from memory.services.verdicts.reason import GRADE, withdraw_reasons
from memory.services.verdicts.verdicts import (
    LessonMark,
    VoteResult,
    lesson_mark,
    lesson_marks,
    withdraw_votes,
    write_votes,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoneAct:
    """An act that was undone."""

    what: str
    """`correction` or the reaction's source, for example `emoji:👍`."""
    episode: Episode
    """The episode that it was about, after the undo; for a correction, the lesson that it had made."""
    runs: tuple[str, ...]
    """The runs whose answers may have become a lesson or stopped being one."""


class Teaching:
    """The use cases by which members, teachers and administrators teach."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._correcting = Correcting(core)

    def react(
        self, reaction: Reaction, *, event_id: str, on_own_message: bool = True, place: Scope | None = None
    ) -> VoteResult:
        """Store a reaction that was added (`is_active`) or removed.

        Repeated events, late deliveries of older states, and messages that are not answers change nothing. A reaction
        on a message of the bot's own that is not in the ledger yet is kept until it is; so is the removal of a kept
        reaction, even if the event names another author of the message. A messenger passes the current `place`, which
        is stored (`Channels.note`); the person's rights there then follow the lists set in chat, and the result has
        what to show and say (`VoteResult.marks` and the fields after it).
        """
        if reaction.role is Role.BOT:
            return VoteResult(is_known=False)
        now = self._core.clock()
        with self._core.store.write() as tx:
            parts = tx.teaching.answer_of(reaction.workspace, reaction.channel, reaction.message_id, now)
            _note_place(tx, place, parts, now)
            if not tx.log.claim(reaction.workspace, event_id, now):
                return VoteResult(is_known=True)
            # Only the ledger says which answer it is about: a run that the reaction names may be another's.
            run_id = parts[0].run_id if parts else ""
            reaction = replace(reaction, event_id=reaction.event_id or event_id, run_id=run_id)
            if not parts:
                if _keep_until_posted(tx, reaction, on_own_message=on_own_message):
                    tx.people.note(reaction.workspace, reaction.actor, now, self._core.policy.newcomer)
                return VoteResult(is_known=False)
            counted = admitted(self._core, tx, [reaction]) if place and parts[0].has_settings else [reaction]
            if not counted:
                return VoteResult(is_known=True)
            (reaction,) = counted
            result = write_votes(self._core, tx, now, reaction)
            return _with_news(tx, result, reaction, parts, now) if place is not None else result

    def lesson_mark(self, workspace: str, run_id: str) -> LessonMark | None:
        """Whether an answer is a lesson now, and the message to show it on; None if there is no such answer."""
        with self._core.store.read() as tx:
            return lesson_mark(tx, workspace, run_id)

    def vote(self, reaction: Reaction) -> VoteResult:
        """Store a vote that names its run (from a button, a command or a library call), and a message of it or none.

        Raises `Conflict` if the message belongs to another run.
        """
        now = self._core.clock()
        with self._core.store.write() as tx:
            # The run is part of the key, so that two runs never share a register.
            message_id = reaction.message_id or f"run/{reaction.run_id}"
            if message_id != f"run/{reaction.run_id}":
                _require_own_message(tx, reaction, now)
            before = next(iter(tx.episodes.of_run(reaction.workspace, reaction.run_id)), None)
            result = write_votes(self._core, tx, now, replace(reaction, message_id=message_id))
            if before is not None and result.root is not None:
                note_decision(tx, before, result.root, reaction.actor, now)
            return result

    def grade(
        self,
        workspace: str,
        episode_id: str,
        verdict: Verdict,
        *,
        actor: str,
        role: Role = Role.ADMIN,
        reason: str = "",
        event_id: str = "",
    ) -> Episode:
        """Grade one node of an answer, or with the root the whole answer. `pending` withdraws the grade.

        Raises `NotFound`, and `InvalidInput` for `disputed`, which only people who disagree can make.
        """
        value = {Verdict.SUCCESS: 1, Verdict.FAILURE: -1, Verdict.PENDING: 0}.get(verdict)
        if value is None:
            raise InvalidInput(f"cannot grade as {verdict.value}; use success, failure or pending")
        why = usable_reason(self._core, reason)
        with self._core.store.write() as tx:
            # Read in the transaction, so that neither of two simultaneous grades counts as a late delivery.
            now = self._core.clock()
            if event_id and not tx.log.claim(workspace, event_id, now):
                return require_episode(tx, workspace, episode_id)
            episode = require_episode(tx, workspace, episode_id)
            reaction = Reaction.on_run(
                episode,
                actor,
                GRADE,
                value,
                now,
                role=role,
                node_id="" if episode.is_root else episode.id,
                is_active=value != 0,
                event_id=event_id,
            )
            write_votes(self._core, tx, now, reaction, reason=why.text)
            if value == 0:
                withdraw_reasons(tx, [reaction], now)
            return require_episode(tx, workspace, episode_id)

    def correct(
        self, scope: Scope, run_id: str, text: str, *, role: Role, at: datetime, event_id: str = "", reason: str = ""
    ) -> CorrectionResult | None:
        """Store a correction on the failed episode and as a linked lesson.

        The lesson counts for its author at once, for the channel if a teacher wrote it, and for others after review.
        The correction is also a 👎 of its author, unless it repeats what the answer said or offered. It archives the
        author's earlier lessons for the same question. None if the event was handled before. Raises `InvalidInput` for
        an unusable text, `NotFound` for an unknown answer, or one that may no longer be repeated in its channel.
        """
        prepared = self._correcting.prepared(scope, run_id, text, reason)
        with self._core.store.write() as tx:
            if event_id and not tx.log.claim(scope.workspace, event_id, self._core.clock()):
                return None
            return self._correcting.within(tx, scope, prepared, role=role, at=at, event_id=event_id)

    def correction_by(self, scope: Scope, event_id: str) -> CorrectionResult | None:
        """The person's correction by the message of that event; None if there is none, or it is not in effect."""
        return self._correcting.made_by(scope, event_id)

    def reword(
        self, scope: Scope, of_event: str, text: str, *, role: Role, at: datetime, event_id: str
    ) -> CorrectionResult | None:
        """Correct the same once more, with the text that the person's message of that event has now.

        None if that event made no correction that is in effect, or one that says the same or was made at a later time.
        Raises what `correct` does.
        """
        prepared = self._correcting.reworded(scope, of_event, text)
        if prepared is None:
            return None
        with self._core.store.write() as tx:
            now, former = self._core.clock(), taught_by(tx, scope.workspace, of_event)
            is_late = former is not None and former.approval.at > at
            if is_late or not tx.log.claim(scope.workspace, event_id, now):
                return None
            if former is not None:
                self._correcting.undo(tx, former.approval, at, now)
            return self._correcting.within(tx, scope, prepared, role=role, at=at, event_id=of_event)

    def teach(
        self,
        scope: Scope,
        question: str,
        answer: str,
        *,
        role: Role,
        audience: Audience,
        at: datetime,
        event_id: str = "",
        instead_of: str = "",
        filled_from: Sequence[FilledFrom] = (),
        of_event: str = "",
    ) -> Episode | None:
        """Store a lesson without an answer before it. It counts as far as a correction by the same person would.

        A teacher's may be promoted to the workspace in the same step. `instead_of` is the lesson whose place it takes,
        and which may have lent it words, as the messages in `filled_from` may: forgetting who wrote its question takes
        the question, forgetting who wrote its answer takes it whole. None if the event was handled before. Raises
        `InvalidInput` for an unusable text, and `NotFound` if that lesson is gone. `of_event` is the message that says
        so, if that can be edited: what it taught before is taken back. None, too, if that is the same, or was taught
        or taken back at a later time.
        """
        draft = Draft.of(self._core, question, answer)
        vector = self._core.embedded(draft.question)
        with self._core.store.write() as tx:
            now = self._core.clock()
            former = taught_by(tx, scope.workspace, of_event) if of_event else None
            known = tx.teaching.reactions_in_words(scope.workspace, of_event) if of_event else ()
            if any(each.at > at for each in known) or (former is not None and draft.says_the_same(former.lesson)):
                return None
            if event_id and not tx.log.claim(scope.workspace, event_id, now):
                return None
            if former is not None:
                self._correcting.undo(tx, former.approval, at, now)
            sources = Sources.of(tx, scope, draft, filled_from, now)
            if instead_of:
                sources = sources.instead_of(tx, require_episode(tx, scope.workspace, instead_of), draft.answer)
            came_by = {"role": role.value, "event": of_event or event_id} | sources.detail
            lesson = draft.store(self._core, tx, scope, now, vector, detail=came_by, words_of=sources.people)
            is_public = visibility_of(require_episode(tx, scope.workspace, lesson.id)) is Visibility.PUBLIC
            if audience is Audience.WORKSPACE and role.may_promote and is_public:
                set_audience(self._core, tx, lesson, audience, scope.person, role, now)
            own = own_vote(lesson, role, at, of_event or event_id)
            write_votes(self._core, tx, now, own, reason="a person said what is right")
            return require_episode(tx, scope.workspace, lesson.id)

    def clear(self, place: Scope, message_id: str, *, source: str, at: datetime, event_id: str) -> VoteResult:
        """Withdraw everybody's votes by reactions to one message: those of one `source`, or all if it is empty."""
        workspace = place.workspace
        with self._core.store.write() as tx:
            now = self._core.clock()
            parts = tx.teaching.answer_of(workspace, place.channel, message_id, now)
            _note_place(tx, place, parts, now)
            if not parts or not tx.log.claim(workspace, event_id, now):
                return VoteResult(is_known=bool(parts))
            run_id = parts[0].run_id
            meant = [
                each
                for each in tx.teaching.reactions_of_run(workspace, run_id)
                if (each.source == source or (not source and each.source.startswith("emoji:")))
                and each.is_active
                and each.message_id == message_id
            ]
            result = withdraw_votes(self._core, tx, now, *meant, at=at)
            if not meant:
                result = replace(result, root=next(iter(tx.episodes.of_run(workspace, run_id)), None))
            return replace(result, marks=lesson_marks(tx, result, parts))

    def undo(
        self, workspace: str, actor: str, *, at: datetime, event_id: str = "", of_event: str = ""
    ) -> UndoneAct | None:
        """Undo the person's latest teaching act that is in effect, or that of one event. None if there is none."""
        now = self._core.clock()
        with self._core.store.write() as tx:
            if event_id and not tx.log.claim(workspace, event_id, now):
                return None
            for reaction in tx.teaching.reactions_by(workspace, actor):
                if not reaction.is_active or not reaction.run_id or of_event not in ("", reaction.event_id):
                    continue
                if reaction.source == CORRECTION:
                    lesson, corrected = self._correcting.undo(tx, reaction, at, now)
                    return UndoneAct(what=CORRECTION, episode=lesson, runs=corrected)
                if reaction.source == SAVED:
                    return UndoneAct(what=SAVED, episode=take_back(self._core, tx, reaction, at, now), runs=())
                taught = withdraw_votes(self._core, tx, now, reaction, at=at)
                if taught.root is not None:
                    withdraw_reasons(tx, [reaction], now)
                    judged = tx.episodes.get(workspace, reaction.node_id) if reaction.node_id else None
                    after = judged or require_episode(tx, workspace, taught.root.id)
                    if reaction.source == REVIEW:
                        after = undo_promotion(self._core, tx, after, actor, reaction.role, now)
                    return UndoneAct(what=reaction.source, episode=after, runs=(reaction.run_id,))
        return None


def _note_place(tx: Transaction, place: Scope | None, parts: Sequence[LedgerEntry], now: datetime) -> None:
    """Store who can read the channel now."""
    if place is not None and (not parts or place.has_new_visibility(parts[0].channel_visibility)):
        store_visibility(tx, place, now)


def _require_own_message(tx: Transaction, reaction: Reaction, now: datetime) -> None:
    """Raises `Conflict` if the reaction's message belongs to another run, which would lose its register."""
    message = (reaction.workspace, reaction.channel, reaction.message_id)
    entry = tx.teaching.ledger(*message, now)
    runs = tx.teaching.runs_reacted_to(*message) | ({entry.run_id} if entry else set())
    if runs - {reaction.run_id}:
        raise Conflict(f"message {reaction.message_id} belongs to another run; name that one, or no message")


def _keep_until_posted(tx: Transaction, reaction: Reaction, *, on_own_message: bool) -> bool:
    """Keep a reaction that may have arrived before its answer was stored. Returns whether it was kept."""
    known = tx.teaching.reaction(reaction.key)
    is_claimed = known is not None and known.run_id != ""
    is_kept = (on_own_message or known is not None) and changes_register(reaction, known) and not is_claimed
    if is_kept:
        tx.teaching.put_reaction(reaction)
    return is_kept


def _with_news(
    tx: Transaction, result: VoteResult, reaction: Reaction, parts: Sequence[LedgerEntry], now: datetime
) -> VoteResult:
    """Complete the result with what the messenger has to show, and to say once, which is claimed here."""
    objects = reaction.is_active and reaction.value < 0 and reaction.role is not Role.GUEST and result.root is not None
    asked = f"asked/{result.root.run_id if result.root else ''}/{reaction.actor}"
    limited = f"limited/{reaction.actor}/{reaction.at:%Y-%m-%dT%H}"
    is_new = result.is_new_opinion
    return replace(
        result,
        marks=lesson_marks(tx, result, parts),
        is_first_objection=is_new and objects and tx.log.claim(reaction.workspace, asked, now),
        is_first_beyond_limit=is_new and result.is_limited and tx.log.claim(reaction.workspace, limited, now),
    )
