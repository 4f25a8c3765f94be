"""What `goodbot stats` says of the answers that needed no model."""

from bot.cli.query import saved_by_known_answers


def test_what_known_answers_saved_is_a_sentence() -> None:
    text = saved_by_known_answers({"answers.without_model": 1, "answers": 3})
    assert text == "1 of 3 answers (33%) known from people: no model was asked."
