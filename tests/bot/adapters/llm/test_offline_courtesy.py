import pytest

from bot.adapters.llm.offline.courtesy import find_courtesy, without_greeting


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
        ("ok", "consent"),
        ("got it!", "consent"),
        ("😂", "consent"),
        (":+1::skin-tone-3:", "consent"),
        *(
            (each, "consent")
            for each in ("👍👍👍", "❤️", "👩‍💻", ":parrot:", "yes", "No.", "do it", "Go ahead!", "🦜 🎺")
        ),
        ("ok, thanks", "thanks"),
        *(
            (each, "thanks")
            for each in (
                "thanks anyway!",
                "great, thanks @ben",
                "danke dir!",
                "gracias",
                "hi, merci",
                "thanks so much Ana",
            )
        ),
        ("k", "consent"),
        ("thanks, you're great", "thanks"),
        ("good bot 🙏", "thanks"),
        ("🙏", "thanks"),
        ("hello, how are you?", "hello"),
        ("thanks! bye", "goodbye"),
        ("Hi, what can you do?", "abilities"),
        ("what can you do?", "abilities"),
        ("Who are you?", "abilities"),
        ("help", "abilities"),
        ("what can you do? thanks", "abilities"),
        ("hi, who are you? nice to meet you", "abilities"),
        ("hi 👋", "hello"),
        ("thanks 🙏🏽 :)", "thanks"),
        ("hi :wave: bye", "goodbye"),
        ("hi 👋 what can you do?", "abilities"),
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
            "thanks tell me more",
            "thanks and in winter",
            "thank you letter template",
            "gracias in German",
            "thanks still broken",
            "thanks! wifi password",
            "danke anyway?",
            "help me move the piano",
            "what can you do about the noise?",
        ),
        *(
            "👎",
            ":-1:",
            "...",
            "!!!",
            "？",
            "?!",
            "❓",
            ":question:",
            "2",
            "yes 2",
            "no way in",
            "right side?",
            "do it again",
            "do that for Ana",
        ),
        *("who are you meeting today?", "how does the coffee machine work?", "hi " * 40, "say hello to Ana"),
        *(
            "good bot for cars?",
            "okay so where is it?",
            "great expectations",
            "hi-fi",
            "thanks 4",
            "bye :wave",
            "help desk",
        ),
    ],
)
def test_what_says_anything_else(goal: str) -> None:
    assert find_courtesy(goal) == ""


@pytest.mark.parametrize(
    ("goal", "request_"),
    [
        ("Hi, where is the key?", "where is the key?"),
        ("good morning goodbot! who is our CFO?", "who is our CFO?"),
        ("hey bot where is it", "where is it"),
        ("hi Ana", "hi Ana"),
        ("hello", "hello"),
        ("high prices, why?", "high prices, why?"),
        ("hello teammates of mine", "teammates of mine"),
        ("hi team\nwhere is the key?", "where is the key?"),
        ("hey there, where is the key?", "where is the key?"),
        ("how are you? where is the key?", "where is the key?"),
        ("hello! good morning, how are you? where is the key?", "where is the key?"),
        ("hi, all hands is when?", "all hands is when?"),
        ("hey team lunch when?", "team lunch when?"),
        ("how are you hosted and why?", "how are you hosted and why?"),
        ("", ""),
    ],
)
def test_a_greeting_is_no_part_of_the_request(goal: str, request_: str) -> None:
    assert without_greeting(goal) == request_
