"""A follow-up is understood with the words of who asked before: what is made of it forgets them, too."""

from dataclasses import replace

import pytest

from bot.adapters.llm.offline.model import OfflineModel
from bot.model import PersonRetry, PersonTeaching
from memory.adapters.embedding import HashingEmbedder
from memory.model import Audience
from memory.ports import EpisodeFilter
from tests.doubles.conversation import ANA, BOB, TEA, Chat
from tests.doubles.memory_world import scope
from tests.doubles.stores import content

ASKER, FOLLOWER, READER = (replace(each, thread="t1") for each in (ANA, BOB, scope("cat")))


@pytest.fixture
async def chat() -> Chat:
    """Ana asked where the samovar is, and Bob "and in winter?"."""
    chat = Chat(model=OfflineModel(HashingEmbedder().embed))
    await chat.ask("where is the samovar?", ASKER)
    await chat.ask("and in winter?", FOLLOWER)
    return chat


async def forgets(chat: Chat) -> None:
    """Ana is forgotten, with every byte of her word."""
    assert b"samovar in winter" in content(chat.store)
    await chat.command("forget", "yes", ASKER)
    assert b"samovar" not in content(chat.store)
    assert chat.world.memory.audit.check() == []


async def test_a_correction_of_its_answer_stays_without_the_question(chat: Chat) -> None:
    await chat.correct("In the cellar.", READER)
    await forgets(chat)
    (kept,) = chat.world.memory.audit.episodes(ANA.workspace, EpisodeFilter(author="cat"))
    assert (kept.goal, kept.output) == ("", "In the cellar.")


@pytest.mark.parametrize("by", [FOLLOWER, READER], ids=["its author", "somebody else"])
@pytest.mark.parametrize("is_answered", [True, False])
async def test_whoever_has_it_tried_again(chat: Chat, by: object, is_answered: bool) -> None:
    answered = f"post-{len(chat.messenger.posts)}"
    again = PersonRetry(event_id="again", scope=by, message_id=answered, at=chat.world.clock.tick())  # type: ignore[arg-type]  # a parameter
    if is_answered:
        await chat.sink(again)
        await chat.bot.idle()
    else:
        chat.world.memory.recording.accept_again(again.scope, answered, event_id="again", at=again.at)
    await forgets(chat)
    assert chat.world.memory.recording.unfinished() == []


async def test_the_choice_of_what_was_offered_for_it(chat: Chat) -> None:
    taught = PersonTeaching(
        event_id="taught",
        scope=TEA,
        question="where is the kettle in winter?",
        answer="In the hut.",
        at=chat.world.clock.tick(),
        audience=Audience.CHANNEL,
    )
    await chat.sink(taught)
    await chat.ask("and in winter?", FOLLOWER)
    choice = chat.messenger.posts[-1].choices[0]
    await chat.command(choice.command, choice.argument, FOLLOWER)
    await chat.bot.idle()
    assert chat.messenger.answers[-1] == "In the hut."
    await forgets(chat)


@pytest.mark.parametrize("words", ["nope", "No, it's in the cellar"])
async def test_the_reply_to_feedback_in_words_on_its_answer(chat: Chat, words: str) -> None:
    await chat.ask(words, FOLLOWER)
    assert "samovar" in chat.messenger.posts[-1].text
    await forgets(chat)
    assert words.encode() in content(chat.store), "these are Bob's"
    await chat.ask("and in spring?", FOLLOWER)


async def test_the_reply_to_feedback_in_words_goes_with_a_deleted_answer(chat: Chat) -> None:
    await chat.ask("where is the kettle?", BOB)
    await chat.ask("nope", BOB)
    assert "kettle" in chat.messenger.posts[-1].text
    memory = chat.world.memory
    (answer,) = memory.audit.episodes(BOB.workspace, EpisodeFilter(text="kettle"))
    memory.privacy.erase_run(BOB.workspace, answer.run_id)
    assert b"kettle" not in content(chat.store)
