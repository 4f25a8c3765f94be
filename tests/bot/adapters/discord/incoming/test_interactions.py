"""What people press, fill in and choose on Discord."""

import asyncio
from functools import partial

import pytest

from bot.model import (
    Attachment,
    BotMessage,
    PersonCommand,
    PersonCorrection,
    PersonEvent,
    PersonRetry,
    PersonTeaching,
    PersonVote,
)
from memory.model import Audience, Role, Visibility
from memory.model.saved_messages import FilledFrom
from tests.bot.adapters.messenger_contract import Heard
from tests.doubles.discord import Callback, DiscordServer, Interaction, LostAnswer, MessageFlag, Reset, refusing
from tests.doubles.discord.faults import Trouble
from tests.doubles.discord_driver import Session, connected


def _says(use: Interaction, text: str) -> bool:
    return use.text == text


async def votes(session: Session, count: int) -> list[PersonVote]:
    return await session.heard.of(PersonVote, count)


class Answering(Heard):
    """A sink that says something to the person, as the bot does, by what the events are."""

    session: Session

    def __init__(self, says: str = "", file: Attachment | None = None) -> None:
        super().__init__()
        self.says = says
        self.file = file

    async def __call__(self, event: PersonEvent) -> None:
        await super().__call__(event)
        scope = event.scope
        message = BotMessage(
            workspace=scope.workspace,
            channel=scope.channel,
            thread=scope.thread,
            text=self.says,
            private_to=scope.person,
        )
        if self.file is not None:
            await self.session.messenger.hand_over(message, self.file)
        elif self.says:
            await self.session.messenger.post(message)


# Buttons --------------------------------------------------------------------------------------------------------------


async def test_thumb_up_is_a_vote_confirmed_to_that_person_alone_and_can_be_undone(
    server: DiscordServer, session: Session
) -> None:
    ref = await session.posted()
    click = server.clicks(session.ana, ref.message_id, "👍")
    await server.until(lambda: click.text == "Saved ✔")
    undo = server.clicks(session.ana, click.private_replies[0], "Undo")
    await server.until(lambda: undo.answer)
    up, taken_back = await votes(session, 2)

    assert (up.value, up.message_id, up.scope.person, up.role) == (1, ref.message_id, session.ana.id, Role.MEMBER)
    assert (taken_back.value, taken_back.message_id) == (0, ref.message_id)
    assert (up.scope.workspace, up.scope.channel) == (ref.workspace, ref.channel)
    assert [message.content for message in click.private_replies] == ["Taken back."]
    assert len(server.said(session.general)) == 1


async def test_thumb_down_is_stored_before_the_form_opens_and_stays_when_it_is_cancelled(
    server: DiscordServer,
) -> None:
    stored: list[bool] = []

    class Slow(Heard):
        async def __call__(self, event: PersonEvent) -> None:
            stored.append(bool(server.interactions()[-1].modal))
            await super().__call__(event)

    async with connected(server, sink=(heard := Slow()), heard=heard) as session:
        ref = await session.posted()
        click = server.clicks(session.ana, ref.message_id, "👎")
        await server.until(lambda: click.modal)
        [vote] = await votes(session, 1)

    assert stored == [False]
    assert (vote.value, vote.message_id, click.answer) == (-1, ref.message_id, Callback.MODAL)
    assert heard.events == [vote]


async def test_the_form_brings_the_correction_its_reason_and_another_try(
    server: DiscordServer, session: Session
) -> None:
    ref = await session.posted()
    click = server.clicks(session.ana, ref.message_id, "👎")
    await server.until(lambda: click.modal)
    answers: dict[str, str | bool | list[str]] = {
        "What was wrong?": "Wrong facts",
        "What would have been right?": " Lyon ",
        "Try again now": True,
    }
    form = server.submits(click, answers)
    await server.until(lambda: form.text)
    [correction] = await session.heard.of(PersonCorrection, 1)
    [retry] = await session.heard.of(PersonRetry, 1)

    assert (correction.text, correction.reason, correction.message_id) == ("Lyon", "wrong facts", ref.message_id)
    assert (retry.message_id, retry.scope) == (ref.message_id, correction.scope)
    assert retry.event_id != correction.event_id
    assert [message.content for message in form.private_replies] == ["Saved ✔"]


async def test_an_empty_form_corrects_nothing_and_says_so(server: DiscordServer, session: Session) -> None:
    ref = await session.posted()
    click = server.clicks(session.ana, ref.message_id, "✏️")
    await server.until(lambda: click.modal)
    form = server.submits(click, {"What was wrong?": "Other"})
    await server.until(lambda: form.text)
    assert "no correction" in form.text
    assert await session.settled() == []


