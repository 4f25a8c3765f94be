"""Knowledge gaps: unanswered questions to teach next, those first whose answers settle most questions."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from memory.model import ASK, Episode, Scope, Termination, Vector, Verdict
from memory.model.validation import require_whole
from memory.ports import EpisodeFilter, Transaction
from memory.rules.audience import may_read
from memory.rules.evidence.coverage import greedy_cover
from memory.services.core import Core
from memory.services.recall.evidence import Weighing
from memory.services.teaching.correct import corrected_node, missing_parts

LOOKED_AT = 2_000
"""How many of the newest unanswered questions are considered."""
_EMOJI = re.compile(r"(?<![\w+-]):?[\w+-]++:(?=\s|:|$)")
"""The name of an emoji."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """One question whose answer should be taught, with the questions that this would settle."""

    episode: Episode
    """The question to teach."""
    like: tuple[Episode, ...]
    """The other questions that its answer would settle, newest first."""

    @property
    def asked(self) -> int:
        """How many questions the lesson would settle."""
        return 1 + len(self.like)

    @property
    def first(self) -> Episode:
        """The question that was asked first."""
        return min((self.episode, *self.like), key=lambda each: (each.created_at, each.id))


@dataclass(frozen=True, slots=True)
class Gaps:
    """Finds the knowledge gaps of a workspace."""

    _core: Core
    _weighing: Weighing

    def find(self, workspace: str, *, limit: int = 10, reader: Scope | None = None) -> list[Gap]:
        """The gaps of a workspace, the one that settles most first.

        A question is a gap if the bot gave up on it, or asked back and the asker chose none of the options, and nobody
        approved of that (`is_open`). A message without words ("2", an emoji) is none. If only the answer to a part was
        missing, the part is the gap. Questions whose answer was taught since are left out. With a `reader`, only
        questions that this person may read where they are (`may_read`) are considered.
        """
        require_whole(limit, "limit")
        with self._core.store.read() as tx:
            unanswered = [
                each
                for each in _unanswered(tx, workspace)
                if is_open(each) and has_words(each.goal) and (reader is None or may_read(reader, each))
            ]
            missing = {each.id: each for each in (_missing(tx, each) for each in unanswered) if each is not None}
            unanswered = list(missing.values())
            vectors = vectors_of(self._core, tx, workspace, missing)
            still_open = [
                each for each in unanswered if each.id in vectors and not self._is_settled(tx, each, vectors[each.id])
            ]
        return covering(still_open, vectors, limit)

    def is_gap(self, episode: Episode) -> bool:
        """Whether this question, or part of one, has no approved answer."""
        if not is_open(episode) or not has_no_answer(episode):
            return False
        with self._core.store.read() as tx:
            return _missing(tx, episode) is not None

    def _is_settled(self, tx: Transaction, episode: Episode, vector: Vector) -> bool:
        """Whether its asker would now get a taught answer, to the whole or to each part without one."""
        if self._is_known(tx, episode, vector):
            return True
        if not episode.is_split:
            return False
        left = missing_parts(tx.episodes.of_run(episode.workspace, episode.run_id))
        vectors = vectors_of(self._core, tx, episode.workspace, [each.id for each in left])
        return bool(left) and all(each.id in vectors and self._is_known(tx, each, vectors[each.id]) for each in left)

    def _is_known(self, tx: Transaction, episode: Episode, vector: Vector) -> bool:
        nearest = self._weighing.nearest(tx, episode.scope, vector)
        return self._weighing.weigh_nearest(tx, episode.scope, vector, nearest, ())[0].is_sure


def covering(questions: Sequence[Episode], vectors: Mapping[str, Vector], limit: int) -> list[Gap]:
    """The questions whose answers settle most of these, the one that settles most first. `vectors` are by id."""
    groups = greedy_cover([vectors[each.id] for each in questions], limit)
    return [Gap(episode=questions[first], like=tuple(questions[n] for n in settled[1:])) for first, settled in groups]


def _unanswered(tx: Transaction, workspace: str) -> list[Episode]:
    """The newest questions without an answer, newest first."""
    given_up = EpisodeFilter(roots_only=True, termination=Termination.FAILURE, limit=LOOKED_AT)
    refused = EpisodeFilter(action=ASK, verdict=Verdict.FAILURE, limit=LOOKED_AT)
    found = [*tx.episodes.search(workspace, given_up), *tx.episodes.search(workspace, refused)]
    return sorted(found, key=lambda each: (each.created_at, each.id), reverse=True)[:LOOKED_AT]


def has_words(question: str) -> bool:
    """Whether it has two letters, beside the names of emoji: nobody can answer "2" or "!!!" for later askers."""
    return sum(map(str.isalpha, _EMOJI.sub("", question))) > 1


def _missing(tx: Transaction, episode: Episode) -> Episode | None:
    """The episode if a correction of its answer would teach it; None if it would teach another part, or the whole.

    Its answer may have been approved as a whole.
    """
    if episode.is_root and not episode.is_split:
        return episode
    nodes = tx.episodes.of_run(episode.workspace, episode.run_id)
    missing = corrected_node(nodes)
    is_meant = (episode.is_root or missing.id == episode.id) and is_open(nodes[0]) and is_open(missing)
    return missing if is_meant else None


def vectors_of(core: Core, tx: Transaction, workspace: str, episode_ids: Iterable[str]) -> dict[str, Vector]:
    """The vectors of these episodes by the current embedder; episodes without one are left out."""
    stored = tx.episodes.vectors(workspace, episode_ids)
    return {id_: vector for id_, (model, vector) in stored.items() if model == core.embedder.name}


def has_no_answer(question: Episode) -> bool:
    """Whether the bot gave up on a question, or asked back and the asker chose none of what it offered."""
    was_refused = question.action == ASK and question.verdict is Verdict.FAILURE
    return question.termination is Termination.FAILURE or was_refused


def is_open(episode: Episode) -> bool:
    """Whether nobody approved of its answer, and it is not held back.

    That it has none is approved of by a teacher or by several people: one person's thumb does not tell others anything.
    """
    verdicts = episode.verdicts
    is_shared = Verdict.SUCCESS in (verdicts.channel, verdicts.workspace)
    is_approved = is_shared if episode.termination is Termination.FAILURE else episode.verdict is Verdict.SUCCESS
    return not is_approved and not episode.quarantine
