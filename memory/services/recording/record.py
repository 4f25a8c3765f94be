"""Records a message from acceptance to its delivered answer. Each step is one transaction and safe to repeat."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from memory.errors import NotAdmitted, NotFound
from memory.model import (
    FROM_PEOPLE,
    Episode,
    Event,
    EventKind,
    Incoming,
    LedgerEntry,
    Option,
    Outgoing,
    PostedPart,
    Progress,
    Retrieval,
    Role,
    Scope,
    Signal,
    Visibility,
    found_nothing,
    offers_of,
)
from memory.model.delivery import AGAIN, UNFINISHED
from memory.ports import Transaction
from memory.rules.audience import may_be_repeated
from memory.services.conversation.answers import askers_of, root_behind
from memory.services.core import Core, note_words_of
from memory.services.recording.choices import count_choice, note_offered
from memory.services.recording.earlier_texts import EarlierText, repeated_texts
from memory.services.recording.finished_run import (
    FinishedRun,
    as_made,
    attach,
    retrievals_of,
)
from memory.services.recording.spending import count_spent
from memory.services.recording.used_lessons import (
    LessonInPrompt,
    UsedLesson,
    append_with_uses,
    lessons_shown,
    note_followed,
    used_in,
    used_of,
)
from memory.services.settings.chat_settings import admitted, require_admitted
from memory.services.verdicts.channels import store_visibility
from memory.services.verdicts.quarantine import SYSTEM
from memory.services.verdicts.verdicts import write_votes


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A committed answer that is to be posted."""

    parts: tuple[Outgoing, ...]
    """The parts that are not posted yet, in order."""
    total: int
    """The number of parts, with those that are posted."""
    first_message: str = ""
    """The id of the message with the first part; empty if that is not posted yet."""
    lessons: tuple[UsedLesson, ...]
    """The lessons it rests on, most relevant first."""
    options: tuple[Option, ...] = ()
    """The options of a question to the person."""
    is_from_people: bool = False
    """Whether it is an answer that people taught, given without a model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnsentAnswer:
    """An answered message with the parts that still have to be posted."""

    incoming: Incoming
    parts: tuple[Outgoing, ...] = field(default_factory=tuple)


@dataclass(frozen=True, slots=True)
class Recording:
    """The use cases from accepting a message to delivering its answer."""

    _core: Core

    def accept(self, message: Incoming, *, wakes: bool = False, role: Role | None = None) -> Incoming | None:
        """Store a message before it is worked on. Returns it as stored; None if it was accepted before.

        `wakes`: the message mentions the bot, which unmutes its thread. With the author's `role`, None also if the
        chat's access lists do not allow them to use the bot there. Raises `InvalidInput` if the message is too long.
        """
        self._core.require_short(message.text)
        kept = self._core.redactor.message(message)
        try:
            with self._core.store.write() as tx:
                return self._accepted(tx, kept, wakes=wakes, role=role)
        except NotAdmitted:  # rolled back
            return None

    def _accepted(self, tx: Transaction, message: Incoming, *, wakes: bool, role: Role | None) -> Incoming | None:
        scope, now = message.scope, self._core.clock()
        accepted = tx.deliveries.accept(message)
        if accepted is not None and accepted.has_settings and role is not None:
            require_admitted(self._core, tx, scope, role)
        if accepted is None or not accepted.is_noted:
            tx.people.note(scope.workspace, scope.person, now, self._core.policy.newcomer)
        if wakes and accepted is not None and accepted.is_muted:
            tx.channels.unmute(scope.workspace, scope.channel, scope.thread)
        if accepted is not None and accepted.channel_visibility is scope.visibility:
            return accepted
        is_new = store_visibility(tx, scope, now)
        return replace(accepted, channel_visibility=scope.visibility) if accepted and is_new else accepted

    def accept_answered(self, message: Incoming, run: FinishedRun) -> Incoming | None:
        """Store a message and its answer, which needs no work, in one transaction. None if it was accepted before."""
        self._core.require_short(message.text)
        kept, run = self._core.redactor.message(message), self._redacted(run)
        with self._core.store.write() as tx:
            accepted = self._accepted(tx, kept, wakes=False, role=None)
            if accepted is None:
                return None
            self._commit(tx, run, shown=(), recalls=())
        return replace(accepted, progress=Progress.ANSWERED, run_id=run.run_id, understood=run.understood)

    def accept_again(self, scope: Scope, message_id: str, *, event_id: str, at: datetime) -> Incoming | None:
        """Store the question of a sent answer again, as a message of the person in `scope`.

        It is looked up and stored in one transaction, so that nobody is forgotten in between. None if the event was
        accepted before. Raises `NotFound` if the message is no answer, or its question may not be repeated here or is
        gone; `InvalidInput` if the question is longer than now allowed.
        """
        now = self._core.clock()
        with self._core.store.write() as tx:
            root = root_behind(tx, scope, message_id, now)
            if root is None:
                raise NotFound(f"no question behind message {message_id} in {scope.channel}; ask it anew")
            self._core.require_short(root.goal)
            asker = askers_of(tx, root)[0]
            again = Incoming(
                scope=scope,
                event_id=event_id,
                message_id=f"{AGAIN}{root.run_id}/{event_id}",
                text=root.goal,
                at=at,
                asked_by=asker if asker != scope.person else "",
            )
            store_visibility(tx, scope, now)
            return again if tx.deliveries.accept(self._core.redactor.message(again)) else None

    def withdraw(self, workspace: str, event_id: str) -> None:
        """Withdraw an accepted message, so that it is not answered."""
        with self._core.store.write() as tx:
            tx.deliveries.advance(workspace, event_id, Progress.ACCEPTED, Progress.WITHDRAWN)

    def current(self, incoming: Incoming) -> Incoming | None:
        """The message as stored now: text, progress, and visibility if its channel was narrowed. None if finished."""
        with self._core.store.read() as tx:
            now = tx.deliveries.incoming(incoming.scope.workspace, incoming.event_id)
        if now is None or now.progress not in UNFINISHED:
            return None
        if now.channel_visibility is None or not may_be_repeated(now.scope.visibility, now.channel_visibility):
            return now
        return replace(now, scope=replace(now.scope, visibility=now.channel_visibility))

    def withhold_answer(self, incoming: Incoming) -> None:
        """Withdraw a message, or the unsent parts of its answer, because its channel got other readers."""
        workspace = incoming.scope.workspace
        with self._core.store.write() as tx:
            tx.deliveries.advance(workspace, incoming.event_id, Progress.ACCEPTED, Progress.WITHDRAWN)
            if not tx.deliveries.advance(workspace, incoming.event_id, Progress.ANSWERED, Progress.UNDELIVERABLE):
                tx.deliveries.drop_unsent(workspace, incoming.run_id)

    def claim_occasion(self, workspace: str, occasion: str) -> bool:
        """Claim an occasion for ever: whether nobody did before."""
        with self._core.store.write() as tx:
            return tx.log.claim(workspace, occasion, self._core.clock())

    def finish(self, run: FinishedRun) -> Answer | None:
        """Commit a run: its pending episodes, its recalls, the lessons shown and used, and the parts to post.

        Secrets are redacted first. Nodes with flagged texts are put in quarantine.

        Returns None, and writes nothing, if the message was answered, withdrawn or forgotten meanwhile. The same if it
        was edited (`FinishedRun.question`), or a lesson it was shown is erased, as the answer may repeat its words; the
        message then stays accepted. Raises `Conflict` for a node with the id of a stored episode.
        """
        run = self._redacted(run)
        # Outside of the transaction, as both are slow.
        shown = lessons_shown(self._core.detector, run)
        recalls = retrievals_of(self._core.store, run, self._core.clock())
        run = replace(run, earlier_texts=self._repeated(run, shown) if run.earlier_texts else ())
        try:
            with self._core.store.write() as tx:
                return self._commit(tx, run, shown, recalls)
        except NotFound:
            return None

    def _repeated(self, run: FinishedRun, shown: Sequence[LessonInPrompt]) -> tuple[EarlierText, ...]:
        used = {each.exemplar.episode.output for each in shown if each.detected.signal is Signal.USED}
        texts = [each for each in run.earlier_texts if each.person or each.text not in used]  # theirs are known
        return repeated_texts(self._core.detector, run.nodes, texts, asked=run.question, understood=run.understood)

    def _commit(
        self, tx: Transaction, run: FinishedRun, shown: Sequence[LessonInPrompt], recalls: Sequence[Retrieval]
    ) -> Answer | None:
        now = self._core.clock()
        answered = self._answered(tx, run)
        if run.event_id and answered is None:
            return None
        nodes, events = as_made(run)
        append_with_uses(tx, run, events, shown, now)
        tx.episodes.add(*nodes)
        attach(tx, run, nodes)
        if answered is not None and answered.repeats:
            _note_askers(tx, answered, nodes)
        options = _options(nodes)
        if options:
            note_offered(tx, nodes)
        followed = note_followed(tx, run, nodes, shown)
        tx.retrievals.add(recalls, [each.item() for each in shown])
        if run.tap is not None:
            count_choice(self._core, tx, run, run.tap, nodes, now)
        parts = self._put_parts(tx, run, answered, now)
        return Answer(
            parts=parts,
            total=len(parts),
            lessons=_not_only_offered(used_of(run, shown), nodes) or followed,
            options=options,
            is_from_people=_is_from_people(nodes),
        )

    def _answered(self, tx: Transaction, run: FinishedRun) -> Incoming | None:
        """Mark the message as answered by this run, and count its cost. Raises `NotFound` if it was edited."""
        if not run.event_id:
            return None
        answered = tx.deliveries.answer(run.workspace, run.event_id, run.run_id, run.understood)
        if answered and run.question and answered.text != run.question:
            raise NotFound(f"message {run.event_id} in {run.workspace} was edited; work it out once more")
        if answered is not None and self._core.caps:
            count_spent(self._core, tx, answered.scope, run.usage)
        return answered

    def _put_parts(
        self, tx: Transaction, run: FinishedRun, answered: Incoming | None, now: datetime
    ) -> tuple[Outgoing, ...]:
        """Store the parts that are to be posted. Without any, reactions on the question count for the answer."""
        readers = answered.channel_visibility if answered else None
        parts = tuple(_outgoing(run, number, text, readers) for number, text in enumerate(run.parts, start=1))
        tx.deliveries.put_outgoing(*parts)
        if answered is not None and not parts:
            question = answered.reply_to if answered.is_edit else answered.message_id
            tx.teaching.put_ledger(self._entry(run.workspace, run.channel, question, run.run_id, now))
        return parts

    def unsent(self, workspace: str, run_id: str) -> Answer:
        """A committed answer with its unsent parts."""
        with self._core.store.read() as tx:
            every = tx.deliveries.outgoing(workspace, run_id)
            parts = _unsent(every)
            nodes = tx.episodes.of_run(workspace, run_id) if parts else []
            return Answer(
                parts=parts,
                total=len(every),
                first_message=every[0].message_id if every else "",
                lessons=_not_only_offered(used_in(tx, workspace, run_id), nodes) if parts else (),
                options=_options(nodes),
                is_from_people=_is_from_people(nodes),
            )

    def _redacted(self, run: FinishedRun) -> FinishedRun:
        redactor = self._core.redactor.for_run()
        return replace(
            run,
            nodes=tuple(map(redactor.episode, run.nodes)),
            understood=redactor.text(run.understood),
            parts=tuple(map(redactor.text, run.parts)),
            recalls=tuple(replace(recall, goal=redactor.text(recall.goal)) for recall in run.recalls),
        )

    def sent(self, workspace: str, run_id: str, part: int, message_id: str, *, is_answer: bool = True) -> bool:
        """Note that a part was posted, so that reactions on its message count for the answer (unless not `is_answer`).

        Returns whether reactions had arrived before this; they are counted now. The last part marks the answer as
        delivered. A message with reactions that count for another answer stays that answer's.
        """
        now = self._core.clock()
        with self._core.store.write() as tx:
            posted = tx.deliveries.post(workspace, run_id, part, message_id, now)
            if posted is None or posted.is_of_another:
                return False
            entry = self._entry(workspace, posted.channel, message_id, run_id, now, part)
            if is_answer:
                tx.teaching.put_ledger(entry)
            if posted.root_id:
                self._link(tx, posted, entry)
            return posted.has_early_reactions and bool(posted.root_id)

    def _entry(
        self, workspace: str, channel: str, message_id: str, run_id: str, now: datetime, part: int = 1
    ) -> LedgerEntry:
        return LedgerEntry(
            workspace=workspace,
            channel=channel,
            message_id=message_id,
            run_id=run_id,
            part=part,
            posted_at=now,
            expires_at=now + timedelta(days=self._core.ledger_days),
        )

    def give_up(self, workspace: str, run_id: str) -> bool:
        """Give up the unsent parts of an answer whose channel is gone. False if none was waiting.

        Posted parts and episodes stay.
        """
        with self._core.store.write() as tx:
            moved = tx.deliveries.advance_run(workspace, run_id, Progress.ANSWERED, Progress.UNDELIVERABLE)
            return moved or tx.deliveries.drop_unsent(workspace, run_id)

    def _link(self, tx: Transaction, posted: PostedPart, entry: LedgerEntry) -> None:
        """Log that this message has a part of the answer, and count reactions that arrived before."""
        workspace, channel, now = entry.workspace, entry.channel, entry.posted_at
        linked = Event(
            workspace=workspace,
            episode_id=posted.root_id,
            kind=EventKind.LINKED,
            actor=SYSTEM,
            at=now,
            source_event_id=f"sent/{channel}/{entry.message_id}",
            detail={"channel": channel, "message_id": entry.message_id, "part": entry.part},
        )
        tx.log.append(linked)
        if not posted.has_early_reactions:
            return
        waiting = tx.teaching.unclaimed_reactions(workspace, channel, entry.message_id)
        counted = admitted(self._core, tx, waiting)
        if counted:
            write_votes(self._core, tx, now, *(replace(each, run_id=entry.run_id) for each in counted))

    def unfinished(self) -> list[UnsentAnswer]:
        """What a restart must finish, oldest first: messages to answer, and answers with unsent parts."""
        with self._core.store.read() as tx:
            return [
                UnsentAnswer(incoming=each, parts=_unsent(tx.deliveries.outgoing(each.scope.workspace, each.run_id)))
                for each in tx.deliveries.unfinished()
            ]


def _note_askers(tx: Transaction, message: Incoming, nodes: Sequence[Episode]) -> None:
    """Note whose words are in a question that is repeated: those of several people, where it was a follow-up."""
    for root in tx.episodes.of_run(message.scope.workspace, message.repeats)[:1]:
        people = askers_of(tx, root)
        for node in nodes:
            note_words_of(tx, node, people)


def _options(nodes: Sequence[Episode]) -> tuple[Option, ...]:
    return tuple(offer.option for offer in offers_of(nodes))


def _not_only_offered(used: Sequence[UsedLesson], nodes: Sequence[Episode]) -> tuple[UsedLesson, ...]:
    """Those lessons whose text the answer gives, and not only offers as an option of a question.

    An answer that found nothing gives none, whatever its words are like.
    """
    if found_nothing(nodes):
        return ()
    offered = {text for offer in offers_of(nodes) if (text := offer.option.text)}
    given = {node.output for node in nodes}
    return tuple(each for each in used if each.episode.output not in offered - given)


def _unsent(parts: Sequence[Outgoing]) -> tuple[Outgoing, ...]:
    return tuple(part for part in parts if part.sent_at is None)


def _outgoing(run: FinishedRun, number: int, text: str, readers: Visibility | None) -> Outgoing:
    return Outgoing(
        workspace=run.workspace,
        run_id=run.run_id,
        part=number,
        channel=run.channel,
        thread=run.thread,
        text=text,
        channel_visibility=readers,
    )


def _is_from_people(nodes: Sequence[Episode]) -> bool:
    return any(node.is_root and node.model == FROM_PEOPLE for node in nodes)
