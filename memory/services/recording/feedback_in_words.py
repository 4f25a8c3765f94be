"""Feedback in words: stores a message that judges an answer as a vote or correction.

The vote or correction and the reply are stored in one transaction. All its effects carry the message's event id, by
which they can be withdrawn.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from datetime import datetime

from memory.errors import NotFound
from memory.model import Episode, Incoming, Outgoing, Reaction, Role, Scope
from memory.model.delivery import CORRECTING
from memory.ports import Transaction
from memory.rules.audience import narrower
from memory.rules.redaction import MARK
from memory.rules.verdict import CORRECTION
from memory.services.core import Core
from memory.services.recording.record import Answer
from memory.services.teaching.correct import Correcting, PreparedCorrection, usable
from memory.services.verdicts.verdicts import withdraw_votes, write_votes

WORDS = "words"
"""The source of a vote given in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Opinion:
    """A person's judgement of an answer."""

    run_id: str
    """The run of the answer."""
    value: int
    """+1 or -1."""
    role: Role
    correction: str = ""
    """The right answer; only with -1."""
    node_id: str = ""
    """The part of the answer that is corrected; empty for `corrected_node`."""
    reason: str = ""
    """What was wrong with it."""


@dataclass(frozen=True, slots=True)
class FeedbackInWords:
    """The use case of a message that judges the answer before it."""

    _core: Core

    def message(self, workspace: str, run_id: str) -> Incoming:
        """The message that this run answered. Raises `NotFound`."""
        with self._core.store.read() as tx:
            message = tx.deliveries.incoming_of_run(workspace, run_id)
        if message is None:
            raise NotFound(f"no message behind run {run_id} in {workspace}")
        return message

    def was_refused(self, scope: Scope, run_id: str) -> bool:
        """Whether the person said that this answer is wrong, and nobody what is right instead."""
        with self._core.store.read() as tx:
            votes = tx.teaching.votes(scope.workspace, run_id)
            is_refused = any(each.actor == scope.person and each.value < 0 and not each.node_id for each in votes)
            return is_refused and not any(each.correction for each in tx.episodes.of_run(scope.workspace, run_id))

    def answer(
        self,
        message: Incoming,
        opinion: Opinion,
        *,
        run_id: str,
        understood: str,
        reply: Callable[[Episode], str],
    ) -> Answer | None:
        """Store an accepted message as feedback, and reply to it with the run `run_id`, which has no episode.

        `reply` makes the text of the reply from the judged answer, or from the lesson that corrects it. None if the
        message was answered or withdrawn meanwhile. Raises `NotFound` and `InvalidInput` as `Teaching.correct` does,
        and `NotFound` if the message was edited or its feedback is stored already.
        """
        scope, prepared = message.scope, self._prepared(message, opinion)
        with self._core.store.write() as tx:
            answered = tx.deliveries.answer(scope.workspace, message.event_id, run_id, understood)
            if answered is None:
                return None
            if answered.text != message.text:
                raise NotFound(f"message {message.event_id} in {scope.workspace} was edited; work it out once more")
            judged = self._judge(tx, message, opinion, prepared, message.at)
            if judged is None:
                raise NotFound(f"message {message.event_id} in {scope.workspace} was taken in before")
            part = Outgoing.to(scope, run_id, self._core.redactor.text(reply(judged)))
            tx.deliveries.put_outgoing(part)
            return Answer(parts=(part,), total=1, lessons=())

    def confirm(self, message: Incoming, opinion: Opinion, at: datetime) -> Episode | None:
        """Store a message as feedback after its author confirmed it. None if it is stored already, and not undone.

        Raises `NotFound` and `InvalidInput` as `Teaching.correct` does.
        """
        prepared = self._prepared(message, opinion)
        with self._core.store.write() as tx:
            return self._judge(tx, message, opinion, prepared, at)

    def reword(self, scope: Scope, event_id: str, text: str, understood: Callable[[str], str]) -> bool:
        """Store an edit of the person's message that corrects an answer, or may do so. False for any other message.

        `understood` makes the record of what it means of the former one; empty if that is no correction.
        """
        words = self._core.redactor.text(usable(text, "a correction needs a text: what would have been right?"))
        with self._core.store.write() as tx:
            kept = tx.deliveries.incoming(scope.workspace, event_id)
            is_own = kept is not None and kept.scope.person == scope.person
            meant = self._core.redactor.text(understood(kept.understood)) if kept is not None and is_own else ""
            if kept is None or not meant:
                return False
            visibility = narrower(kept.scope.visibility, scope.visibility)
            tx.deliveries.reword(scope.workspace, event_id, words, visibility, meant)
            return True

    def counts(self, workspace: str, event_id: str) -> bool:
        """Whether the message of that event teaches or judges something now."""
        with self._core.store.read() as tx:
            return bool(_in_effect(tx, workspace, [event_id]))

    def take_back(
        self, workspace: str, of_events: Collection[str], *, at: datetime, event_id: str, is_edit: bool = False
    ) -> tuple[str, ...]:
        """Withdraw what a message taught or judged under these event ids, whoever wrote it.

        An edit withdraws nothing if a later one, which arrived first, taught that. Returns the runs whose answers, or
        lessons, are concerned. Writes nothing if there is nothing to withdraw.
        """
        with self._core.store.read() as tx:
            known = _in_effect(tx, workspace, of_events)
            if (is_edit and any(each.at > at for each in known)) or not (known or _waiting(tx, workspace, of_events)):
                return ()
        with self._core.store.write() as tx:
            now = self._core.clock()
            if not tx.log.claim(workspace, event_id, now):
                return ()
            for each in _waiting(tx, workspace, of_events):
                tx.deliveries.reword(workspace, each.event_id, "")
            runs: list[str] = []
            for own in _in_effect(tx, workspace, of_events):
                runs.append(own.run_id)
                if own.source == CORRECTION:
                    runs += Correcting(self._core).undo(tx, own, at, now)[1]
                else:
                    withdraw_votes(self._core, tx, now, own, at=at)
            return tuple(runs)

    def _prepared(self, message: Incoming, opinion: Opinion) -> PreparedCorrection | None:
        if not opinion.correction:
            return None
        prepare = Correcting(self._core).prepared
        prepared = prepare(message.scope, opinion.run_id, opinion.correction, opinion.reason, opinion.node_id)
        # Secrets were replaced by the mark when the message was accepted.
        return replace(prepared, has_secret=prepared.has_secret or MARK in opinion.correction)

    def _judge(
        self, tx: Transaction, message: Incoming, opinion: Opinion, prepared: PreparedCorrection | None, at: datetime
    ) -> Episode | None:
        scope, now = message.scope, self._core.clock()
        is_new = tx.log.claim(scope.workspace, message.event_id, now)
        if not is_new and _in_effect(tx, scope.workspace, [message.event_id]):
            return None
        if prepared is not None:
            correct = Correcting(self._core).within
            return correct(tx, scope, prepared, role=opinion.role, at=at, event_id=message.event_id).lesson
        vote = Reaction(
            workspace=scope.workspace,
            channel=scope.channel,
            message_id=f"run/{opinion.run_id}",
            actor=scope.person,
            source=WORDS,
            value=opinion.value,
            at=at,
            role=opinion.role,
            run_id=opinion.run_id,
            event_id=message.event_id,
        )
        result = write_votes(self._core, tx, now, vote)
        if result.root is None:
            raise NotFound(f"no answer {opinion.run_id} in {scope.workspace} to judge")
        return result.root


def _in_effect(tx: Transaction, workspace: str, event_ids: Collection[str]) -> list[Reaction]:
    """What messages of these events teach or judge now."""
    found = [each for event_id in event_ids for each in tx.teaching.reactions_in_words(workspace, event_id)]
    return [each for each in found if each.is_active]


def _waiting(tx: Transaction, workspace: str, event_ids: Collection[str]) -> list[Incoming]:
    """Corrections with these events of which it is asked what they correct."""
    found = [tx.deliveries.incoming(workspace, each) for each in event_ids]
    return [each for each in found if each is not None and each.text and each.message_id.startswith(CORRECTING)]
