"""Erases one answer or lesson, and what every erasure has to do beside deleting rows."""

from collections.abc import Collection, Iterable

from memory.model import Episode, EventKind, Incoming, LinkKind, Origin
from memory.model.upkeep import Erasure
from memory.ports import Store, Transaction
from memory.rules.verdict import CORRECTION
from memory.services.conversation.word_authors import people_behind
from memory.services.core import Core, note_words_of, require_episode
from memory.services.privacy.quotation import replies_about, resting_on
from memory.services.verdicts.quarantine import corrected_by, restore_text
from memory.services.verdicts.reason import withdraw_reasons
from memory.services.verdicts.tally import erase_judgements, runs_of_voters, runs_with_changed_standing
from memory.services.verdicts.verdicts import refold


def erase_run(core: Core, tx: Transaction, workspace: str, run_id: str) -> int:
    """Erase one answer as `Privacy.erase_run` does, without overwriting the free space of the database."""
    asked = tx.deliveries.incoming_of_run(workspace, run_id)
    whole = tx.episodes.of_run(workspace, run_id)
    corrected = {node.id: corrected_by(tx, node) for node in whole}
    written = _written_in(tx, whole)
    nodes = [node.id for node in whole]
    for node in whole:
        # Answers that used it contain its asker's words; without it nothing else would record that.
        _note_resting(tx, workspace, node.id, people_behind(tx, node))
        note_heeded_warnings(tx, workspace, [node.id])
    tx.retrievals.delete_runs(workspace, [run_id])
    tx.deliveries.delete_runs(workspace, [run_id, *replies_about(tx, workspace, whole)])
    touched = runs_of_voters(tx, workspace, [run_id]) - {run_id}
    taught_from = tx.people.known_people(workspace, ()).taught_from
    tx.teaching.delete_runs(workspace, [run_id])
    touched |= runs_with_changed_standing(tx, workspace, taught_from)
    erase_judgements(tx, workspace, [run_id], core.policy.error_budget)
    erase_rules(tx, workspace, nodes)
    erased = tx.episodes.delete(workspace, nodes)
    if asked is not None and erased:
        tx.deliveries.reword(workspace, asked.event_id, "")
    for message in written:
        tx.deliveries.reword(workspace, message.event_id, "")
        tx.deliveries.delete_runs(workspace, [message.run_id])
    for node in whole:
        for failed in corrected[node.id]:
            judged = tx.teaching.reactions_of_run(workspace, failed.run_id)
            withdraw_reasons(tx, [each for each in judged if each.source == f"{CORRECTION}:{node.id}"], core.clock())
            tx.log.erase_reasons(workspace, failed.run_id, node.author, node.created_at)
            tx.log.erase_correction(workspace, failed.id, node.id, node.output)
            restore_text(tx, require_episode(tx, workspace, failed.id), "", core.clock())
    refold(tx, workspace, touched, core.policy)
    if erased:
        tx.upkeep.put_erasure(Erasure(workspace=workspace, id=core.new_id()))
    return erased


def _written_in(tx: Transaction, nodes: Iterable[Episode]) -> list[Incoming]:
    """The messages in which these lessons were written as feedback in words. The replies to them repeat the words."""
    found: list[Incoming] = []
    for lesson in nodes:
        log = tx.log.of_episode(lesson.workspace, lesson.id) if lesson.origin is not Origin.RUN else ()
        events = [str(each.detail.get("event", "")) for each in log if each.kind is EventKind.CREATED]
        messages = [tx.deliveries.incoming(lesson.workspace, each) for each in events if each]
        found += [each for each in messages if each and not tx.episodes.of_run(lesson.workspace, each.run_id)]
    return found


def note_heeded_warnings(tx: Transaction, workspace: str, erased_ids: Collection[str]) -> None:
    """Store that answers that heeded a warning about these episodes contain the words of their correctors."""
    wanted = set(erased_ids)
    links = tx.episodes.links(workspace, wanted)
    ids = {link.from_id for link in links if link.kind is LinkKind.CORRECTS and link.to_id in wanted}
    for lesson in tx.episodes.get_many(workspace, sorted(ids - wanted)).values():
        _note_resting(tx, workspace, lesson.id, {lesson.author})


def _note_resting(tx: Transaction, workspace: str, episode_id: str, people: Collection[str]) -> None:
    for node in resting_on(tx, workspace, [episode_id]):
        note_words_of(tx, node, people)


def overwrite_erased(store: Store) -> None:
    """Overwrite the free space of the database, and mark the erasures that waited for it as finished.

    Raises `StoreUnavailable` if that is not possible now; the erasures go on waiting.
    """
    with store.read() as tx:
        waiting = [each for each in tx.upkeep.erasures() if not each.person]
    store.erase_free_space()
    if waiting:
        with store.write() as tx:
            for erasure in waiting:
                tx.upkeep.end_erasure(erasure)


def erase_rules(tx: Transaction, workspace: str, episode_ids: Collection[str]) -> None:
    """Erase the rules derived from these lessons. The next run of the job derives those that still hold."""
    every = tx.upkeep.rules(workspace)
    kept = [rule for rule in every if not set(rule.lesson_ids) & set(episode_ids)]
    if len(kept) != len(every):
        tx.upkeep.set_rules(workspace, kept)
