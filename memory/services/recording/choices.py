"""Choices of a question's options: the asker's choice is answered, another person's is stored as an opinion.

Offers are read from the question's episodes, and choices are stored with accepted messages, so both survive a restart.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import sha256

from memory.errors import NotFound
from memory.model import (
    TAP,
    Episode,
    EventKind,
    Grant,
    Incoming,
    LinkKind,
    Offer,
    Option,
    Origin,
    Progress,
    Reaction,
    Role,
    Scope,
    Tap,
    Termination,
    Verdict,
    offers_of,
)
from memory.model.delivery import asks_in_words
from memory.ports import Transaction
from memory.rules.audience import is_in_reach, may_read, visibility_about
from memory.services.conversation.answers import askers_of
from memory.services.core import Core, event, note_words_of, people_in
from memory.services.recording.approvals import carried_out, decide, decision_on, why_not
from memory.services.recording.finished_run import FinishedRun, note_lessons_in
from memory.services.teaching.correct import taught_lesson
from memory.services.verdicts.channels import store_visibility
from memory.services.verdicts.verdicts import withdraw_votes, write_votes


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceResult:
    """The result of a choice."""

    is_asker: bool
    """Whether this person asked."""
    option: Option | None
    """None for "none of these"."""
    message: Incoming | None = None
    """The asker's choice as an accepted message; None if nothing is to be answered."""
    changed_runs: tuple[str, ...] = ()
    """Runs whose answers may have become a lesson, or stopped being one."""
    refusal: str = ""
    """Why the choice could not decide on a tool with effects: `stranger`, `expired`, `teachers` (only they may),
    `decided` (before); else empty."""
    has_declined: bool = False
    """Whether the choice declines a tool with effects."""


