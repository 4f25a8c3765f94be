"""The terminal with a person at it: typing ahead, Ctrl-C and Ctrl-D, Markdown, the progress line."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from bot.errors import MessengerUnavailable
from bot.model import Choice, PersonCommand, PersonCorrection, PersonEvent, PersonMessage, PersonReaction
from tests.bot.adapters.messenger_contract import Heard
from tests.doubles.terminal import SETTINGS, Typist, said, typist

CTRL_C, CTRL_D, ENTER = "\x03", "\x04", "\r"


@asynccontextmanager
async def chatting(person: Typist) -> AsyncIterator[tuple[Heard, "asyncio.Task[None]"]]:
    """A chat that has begun; closed at the end if nobody left."""
    heard = Heard()
    task = asyncio.create_task(person.messenger.run(heard))
    try:
        await person.until_seen("/help lists the rest")
        yield heard, task
    finally:
        await person.messenger.close()
        async with asyncio.timeout(10):
            await task


def plain(text: str) -> str:
    """Without colours."""
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


async def test_the_first_line_says_where_memory_is_and_ctrl_d_leaves_with_a_goodbye() -> None:
    with typist() as person:
        async with chatting(person) as (heard, task):
            person.type(CTRL_D)
            async with asyncio.timeout(10):
                await task
        lines = plain(person.out.getvalue()).splitlines()
    assert lines[0].strip() == "memory in /tmp/here.db"
    assert lines[-1].strip() == "Bye. What you taught is kept."
    assert heard.events == []


async def test_ctrl_c_clears_the_line_first_and_leaves_on_an_empty_one() -> None:
    with typist() as person:
        async with chatting(person) as (heard, task):
            person.type(f"half a thou{CTRL_C}whole{ENTER}")
            [event] = await heard.of(PersonMessage, 1)
            person.type(CTRL_C)
            async with asyncio.timeout(10):
                await task
    assert event.text == "whole"
    assert len(heard.events) == 1


async def test_ctrl_c_stops_a_running_answer_and_leaves_when_that_does_not_help() -> None:
    stopped = asyncio.Event()

    async def stop() -> None:
        stopped.set()

    with typist(stop=stop) as person:
        async with chatting(person) as (heard, task):
            person.type(f"a long one{ENTER}")
            await heard.of(PersonMessage, 1)
            await person.messenger.progress(SETTINGS.workspace, SETTINGS.channel, "", "thinking")
            person.type(CTRL_C)
            async with asyncio.timeout(10):
                await stopped.wait()
            await person.until_seen("stopping")
            assert not task.done()
            person.type(CTRL_C)
            async with asyncio.timeout(10):
                await task


async def test_a_person_may_type_ahead_while_an_answer_is_on_its_way() -> None:
    with typist() as person:
        async with chatting(person) as (heard, _):
            person.type(f"first{ENTER}")
            await heard.of(PersonMessage, 1)
            await person.messenger.progress(SETTINGS.workspace, SETTINGS.channel, "", "thinking")
            person.type("sec")
            await person.messenger.post(said("the first answer"))
            person.type(f"ond{ENTER}👍{ENTER}")
            await heard.of(PersonReaction, 1)
    assert [e.text for e in heard.events if isinstance(e, PersonMessage)] == ["first", "second"]
    assert "[1] the first answer" in plain(person.out.getvalue())


async def test_a_line_that_takes_long_to_take_in_does_not_hold_up_the_prompt_and_keeps_its_place(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("bot.adapters.terminal.messenger._PATIENCE_S", 0)
    loaded, heard = asyncio.Event(), Heard()

    async def sink(event: PersonEvent) -> None:
        await loaded.wait()
        await heard(event)

    with typist() as person:
        task = asyncio.create_task(person.messenger.run(sink))
        await person.until_seen("/help lists the rest")
        person.type(f"/correct at noon{ENTER}")
        await person.until_seen("that takes a moment; you may type on")
        person.type(f"/as ana{ENTER}")
        await person.until_seen("you are ana now")
        person.type(f"/forget{ENTER}{CTRL_D}")
        await person.until_seen("still being taken in")
        assert heard.events == []
        loaded.set()
        async with asyncio.timeout(10):
            await task
    assert [(type(each), each.scope.person) for each in heard.events] == [
        (PersonCorrection, "you"),
        (PersonCommand, "ana"),
    ]


async def test_a_thumb_before_the_first_answer_is_told_that_the_answer_is_on_its_way() -> None:
    with typist() as person:
        async with chatting(person) as (heard, _):
            person.type(f"first{ENTER}")
            await heard.of(PersonMessage, 1)
            person.type(f"👍{ENTER}")
            await person.until_seen("the answer is not here yet")
            await person.messenger.post(said("the first answer"))
            person.type(f"👍{ENTER}")
            await heard.of(PersonReaction, 1)


async def test_a_pasted_text_of_several_lines_is_one_message() -> None:
    with typist() as person:
        async with chatting(person) as (heard, _):
            person.type(f"\x1b[200~one\ntwo\n\x1b[201~{ENTER}")
            [event] = await heard.of(PersonMessage, 1)
    assert event.text == "one\ntwo"


async def test_commands_are_completed() -> None:
    with typist() as person:
        async with chatting(person):
            person.type(f"/hel\t{ENTER}")
            await person.until_seen("/correct TEXT")


async def test_answers_are_shown_as_markdown_and_nothing_of_them_is_dropped() -> None:
    text = "**Paris**, see `map`\n\n- <b>one</b>\n- :smile: [red]two[/red]\n\n<div>raw</div>\n\n"
    text += "\x1b]0;title\x07\x9b31m~~gone~~"
    with typist() as person:
        async with chatting(person):
            await person.messenger.post(said(text, lessons=("REPEAT: Paris\nis right",)))
            await person.until_seen("used lesson")
        shown = person.out.getvalue()
    seen = plain(shown)
    assert "\x1b[1mParis" in shown
    assert "**" not in seen
    for part in ("map", "<b>one</b>", ":smile: [red]two[/red]", "<div>raw</div>", "gone", "REPEAT: Paris is right"):
        assert part in seen
    assert "\x1b]" not in shown
    assert "\x9b" not in shown
    assert "\x07" not in shown


async def test_choices_are_dim_and_below() -> None:
    offered = (Choice(label="Archive 1", command="archive", argument="0a1b2c3d"),)
    with typist() as person:
        async with chatting(person):
            await person.messenger.post(replace(said("Lessons.", is_answer=False), choices=offered))
            await person.until_seen("Archive 1")
        shown = person.out.getvalue()
    assert re.search(r"\x1b\[2m */archive 0a1b2c3d  Archive 1", shown)
    assert shown.index("Lessons.") < shown.index("/archive 0a1b2c3d")


async def test_without_colour_there_is_none() -> None:
    with typist() as person:
        async with chatting(person):
            await person.messenger.post(said("**Paris**\n\n```python\nx = 1\n```", lessons=("REPEAT",)))
            await person.until_seen("used lesson")
        codes = set(re.findall(r"\x1b\[([0-9;]*)m", person.out.getvalue()))
    assert {part for code in codes for part in code.split(";")} <= {"", "0", "1", "2", "3", "4"}


async def test_the_progress_line_goes_when_the_work_ends() -> None:
    with typist() as person:
        before = len(asyncio.all_tasks())
        async with chatting(person) as (_, _task):
            for text in ("loading", "thinking"):
                await person.messenger.progress(SETTINGS.workspace, SETTINGS.channel, "", text)
            await person.messenger.progress(SETTINGS.workspace, SETTINGS.channel, "", "")
            await person.messenger.progress(SETTINGS.workspace, SETTINGS.channel, "", "and again")
        await asyncio.sleep(0)
        assert len(asyncio.all_tasks()) == before


async def test_a_screen_that_is_gone_is_the_port_s_error(tmp_path: Path) -> None:
    with typist() as person:
        person.out.close()
        with pytest.raises(MessengerUnavailable, match="cannot write to the terminal"):
            await person.messenger.post(said("anybody?"))


async def test_a_failing_sink_is_not_swallowed() -> None:
    async def sink(event: PersonEvent) -> None:
        raise LookupError(event.event_id)

    with typist() as person:
        task = asyncio.create_task(person.messenger.run(sink))
        await person.until_seen("/help lists the rest")
        person.type(f"hello{ENTER}")
        with pytest.raises(LookupError):
            await task
