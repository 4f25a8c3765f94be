"""What the offline model looks at when it ranks what can be done: nothing twice, and nothing for nothing."""

from collections.abc import Sequence

from bot.adapters.llm.offline.prompt_parser import Prompt
from bot.adapters.llm.offline.ranking import Chooser
from bot.adapters.llm.offline.similarity import Similarity
from bot.model import ToolSpec
from memory.adapters.embedding.hashing import HashingEmbedder
from memory.model import Vector
from memory.model.evidence import Belief, Evidence, LessonWeight
from memory.rules.evidence.judged_lesson import ANSWER
from tests.bot.adapters.llm.offline_tools import CLOCK

GOAL = "what time is it in Oslo?"
MENU = ToolSpec(name="menu", description="what there is for lunch", parameters={"type": "object", "properties": {}})


class Embedded:
    """Remembers what was embedded."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.calls = 0

    def __call__(self, texts: Sequence[str]) -> list[Vector]:
        self.texts += texts
        self.calls += 1
        return HashingEmbedder().embed(texts)


def test_a_goal_is_ranked_once_for_a_request() -> None:
    embedded = Embedded()
    chooser = Chooser(Similarity(embedded), Prompt(goal=GOAL), [CLOCK.spec, MENU], lambda _: Evidence())
    first = chooser.rank(GOAL)
    count = len(embedded.texts)
    assert chooser.rank(GOAL) == first
    assert [each.action for each in chooser.to_ask_about(GOAL)] == ["clock"]
    assert len(embedded.texts) == count


def test_a_tool_without_arguments_is_judged_by_the_evidence_and_not_embedded() -> None:
    embedded = Embedded()
    chooser = Chooser(Similarity(embedded), Prompt(goal=GOAL), [CLOCK.spec, MENU], lambda _: Evidence())
    assert {each.action for each in chooser.rank(GOAL)} == {"clock", "menu"}
    assert GOAL in embedded.texts
    assert MENU.description not in embedded.texts


def known(answer: str, goal: str, belief: float) -> Belief:
    weight = LessonWeight(episode_id=goal, goal=goal, author="ana", approves=True, weight=belief, effect=belief)
    return Belief(action=ANSWER, value=belief, prior=0.0, text=answer, weights=(weight,))


def test_all_options_are_compared_with_the_goal_by_one_call() -> None:
    goal, embedded = "where is the spare key of the office?", Embedded()
    beliefs = (
        known("under the mat", "where is the spare key?", 0.12),
        known("at noon", "when is lunch served?", 0.11),
        known("with Bianca", "who has the key of the office?", 0.1),
    )
    chooser = Chooser(Similarity(embedded), Prompt(goal=goal), [], lambda _: Evidence(beliefs=beliefs))
    chooser.rank(goal)
    before = embedded.calls
    assert [each.text for each in chooser.to_ask_about(goal)] == ["under the mat", "with Bianca"]
    assert embedded.calls == before + 1


def test_what_has_no_relation_takes_no_option_from_what_has() -> None:
    goal = "where is the spare key of the office?"
    beliefs = (
        known("at noon", "when is lunch served?", 0.14),
        known("on Monday", "who waters our plants?", 0.13),
        known("ask Ben", "how do I print in colour?", 0.12),
        known("under the mat", "where is the spare key?", 0.11),
        known("with Bianca", "who has the key of the office?", 0.1),
    )
    chooser = Chooser(Similarity(Embedded()), Prompt(goal=goal), [], lambda _: Evidence(beliefs=beliefs))
    assert [each.text for each in chooser.to_ask_about(goal)] == ["under the mat", "with Bianca"]
