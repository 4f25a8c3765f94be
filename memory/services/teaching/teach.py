"""What people do to teach, as transactions: react, grade, correct, promote, archive, restore, undo."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from memory.errors import InvalidInput
from memory.model import Audience, Episode, EventKind, LedgerEntry, Reaction, Role, Scope, Verdict, Visibility
from memory.ports import Transaction
from memory.rules.audience import visibility_of
from memory.rules.verdict import CORRECTION, is_news
from memory.services.conversation.notices import note_decision
from memory.services.core import ALL, Core, act, event, existing, record
from memory.services.settings.chat_settings import admitted
from memory.services.teaching.correct import (
    Corrected,
    Correcting,
    Draft,
    own_vote,
)
from memory.services.teaching.saving import SAVED, take_back
from memory.services.verdicts.archive import why_archived
from memory.services.verdicts.channels import note, note_change
from memory.services.verdicts.quarantine import hold_again, release, restore_texts, usable_reason
from memory.services.verdicts.verdicts import (
    LessonMark,
    VoteResult,
    lesson_mark,
    lesson_marks,
    settle,
    withdraw_votes,
    write_votes,
)

_GRADE = "grade"


@dataclass(frozen=True, slots=True, kw_only=True)
class Undone:
    """The act that was taken back."""

    what: str
    """`correction` or the reaction's source, for example `emoji:👍`."""
    episode: Episode
    """The episode it was about, as it is now: of a correction, the lesson it had made."""
    runs: tuple[str, ...]
    """The answers that may have become a lesson or stopped being one."""


