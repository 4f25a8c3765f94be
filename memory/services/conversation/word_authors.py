"""The people whose words are in an answer or a lesson, by what it used and what is noted with it."""

from collections.abc import Iterable, Sequence

from memory.model import Episode, LinkKind, Retrieval, RetrievalItem, Signal
from memory.ports import Transaction
from memory.rules.quotes import repeats


def people_quoted(tx: Transaction, workspace: str, run_id: str, text: str) -> set[str]:
    """Whose words an answer has in this text: who is noted or behind its lessons, and its asker if it says theirs."""
    nodes = tx.episodes.of_run(workspace, run_id)
    noted = tx.episodes.words_of_others(workspace, [node.id for node in nodes]).values()
    lessons = [people_behind(tx, lesson) for lesson in _behind(tx, workspace, run_id)]
    askers = {node.author or node.person for node in nodes if repeats(text, node.goal)}
    return set[str]().union(askers, *noted, *lessons)


def people_behind(tx: Transaction, episode: Episode) -> set[str]:
    """The people whose words an episode contains: its author, those noted, and the authors of the lessons it used."""
    workspace, people, seen, waiting = episode.workspace, set[str](), set[str](), [episode]
    while waiting:
        each = waiting.pop()
        if each.id not in seen:
            seen.add(each.id)
            people |= {each.author or each.person, *tx.episodes.words_of_others(workspace, [each.id]).get(each.id, ())}
            waiting += _behind(tx, workspace, each.run_id)
    return people


def runs_with_lessons(tx: Transaction, workspace: str, run_ids: Iterable[str]) -> set[str]:
    """Those of these answers that used lessons."""
    return {run_id for run_id, found in tx.retrievals.of_runs(workspace, run_ids).items() if _used(found)}


def _used(found: Iterable[tuple[Retrieval, Sequence[RetrievalItem]]]) -> set[str]:
    signals = (Signal.USED, Signal.CONTRADICTED)
    return {item.episode_id for _, items in found for item in items if item.signal in signals}


def _behind(tx: Transaction, workspace: str, run_id: str) -> list[Episode]:
    """The lessons that an answer used, with the corrections of those that are wrong."""
    used = _used(tx.retrievals.of_run(workspace, run_id))
    links = tx.episodes.links(workspace, used)
    used |= {link.from_id for link in links if link.kind is LinkKind.CORRECTS and link.to_id in used}
    return list(tx.episodes.get_many(workspace, sorted(used)).values())
