"""Commands as buttons on Discord: in private answers, in direct messages, and about a channel from outside of it."""

import re
from collections.abc import Sequence

import discord
import pytest
from hypothesis import given, strategies as st

from bot.adapters import forms
from bot.adapters.discord import menu
from bot.adapters.discord.outgoing import typing_indicator
from bot.adapters.discord.views import ChosenButton, choice_view
from bot.conversation.commands.gaps_commands import no_such_gap
from bot.conversation.commands.help_messages import help_text
from bot.conversation.commands.setting_messages import one_setting, overview
from bot.model import BotMessage, Choice, PersonCommand, PersonEvent
from memory.model import Role, Visibility
from memory.rules.chat_settings import CATALOGUE, setting_named
from tests.bot.adapters.messenger_contract import Heard
from tests.doubles.discord import Callback, DiscordServer, LostAnswer, MessageFlag, refusing
from tests.doubles.discord.model import Channel, Json, Message
from tests.doubles.discord.permissions import Permission
from tests.doubles.discord_driver import Session, connected

PAGE = (
    Choice(label="Archive lesson 1", command="archive", argument="ep-1 page 1", is_danger=True),
    Choice(label="More", command="memory", argument="page 2"),
)
DANGER, GREY = 4, 2


class Bot(Heard):
    """Answers every command with its name and the choices of the command, as the bot does."""

    session: Session

    def __init__(self, choices: dict[str, Sequence[Choice]] | None = None) -> None:
        super().__init__()
        self.choices = choices if choices is not None else {"memory": PAGE}

    async def __call__(self, event: PersonEvent) -> None:
        await super().__call__(event)
        if isinstance(event, PersonCommand):
            scope = event.scope
            says = BotMessage(
                workspace=scope.workspace,
                channel=scope.channel,
                thread=scope.thread,
                text=f"{event.name} {event.argument} for {scope.person}",
                private_to=scope.person,
                choices=tuple(self.choices.get(event.name, ())),
            )
            await self.session.messenger.post(says)

    @property
    def commands(self) -> list[PersonCommand]:
        return [event for event in self.events if isinstance(event, PersonCommand)]


def buttons(message: Message) -> list[Json]:
    return [button for row in message.components for button in row["components"]]


# In a channel ---------------------------------------------------------------------------------------------------------


async def test_choices_are_buttons_only_the_person_sees_and_a_press_replaces_them(server: DiscordServer) -> None:
    bot = Bot()
    async with connected(server, sink=bot, heard=bot) as session:
        bot.session = session
        use = server.slash(session.ana, session.general, "goodbot memory")
        await server.until(lambda: use.text)
        [page] = use.private_replies
        archive, more = buttons(page)
        assert (archive["label"], archive["style"], more["style"]) == ("Archive lesson 1", DANGER, GREY)
        turned = server.clicks(session.ana, page, "More")
        await server.until(lambda: "page 2" in server.current(page).content)
        pressed = server.clicks(session.ana, page, "Archive lesson 1")
        await server.until(lambda: "archive ep-1 page 1" in server.current(page).content)
        assert buttons(server.current(page)) == []
        assert (turned.answer, turned.replies, pressed.replies) == (Callback.DEFERRED_UPDATE, [], [])
        assert server.said(session.general) == []
    assert [(event.name, event.argument) for event in bot.commands] == [
        ("memory", ""), ("memory", "page 2"), ("archive", "ep-1 page 1"),
    ]  # fmt: skip
    assert len({event.event_id for event in bot.commands}) == 3
    assert {event.scope.channel for event in bot.commands} == {session.general.id}


