"""Commands as buttons in Slack, and App Home, which is made of them: pressed through the real slack-bolt."""

from collections.abc import Sequence

import pytest

from bot.adapters import forms
from bot.adapters.slack.incoming.home import HOME_COMMAND
from bot.adapters.slack.outgoing.blocks import CHOICE, HOME_CHOICE
from bot.model import Attachment, Choice, PersonArrived, PersonCommand, PersonEvent
from memory.model import Role, Visibility
from tests.bot.adapters.messenger_contract import Heard
from tests.doubles.slack import Person, Refused, SlackServer
from tests.doubles.slack.state import Ephemeral, Json, Message, View
from tests.doubles.slack_driver import Session, connected

PAGE = (
    Choice(label="Archive lesson 1", command="archive", argument="ep-1 page 1", is_danger=True),
    Choice(label="More", command="memory", argument="page 2"),
)


class Bot(Heard):
    """Answers every command with its name, and with the choices of the command, as the bot does."""

    session: Session

    def __init__(self, choices: dict[str, Sequence[Choice]] | None = None) -> None:
        super().__init__()
        self.choices = choices or {}

    async def __call__(self, event: PersonEvent) -> None:
        await super().__call__(event)
        if isinstance(event, PersonCommand):
            scope = event.scope
            person = self.session.server.workspace.users[scope.person]
            says = self.session.notice(
                scope.channel,
                Person(self.session.server.slack, self.session.server.workspace, person),
                f"**{event.name}** {event.argument} for {scope.person}",
                thread=scope.thread,
                choices=tuple(self.choices.get(event.name, ())),
            )
            if event.name == "export":
                file = Attachment(name="me.json", content=b"{}", media_type="application/json")
                await self.session.messenger.hand_over(says, file)
            else:
                await self.session.messenger.post(says)

    @property
    def commands(self) -> list[PersonCommand]:
        return [event for event in self.events if isinstance(event, PersonCommand)]


def buttons(target: Message | Ephemeral | View) -> list[Json]:
    """The buttons that stand there, in reading order."""
    blocks = target.body["blocks"] if isinstance(target, View) else target.blocks
    elements = [element for block in blocks if block["type"] == "actions" for element in block["elements"]]
    return [element for element in elements if element["type"] == "button"]


# In channels ------------------------------------------------------------------------------------------------------


async def test_choices_are_buttons_only_the_person_sees_and_a_press_replaces_them(server: SlackServer) -> None:
    ana, channel = server.person("ana"), server.channel("general")
    bot = Bot({"memory": PAGE})
    async with connected(server, sink=bot, heard=bot, teachers=(ana.id,)) as session:
        bot.session = session
        await ana.commands(channel, "/goodbot", "memory").answered()
        [page] = server.ephemerals(ana)
        first, more = buttons(page)
        assert (first["text"]["text"], first["style"]) == ("Archive lesson 1", "danger")
        assert (more["text"]["text"], "style" in more) == ("More", False)
        await ana.clicks(page, more["action_id"]).answered()
        assert page.text == f"*memory* page 2 for {ana.id}"
        await ana.clicks(page, buttons(page)[0]["action_id"]).answered()
        assert (page.text, buttons(page)) == (f"*archive* ep-1 page 1 for {ana.id}", [])
        assert server.ephemerals(ana) == [page]

    _, paged, archived = bot.commands
    assert (paged.name, paged.argument, paged.role, paged.scope.thread) == ("memory", "page 2", Role.TEACHER, "")
    assert (archived.name, archived.argument) == ("archive", "ep-1 page 1")
    assert len({event.event_id for event in bot.commands}) == 3
    assert archived.scope.channel == channel


ANSWER = Choice(label="Answer 1: where is the key?", command="teach", argument="0a1b2c3d")


