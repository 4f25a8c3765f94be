"""Computes evidence from the lessons in a prompt, for requests without evidence."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from bot.adapters.llm.offline.prompt_parser import PromptLesson
from bot.adapters.llm.offline.similarity import Similarity
from memory.model import Lesson
from memory.model.evidence import ActionText, Evidence
from memory.rules.evidence.judged_lesson import ANSWER, Candidate, JudgedLesson, noise_of
from memory.rules.evidence.named_action import named_action
from memory.rules.evidence.posterior import EvidenceConfig
from memory.rules.evidence.voices import NoisyVerdict
from memory.rules.evidence.weighing import as_matrix, weigh
from memory.rules.retrieval.prompt import one_line

_WRONG_ANSWER_CHARACTERS = 200
"""Characters of a rejected answer in a prompt's lesson."""
_CONFIG = EvidenceConfig()
_UNDATED = datetime(1970, 1, 1, tzinfo=UTC)


def prompt_evidence(
    similarity: Similarity, goal: str, lessons: Sequence[PromptLesson], actions: Sequence[ActionText]
) -> Evidence:
    """The evidence of lessons about a goal. Blocking: it computes embeddings. Raises `EmbeddingFailed`."""
    judged = list(_judged(lessons, [action.name for action in actions]))
    texts = [goal, *(each.goal for each in judged), *(action.text for action in actions)]
    vectors = similarity.vectors(texts)
    known, described = vectors[1 : 1 + len(judged)], as_matrix(vectors[1 + len(judged) :])
    return weigh(vectors[0], judged, known, actions, described, _CONFIG)


def _judged(lessons: Sequence[PromptLesson], actions: Sequence[str]) -> Iterator[JudgedLesson]:
    """The lessons of a prompt as input of the evidence rule; a corrected mistake is followed by its correction."""
    answers = [text for lesson in lessons for text in (lesson.answer, lesson.instead) if text]
    whole = {one_line(text, _WRONG_ANSWER_CHARACTERS): text for text in answers}
    for number, lesson in enumerate(lessons):
        is_right = lesson.kind is Lesson.REPEAT
        text = lesson.answer if is_right else whole.get(lesson.wrong_answer, lesson.wrong_answer)
        if lesson.action in (ANSWER, *actions) and (text or lesson.action != ANSWER):
            yield _lesson(number, lesson.goal, lesson.action, text, approves=is_right)
        if lesson.instead:
            action = named_action(lesson.instead, actions) or ANSWER
            yield _lesson(number, lesson.goal, action, lesson.instead, approves=True)


def _lesson(number: int, goal: str, action: str, text: str, *, approves: bool) -> JudgedLesson:
    return JudgedLesson(
        id=str(number),
        goal=goal,
        action=action,
        candidates=(Candidate.of(action, text if action == ANSWER else ""),),
        observation=NoisyVerdict(approves, noise_of(_CONFIG, is_trusted=True)),
        people=(str(number),),
        decided_at=_UNDATED,
    )