@pytest.mark.parametrize("trouble", [LostAnswer(), Reset(), refusing(10062)])
async def test_what_a_person_wrote_is_not_lost_when_the_form_cannot_be_acknowledged(
    server: DiscordServer, session: Session, trouble: Trouble
) -> None:
    ref = await session.posted()
    click = server.clicks(session.ana, ref.message_id, "✏️")
    await server.until(lambda: click.modal)
    # aiohttp does not repeat a POST; the library does not repeat this one.
    server.fault("POST /interactions/*/*/callback", trouble)
    form = server.submits(click, {"What would have been right?": "Lyon"})
    [correction] = await session.heard.of(PersonCorrection, 1)
    await server.until(lambda: form.text == "Saved ✔")
    await session.settled()
    assert correction.text == "Lyon"
    assert len([event for event in session.heard.events if isinstance(event, PersonCorrection)]) == 1


async def test_buttons_and_forms_of_an_earlier_process_work(server: DiscordServer) -> None:
    async with connected(server) as before:
        thread = server.thread(before.general, before.ana)
        ref = await before.posted(thread=thread.id)
        message = ref.message_id.rpartition("-")[2]
        opened = server.clicks(before.ana, message, "✏️")
        await server.until(lambda: opened.modal)
    async with connected(server) as session:
        form = server.submits(opened, {"better": "Lyon"})
        click = server.clicks(session.ana, message, "👍")
        await server.until(lambda: click.text and form.text)
        [correction] = await session.heard.of(PersonCorrection, 1)
        [vote] = await votes(session, 1)

    assert (correction.text, correction.message_id) == ("Lyon", ref.message_id)
    assert (vote.message_id, vote.scope.thread, vote.scope.channel) == (ref.message_id, thread.id, ref.channel)


async def test_what_the_bot_says_of_a_correction_is_seen_by_that_person_alone(server: DiscordServer) -> None:
    sink = Answering("Saved as your lesson. " * 120)
    async with connected(server, sink=sink, heard=sink) as session:
        sink.session = session
        ref = await session.posted()
        click = server.clicks(session.ana, ref.message_id, "✏️")
        await server.until(lambda: click.modal)
        form = server.submits(click, {"better": "Lyon"})
        await server.until(lambda: len(form.private_replies) == 2)
        assert len(server.said(session.general)) == 1
    assert form.text.count("Saved as your lesson.") == 120
    assert len(form.replies) == 2


async def test_a_vote_that_cannot_be_stored_opens_no_form_but_says_so(server: DiscordServer) -> None:
    sink = Answering("Sorry.")
    async with connected(server, sink=sink, heard=sink) as session:
        sink.session = session
        ref = await session.posted()
        for button in ("👍", "👎"):
            click = server.clicks(session.ana, ref.message_id, button)
            await server.until(partial(_says, click, "Sorry."))
            assert click.modal is None
            assert len(click.private_replies) == 1


async def test_a_press_that_is_too_old_to_be_answered_still_counts(server: DiscordServer, session: Session) -> None:
    ref = await session.posted()
    server.holds_events()
    click = server.clicks(session.ana, ref.message_id, "👍")
    server.expires(click)
    server.lets_events_go()
    [vote] = await votes(session, 1)
    assert vote.value == 1
    assert await session.settled() == [vote]


async def test_people_who_may_not_use_the_bot_are_told(server: DiscordServer) -> None:
    async with connected(server, allowed_people=("1",)) as session:
        ref = await session.posted()
        click = server.clicks(session.ana, ref.message_id, "👎")
        use = server.slash(session.ana, session.general, "goodbot why")
        await server.until(lambda: click.text and use.text)
        assert session.heard.events == []
    assert "not among the people" in click.text
    assert len(click.private_replies) == len(use.private_replies) == 1


