"""A tool whose arguments a question does not have is no rival of what the bot says, and nothing is judged by it."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import replace

import pytest

from bot.agent.tools.registry import Tool, ToolContext
from memory.model.evidence import EvidenceRecord, Judgement
from memory.ports import EpisodeFilter
from tests.doubles.conversation import ANA, Chat
from tests.doubles.model import answer, call

GOAL, TAUGHT_FOR, ANSWER = "where do I find the shed key?", "where is the shed key?", "Under the pot."
NAME = "note_key"


async def _never(_arguments: Mapping[str, object], _: ToolContext) -> str:
    raise AssertionError("it can not be used")


@pytest.fixture
async def chat() -> AsyncIterator[Chat]:
    parameters = {"type": "object", "properties": {"code": {"type": "string"}}, "required": ["code"]}
    chat = Chat(tools=[Tool(name=NAME, description="Where do I find the shed key?", parameters=parameters, run=_never)])
    chat.world.correct(chat.world.ask(TAUGHT_FOR, "I don't know."), ANSWER)
    yield chat
    await chat.bot.idle()
    chat.executor.close()
    assert chat.world.memory.audit.check() == []


def kept(chat: Chat) -> tuple[EvidenceRecord, list[Judgement]]:
    """The evidence of the newest answer, and what its votes say of it."""
    newest = max(chat.world.memory.audit.episodes(ANA.workspace, EpisodeFilter()), key=lambda each: each.id)
    with chat.store.read() as tx:
        evidence = tx.retrievals.evidence_of_runs(ANA.workspace, [newest.run_id])[newest.run_id]
        return evidence, tx.judgements.of_run(ANA.workspace, newest.run_id)


@pytest.mark.parametrize(("impossible", "is_rival"), [((), True), ((NAME,), False)])
async def test_what_the_model_says_cannot_be_done_is_left_out_of_what_is_kept(
    chat: Chat, impossible: tuple[str, ...], *, is_rival: bool
) -> None:
    chat.oracle.answers[GOAL] = replace(answer(ANSWER), impossible=frozenset(impossible))
    posted = await chat.ask(GOAL)
    await chat.react(posted, "👎")
    evidence, judged = kept(chat)
    assert (NAME in [each.action for each in evidence.beliefs]) is is_rival
    said = [(each.is_right, each.confidence) for each in judged]
    assert said == ([] if is_rival else [(False, int(100 * evidence.confidence))])


async def test_a_choice_is_judged_by_what_could_be_done_when_it_was_offered(chat: Chat) -> None:
    asked = call("ask_person", question="Do you mean this?", options=[{"answer": ANSWER}])
    chat.oracle.answers[GOAL] = replace(asked, impossible=frozenset({NAME}))
    await chat.ask(GOAL)
    (choice, _) = chat.messenger.posts[-1].choices
    await chat.command(choice.command, choice.argument)
    await chat.bot.idle()
    assert chat.messenger.answers[-1] == ANSWER
    evidence, _ = kept(chat)
    assert evidence.is_followed
    assert NAME not in [each.action for each in evidence.beliefs]
