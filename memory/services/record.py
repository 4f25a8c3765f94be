"""From a person's message to an answer that reactions can find: each step one transaction, each safe to repeat."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from memory.errors import NotFound
from memory.model import (
    Episode,
    Event,
    EventKind,
    Incoming,
    LedgerEntry,
    LinkKind,
    Outgoing,
    Progress,
    Retrieval,
    RetrievalItem,
    Scope,
    Signal,
    Verdict,
)
from memory.model.delivery import UNFINISHED
from memory.ports import Transaction
from memory.rules.audience import stays
from memory.rules.fold import apply
from memory.services.channels import note
from memory.services.core import Core, event, record
from memory.services.finished_run import FinishedRun, NodeRecall
from memory.services.model_grading import guess_of
from memory.services.questions import question_behind
from memory.services.run_nodes import as_made, attach
from memory.services.shown import rules_shown, still_there
from memory.services.verdicts import write_votes


@dataclass(frozen=True, slots=True, kw_only=True)
class UsedLesson:
    """A remembered lesson that an answer rests on."""

    episode: Episode
    relevance: float
    signal: Signal
    is_guess: bool = False
    """Whether only a model judged it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unsent:
    """An answered message with the parts that still have to be posted."""

    incoming: Incoming
    parts: tuple[Outgoing, ...] = field(default_factory=tuple)