# Commands and menus ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "options", "name", "argument"),
    [
        ("help", {}, "help", ""),
        ("why", {}, "why", ""),
        ("memory", {}, "memory", ""),
        ("undo", {}, "undo", ""),
        ("privacy", {}, "privacy", ""),
        ("stop", {}, "stop", ""),
        ("export", {}, "export", ""),
        ("export", {"form": "csv"}, "export", "csv"),
        ("forget-me", {}, "forget", ""),
        ("forget-me", {"confirm": "yes"}, "forget", "yes"),
    ],
)
async def test_a_slash_command_is_answered_to_that_person_alone(
    server: DiscordServer, command: str, options: dict[str, str], name: str, argument: str
) -> None:
    sink = Answering("Here you are.")
    async with connected(server, sink=sink, heard=sink) as session:
        sink.session = session
        use = server.slash(session.ana, session.general, f"goodbot {command}", options)
        await server.until(lambda: use.text)
        [event] = await sink.of(PersonCommand, 1)
        assert server.said(session.general) == []
    assert (event.name, event.argument, event.message_id) == (name, argument, "")
    assert [message.content for message in use.private_replies] == ["Here you are."]


async def test_links_in_a_private_answer_show_no_previews_and_every_part_fits(server: DiscordServer) -> None:
    sink = Answering("\n".join(f"- see https://example.org/{number}" for number in range(150)))
    async with connected(server, sink=sink, heard=sink) as session:
        sink.session = session
        use = server.slash(session.ana, session.general, "goodbot memory")
        await server.until(lambda: "<https://example.org/149>" in use.text)
    assert use.text.count("<https://example.org/") == use.text.count("https://") == 150
    assert all(len(message.content) <= 2000 for message in use.private_replies)


async def test_a_slash_command_in_direct_messages_and_one_that_says_nothing(
    server: DiscordServer, session: Session
) -> None:
    use = server.slash(session.ana, server.dm(session.ana), "goodbot undo")
    await server.until(lambda: use.text == "Done.")
    [event] = await session.heard.of(PersonCommand, 1)
    assert (event.scope.workspace, event.scope.visibility) == ("discord:dm", Visibility.DIRECT)


async def test_correcting_by_slash_command(server: DiscordServer, session: Session) -> None:
    server.slash(session.ana, session.general, "goodbot correct", {"answer": "Lyon"})
    [event] = await session.heard.of(PersonCorrection, 1)
    assert (event.text, event.message_id) == ("Lyon", "")


async def test_an_export_is_a_file_for_that_person_alone(server: DiscordServer) -> None:
    sink = Answering("Your data:", Attachment(name="e.json", content=b"{}", media_type="application/json"))
    async with connected(server, sink=sink, heard=sink) as session:
        sink.session = session
        use = server.slash(session.ana, session.general, "goodbot export")
        await server.until(lambda: use.text)
    [reply] = use.private_replies
    assert (reply.content, [one.file.content for one in reply.attachments]) == ("Your data:", [b"{}"])


async def test_why_in_the_menu_of_an_answer(server: DiscordServer, session: Session) -> None:
    thread = server.thread(session.general, session.ana)
    ref = await session.posted(thread=thread.id)
    server.uses_menu(session.ana, ref.message_id.rpartition("-")[2], "Why this answer?")
    [event] = await session.heard.of(PersonCommand, 1)
    assert (event.name, event.message_id, event.scope.thread) == ("why", ref.message_id, thread.id)


async def test_teaching_from_the_menu_of_a_reply(server: DiscordServer, session: Session) -> None:
    ben = server.person("ben", session.guild)
    asked = session.asks("where is the coffee?", person=ben)
    said = server.says(session.ana, session.general, "second floor", reply_to=asked, ping=False)
    menu = server.uses_menu(session.ana, said, "Teach the bot…")
    await server.until(lambda: menu.modal)
    form = server.submits(menu, {"Whom is it for?": "This channel"})
    await server.until(lambda: form.text)
    [event] = await session.heard.of(PersonTeaching, 1)

    assert (event.question, event.answer) == ("where is the coffee?", "second floor")
    assert (event.audience, event.scope.person) == (Audience.CHANNEL, session.ana.id)
    assert [(each.person, each.text, each.is_answer) for each in event.filled_from] == [
        (ben.id, "where is the coffee?", False),
        (session.ana.id, "second floor", True),
    ]


async def test_teaching_from_the_menu_of_a_question(server: DiscordServer, session: Session) -> None:
    asked = server.says(server.person("ben", session.guild), session.general, "where is the coffee?")
    menu = server.uses_menu(session.ana, asked, "Teach the bot…")
    await server.until(lambda: menu.modal)
    form = server.submits(menu, {"the right answer is": "second floor"})
    await server.until(lambda: form.text)
    [event] = await session.heard.of(PersonTeaching, 1)
    assert (event.question, event.answer, event.audience) == (
        "where is the coffee?",
        "second floor",
        Audience.PERSONAL,
    )
    assert event.filled_from == (
        FilledFrom(message_id=str(asked.id), person=asked.author.id, text="where is the coffee?"),
    )