async def test_a_button_that_opens_a_form_sends_what_was_written_as_the_command(server: DiscordServer) -> None:
    bot = Bot({"gaps": [Choice(label="Answer 1: where is the key?", command="teach", argument="0a1b2c3d")]})
    async with connected(server, sink=bot, heard=bot) as session:
        bot.session = session
        use = server.slash(session.ana, session.general, "goodbot gaps")
        await server.until(lambda: use.text)
        pressed = server.clicks(session.ana, use.private_replies[0], "Answer 1: where is the key?")
        await server.until(lambda: pressed.modal)
        submitted = server.submits(pressed, {forms.ANSWER: "Under the Pot."})
        await server.until(lambda: submitted.text)
        assert "Answer 1: where is the key?" in str(pressed.modal)
        assert submitted.private_replies[0].content == f"teach 0a1b2c3d Under the Pot. for {session.ana.id}"
    assert [(event.name, event.argument) for event in bot.commands] == [
        ("gaps", ""), ("teach", "0a1b2c3d Under the Pot."),
    ]  # fmt: skip
    assert {event.scope.channel for event in bot.commands} == {session.general.id}


async def test_choices_work_after_a_restart_with_the_role_of_who_presses(server: DiscordServer) -> None:
    bot = Bot()
    async with connected(server, sink=bot, heard=bot) as session:
        bot.session = session
        use = server.slash(session.ana, session.general, "goodbot memory")
        await server.until(lambda: use.text)
    later = Bot()
    async with connected(server, sink=later, heard=later, teachers=(session.ana.id,)) as again:
        later.session = again
        server.clicks(session.ana, use.private_replies[0], "More")
        [event] = await later.of(PersonCommand, 1)
    assert (event.name, event.argument, event.role) == ("memory", "page 2", Role.TEACHER)


async def test_whoever_presses_acts_for_themselves_and_sees_the_answer_alone(server: DiscordServer) -> None:
    """A button that got into a channel somehow: another person's press changes nothing there."""
    bot = Bot()
    async with connected(server, sink=bot, heard=bot) as session:
        bot.session = session
        view = choice_view(PAGE)
        assert view is not None
        assert session.messenger._context is not None
        where = session.messenger._context.client.get_partial_messageable(int(session.general.id))
        stray = await where.send("Ana's page", view=view)
        ben = server.person("ben", session.guild)
        use = server.clicks(ben, str(stray.id), "Archive lesson 1")
        await server.until(lambda: use.text)
        assert use.private_replies[0].content == f"archive ep-1 page 1 for {ben.id}"
        assert server.current(str(stray.id)).content == "Ana's page"
    [event] = bot.commands
    assert (event.scope.person, event.role) == (ben.id, Role.MEMBER)


async def test_what_everybody_sees_offers_no_choices(server: DiscordServer, session: Session) -> None:
    notice = BotMessage(workspace=session.workspace, channel=session.general.id, text="Page", choices=PAGE)
    await session.messenger.post(notice)
    [said] = server.said(session.general)
    assert buttons(said) == []


async def test_people_who_may_not_use_the_bot_press_in_vain(server: DiscordServer) -> None:
    async with connected(server, allowed_people=("1",)) as session:
        view = choice_view(PAGE)
        assert view is not None
        assert session.messenger._context is not None
        where = session.messenger._context.client.get_partial_messageable(int(session.general.id))
        stray = await where.send("A page", view=view)
        use = server.clicks(session.ana, str(stray.id), "More")
        await server.until(lambda: use.text)
    assert session.heard.events == []


# From direct messages -------------------------------------------------------------------------------------------------


async def test_a_press_in_direct_messages_replaces_the_page(server: DiscordServer) -> None:
    bot = Bot()
    async with connected(server, sink=bot, heard=bot) as session:
        bot.session = session
        direct = server.dm(session.ana)
        server.says(session.ana, direct, "memory")
        await server.until(lambda: server.said(direct))
        [page] = server.said(direct)
        server.clicks(session.ana, page, "Archive lesson 1")
        await server.until(lambda: "archive ep-1 page 1" in server.current(page).content)
        assert len(server.said(direct)) == 1
    assert bot.commands[-1].scope.visibility is Visibility.DIRECT


async def page_of_a_channel(server: DiscordServer, session: Session, channel: Channel | None = None) -> Message:
    """A page about the channel, in the person's direct messages, because it was asked for by mention."""
    session.asks("memory", channel=channel or session.general)
    direct = server.dm(session.ana)
    await server.until(lambda: server.said(direct))
    return server.said(direct)[0]