async def test_a_button_that_opens_a_form_sends_what_was_written_as_the_command(server: SlackServer) -> None:
    ana, channel = server.person("ana"), server.channel("general")
    bot = Bot()
    async with connected(server, sink=bot, heard=bot, teachers=(ana.id,)) as session:
        bot.session = session
        thread = ana.says(channel, "a question", mention=False).ts
        await session.messenger.post(session.notice(channel, ana, "1. where", thread=thread, choices=(ANSWER,)))
        await ana.clicks(server.ephemerals(ana)[0], f"{CHOICE}0").answered()
        [field] = ana.modal().body["blocks"]
        assert field["label"]["text"] == ANSWER.label
        await ana.submits({forms.ANSWER: "Under the Pot."}).answered()
    [event] = bot.commands
    assert (event.name, event.argument, event.role) == ("teach", "0a1b2c3d Under the Pot.", Role.TEACHER)
    assert (event.scope.channel, event.scope.thread, event.scope.person) == (channel, thread, ana.id)


async def test_a_form_that_does_not_open_leaves_the_command(server: SlackServer) -> None:
    ana, channel = server.person("ana"), server.channel("general")
    bot = Bot()
    async with connected(server, sink=bot, heard=bot) as session:
        bot.session = session
        thread = ana.says(channel, "a question", mention=False).ts
        await session.messenger.post(session.notice(channel, ana, "1. where", thread=thread, choices=(ANSWER,)))
        server.faults.next("views.open", Refused("expired_trigger_id"))
        await ana.clicks(server.ephemerals(ana)[0], f"{CHOICE}0").answered()
    assert [(each.name, each.argument) for each in bot.commands] == [("teach", "0a1b2c3d")]


async def test_choices_in_a_thread_work_there_and_after_a_restart(server: SlackServer) -> None:
    ana, channel = server.person("ana"), server.channel("general")
    async with connected(server) as session:
        question = ana.says(channel, "a question")
        await session.messenger.post(session.notice(channel, ana, "Page 1", thread=question.ts, choices=PAGE))
    bot = Bot()
    async with connected(server, sink=bot, heard=bot) as session:
        bot.session = session
        [page] = server.ephemerals(ana)
        await ana.clicks(page, f"{CHOICE}1").answered()
        assert page.text.startswith("*memory* page 2")
    [event] = bot.commands
    assert (event.scope.thread, event.scope.channel, event.scope.person) == (question.ts, channel, ana.id)


async def test_the_same_button_twice_is_two_commands(server: SlackServer) -> None:
    ana = server.person("ana")
    bot = Bot({"memory": PAGE})
    async with connected(server, sink=bot, heard=bot) as session:
        bot.session = session
        ana.says(ana.dm, "memory")
        await session.settled()
        [page] = server.said_by_bot(ana.dm)
        for _ in range(2):
            await ana.clicks(page, f"{CHOICE}1").answered()
        assert server.said_by_bot(ana.dm) == [page]
    assert [event.argument for event in bot.commands] == ["", "page 2", "page 2"]
    assert len({event.event_id for event in bot.commands}) == 3


async def test_a_press_in_a_direct_message_replaces_the_page(server: SlackServer) -> None:
    ana = server.person("ana")
    bot = Bot({"memory": PAGE})
    async with connected(server, sink=bot, heard=bot) as session:
        bot.session = session
        question = ana.says(ana.dm, "memory")
        await session.settled()
        [page] = server.said_by_bot(ana.dm, question.ts)
        await ana.clicks(page, f"{CHOICE}0").answered()
        assert server.said_by_bot(ana.dm) == [page]
        assert (page.text, buttons(page)) == (f"*archive* ep-1 page 1 for {ana.id}", [])
    assert bot.commands[-1].scope.visibility is Visibility.DIRECT


async def test_whoever_presses_acts_for_themselves_and_sees_the_answer_alone(server: SlackServer) -> None:
    """A button that got into a channel somehow: another person's press changes nothing there."""
    ana, ben, channel = server.person("ana"), server.person("ben"), server.channel("general")
    bot = Bot()
    async with connected(server, sink=bot, heard=bot) as session:
        bot.session = session
        await session.messenger.post(session.notice(ana.dm, ana, "Ana's page", choices=PAGE))
        [page] = server.said_by_bot(ana.dm)
        stray = ana.says(channel, "look", mention=False)
        stray.blocks = page.blocks
        await ben.clicks(stray, f"{CHOICE}0").answered()
        [seen] = server.ephemerals(ben)
        assert (seen.text, stray.text) == (f"*archive* ep-1 page 1 for {ben.id}", "look")
        assert server.ephemerals(ana) == []
    [event] = bot.commands
    assert (event.scope.person, event.scope.channel, event.role) == (ben.id, channel, Role.MEMBER)