@dataclass(frozen=True, slots=True)
class Choices:
    """The use cases of choices."""

    _core: Core

    def option(self, scope: Scope, tap: Tap) -> Option | None:
        """The chosen option; None if the question is gone, or the option may not be shown to this person any more.

        An option with a tool with effects has its permission; None if nobody allowed it.
        """
        with self._core.store.read() as tx:
            offers = offers_of(tx.episodes.of_run(scope.workspace, tap.run_id))
            offer = offers[tap.number - 1] if tap.number <= len(offers) else None
            if offer is not None and offer.option.is_approval:
                offer = carried_out(tx, offer, tap.number)
            return offer.option if offer is not None and _still_holds(tx, scope, offer) else None

    def askers_role(self, scope: Scope, tap: Tap) -> Role | None:
        """The role in which the asker chose; None if another person allowed a tool for them."""
        chosen = self.option(scope, tap)
        is_anothers = chosen is not None and chosen.permission is not None and chosen.permission.by != scope.person
        return None if is_anothers else tap.role

    def waiting(self, scope: Scope, tap: Tap) -> tuple[tuple[Episode, ...], str]:
        """The nodes of the run that a choice continues, and the path of the node that asked; empty if none continues.

        It continues if the choice is about a tool with effects, or if later parts of a sequence wait for the node.
        """
        with self._core.store.read() as tx:
            nodes = tx.episodes.of_run(scope.workspace, tap.run_id)
            offers = offers_of(nodes)
            if tap.number > len(offers):
                return (), ""
            offer = offers[tap.number - 1]
            above = next((each for each in nodes if each.id == offer.node.parent_id), None)
            is_left = above is not None and above.flow == "sequence" and not _is_last_part(above, offer.node)
            return (tuple(nodes), offer.node.node_path) if offer.option.is_approval or is_left else ((), "")

    def open_question(self, scope: Scope, run_id: str) -> tuple[tuple[Episode, ...], str]:
        """The nodes of a run that waits for a text of this person, and the path of the node that asked; else empty."""
        with self._core.store.read() as tx:
            nodes = tx.episodes.of_run(scope.workspace, run_id)
        asking = next((each for each in nodes if asks_in_words(each.trajectory)), None)
        is_theirs = asking is not None and asking.person == scope.person and asking.channel == scope.channel
        return (tuple(nodes), asking.node_path) if asking is not None and is_theirs else ((), "")

    def choose(
        self,
        scope: Scope,
        run_id: str,
        number: int | None,
        *,
        role: Role,
        at: datetime,
        event_id: str,
        grant: Grant = Grant.ONCE,
    ) -> ChoiceResult:
        """Store the choice of an option by its number, from 1. None, or the number after the last, is "none of these".

        The asker's choice is accepted as a message, and `Recording.finish` counts it as a vote on the answer. Another
        person's choice, and "none of these", are only votes. A repeated choice changes nothing, and another choice
        replaces it. A question about a tool with effects is decided once, by its asker or a teacher of the channel, who
        may also allow later runs (`grant`; `memory.services.recording.approvals`). Raises `NotFound` if there is no
        such option, this person may not see the question here, or the option's lessons do not hold any more.
        """
        now = self._core.clock()
        with self._core.store.write() as tx:
            nodes = tx.episodes.of_run(scope.workspace, run_id)
            offers = offers_of(nodes)
            number = len(offers) + 1 if number is None else number
            if not offers or not 1 <= number <= len(offers) + 1 or not may_read(scope, nodes[0]):
                raise NotFound(f"run {run_id} in {scope.workspace} offers no option {number} to {scope.person} here")
            store_visibility(tx, scope, now)
            tap = Tap(run_id=run_id, number=number, role=role)
            is_asker = scope.person == nodes[0].person
            about = offers[min(number, len(offers)) - 1]
            if about.option.is_approval:
                return self._decide(tx, scope, offers, tap, at, event_id, grant if number <= len(offers) else None)
            if number > len(offers):
                changed = self._refuse(tx, scope, offers, tap, at, event_id)
                return ChoiceResult(is_asker=is_asker, option=None, changed_runs=changed)
            offer = offers[number - 1]
            if not _still_holds(tx, scope, offer):
                raise NotFound(f"what option {number} of run {run_id} comes from is no more for {scope.person}")
            if is_asker:
                return self._answer(tx, scope, offers, tap, at, event_id)
            self._take_refusal_back(tx, scope, offer.node, at)
            withdrawn = self._without_opinions(tx, scope, offers, tap, at, {offer.node.id})
            opinion = self._opinion(tx, scope, offer, tap, at, event_id)
            return ChoiceResult(is_asker=False, option=offer.option, changed_runs=(opinion.run_id, *withdrawn))

    def take_back(self, workspace: str, event_id: str, at: datetime) -> str:
        """Withdraw the asker's choice that was accepted with this event id. Returns the run that it led to, if any."""
        with self._core.store.write() as tx:
            chosen = tx.deliveries.incoming(workspace, event_id)
            if chosen is None or chosen.tap is None:
                return ""
            tx.deliveries.advance(workspace, event_id, Progress.ACCEPTED, Progress.WITHDRAWN)
            return self._withdrawn(tx, chosen.scope, chosen, at)

    def _decide(
        self,
        tx: Transaction,
        scope: Scope,
        offers: Sequence[Offer],
        tap: Tap,
        at: datetime,
        event_id: str,
        grant: Grant | None,
    ) -> ChoiceResult:
        """Store the decision on a tool with effects. `grant` is None if it is declined."""
        offer = offers[min(tap.number, len(offers)) - 1]
        is_asker = scope.person == offer.node.person
        refusal = why_not(self._core, tx, scope, offer, tap.role, grant or Grant.ONCE)
        if not refusal and not decide(self._core, tx, scope, offer, tap, grant, event_id):
            refusal = "decided"
        if refusal:
            return ChoiceResult(is_asker=is_asker, option=None, refusal=refusal)
        if grant is None:
            changed = self._refuse(tx, scope, offers, tap, at, event_id)
            return ChoiceResult(is_asker=is_asker, option=None, changed_runs=changed, has_declined=True)
        is_there = scope.channel == offer.node.channel
        asker = replace(offer.node.scope, visibility=scope.visibility) if is_there else offer.node.scope
        return self._answer(tx, asker, offers, tap, at, event_id)

    def _answer(
        self, tx: Transaction, scope: Scope, offers: Sequence[Offer], tap: Tap, at: datetime, event_id: str
    ) -> ChoiceResult:
        """Accept the asker's choice as a message, and withdraw earlier choices for the same question."""
        offer = offers[tap.number - 1]
        before = _taps(tx, scope.workspace, tap.run_id, offers, offer.node)
        last = before[-1] if before else None
        if last is not None and last.tap == tap and (last.progress is Progress.ACCEPTED or _votes(tx, scope, last)):
            return ChoiceResult(is_asker=True, option=offer.option)
        asker = askers_of(tx, offer.node)[0]
        message = Incoming(
            scope=replace(scope, thread=offer.node.thread) if scope.channel == offer.node.channel else scope,
            event_id=event_id,
            message_id=f"tap/{event_id}",
            text=offer.node.goal,
            at=at,
            asked_by=asker if asker != scope.person else "",
            tap=tap,
        )
        accepted = tx.deliveries.accept(message)
        if accepted is None:
            return ChoiceResult(is_asker=True, option=offer.option)
        self._take_refusal_back(tx, scope, offer.node, at)
        changed = [self._withdrawn(tx, scope, each, at) for each in before]
        return ChoiceResult(
            is_asker=True, option=offer.option, message=accepted, changed_runs=tuple(filter(None, changed))
        )

    def _refuse(
        self, tx: Transaction, scope: Scope, offers: Sequence[Offer], tap: Tap, at: datetime, event_id: str
    ) -> tuple[str, ...]:
        """Vote against all questions of the run, which refuses all their options. Returns the changed runs."""
        asking = {offer.node.id: offer.node for offer in offers}
        changed = [
            self._withdrawn(tx, scope, each, at)
            for node in asking.values()
            for each in _taps(tx, scope.workspace, tap.run_id, offers, node)
            if each.scope.person == scope.person
        ]
        changed += self._without_opinions(tx, scope, offers, replace(tap, number=0), at, set(asking))
        refusals = [replace(_on(node, scope, -1, tap.role, at), event_id=event_id) for node in asking.values()]
        write_votes(self._core, tx, self._core.clock(), *refusals)
        return (tap.run_id, *filter(None, changed))

    def _take_refusal_back(self, tx: Transaction, scope: Scope, node: Episode, at: datetime) -> None:
        refused = tx.teaching.reaction(_on(node, scope, -1, Role.MEMBER, at).key)
        if refused is not None and refused.is_active:
            withdraw_votes(self._core, tx, self._core.clock(), refused, at=at)

    def _withdrawn(self, tx: Transaction, scope: Scope, earlier: Incoming, at: datetime) -> str:
        """Withdraw the votes of an earlier choice. Returns the run that it led to; empty without votes."""
        votes = _votes(tx, scope, earlier)
        if votes:
            withdraw_votes(self._core, tx, self._core.clock(), *votes, at=at)
        return earlier.run_id if votes else ""

    def _without_opinions(
        self, tx: Transaction, scope: Scope, offers: Sequence[Offer], tap: Tap, at: datetime, node_ids: set[str]
    ) -> list[str]:
        """Withdraw the person's opinions on these questions, except for `tap`. Returns the opinions' runs."""
        others = [
            _opinion_ids(replace(tap, number=number), scope.person)[1]
            for number, offer in enumerate(offers, start=1)
            if offer.node.id in node_ids and number != tap.number
        ]
        votes = [each for run_id in others for each in _tap_votes(tx, scope, run_id)]
        for vote in votes:
            withdraw_votes(self._core, tx, self._core.clock(), vote, at=at)
        return [vote.run_id for vote in votes]

    def _opinion(self, tx: Transaction, scope: Scope, offer: Offer, tap: Tap, at: datetime, event_id: str) -> Episode:
        """Store the choice of a person other than the asker as an episode and a vote. It is not answered."""
        asked, option, now = offer.node, offer.option, self._core.clock()
        episode_id, of_run = _opinion_ids(tap, scope.person)
        if known := tx.episodes.get(asked.workspace, episode_id):
            if not _tap_votes(tx, scope, of_run):
                write_votes(self._core, tx, now, replace(_on(known, scope, 1, tap.role, at), event_id=event_id))
            return known
        there = replace(asked.scope, person=scope.person, visibility=visibility_about(asked, scope))
        opinion = replace(
            taught_lesson(self._core, there, asked.goal, option.text, now),
            id=episode_id,
            run_id=of_run,
            origin=Origin.RUN,
            action=option.action,
            person=scope.person,
        )
        tx.episodes.put(opinion)
        tx.log.append(event(opinion, EventKind.CREATED, opinion.author, now, detail={"event": event_id}))
        for model, vector in tx.episodes.vectors(asked.workspace, [asked.id]).values():
            tx.episodes.put_vector(opinion.workspace, opinion.id, model, vector)
        note_words_of(tx, opinion, people_in(tx, asked))
        write_votes(self._core, tx, now, replace(_on(opinion, scope, 1, tap.role, at), event_id=event_id))
        return opinion