async def test_a_page_of_a_channel_that_came_directly_is_still_about_the_channel(server: DiscordServer) -> None:
    staff = server.role(server.guild("Home"), "staff")
    bot = Bot()
    async with connected(server, sink=bot, heard=bot, teachers=(staff.id,)) as session:
        bot.session = session
        server.has_roles(session.ana, session.guild, staff)
        page = await page_of_a_channel(server, session)
        server.clicks(session.ana, page, "Archive lesson 1")
        await server.until(lambda: "archive ep-1 page 1" in server.current(page).content)
    asked, archived = bot.commands
    assert (archived.scope.workspace, archived.scope.channel) == (asked.scope.workspace, session.general.id)
    assert archived.role is Role.TEACHER


@pytest.mark.parametrize("lost", ["the right to look", "membership"])
async def test_who_may_not_look_into_the_channel_any_more_turns_no_page_of_it(server: DiscordServer, lost: str) -> None:
    bot = Bot()
    async with connected(server, sink=bot, heard=bot) as session:
        bot.session = session
        page = await page_of_a_channel(server, session)
        if lost == "membership":
            del server.state.members[session.guild.id, session.ana.id]
        else:
            server.rights(session.general, session.ana, deny=Permission.VIEW_CHANNEL)
        server.clicks(session.ana, page, "More")
        await server.until(lambda: "cannot use me there" in server.current(page).content)
    assert len(bot.commands) == 1


@pytest.mark.parametrize("sleeps", [False, True])
async def test_a_page_of_a_private_thread_is_turned_by_those_in_it(server: DiscordServer, sleeps: bool) -> None:
    bot = Bot()
    async with connected(server, sink=bot, heard=bot) as session:
        bot.session = session
        ben = server.person("ben", session.guild)
        thread = server.private_thread(session.general, session.ana, server.bot, ben)
        await page_of_a_channel(server, session, thread)
        session.asks("memory", channel=thread)
        await server.until(lambda: len(server.said(server.dm(session.ana))) == 2)
        page, later = server.said(server.dm(session.ana))
        if sleeps:
            server.archives(thread)
        server.clicks(session.ana, page, "Archive lesson 1")
        await server.until(lambda: "archive ep-1 page 1" in server.current(page).content)
        server.leaves(session.ana, thread)
        server.clicks(session.ana, later, "More")
        await server.until(lambda: "cannot use me there" in server.current(later).content)
    asked, _, archived = bot.commands
    assert asked.scope == archived.scope
    assert (asked.scope.channel, asked.scope.thread, asked.scope.visibility) == (thread.id, "", Visibility.PRIVATE)