class Teaching:
    """Use cases of members, teachers and administrators. Every call names the workspace."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._correcting = Correcting(core)

    def react(
        self, reaction: Reaction, *, event_id: str, on_own_message: bool = True, place: Scope | None = None
    ) -> VoteResult:
        """Take in a reaction that was added (`is_active`) or removed.

        Repeated events, deliveries older than what is known, and messages that are not answers change nothing. A
        reaction on a message of the bot's own that is not in the ledger yet is kept until it is. So is the removal of
        a kept reaction, also where the event names somebody else as the message's author. A messenger gives the
        `place` as it is now, which is noted (`Channels.note`), and gets what to show and to say (`VoteResult.marks`
        and what follows it). The lists that people keep in chat say then what this person may do there.
        """
        if reaction.role is Role.BOT:
            return VoteResult(is_known=False)
        now = self._core.clock()
        with self._core.store.write() as tx:
            parts = tx.teaching.answer_of(reaction.workspace, reaction.channel, reaction.message_id, now)
            _note_place(tx, place, parts, now)
            if not tx.log.claim(reaction.workspace, event_id, now):
                return VoteResult(is_known=True)
            run_id = parts[0].run_id if parts else reaction.run_id
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
        """Take in a signal that names its run and came by no message (a button, a command, a library call)."""
        now = self._core.clock()
        with self._core.store.write() as tx:
            # Keyed by its run, so that two runs never share a register.
            message_id = reaction.message_id or f"run/{reaction.run_id}"
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
        """Say what one node is worth; on a root, what the whole answer is worth. `pending` takes the grade back.

        Raises `NotFound`, and `InvalidInput` for `disputed`, which only people who disagree can make.
        """
        value = {Verdict.SUCCESS: 1, Verdict.FAILURE: -1, Verdict.PENDING: 0}.get(verdict)
        if value is None:
            raise InvalidInput(f"cannot grade as {verdict.value}; use success, failure or pending")
        why = usable_reason(self._core, reason)
        with self._core.store.write() as tx:
            # The time of a grade is when it is written, so that of two at once neither is taken for a late delivery.
            now = self._core.clock()
            if event_id and not tx.log.claim(workspace, event_id, now):
                return existing(tx, workspace, episode_id)
            episode = existing(tx, workspace, episode_id)
            reaction = Reaction.on_run(
                episode,
                actor,
                _GRADE,
                value,
                now,
                role=role,
                node_id="" if episode.is_root else episode.id,
                is_active=value != 0,
                event_id=event_id,
            )
            write_votes(self._core, tx, now, reaction, reason=why.text)
            return existing(tx, workspace, episode_id)

    def correct(
        self, scope: Scope, run_id: str, text: str, *, role: Role, at: datetime, event_id: str = "", reason: str = ""
    ) -> Corrected | None:
        """Take in what would have been right (`Correcting.correct`)."""
        return self._correcting.correct(scope, run_id, text, role=role, at=at, event_id=event_id, reason=reason)

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
    ) -> Episode | None:
        """Take in an answer nobody had asked for yet. It counts as far as a correction of the same person would.

        A teacher's may be promoted to the workspace in the same step. None if the event was handled before. Raises
        `InvalidInput` for an unusable text.
        """
        draft = Draft.of(self._core, question, answer)
        vector = self._core.embedded(draft.question)
        with self._core.store.write() as tx:
            now = self._core.clock()
            if event_id and not tx.log.claim(scope.workspace, event_id, now):
                return None
            came_by = {"role": role.value, "event": event_id}
            lesson = draft.store(self._core, tx, scope, now, vector, detail=came_by)
            is_public = visibility_of(existing(tx, scope.workspace, lesson.id)) is Visibility.PUBLIC
            if audience is Audience.WORKSPACE and role.may_promote and is_public:
                self._promoted(tx, lesson, audience, scope.person, role, now)
            own = own_vote(lesson, role, at, event_id)
            write_votes(self._core, tx, now, own, reason="a person said what is right")
            return existing(tx, scope.workspace, lesson.id)

    def clear(self, place: Scope, message_id: str, *, source: str, at: datetime, event_id: str) -> VoteResult:
        """Withdraw everybody's signals that came by one message: of one `source`, or every emoji if it is empty."""
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

    def promote(self, workspace: str, episode_id: str, audience: Audience, *, actor: str, role: Role) -> Episode:
        """Widen a lesson's audience (narrow it again with `personal`). Teachers and administrators only.

        A teacher who promoted too many in the window gets the episode back as it is; the attempt is in the log.
        Raises `InvalidInput` where that would leave a direct message or a private channel.
        """
        if not role.may_promote:
            raise InvalidInput("only a teacher may promote a lesson; ask one to do it")
        now = self._core.clock()
        with self._core.store.write() as tx:
            episode = existing(tx, workspace, episode_id)
            if audience is Audience.WORKSPACE and visibility_of(episode) is not Visibility.PUBLIC:
                where = f"a {episode.visibility.value} conversation"
                if visibility_of(episode) is not episode.visibility:
                    where += f" that is {episode.channel_visibility or episode.visibility} now"
                raise InvalidInput(
                    f"episode {episode_id} comes from {where} and stays there; "
                    "teach it again in a public channel to share it"
                )
            promoted = self._promoted(tx, episode, audience, actor, role, now)
            settle(tx, workspace, promoted.run_id, actor, now, self._core.policy)
            after = existing(tx, workspace, episode_id)
            note_decision(tx, episode, after, actor, now)
            return after

    def _promoted(
        self, tx: Transaction, episode: Episode, audience: Audience, actor: str, role: Role, now: datetime
    ) -> Episode:
        """The episode with its new audience, or as it is beyond the limit: poisoning needs many promotions."""
        wanted = "" if audience is Audience.PERSONAL else audience.value
        detail: dict[str, object] = {"audience": wanted, "role": role.value}
        if wanted and role is not Role.ADMIN and self._is_limited(tx, episode.workspace, actor, now):
            tx.log.append(event(episode, EventKind.LIMITED, actor, now, detail={"what": "promoted", **detail}))
            return episode
        return record(tx, episode, event(episode, EventKind.PROMOTED, actor, now, detail=detail))

    def _is_limited(self, tx: Transaction, workspace: str, actor: str, now: datetime) -> bool:
        """Whether somebody promoted enough one by one; the approval of a whole batch is one decision, not many."""
        limit = self._core.policy.promotions_per_window
        latest = tx.log.by_actor(workspace, actor, [EventKind.PROMOTED], limit=limit)
        if any("batch" in each.detail for each in latest):
            every = tx.log.by_actor(workspace, actor, [EventKind.PROMOTED], limit=ALL)
            latest = [each for each in every if "batch" not in each.detail][:limit]
        return len(latest) >= limit and latest[-1].at > now - self._core.policy.window

    def release(self, workspace: str, episode_id: str, *, actor: str, role: Role) -> Episode:
        """Let a quarantined lesson be recalled again (`memory.services.verdicts.quarantine.release`)."""
        return release(self._core, workspace, episode_id, actor=actor, role=role)

    def hold_again(self, workspace: str, episode_id: str, *, actor: str, role: Role) -> Episode:
        """Take a release back (`memory.services.verdicts.quarantine.hold_again`)."""
        return hold_again(self._core, workspace, episode_id, actor=actor, role=role)

    def archive(self, workspace: str, episode_id: str, *, actor: str) -> Episode:
        """Take an episode out of recall without losing anything. Archiving twice is once. Raises `NotFound`."""
        return self._shelve(workspace, episode_id, actor, EventKind.ARCHIVED)

    def restore(self, workspace: str, episode_id: str, *, actor: str) -> Episode:
        """Bring an archived episode back. Raises `NotFound`."""
        return self._shelve(workspace, episode_id, actor, EventKind.RESTORED)

    def _shelve(self, workspace: str, episode_id: str, actor: str, kind: EventKind) -> Episode:
        now = self._core.clock()
        with self._core.store.write() as tx:
            episode = existing(tx, workspace, episode_id)
            is_as_wanted = (episode.archived_at is not None) == (kind is EventKind.ARCHIVED)
            # What upkeep put away may come back by itself; what a person puts away stays there.
            if is_as_wanted and not why_archived(tx, episode):
                return episode
            after = act(tx, episode, kind, actor, now)
            restore_texts(tx, after, actor, now)
            note_decision(tx, episode, after, actor, now)
            return after

    def undo(
        self, workspace: str, actor: str, *, at: datetime, event_id: str = "", of_event: str = ""
    ) -> Undone | None:
        """Take back the person's latest teaching act that still stands, or that of one event. None if there is none."""
        now = self._core.clock()
        with self._core.store.write() as tx:
            if event_id and not tx.log.claim(workspace, event_id, now):
                return None
            for reaction in tx.teaching.reactions_by(workspace, actor):
                if not reaction.is_active or not reaction.run_id or of_event not in ("", reaction.event_id):
                    continue
                if reaction.source == CORRECTION:
                    lesson, corrected = self._correcting.undo(tx, reaction, at, now)
                    return Undone(what=CORRECTION, episode=lesson, runs=corrected)
                if reaction.source == SAVED:
                    lesson = take_back(self._core, tx, reaction, at, now)
                    return Undone(what=SAVED, episode=lesson, runs=())
                taught = withdraw_votes(self._core, tx, now, reaction, at=at)
                if taught.root is not None:
                    judged = tx.episodes.get(workspace, reaction.node_id) if reaction.node_id else taught.root
                    return Undone(what=reaction.source, episode=judged or taught.root, runs=(reaction.run_id,))
        return None


def _note_place(tx: Transaction, place: Scope | None, parts: Sequence[LedgerEntry], now: datetime) -> None:
    """Take in who can read the channel now; with an answer in it, what is known of that was read."""
    if place is None:
        return
    if not parts:
        note(tx, place, now)
    elif place.is_news_of(parts[0].channel_visibility):
        note_change(tx, place, now)


def _keep_until_posted(tx: Transaction, reaction: Reaction, *, on_own_message: bool) -> bool:
    """Keep what may have overtaken its answer, and say whether. One whose ledger row has expired stays as it is."""
    known = tx.teaching.reaction(reaction.key)
    is_claimed = known is not None and known.run_id != ""
    is_kept = (on_own_message or known is not None) and is_news(reaction, known) and not is_claimed
    if is_kept:
        tx.teaching.put_reaction(reaction)
    return is_kept


def _with_news(
    tx: Transaction, result: VoteResult, reaction: Reaction, parts: Sequence[LedgerEntry], now: datetime
) -> VoteResult:
    """The result with what a messenger has to show, and to say once: each occasion is claimed here."""
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