def count_choice(
    core: Core, tx: Transaction, run: FinishedRun, tap: Tap, nodes: Sequence[Episode], now: datetime
) -> None:
    """Count the asker's choice as a vote for the resulting answer, in the transaction that commits it.

    It is not counted if the run did something else, or the choice was replaced meanwhile. Raises `NotFound` if the
    question, whose words the answer has, is erased.
    """
    root = nodes[0]
    offers = offers_of(tx.episodes.of_run(run.workspace, tap.run_id))
    if len(offers) < tap.number:
        raise NotFound(f"what {tap.run_id} in {run.workspace} offered is erased; work it out once more")
    offer = offers[tap.number - 1]
    people = people_in(tx, offer.node)
    for node in nodes:
        note_words_of(tx, node, people)
    chosen = _taps(tx, run.workspace, tap.run_id, offers, offer.node)
    refused = tx.teaching.reaction(_on(offer.node, root.scope, -1, Role.MEMBER, now).key)
    is_last = bool(chosen) and chosen[-1].event_id == run.event_id and not (refused and refused.is_active)
    if offer.option.is_approval:
        _count_approval(core, tx, run, tap, offer, nodes, chosen[-1].at if chosen else now)
        return
    made = next((each for each in nodes if each.node_path == offer.node.node_path), root)
    if is_last and made.action == offer.option.action and offer.option.text in ("", made.output):
        vote = _on(made, root.scope, 1, tap.role, chosen[-1].at)
        write_votes(core, tx, now, replace(vote, event_id=run.event_id))