async def test_teaching_from_the_menu_of_a_statement(server: DiscordServer, session: Session) -> None:
    said = server.says(server.person("ben", session.guild), session.general, "the coffee is on floor 2")
    menu = server.uses_menu(session.ana, said, "Teach the bot…")
    await server.until(lambda: menu.modal)
    form = server.submits(menu, {"When somebody asks": "where is the coffee?"})
    await server.until(lambda: form.text)
    [event] = await session.heard.of(PersonTeaching, 1)
    assert (event.question, event.answer) == ("where is the coffee?", "the coffee is on floor 2")
    [source] = event.filled_from
    assert (source.person, source.text, source.is_answer) == (said.author.id, "the coffee is on floor 2", True)


async def test_teaching_from_an_answer_leaves_its_small_print_out(server: DiscordServer, session: Session) -> None:
    asked = session.asks("where is the coffee?")
    ref = await session.posted("Ask @everyone\non floor 1.", reply_to=asked.id, lessons=("Tea", "Milk"))
    menu = server.uses_menu(session.ana, ref.message_id, "Teach the bot…")
    await server.until(lambda: menu.modal)
    form = server.submits(menu, {})
    await server.until(lambda: form.text)
    [event] = await session.heard.of(PersonTeaching, 1)
    assert (event.question, event.answer) == ("where is the coffee?", "Ask @everyone\non floor 1.")
    assert [(each.message_id, each.person) for each in event.filled_from] == [
        (str(asked.id), session.ana.id),
        (ref.message_id, ""),
    ]


# Commands in words ----------------------------------------------------------------------------------------------------


async def test_what_concerns_one_person_goes_to_their_direct_messages(server: DiscordServer) -> None:
    sink = Answering("You like tea.")
    async with connected(server, sink=sink, heard=sink) as session:
        sink.session = session
        asked = session.asks("memory")
        await server.until(lambda: server.said(session.general))
        [pointer], [private] = server.said(session.general), server.said(server.dm(session.ana))
    assert private.content == "You like tea."
    assert (pointer.reply_to, "You like tea." in pointer.content) == (asked.id, False)


@pytest.mark.parametrize(("command", "told"), [("memory", "`/goodbot memory`"), ("parts", "privacy settings")])
async def test_somebody_without_direct_messages_is_shown_the_slash_command(
    server: DiscordServer, command: str, told: str
) -> None:
    sink = Answering("You like tea.")
    async with connected(server, sink=sink, heard=sink) as session:
        sink.session = session
        session.asks(command, person=server.person("shy", session.guild, accepts_dms=False))
        await server.until(lambda: server.said(session.general))
        [pointer] = server.said(session.general)
    assert told in pointer.content


@pytest.mark.parametrize("where", ["channel", "direct"])
async def test_what_anybody_may_read_is_a_reply(server: DiscordServer, where: str) -> None:
    sink = Answering("I am a bot.")
    async with connected(server, sink=sink, heard=sink) as session:
        sink.session = session
        place = session.general if where == "channel" else server.dm(session.ana)
        asked = session.asks("help" if where == "channel" else "memory", channel=place)
        await server.until(lambda: server.said(place))
        [reply] = server.said(place)
    assert (reply.content, reply.reply_to) == ("I am a bot.", asked.id)
    assert MessageFlag.EPHEMERAL not in reply.flags


async def test_work_that_outlives_a_press_does_not_speak_through_it(server: DiscordServer) -> None:
    """A second try is answered in the channel, long after the form was closed."""
    later: list[asyncio.Task[object]] = []
    go = asyncio.Event()

    class TypingIndicator(Answering):
        async def __call__(self, event: PersonEvent) -> None:
            await Heard.__call__(self, event)

            async def work() -> None:
                await go.wait()
                await self.session.messenger.post(
                    BotMessage(
                        workspace=event.scope.workspace,
                        channel=event.scope.channel,
                        text="Sorry.",
                        private_to=event.scope.person,
                    )
                )

            later.append(asyncio.create_task(work()))

    sink = TypingIndicator()
    async with connected(server, sink=sink, heard=sink) as session:
        sink.session = session
        ref = await session.posted()
        click = server.clicks(session.ana, ref.message_id, "👍")
        await server.until(lambda: click.text)
        go.set()
        await asyncio.gather(*later)
        assert [message.content for message in server.said(session.general)] == [
            "Paris.",
            f"{session.ana.mention} Sorry.",
        ]
    assert click.text == "Saved ✔"
