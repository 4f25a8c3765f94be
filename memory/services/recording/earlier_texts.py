"""The earlier texts of a conversation that an answer repeats, with their authors."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from operator import itemgetter

from memory.errors import NotFound
from memory.model import Audience, Episode, Exemplar, Signal, StepKind, Verdict
from memory.ports import Transaction
from memory.rules.use_detection import OverlapDetector
from memory.services.conversation.word_authors import people_quoted
from memory.services.core import note_words_of

_REPEATS = (Signal.USED, Signal.CONTRADICTED)
_ANSWER = "answer"


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierText:
    """A text of the conversation before a message."""

    text: str
    person: str = ""
    """Who said it, by id; empty for the bot."""
    run_id: str = ""
    """The run that answered it, or whose answer it is; empty for messages to others."""


def repeated_texts(
    detector: OverlapDetector,
    nodes: Sequence[Episode],
    texts: Iterable[EarlierText],
    *,
    asked: str,
    understood: str,
) -> tuple[EarlierText, ...]:
    """What was said before and is repeated in an answer, found as the use of a lesson is. Pure, but slow.

    `understood` is what the message that `asked` was taken to mean.
    """
    lessons = {each: _as_lesson(each.text) for each in texts}
    made = [(asked, understood), (asked, "\n".join(node.goal for node in nodes if not node.is_root))]
    made += [(node.goal, text) for node in nodes for text in (node.output, _steps(node))]
    found: dict[EarlierText, None] = {}
    for question, text in filter(itemgetter(1), made):
        signals = detector.detect_all(lessons.values(), question, text, _ANSWER)
        found |= {each: None for each, detected in zip(lessons, signals, strict=True) if detected.signal in _REPEATS}
    return tuple(found)


def note_people_in(tx: Transaction, nodes: Sequence[Episode], texts: Iterable[EarlierText]) -> None:
    """Store that the nodes have the words of whoever said this. Raises `NotFound` if any of it is erased."""
    people: set[str] = set()
    for each, root in product(texts, nodes[:1]):
        if each.run_id and tx.deliveries.incoming_of_run(root.workspace, each.run_id) is None:
            raise NotFound(f"what {root.run_id} in {root.workspace} repeats is erased; work it out once more")
        people |= {each.person} if each.person else people_quoted(tx, root.workspace, each.run_id, each.text)
    for node in nodes if people else ():
        note_words_of(tx, node, people)


def _steps(node: Episode) -> str:
    """What the model said and did in between, which is stored with its answer."""
    own = [step for step in node.trajectory if step.kind in (StepKind.THINK, StepKind.ACT)]
    return "\n".join(" ".join([each.text, *map(str, each.arguments.values())]) for each in own).strip()


def _as_lesson(text: str) -> Exemplar:
    episode = Episode(goal="", output=text, action=_ANSWER)
    audience, verdict = Audience.PERSONAL, Verdict.SUCCESS
    return Exemplar(
        episode=episode, verdict=verdict, audience=audience, context_score=0.0, intent_score=0.0, relevance=0.0
    )