def _count_approval(
    core: Core, tx: Transaction, run: FinishedRun, tap: Tap, offer: Offer, nodes: Sequence[Episode], at: datetime
) -> None:
    """Count an approval as a vote for the node that ran the tool, by the person who allowed it, if it succeeded."""
    permission = decision_on(tx, offer, tap.number)
    ran = {each.node_id for each in run.allowed if permission and each.permission == permission}
    for node in nodes:
        if permission and node.id in ran and node.action == offer.option.action and _ended_well(node):
            vote = _on(node, replace(node.scope, person=permission.by), 1, tap.role, at)
            write_votes(core, tx, core.clock(), replace(vote, event_id=run.event_id))


def _ended_well(node: Episode) -> bool:
    return node.termination is Termination.SUCCESS


def note_offered(tx: Transaction, nodes: Sequence[Episode]) -> None:
    """Note whose words are in the options of questions.

    Raises `NotFound` if a lesson of an option, or the question that it was taught for, is erased.
    """
    for offer in offers_of(nodes):
        option = offer.option
        if not option.lessons:
            continue
        known = note_lessons_in(tx, offer.node, option.lessons)
        if option.question and not any(each.goal.startswith(option.question) for each in known.values()):
            run = offer.node.run_id
            raise NotFound(f"a question that {run} in {offer.node.workspace} shows is erased; work it out once more")


def _is_last_part(above: Episode, part: Episode) -> bool:
    parts = next((step.subgoals for step in reversed(above.trajectory) if step.subgoals), ())
    return part.node_path == f"{above.node_path}.{len(parts) - 1}"


def _taps(tx: Transaction, workspace: str, run_id: str, offers: Sequence[Offer], node: Episode) -> list[Incoming]:
    """The asker's choices among the options of this node, oldest first."""
    here = {number for number, offer in enumerate(offers, start=1) if offer.node.id == node.id}
    return [each for each in tx.deliveries.taps(workspace, run_id) if each.tap and each.tap.number in here]


def _votes(tx: Transaction, scope: Scope, tapped: Incoming) -> list[Reaction]:
    """The active votes of a choice."""
    return _tap_votes(tx, scope, tapped.run_id) if tapped.run_id else []


def _tap_votes(tx: Transaction, scope: Scope, run_id: str) -> list[Reaction]:
    reactions = tx.teaching.reactions_of_run(scope.workspace, run_id)
    return [each for each in reactions if each.source == TAP and each.is_active and each.actor == scope.person]


def _opinion_ids(tap: Tap, person: str) -> tuple[str, str]:
    """The ids of the episode and run of this person's opinion. They are deterministic, so that it is found again."""
    digest = sha256(f"{tap.run_id}/{tap.number}/{person}".encode()).hexdigest()
    return digest[:24], digest[24:48]


def _still_holds(tx: Transaction, scope: Scope, offer: Offer) -> bool:
    """Whether this option may still be shown to this person.

    If it comes from lessons, at least one of them, or one that they were merged into, must be in the person's reach,
    not archived, and not refused since.
    """
    asked, lessons = offer.node, offer.option.lessons

    def is_one_good(ids: Collection[str]) -> bool:
        return any(
            each.archived_at is None
            and is_in_reach(scope, each)
            and not (each.verdict is Verdict.FAILURE and each.graded_at and each.graded_at > asked.created_at)
            for each in tx.episodes.get_many(asked.workspace, ids).values()
        )

    if not lessons or is_one_good(lessons):
        return True
    links = tx.episodes.links(asked.workspace, lessons)
    return is_one_good({each.to_id for each in links if each.kind is LinkKind.SAME_GOAL and each.from_id in lessons})


def _on(node: Episode, scope: Scope, value: int, role: Role, at: datetime) -> Reaction:
    """A vote on a node, as cast by a choice."""
    return Reaction.on_run(node, scope.person, TAP, value, at, role=role, node_id="" if node.is_root else node.id)
