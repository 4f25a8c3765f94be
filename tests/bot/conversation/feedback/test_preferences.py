"""How somebody wants to be answered: kept for them alone, shown, taken back, and no opinion of what is right."""

from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from bot.adapters import forms
from bot.conversation.feedback.preference_in_words import preference_in
from bot.model import Choice, PersonCommand
from memory.model import Role, Scope
from memory.ports import EpisodeFilter
from memory.services import Preference
from memory.services.recording.preferences import MOST
from tests.doubles.conversation import ANA, BOB, Chat
from tests.doubles.memory_world import World, scope
from tests.doubles.slack import SlackServer
from tests.doubles.whole_bot import slack_bot

QUESTION = "where is the spare key?"

WISHES = {
    "Too long": "Keep answers short.",
    "that's too long.": "Keep answers short.",
    "Thanks, but a bit too long": "Keep answers short.",
    "your answers are always too long": "Keep answers short.",
    "shorter please": "Keep answers short.",
    "could you please keep it shorter?": "Keep answers short.",
    "keep your answers brief": "Keep answers short.",
    "zu lang": "Keep answers short.",
    "kürzer bitte": "Keep answers short.",
    "too short": "Answer in more detail.",
    "more details please": "Answer in more detail.",
    "in German please": "Answer in German.",
    "please answer in German": "Answer in German.",
    "can you answer in French?": "Answer in French.",
    "auf Deutsch bitte": "Answer in German.",
    "use English": "Answer in English.",
    "no emoji": "Use no emoji.",
    "No emojis, please!": "Use no emoji.",
    "please stop using emoji": "Use no emoji.",
    "keine Emojis": "Use no emoji.",
    "bullet points please": "Prefer bullet points.",
    "as a list please": "Prefer bullet points.",
    "no bullet points": "Write sentences, no bullet points.",
    "in simple words please": "Use simple words.",
    "too complicated": "Use simple words.",
    "too formal": "Be informal.",
    "more formal please": "Be formal.",
}
NO_WISHES = (
    "it's too long a drive",
    "the meeting is too long",
    "is it too long?",
    "in German please: good morning",
    "translate that to German",
    "how do you say it in German?",
    "and in German?",
    "in English, what is it?",
    "more details about the deploy",
    "too expensive",
    "too short a notice",
    "it was too long ago",
    "no",
    "list",
    "short",
    "formal",
    "a list of rooms",
    "what emoji is that?",
    "who speaks French here?",
    "no, it's room 5",
    "shorter than what?",
    "use the clock",
    "answer the door please",
    "be there at nine",
    "no emoji is allowed in file names",
    "",
)


@pytest.mark.parametrize(("text", "instruction"), WISHES.items())
def test_a_wish_is_read(text: str, instruction: str) -> None:
    wish = preference_in(text)
    assert wish is not None
    assert wish.instruction == instruction


@pytest.mark.parametrize("text", NO_WISHES)
def test_what_is_no_wish_is_left_alone(text: str) -> None:
    assert preference_in(text) is None


@given(st.text(alphabet="too long in german please no, ?!\n", max_size=400))
def test_no_words_of_a_person_become_an_instruction(text: str) -> None:
    wish = preference_in(text)
    assert wish is None or wish.instruction in {*WISHES.values()}


@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("wv"), st.sampled_from("123456789")), max_size=30))
def test_the_last_of_each_kind_is_kept_at_most_five_each_for_one_person_of_one_workspace(
    said: list[tuple[str, str, str]],
) -> None:
    world = World()
    expected: dict[tuple[str, str], dict[str, str]] = {}
    for number, (person, workspace, kind) in enumerate(said):
        world.clock.tick()
        preference = Preference(kind=kind, text=f"text {number}", event_id=f"e{number}")
        kept = world.memory.preferences.keep(scope(person, workspace=workspace), preference, at=world.clock())
        assert kept
        own = expected.setdefault((workspace, person), {})
        own.pop(kind, None)
        own[kind] = preference.text
        while len(own) > MOST:
            del own[next(iter(own))]
    for person in "ab":
        for workspace in "wv":
            found = world.memory.preferences.of(workspace, person)
            assert {each.kind: each.text for each in found} == expected.get((workspace, person), {})


def command(chat: Chat, choice: Choice, by: Scope = ANA) -> PersonCommand:
    return PersonCommand(
        event_id=chat.world.ids(),
        scope=by,
        name=choice.command,
        argument=choice.argument,
        at=chat.world.clock.tick(),
        role=Role.MEMBER,
    )


def opinions(chat: Chat) -> list[int]:
    memory = chat.world.memory
    roots = memory.audit.episodes(ANA.workspace, EpisodeFilter(limit=None))
    return [vote.value for root in roots for vote in memory.audit.run(ANA.workspace, root.run_id).votes if vote.value]


