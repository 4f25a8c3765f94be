"""What the offline model looks at when it ranks what can be done: nothing twice, and nothing for nothing."""

from collections.abc import Sequence

from bot.adapters.llm.offline.prompt_parser import Prompt
from bot.adapters.llm.offline.ranking import Chooser
from bot.adapters.llm.offline.similarity import Similarity
from bot.model import ToolSpec
from memory.adapters.embedding.hashing import HashingEmbedder
from memory.model import Vector
from memory.model.evidence import Evidence
from tests.bot.adapters.llm.offline_tools import CLOCK

GOAL = "what time is it in Oslo?"
MENU = ToolSpec(name="menu", description="what there is for lunch", parameters={"type": "object", "properties": {}})


class Embedded:
    """Remembers what was embedded."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def __call__(self, texts: Sequence[str]) -> list[Vector]:
        self.texts += texts
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