# Limits ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 5, 6, 25, 40])
async def test_many_choices_stay_within_discord_s_limits(server: DiscordServer, count: int) -> None:
    many = [Choice(label=f"{n} " + "long" * 30, command="archive", argument=f"{n:02}" + "x" * 71) for n in range(count)]
    bot = Bot({"memory": [*many, many[0]]})
    async with connected(server, sink=bot, heard=bot) as session:
        bot.session = session
        page = await page_of_a_channel(server, session)
        rows = page.components
        assert [len(row["components"]) for row in rows] == [5] * (min(count, 25) // 5) + [count % 5] * (count in (1, 6))
        last = buttons(page)[-1]
        server.clicks(session.ana, page, last["custom_id"])
        await server.until(lambda: len(bot.commands) == 2)
    assert bot.commands[1].argument == many[min(count, 25) - 1].argument


@given(
    st.from_regex(r"[a-z]{1,10}", fullmatch=True),
    st.text(st.characters(codec="ascii", categories=["L", "N", "P"]), max_size=69),
    st.integers(min_value=0, max_value=2**64 - 1),
)
def test_what_a_button_carries_is_what_is_read_from_it(command: str, argument: str, place: int) -> None:
    view = choice_view([Choice(label="x", command=command, argument=argument)], place)
    assert view is not None
    [item] = view.children
    assert isinstance(item, discord.ui.DynamicItem)
    custom_id = item.custom_id
    found = ChosenButton.__discord_ui_compiled_template__.fullmatch(custom_id)
    assert found is not None
    assert len(custom_id) <= 100
    assert (found["command"], found["argument"] or "", int(found["place"], 16)) == (command, argument, place)


# The slash command's words --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "options", "name", "argument"),
    [
        ("memory", {}, "memory", ""),
        ("memory", {"page": 3}, "memory", "page 3"),
        ("memory", {"show": "archived", "page": 2}, "memory", "archived page 2"),
        ("memory", {"show": "topics"}, "memory", "topics"),
        ("review", {"page": 2}, "review", "page 2"),
        ("ratings", {}, "ratings", ""),
        ("archive", {"lesson": "ep-1"}, "archive", "ep-1"),
        ("restore", {"lesson": "ep-1"}, "restore", "ep-1"),
        ("unrate", {"answer": "run-1"}, "unrate", "run-1"),
        ("promote", {"lesson": "ep-1"}, "promote", "ep-1"),
        ("promote", {"lesson": "ep-1", "audience": "workspace"}, "promote", "ep-1 workspace"),
    ],
)
async def test_every_command_has_its_slash_form(
    server: DiscordServer, session: Session, command: str, options: dict[str, object], name: str, argument: str
) -> None:
    server.slash(session.ana, session.general, f"goodbot {command}", options)
    [event] = await session.heard.of(PersonCommand, 1)
    assert (event.name, event.argument) == (name, argument)


async def test_a_purge_names_the_person_by_id(server: DiscordServer, session: Session) -> None:
    ben = server.person("ben", session.guild)
    server.slash(session.ana, session.general, "goodbot purge", {"person": ben, "confirm": "yes"})
    [event] = await session.heard.of(PersonCommand, 1)
    assert (event.name, event.argument) == ("purge", f"{ben.id} yes")


@pytest.mark.parametrize(
    ("command", "typed"),
    [
        ("memory page 2", "/goodbot memory page:2"),
        ("memory archived page 2", "/goodbot memory show:archived page:2"),
        ("memory topics", "/goodbot memory show:topics"),
        ("memory drop length", "/goodbot memory"),
        ("memory", "/goodbot memory"),
        ("archive ep-1", "/goodbot archive lesson:ep-1"),
        ("unrate run-1", "/goodbot unrate answer:run-1"),
        ("promote ep-1 channel", "/goodbot promote lesson:ep-1 audience:channel"),
        ("purge 123 yes", "/goodbot purge person:123 confirm:yes"),
        ("forget yes", "/goodbot forget-me confirm:yes"),
        ("forget me", "/goodbot forget-me"),
        ("export csv", "/goodbot export form:csv"),
        ("correct", "@bot correct:"),
        ("parts", "@bot parts"),
        ("review batch ID", "@bot review batch ID"),
        ("choose 1", "@bot choose 1"),
    ],
)
def test_commands_are_spelt_with_the_options_they_have(command: str, typed: str) -> None:
    assert menu.how_to_type(command, "goodbot", "bot") == typed


async def test_what_texts_tell_people_to_type_are_commands_with_their_options(
    server: DiscordServer, session: Session
) -> None:
    def how_to_type(command: str) -> str:
        return menu.how_to_type(command, "goodbot", "bot")

    await server.until(server.syncs)
    [group] = [each for each in server.syncs()[-1].commands if each["name"] == "goodbot"]
    offered = {one["name"]: {each["name"] for each in one.get("options", ())} for one in group["options"]}
    texts = [help_text(how_to_type, Role.ADMIN), overview([], [], how_to_type), no_such_gap(how_to_type)]
    texts += [one_setting(setting_named(name), name, how_to_type, is_direct=False) for name in CATALOGUE]
    told = re.findall(r"`/goodbot ([\w-]+)(?: (\w*):?[^`]*)?`", "\n".join(texts))
    assert [(word, option) for word, option in told if option not in {"", *offered[word]}] == []