async def test_a_wish_is_kept_for_its_person_alone_and_reaches_the_system_prompt() -> None:
    chat = Chat()
    await chat.ask(QUESTION)
    await chat.ask("in German please")
    assert chat.messenger.posts[-1].text.startswith("Noted, for my answers to you from now on: Answer in German.")
    assert chat.messenger.posts[-1].private_to == ANA.person
    assert opinions(chat) == []
    await chat.ask("what is the wifi name?")
    assert "- Answer in German." in chat.oracle.requests[-1].system
    await chat.ask("what is the wifi name?", BOB)
    assert "German" not in chat.oracle.requests[-1].system
    await chat.ask("in English please")
    await chat.ask("what is the door code?")
    assert chat.oracle.requests[-1].system.endswith("- Answer in English.")


async def test_it_is_told_how_to_see_it_and_whether_the_model_keeps_to_it_also_from_the_form(tmp_path: Path) -> None:
    async with SlackServer() as server:
        ana, channel = server.person("ana"), server.channel("general")
        async with slack_bot(server, tmp_path) as bot:
            asked = ana.says(channel, QUESTION)
            await bot.settled()
            [answer] = server.said_by_bot(channel, asked.ts)
            await ana.rates(answer, good=False).answered()
            await ana.submits({forms.REASON: "too long"}).answered()
            await bot.settled()
            ana.says(channel, "in German please", thread_ts=asked.ts)
            await bot.settled()
        told = [each.text for each in server.ephemerals(ana)]
        assert len(told) == 2
        for each in told:
            assert "`@goodbot memory` shows it. The offline model gives answers as people taught them" in each


async def test_one_tap_takes_it_back() -> None:
    chat = Chat()
    await chat.ask(QUESTION)
    await chat.ask("too long")
    [undo] = chat.messenger.posts[-1].choices
    await chat.sink(command(chat, undo, BOB))
    assert chat.world.memory.preferences.of(ANA.workspace, ANA.person)
    await chat.sink(command(chat, undo))
    assert chat.messenger.posts[-1].text == "Forgotten: “Keep answers short.”"
    assert chat.world.memory.preferences.of(ANA.workspace, ANA.person) == ()


async def test_memory_lists_it_and_drops_it_and_forget_erases_it() -> None:
    chat = Chat()
    for wish in ("no emoji", "in German please"):
        await chat.ask(QUESTION)
        await chat.ask(wish)
    await chat.sink(command(chat, Choice(label="", command="memory")))
    shown = chat.messenger.posts[-1]
    assert "- Use no emoji.\n- Answer in German." in shown.text
    [drop, _] = [each for each in shown.choices if each.label.startswith("Forget “")]
    await chat.sink(command(chat, drop))
    assert [each.text for each in chat.world.memory.preferences.of(ANA.workspace, ANA.person)] == ["Answer in German."]
    assert "Answer in German." in str(chat.world.memory.privacy.copy(ANA.workspace, ANA.person).short)
    chat.world.memory.privacy.forget(ANA.workspace, ANA.person)
    assert chat.world.memory.preferences.of(ANA.workspace, ANA.person) == ()


async def test_what_follows_no_answer_of_theirs_is_an_ordinary_message() -> None:
    chat = Chat()
    await chat.ask("too long")
    assert chat.oracle.asked == ["too long"]
    await chat.ask(QUESTION, BOB)
    await chat.ask("no emoji")
    assert chat.world.memory.preferences.of(ANA.workspace, ANA.person)[0].text == "Use no emoji."


async def test_a_form_that_says_only_how_withdraws_the_refusal() -> None:
    chat = Chat()
    answer = await chat.ask(QUESTION)
    await chat.react(answer, "👎")
    assert opinions(chat) == [-1]
    await chat.correct("", message_id=answer, reason="too long")
    assert opinions(chat) == []
    assert chat.messenger.posts[-1].text.startswith("Noted, for my answers to you")
    assert [each.kind for each in chat.world.memory.preferences.of(ANA.workspace, ANA.person)] == ["length"]


@pytest.mark.parametrize(
    ("text", "reason", "kinds"),
    [
        ("in German please", "style or format", ["language"]),
        ("no emoji", "other", ["emoji"]),
        ("too long", "", ["length"]),
        ("bitte auf deutsch", "", ["language"]),
        ("In German.", "", []),
        ("the long answer", "too long", []),
    ],
)
async def test_a_form_whose_text_is_a_wish_teaches_nothing_else(text: str, reason: str, kinds: list[str]) -> None:
    chat = Chat()
    await chat.correct(text, message_id=await chat.ask(QUESTION), reason=reason)
    assert [each.kind for each in chat.world.memory.preferences.of(ANA.workspace, ANA.person)] == kinds
    taught = [each.output for each in chat.world.memory.audit.episodes(ANA.workspace, EpisodeFilter(limit=None))]
    assert (text in taught) is (not kinds)


async def test_it_holds_after_a_restart() -> None:
    chat = Chat()
    await chat.ask(QUESTION)
    await chat.ask("too long")
    waiting = chat.message("what is the wifi name?")
    chat.bot.shut_down()
    await chat.sink(waiting)
    await chat.bot.idle()
    later = Chat(world=chat.world)
    assert await later.bot.recovery.resume(later.messenger) == 1
    await later.bot.idle()
    assert "- Keep answers short." in later.oracle.requests[-1].system
