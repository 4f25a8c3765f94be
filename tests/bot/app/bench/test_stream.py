"""Streams through the whole bot: reactions are really handled, and a seed makes everything the same."""

from dataclasses import replace
from pathlib import Path

import pytest

from bot.adapters.llm.offline.decisions import DOES_NOT_KNOW, HONEST, LACKS
from bot.app.bench.embedding import PreparedEmbedder
from bot.app.bench.messenger import BenchMessenger
from bot.app.bench.people import AnswerWorth, Habits
from bot.app.bench.stream import Arm, judged, shuffled, texts_of
from bot.errors import BotError
from bot.model import BotMessage, MessageRef
from memory.adapters.embedding import HashingEmbedder
from memory.model import Role
from tests.bot.app.bench.sets import ROWS, messages, run

pytestmark = pytest.mark.slow

RIGHT, TAP, WRONG, UNKNOWN = AnswerWorth.RIGHT, AnswerWorth.TAP, AnswerWorth.WRONG, AnswerWorth.UNKNOWN


def test_a_question_that_was_answered_wrongly_is_answered_right_once_it_is_corrected(tmp_path: Path) -> None:
    asked = [messages(tmp_path)[0]] * 3
    arm = Arm(habits=Habits(corrected=1.0), as_answers=True)
    assert run(tmp_path, asked, arm).answered == (UNKNOWN, RIGHT, RIGHT)
    silent = Arm(habits=Habits(reacted=0.0), as_answers=True)
    assert run(tmp_path, asked, silent).answered == (UNKNOWN, UNKNOWN, UNKNOWN)


def test_what_is_tapped_is_right_at_once_when_it_is_asked_again(tmp_path: Path) -> None:
    lamp = replace(messages(tmp_path)[0], text="turn it up a bit, the lamp")
    tapped = run(tmp_path, [lamp] * 3, Arm(habits=Habits(reacted=0.0))).answered
    assert tapped[0] is TAP
    assert tapped[-1] is RIGHT
    assert set(run(tmp_path, [lamp] * 3, Arm(habits=Habits(reacted=0.0, tapped=0.0))).answered) == {TAP}


def test_made_to_choose_thumbs_alone_lead_to_the_right_tool(tmp_path: Path) -> None:
    asked = [messages(tmp_path)[5]] * 6
    chosen = run(tmp_path, asked, Arm(must_choose=True)).answered
    assert chosen[0] is WRONG
    assert chosen[-2:] == (RIGHT, RIGHT)
    assert UNKNOWN not in chosen
    assert set(run(tmp_path, asked, Arm(must_choose=True, habits=Habits(reacted=0.0))).answered) == {WRONG}


def test_thumbs_that_are_all_wrong_keep_it_from_being_right(tmp_path: Path) -> None:
    asked = [messages(tmp_path)[1]] * 6
    arm = Arm(must_choose=True, habits=Habits(flipped=1.0))
    assert run(tmp_path, asked, Arm(must_choose=True)).answered == (RIGHT,) * 6
    assert run(tmp_path, asked, arm).answered.count(RIGHT) < 3


def test_several_others_teach_the_asker_only_what_they_agree_on(tmp_path: Path) -> None:
    asked = [messages(tmp_path)[5]] * 6
    agreeing = Arm(must_choose=True, habits=Habits(people=2))
    assert run(tmp_path, asked, agreeing).answered[-1] is RIGHT
    teachers = Arm(must_choose=True, habits=Habits(people=2, role=Role.TEACHER))
    assert run(tmp_path, asked, teachers).answered[-1] is RIGHT


def test_a_message_that_looks_like_a_correction_is_sent_once_more(tmp_path: Path) -> None:
    door, *_ = messages(tmp_path)
    like_one = replace(door, text="correct the lamp on the porch")
    arm = Arm(must_choose=True)
    assert len(run(tmp_path, [door, like_one, like_one], arm).answered) == 3


def test_a_message_that_is_told_something_else_twice_was_answered_wrongly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    post = BenchMessenger.post

    async def tell_something_else(messenger: BenchMessenger, message: BotMessage) -> MessageRef:
        return await post(messenger, replace(message, is_answer=False))

    door, *_ = messages(tmp_path)
    assert run(tmp_path, [door, door], Arm(must_choose=True)).answered == (RIGHT, RIGHT)
    monkeypatch.setattr(BenchMessenger, "post", tell_something_else)
    assert run(tmp_path, [door, door], Arm(must_choose=True)).answered == (WRONG, WRONG)


def test_each_message_stands_for_itself(tmp_path: Path) -> None:
    door, *_ = messages(tmp_path)
    wish = replace(door, text="in German please")
    assert run(tmp_path, [door, wish]).answered[1] is UNKNOWN  # and no wish how to be answered


def test_a_message_that_is_never_answered_ends_it(tmp_path: Path) -> None:
    with pytest.raises(BotError, match="said nothing to the message"):
        run(tmp_path, [replace(messages(tmp_path)[0], text=" ")])


def test_once_everything_is_prepared_no_message_waits_for_the_embedder(tmp_path: Path) -> None:
    rows = [*ROWS, ["please turn the lamp on and play some jazz, then tell me if the oven is hot", "music"]]
    asked, embedder = messages(tmp_path, rows), PreparedEmbedder(HashingEmbedder())
    embedder.prepare([*texts_of(asked), "ready?"], lambda _: None)
    run(tmp_path, asked, Arm(must_choose=True), embedder=embedder)
    assert embedder.late == 0


def test_a_seed_makes_everything_the_same(tmp_path: Path) -> None:
    asked = shuffled(messages(tmp_path) * 4, seed=3, count=12)
    arm = Arm(must_choose=True, habits=Habits(reacted=0.7, corrected=0.5, flipped=0.2))
    assert run(tmp_path, asked, arm, seed=3).answered == run(tmp_path, asked, arm, seed=3).answered
    assert asked == shuffled(messages(tmp_path) * 4, seed=3, count=12)
    assert asked != shuffled(messages(tmp_path) * 4, seed=4, count=12)


def test_an_answer_that_says_more_than_what_is_right_is_wrong(tmp_path: Path) -> None:
    labels = {message.label.text: message.label for message in messages(tmp_path)}
    right, other, _ = labels.values()
    assert judged(right.text, right, labels) is RIGHT
    assert judged(f"{right.text}\n\n{right.text}", right, labels) is RIGHT
    assert judged(f"{right.text}\n\n{other.text}", right, labels) is WRONG
    assert judged(f"{DOES_NOT_KNOW} {HONEST}", right, labels) is UNKNOWN
    assert judged(f"{LACKS} “one”, “two”.", right, labels) is UNKNOWN
    assert judged(f"{other.text}\n\n{DOES_NOT_KNOW} {HONEST}", right, labels) is WRONG
    assert judged("Which?", right, labels, [("x", ""), (right.tool, "")]) is TAP
    assert judged("Which?", right, labels, [("answer", right.text)]) is TAP
    assert judged("Which?", right, labels, [("answer", right.tool), (other.tool, "")]) is AnswerWorth.NEITHER
    assert judged(f"{other.text}\n\nWhich?", right, labels, [(right.tool, "")]) is WRONG
    assert judged("Which?", None, labels, [(right.tool, "")]) is AnswerWorth.NEITHER
    assert judged(right.tool, right, labels) is WRONG  # it says the tool's name instead of using the tool
