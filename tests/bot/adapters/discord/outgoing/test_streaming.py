"""Long answers grow on Discord: at its pace, pinging nobody, and whole at the end whatever happens."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, strategies as st

from bot.adapters.discord.outgoing.long_answers import AT_ONCE, beginning, stream
from bot.errors import MessengerError, MessengerUnavailable
from tests.doubles.discord import DiscordServer, failing, refusing
from tests.doubles.discord_driver import Session, connected
from tests.doubles.sleep import Naps

LONG = "All about @everyone: " + " ".join(f"word{number}" for number in range(200))
EDIT = "PATCH /channels/*/messages/*"


def contents(server: DiscordServer) -> list[str]:
    """What the message said, from its beginning to its end."""
    calls = [*server.calls("POST /channels/*/messages"), *server.calls(EDIT)]
    return [str(call.body["content"]) for call in calls if isinstance(call.body, dict)]


async def test_a_long_answer_grows_and_ends_with_its_buttons(server: DiscordServer) -> None:
    naps = Naps()
    async with connected(server, naps=naps) as session:
        ref = await session.posted(LONG)
        [said] = server.said(session.general)
    steps = contents(server)
    assert said.id == ref.message_id
    assert said.content == LONG.replace("@everyone", "@\u200beveryone")
    assert len(steps) == 3
    assert all(later.startswith(earlier) for earlier, later in pairwise(steps))
    assert len(said.components[0]["components"]) == 3
    assert naps.taken == [1.2] * 2


@pytest.mark.parametrize("settings", [{"answers": "post"}, {}])
async def test_short_answers_and_those_that_shall_not_grow_are_there_at_once(
    server: DiscordServer, settings: dict[str, Any]
) -> None:
    async with connected(server, **settings) as session:
        await session.posted(LONG if settings else "Paris.")
    assert server.calls(EDIT) == []


async def test_only_the_first_part_grows(server: DiscordServer) -> None:
    async with connected(server) as session:
        await session.posted(LONG, part=2)
    assert server.calls(EDIT) == []


async def test_a_step_that_fails_is_skipped_and_the_end_is_tried_again(server: DiscordServer) -> None:
    async with connected(server) as session:
        server.fault(EDIT, refusing(50035), times=1)
        server.fault(EDIT, failing(503), times=1)
        await session.posted(LONG)
        [said] = server.said(session.general)
    assert said.content.endswith("word199")


async def test_an_answer_cut_off_by_a_crash_is_whole_after_it_is_posted_again(server: DiscordServer) -> None:
    async with connected(server) as session:
        server.fault(EDIT, failing(503), times=None)
        with pytest.raises(MessengerError):
            await session.posted(LONG, run_id="run-1")
        server.clear_faults()
    async with connected(server) as again:
        await again.posted(LONG, run_id="run-1")
        [said] = server.said(again.general)
    assert said.content.endswith("word199")


async def test_an_answer_that_may_not_be_changed_appears_as_a_whole_instead(server: DiscordServer) -> None:
    async with connected(server) as session:
        server.fault(EDIT, refusing(200000), times=None)
        ref = await session.posted(LONG, run_id="run-1")
        [said] = server.said(session.general)
    assert said.id == ref.message_id
    assert said.content.endswith("word199")
    assert len(said.components[0]["components"]) == 3


async def test_an_answer_that_is_deleted_while_it_grows_stays_deleted(server: DiscordServer) -> None:
    class Moderator(Naps):
        session: Session

        async def __call__(self, seconds: float) -> None:
            await super().__call__(seconds)
            for message in server.said(self.session.general):
                server.deletes(message)

    naps = Moderator()
    async with connected(server, naps=naps) as session:
        naps.session = session
        await session.posted(LONG)
        assert server.said(session.general) == []


@given(st.text(min_size=AT_ONCE + 1, max_size=2000))
async def test_every_step_is_longer_and_the_last_is_the_answer(text: str) -> None:
    said = [beginning(text)]

    async def change(now: str, is_all: bool) -> None:
        said.append(now)
        assert is_all == (now == text)

    await stream(text, change, Naps())
    assert said[-1] == text
    assert all(0 < len(step) <= len(text) for step in said)
    assert all(text.startswith(step) for step in said)
    assert all(len(earlier) < len(later) for earlier, later in pairwise(said))


LINK = "[the handbook of it all](https://example.org/handbook)"


@pytest.mark.parametrize(
    "text",
    [
        f"{'word ' * 116}{LINK} and so on.{' word' * 200}",
        "Look:\n\n```python\n" + "print(1)  # a line of code\n" * 60 + "```\nDone.",
    ],
)
async def test_on_its_way_code_is_closed_and_links_are_whole(text: str) -> None:
    said = [beginning(text)]

    async def change(now: str, is_all: bool) -> None:
        said.append(now)

    await stream(text, change, Naps())
    assert len(said) > 2
    assert said[-1] == text
    assert {step.count("```") for step in said} == {text.count("```")}
    assert all(step.count("[") == step.count(LINK) for step in said)


async def test_a_last_step_that_fails_is_told() -> None:
    async def change(now: str, is_all: bool) -> None:
        raise MessengerUnavailable("away")

    with pytest.raises(MessengerUnavailable):
        await stream("x " * 900, change, Naps())
