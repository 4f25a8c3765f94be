import pytest

from bot.adapters.llm.offline.courtesy import find_courtesy


@pytest.mark.parametrize(
    ("goal", "kind"),
    [
        ("hello", "hello"),
        ("Hi there!", "hello"),
        ("good morning, goodbot", "hello"),
        ("Thanks!", "thanks"),
        ("ok, thank you very much", "thanks"),
        ("thx, perfect", "thanks"),
        ("bye", "goodbye"),
        ("what can you do?", "abilities"),
        ("Who are you?", "abilities"),
        ("help", "abilities"),
    ],
)
def test_what_is_nothing_but_that(goal: str, kind: str) -> None:
    assert find_courtesy(goal) == kind


@pytest.mark.parametrize(
    "goal",
    [
        *(
            "",
            "hello, what time is it?",
            "thanks for nothing",
            "help me move the piano",
            "what can you do about the noise?",
        ),
        *("who are you meeting today?", "how does the coffee machine work?", "hi " * 40, "say hello to Ana"),
    ],
)
def test_what_says_anything_else(goal: str) -> None:
    assert find_courtesy(goal) == ""