async def test_what_everybody_sees_offers_choices_only_as_an_answer(server: SlackServer) -> None:
    channel = server.channel("general")
    async with connected(server) as session:
        for is_answer in (False, True):
            await session.messenger.post(session.answer(channel, "Paris.", choices=PAGE, is_answer=is_answer))
    notice, answer = server.said_by_bot(channel)
    assert buttons(notice) == []
    assert len(buttons(answer)) == len(PAGE)


async def test_where_a_person_is_told_directly_instead_there_are_no_buttons_of_another_place(
    server: SlackServer,
) -> None:
    ana = server.person("ana")
    elsewhere = server.workspace.add_channel("elsewhere", private=True, with_bot=False).id
    async with connected(server) as session:
        await session.messenger.post(session.notice(elsewhere, ana, "Page 1", choices=PAGE))
    [said] = server.said_by_bot(ana.dm)
    assert (said.text, buttons(said)) == ("Page 1", [])


@pytest.mark.parametrize("count", [1, 25, 26, 200, 500])
async def test_many_choices_stay_within_slack_s_limits(server: SlackServer, count: int) -> None:
    ana, channel = server.person("ana"), server.channel("general")
    many = tuple(Choice(label=f"{n} " + "long" * 30, command="archive", argument=f"ep-{n}") for n in range(count))
    ana.joins(channel)
    async with connected(server) as session:
        await session.messenger.post(session.notice(channel, ana, "Page 1", choices=many))
        [page] = server.ephemerals(ana)
        assert len(buttons(page)) == min(count, 100)
        await ana.clicks(page, buttons(page)[-1]["action_id"]).answered()
        [event] = await session.heard.of(PersonCommand, 1)
    assert event.argument == f"ep-{min(count, 100) - 1}"


async def test_a_long_notice_takes_several_messages_with_the_choices_under_the_last(server: SlackServer) -> None:
    ana, channel = server.person("ana"), server.channel("general")
    ana.joins(channel)
    async with connected(server) as session:
        await session.messenger.post(session.notice(channel, ana, "a line\n" * 3000, choices=PAGE))
        await session.messenger.post(session.notice(ana.dm, ana, "a line\n" * 3000, choices=PAGE))
    for parts in (server.ephemerals(ana, channel), server.said_by_bot(ana.dm)):
        assert len(parts) == 3
        assert [len(buttons(part)) for part in parts] == [0, 0, 2]


async def test_people_who_may_not_use_the_bot_press_in_vain(server: SlackServer) -> None:
    ana, ben = server.person("ana"), server.person("ben")
    async with connected(server, allowed_users=(ben.id,)) as session:
        await session.messenger.post(session.notice(ana.dm, ana, "Page 1", choices=PAGE))
        await ana.clicks(server.said_by_bot(ana.dm)[0], f"{CHOICE}0").answered()
    assert session.heard.events == []


# App Home ---------------------------------------------------------------------------------------------------------


async def home_of(bot: Bot, person: Person) -> View:
    """The person's page, once it is there."""
    server = bot.session.server
    person.opens_home("messages")
    person.opens_home()
    return await server.wait_for(lambda: server.workspace.home(person.id))


def titles(home: View) -> list[str]:
    return [block["text"]["text"] for block in home.body["blocks"] if block["type"] == "header"]


async def test_home_is_made_of_what_the_commands_answer_that_person_directly(server: SlackServer) -> None:
    ana = server.person("ana")
    bot = Bot({"memory": PAGE, "ratings": (Choice(label="Undo", command="unrate", argument="run-1"),)})
    async with connected(server, sink=bot, heard=bot) as session:
        bot.session = session
        home = await home_of(bot, ana)
        assert titles(home)[1:] == ["My lessons", "My ratings"]
        for part in ("memory", "ratings", "privacy"):
            assert f"*{part}*  for {ana.id}" in str(home.body)
        shown = [button["text"]["text"] for button in buttons(home)]
        own = ["Undo the last", "Export my data", "Help", "Forget me"]
        assert shown == [*own, "Archive lesson 1", "More", "Undo"]
        assert server.said_by_bot(ana.dm) == []
    for event in bot.commands:
        assert (event.scope.person, event.scope.channel, event.scope.visibility) == (
            ana.id, ana.dm, Visibility.DIRECT,
        )  # fmt: skip