class Recording:
    """Use cases from acceptance to delivery."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def accept(self, message: Incoming) -> bool:
        """Store a message before it is worked on. False if it was accepted before. `InvalidInput`: it is too long."""
        self._core.require_short(message.text)
        kept = self._core.redactor.message(message)
        with self._core.store.write() as tx:
            note(tx, message.scope, self._core.clock())
            return tx.deliveries.accept(kept)

    def accept_again(self, scope: Scope, message_id: str, *, event_id: str, at: datetime) -> Incoming | None:
        """Store the question behind a sent answer once more, as a message of whoever wants it tried again.

        Looked up and stored in one transaction, so that nobody is forgotten in between. None if the event was accepted
        before. Raises `NotFound` for a message that is no answer, or whose question may not be repeated here or is
        gone; `InvalidInput` if it is too long by now.
        """
        now = self._core.clock()
        with self._core.store.write() as tx:
            question = question_behind(tx, scope, message_id, now)
            if question is None:
                raise NotFound(f"no question behind message {message_id} in {scope.channel}; ask it anew")
            self._core.require_short(question.text)
            again = Incoming(
                scope=scope,
                event_id=event_id,
                message_id=f"retry/{event_id}",
                text=question.text,
                at=at,
                asked_by=question.asked_by if question.asked_by != scope.person else "",
            )
            note(tx, scope, now)
            return again if tx.deliveries.accept(self._core.redactor.message(again)) else None

    def withdraw(self, workspace: str, event_id: str) -> None:
        """Give up an accepted message: it will not be answered."""
        with self._core.store.write() as tx:
            tx.deliveries.advance(workspace, event_id, Progress.ACCEPTED, Progress.WITHDRAWN)

    def current(self, incoming: Incoming) -> Incoming | None:
        """The message as it is now: reworded, answered meanwhile, its channel narrowed to fewer people.

        None if nothing more is to be done about it.
        """
        with self._core.store.read() as tx:
            now = tx.deliveries.incoming(incoming.scope.workspace, incoming.event_id)
        if now is None or now.progress not in UNFINISHED:
            return None
        if now.channel_visibility is None or not stays(now.scope.visibility, now.channel_visibility):
            return now
        return replace(now, scope=replace(now.scope, visibility=now.channel_visibility))

    def keep_back(self, incoming: Incoming) -> None:
        """Answer a message no more, nor post more of its answer: others read its channel than when it was asked."""
        workspace = incoming.scope.workspace
        with self._core.store.write() as tx:
            tx.deliveries.advance(workspace, incoming.event_id, Progress.ACCEPTED, Progress.WITHDRAWN)
            if not tx.deliveries.advance(workspace, incoming.event_id, Progress.ANSWERED, Progress.UNDELIVERABLE):
                tx.deliveries.drop_unsent(workspace, incoming.run_id)

    def reword(self, workspace: str, channel: str, message_id: str, text: str) -> bool:
        """Take in an edit of a question. False if it is answered, or none. `InvalidInput`: it is too long now."""
        with self._core.store.write() as tx:
            incoming = tx.deliveries.incoming_of_message(workspace, channel, message_id)
            if incoming is None or incoming.progress is not Progress.ACCEPTED or not text.strip():
                return False
            self._core.require_short(text)
            tx.deliveries.reword(workspace, incoming.event_id, self._core.redactor.text(text))
            return True

    def retract(self, workspace: str, channel: str, message_id: str, *, actor: str) -> bool:
        """A question was deleted: it is not answered any more, and what it left undecided is archived.

        Lessons that people approved or rejected stay: their votes are about the answer. False if it was no question.
        """
        now = self._core.clock()
        with self._core.store.write() as tx:
            incoming = tx.deliveries.incoming_of_message(workspace, channel, message_id)
            if incoming is None:
                return False
            tx.deliveries.advance(workspace, incoming.event_id, Progress.ACCEPTED, Progress.WITHDRAWN)
            nodes = tx.episodes.of_run(workspace, incoming.run_id) if incoming.run_id else []
            for node in nodes:
                if node.verdict is Verdict.PENDING and node.archived_at is None:
                    record(tx, node, event(node, EventKind.ARCHIVED, actor, now))
            return True

    def has_answered_in(self, workspace: str, channel: str, thread: str) -> bool:
        """Whether the bot ever answered in this thread, so that replies there are meant for it."""
        with self._core.store.read() as tx:
            return tx.deliveries.has_sent(workspace, channel, thread)

    def first_time(self, workspace: str, occasion: str) -> bool:
        """Whether this occasion has not come before: a claim that survives restarts."""
        with self._core.store.write() as tx:
            return tx.log.claim(workspace, occasion, self._core.clock())

    def finish(self, run: FinishedRun) -> bool:
        """Commit an answer: its pending episodes, what they were shown, how that fared, and the parts to post.

        Secrets are taken out of all of it first. A node whose text is flagged is put in quarantine.

        False, and nothing is written, if the message was answered, withdrawn or forgotten meanwhile; or if a lesson it
        was shown is erased since, whose words the answer may repeat: the message is then still accepted.
        """
        now = self._core.clock()
        run = self._redacted(run)
        with self._core.store.write() as tx:
            lessons = still_there(tx, run.workspace, run.recalls)
            if lessons is None:
                return False
            if run.event_id and not tx.deliveries.advance(
                run.workspace, run.event_id, Progress.ACCEPTED, Progress.ANSWERED, run.run_id
            ):
                return False
            nodes = [as_made(tx, node) for node in run.nodes]
            came_by = {"event": run.event_id} if run.event_id else {}
            told = [event(node, EventKind.CREATED, node.author, node.created_at, detail=came_by) for node in nodes]
            for recall in run.recalls:
                told += self._store_recall(tx, run, recall, lessons, now)
            after = dict(lessons)
            for each in tx.log.append(*told):
                if each.episode_id in after:
                    after[each.episode_id] = apply(after[each.episode_id], each)
            tx.episodes.put(*nodes, *(lesson for name, lesson in after.items() if lesson != lessons[name]))
            attach(tx, run, nodes)
            for number, text in enumerate(run.parts, start=1):
                tx.deliveries.put_outgoing(_outgoing(run, number, text))
        return True

    def _redacted(self, run: FinishedRun) -> FinishedRun:
        redactor = self._core.redactor
        return replace(
            run,
            nodes=tuple(map(redactor.episode, run.nodes)),
            parts=tuple(map(redactor.text, run.parts)),
            recalls=tuple(
                replace(recall, recollection=replace(recall.recollection, goal=redactor.text(recall.recollection.goal)))
                for recall in run.recalls
            ),
        )

    def _store_recall(
        self, tx: Transaction, run: FinishedRun, recall: NodeRecall, lessons: Mapping[str, Episode], now: datetime
    ) -> list[Event]:
        """Record what a node was shown. Returns what tells of that: of each lesson `injected` and its signal."""
        recollection = recall.recollection
        node = next((node for node in run.nodes if node.node_path == recall.node_path), None)
        told: list[Event] = []
        items: list[RetrievalItem] = []
        for rank, exemplar in enumerate(recollection.exemplars, start=1):
            lesson = lessons.get(exemplar.episode.id)
            if lesson is None or lesson.id not in recall.shown_ids or node is None:
                continue
            source = f"{recollection.retrieval_id}/{lesson.id}"
            reached = {"audience": exemplar.audience.value}
            told.append(event(lesson, EventKind.INJECTED, "goodbot", now, source=f"injected/{source}", detail=reached))
            found = self._core.detector.detect(exemplar, node.goal, node.output, node.action)
            detail = {"ratio": round(found.ratio, 4), "run": run.run_id}
            kind = EventKind(found.signal.value)
            told.append(event(lesson, kind, "goodbot", now, source=f"use/{source}", detail=detail))
            items.append(
                RetrievalItem(
                    workspace=run.workspace,
                    retrieval_id=recollection.retrieval_id,
                    rank=rank,
                    episode_id=lesson.id,
                    lesson=exemplar.lesson,
                    context_score=exemplar.context_score,
                    intent_score=exemplar.intent_score,
                    relevance=exemplar.relevance,
                    signal=found.signal,
                    ratio=found.ratio,
                )
            )
        retrieval = Retrieval(
            workspace=run.workspace,
            id=recollection.retrieval_id,
            run_id=run.run_id,
            node_path=recall.node_path,
            goal=recollection.goal,
            at=now,
            counts=recollection.counts.as_dict(),
        )
        tx.retrievals.put(retrieval, items)
        return told + (rules_shown(node, recall, now) if node is not None else [])

    def sent(self, workspace: str, run_id: str, part: int, message_id: str) -> bool:
        """Note that a part was posted: from now on a reaction on that message finds the answer.

        Reactions that overtook this note are counted now; returns whether there were any. The last part makes the
        message delivered.
        """
        now = self._core.clock()
        with self._core.store.write() as tx:
            parts = tx.deliveries.outgoing(workspace, run_id)
            outgoing = next((entry for entry in parts if entry.part == part), None)
            if outgoing is None or outgoing.sent_at is not None:
                return False
            tx.deliveries.put_outgoing(replace(outgoing, sent_at=now, message_id=message_id))
            tx.teaching.put_ledger(
                LedgerEntry(
                    workspace=workspace,
                    channel=outgoing.channel,
                    message_id=message_id,
                    run_id=run_id,
                    part=part,
                    posted_at=now,
                    expires_at=now + timedelta(days=self._core.ledger_days),
                )
            )
            were_waiting = self._link(tx, outgoing, message_id, now)
            if all(entry.sent_at is not None or entry.part == part for entry in parts):
                tx.deliveries.advance_run(workspace, run_id, Progress.ANSWERED, Progress.DELIVERED)
            return were_waiting

    def give_up(self, workspace: str, run_id: str) -> bool:
        """Offer the unsent parts of an answer no more: their place is gone. False if none was waiting.

        What was posted of it, and the episodes, stay as they are.
        """
        with self._core.store.write() as tx:
            moved = tx.deliveries.advance_run(workspace, run_id, Progress.ANSWERED, Progress.UNDELIVERABLE)
            return moved or tx.deliveries.drop_unsent(workspace, run_id)

    def _link(self, tx: Transaction, outgoing: Outgoing, message_id: str, now: datetime) -> bool:
        nodes = tx.episodes.of_run(outgoing.workspace, outgoing.run_id)
        if not nodes:
            return False
        root = nodes[0]
        detail = {"channel": outgoing.channel, "message_id": message_id, "part": outgoing.part}
        source = f"sent/{outgoing.channel}/{message_id}"
        tx.log.append(event(root, EventKind.LINKED, "goodbot", now, source=source, detail=detail))
        waiting = tx.teaching.unclaimed_reactions(outgoing.workspace, outgoing.channel, message_id)
        if waiting:
            write_votes(self._core, tx, [replace(each, run_id=outgoing.run_id) for each in waiting], now)
        return bool(waiting)

    def unfinished(self) -> list[Unsent]:
        """What a restart must finish, oldest first: messages to answer, and answers with parts to post."""
        with self._core.store.read() as tx:
            return [
                Unsent(incoming=each, parts=_unsent(tx.deliveries.outgoing(each.scope.workspace, each.run_id)))
                for each in tx.deliveries.unfinished()
            ]

    def lessons_used(self, workspace: str, run_id: str) -> list[UsedLesson]:
        """The remembered lessons an answer rests on, most relevant first, each once.

        A mistake whose correction was used as well is not named beside it: to a person they are one lesson.
        """
        best: dict[str, RetrievalItem] = {}
        with self._core.store.read() as tx:
            for _, items in tx.retrievals.of_run(workspace, run_id):
                for item in items:
                    known = best.get(item.episode_id)
                    if item.signal is Signal.USED and (known is None or item.relevance > known.relevance):
                        best[item.episode_id] = item
            episodes = tx.episodes.get_many(workspace, best)
            grades = tx.steps.grades(
                workspace, [each.id for each in episodes.values() if not each.verdict.is_validated]
            )
            corrected = {
                link.to_id for link in tx.episodes.links(workspace, best, LinkKind.CORRECTS) if link.from_id in best
            }
        used = [
            UsedLesson(
                episode=episodes[item.episode_id],
                relevance=item.relevance,
                signal=Signal.USED,
                is_guess=guess_of(grades.get(item.episode_id, ())) is not None,
            )
            for item in best.values()
            if item.episode_id in episodes and item.episode_id not in corrected
        ]
        return sorted(used, key=lambda lesson: (-lesson.relevance, lesson.episode.id))


def _unsent(parts: Sequence[Outgoing]) -> tuple[Outgoing, ...]:
    return tuple(part for part in parts if part.sent_at is None)


def _outgoing(run: FinishedRun, number: int, text: str) -> Outgoing:
    return Outgoing(
        workspace=run.workspace,
        run_id=run.run_id,
        part=number,
        channel=run.channel,
        thread=run.thread,
        text=text,
    )