# The stop button ------------------------------------------------------------------------------------------------------


async def test_long_work_shows_what_it_does_and_can_be_stopped_by_a_button(
    server: DiscordServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(typing_indicator, "LINE_AFTER_S", 0.01)
    monkeypatch.setattr(typing_indicator, "PACE_S", 0.01)
    bot = Bot()
    async with connected(server, sink=bot, heard=bot) as session:
        bot.session = session
        place = (session.workspace, session.general.id, "")
        await session.messenger.progress(*place, "thinking")
        await server.until(lambda: server.said(session.general))
        [line] = server.said(session.general)
        assert "thinking" in line.content
        await session.messenger.progress(*place, "asking @everyone\nloudly")
        await server.until(lambda: "loudly" in server.current(line).content)
        use = server.clicks(session.ana, line, "Stop")
        await server.until(lambda: use.text)
        assert use.private_replies[0].content.startswith("stop")
        await session.messenger.progress(*place, "")
        await server.until(lambda: line.id not in [one.id for one in server.said(session.general)])
    [stop] = bot.commands
    assert (stop.name, stop.scope.person, stop.scope.channel) == ("stop", session.ana.id, session.general.id)


async def test_a_line_that_an_earlier_process_left_goes_with_its_button(
    server: DiscordServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(typing_indicator, "LINE_AFTER_S", 0.01)
    bot = Bot()
    async with connected(server, sink=bot, heard=bot) as session:
        await session.messenger.progress(session.workspace, session.general.id, "", "thinking")
        await server.until(lambda: server.said(session.general))
        [line] = server.said(session.general)
    async with connected(server, sink=bot, heard=bot) as session:
        bot.session = session
        server.clicks(session.ana, line, "Stop")
        await server.until(lambda: line.id not in [one.id for one in server.said(session.general)])


@pytest.mark.parametrize(("refused", "stops"), [(10062, 2), (40060, 1)])
async def test_a_stop_that_is_too_old_to_be_answered_still_stops_and_one_that_comes_again_does_not(
    server: DiscordServer, session: Session, monkeypatch: pytest.MonkeyPatch, refused: int, stops: int
) -> None:
    monkeypatch.setattr(typing_indicator, "LINE_AFTER_S", 0.01)
    await session.messenger.progress(session.workspace, session.general.id, "", "thinking")
    await server.until(lambda: server.said(session.general))
    fault = server.fault("POST /interactions/*/*/callback", refusing(refused))
    server.clicks(session.ana, server.said(session.general)[0], "Stop")
    await server.until(lambda: fault.hits)
    server.clicks(session.ana, server.said(session.general)[0], "Stop")
    await session.heard.of(PersonCommand, stops)
    assert len([one for one in await session.settled() if isinstance(one, PersonCommand)]) == stops


async def test_a_line_whose_answer_got_lost_is_taken_away_all_the_same(
    server: DiscordServer, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(typing_indicator, "LINE_AFTER_S", 0.01)
    place = (session.workspace, session.general.id, "")
    server.fault(f"POST /channels/{session.general.id}/messages", LostAnswer())
    await session.messenger.progress(*place, "reading https://example.org/")
    [call, *_] = await server.until(lambda: server.calls(f"POST /channels/{session.general.id}/messages"))
    await session.messenger.progress(*place, "")
    await server.until(lambda: server.calls(f"DELETE /channels/{session.general.id}/messages/*"))
    assert server.said(session.general) == []
    assert call.body["flags"] & MessageFlag.SUPPRESS_EMBEDS


async def test_short_work_shows_no_line(server: DiscordServer, session: Session) -> None:
    await session.messenger.progress(session.workspace, session.general.id, "", "thinking")
    await server.until(lambda: server.typing(session.general) == 1)
    await session.messenger.progress(session.workspace, session.general.id, "", "")
    await session.settled()
    assert server.said(session.general) == []