async def test_only_teachers_have_a_review_list(server: SlackServer) -> None:
    ana, tess = server.person("ana"), server.person("tess")
    bot = Bot({"review": (Choice(label="Promote", command="promote", argument="ep-9 channel"),)})
    async with connected(server, sink=bot, heard=bot, teachers=(tess.id,)) as session:
        bot.session = session
        assert "Waiting for a teacher" not in titles(await home_of(bot, ana))
        home = await home_of(bot, tess)
        assert "Waiting for a teacher" in titles(home)
        await tess.clicks(home, f"{HOME_CHOICE}review_0").answered()
    assert [event.scope.person for event in bot.commands if event.name == "review"] == [tess.id]
    [promote] = [event for event in bot.commands if event.name == "promote"]
    assert (promote.argument, promote.role) == ("ep-9 channel", Role.TEACHER)


async def test_what_a_choice_on_the_page_brings_takes_the_place_of_the_part_it_stands_in(server: SlackServer) -> None:
    ana = server.person("ana")
    bot = Bot({"memory": PAGE, "ratings": PAGE})
    async with connected(server, sink=bot, heard=bot) as session:
        bot.session = session
        home = await home_of(bot, ana)
        await ana.clicks(home, f"{HOME_CHOICE}memory_1").answered()
        home = server.workspace.home(ana.id) or home
        assert f"*memory* page 2 for {ana.id}" in str(home.body)
        assert f"*memory*  for {ana.id}" not in str(home.body)
        assert f"*ratings*  for {ana.id}" in str(home.body)
        await ana.clicks(home, f"{HOME_CHOICE}memory_0").answered()
        home = server.workspace.home(ana.id) or home
        assert f"*archive* ep-1 page 1 for {ana.id}" in str(home.body)
        assert f"*memory* page 2 for {ana.id}" not in str(home.body)
        assert titles(home)[1:] == ["My lessons", "My ratings"]
        assert server.said_by_bot(ana.dm) == []


async def test_the_page_s_own_buttons_undo_export_and_forget_after_one_question(server: SlackServer) -> None:
    ana = server.person("ana")
    bot = Bot()
    async with connected(server, sink=bot, heard=bot) as session:
        bot.session = session
        home = await home_of(bot, ana)
        forget = next(button for button in buttons(home) if button["action_id"] == f"{HOME_COMMAND}forget")
        assert (forget["style"], forget["confirm"]["deny"]["text"]) == ("danger", "Keep it")
        for name in ("undo", "export", "forget"):
            await ana.clicks(home, HOME_COMMAND + name).answered()
            home = server.workspace.home(ana.id) or home
        assert f"*forget* yes for {ana.id}" in str(home.body)
        [file] = [file for said in server.said_by_bot(ana.dm) for file in said.files]
        assert file.name == "me.json"
    pressed = [(event.name, event.argument) for event in bot.commands if event.name in ("undo", "export", "forget")]
    assert pressed == [("undo", ""), ("export", ""), ("forget", "yes")]


async def test_a_long_page_is_within_slack_s_limits(server: SlackServer) -> None:
    ana = server.person("ana")
    many = tuple(Choice(label=f"Archive {n}", command="archive", argument=f"ep-{n}") for n in range(300))

    class Long(Bot):
        async def __call__(self, event: PersonEvent) -> None:
            await Heard.__call__(self, event)
            assert isinstance(event, PersonCommand | PersonArrived)
            says = self.session.notice(event.scope.channel, ana, "a line that is rather long\n" * 3000, choices=many)
            await self.session.messenger.post(says)

    bot = Long()
    async with connected(server, sink=bot, heard=bot, teachers=(ana.id,)) as session:
        bot.session = session
        home = await home_of(bot, ana)
    assert len(home.body["blocks"]) <= 100
