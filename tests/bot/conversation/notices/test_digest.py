"""What waits reaches people who can decide, and who wrote it hears what was decided: each once."""

from datetime import timedelta

import pytest

from bot.conversation import messages
from bot.conversation.notices.digest import SHOWN, Digest
from bot.errors import MessengerUnavailable, NotPermitted
from bot.model import BotMessage, ChannelCard, Choice, PersonCommand, Profile
from memory.model import Origin, Role, Scope, Verdict, Visibility
from memory.ports import EpisodeFilter
from tests.bot.conversation.commands.test_gaps_commands import Ignorant
from tests.doubles.conversation import ANA, TEA, Chat, RecordingMessenger
from tests.doubles.memory_world import World, scope

TEACHERS = ("tea", "tom")


class Teaching(RecordingMessenger):
    """A platform that knows who teaches."""

    async def approvers(self, scope: Scope) -> list[str]:
        return ["Tea", "the workspace's owners"]

    async def teachers(self, workspace: str) -> list[str]:
        return list(TEACHERS)


@pytest.fixture
def chat() -> Chat:
    return Chat(messenger=Teaching())


async def corrects(chat: Chat, question: str = "where is the spare key?", by: Scope = ANA) -> str:
    """Somebody asks and corrects; returns what the bot says."""
    answer = await chat.ask(question, by)
    return await chat.correct("in the blue box", by, message_id=answer)


def pressed(chat: Chat, message: BotMessage, label: str) -> Choice:
    [found] = [each for each in message.choices if each.label == label]
    return found


async def test_the_first_correction_that_waits_in_a_channel_names_who_can_approve_it(chat: Chat) -> None:
    named = " Who can approve it: Tea and the workspace's owners."
    assert (await corrects(chat)).endswith(named)
    assert not (await corrects(chat, "where is the lamp?")).endswith(named)
    other = scope("ana", channel="c2")
    assert (await corrects(chat, "where is the bell?", other)).endswith(named)
    direct = scope("ana", channel="D-ana", visibility=Visibility.DIRECT)
    assert "approve it:" not in await corrects(chat, "where is the cat?", direct)


async def test_after_a_day_each_teacher_gets_what_waits_once(chat: Chat) -> None:
    await corrects(chat)
    digest, before = chat.bot.digest, len(chat.messenger.posts)
    assert await digest.send(chat.messenger) == 0
    chat.world.clock.tick(hours=25)
    assert await digest.send(chat.messenger) == 2
    sent = chat.messenger.posts[before:]
    assert [(each.private_to, each.is_direct) for each in sent] == [("tea", True), ("tom", True)]
    assert "in the blue box" in sent[0].text
    assert [each.label for each in sent[0].choices] == ["Approve 1", "Edit 1", "Reject 1"]
    for _ in range(3):
        chat.world.clock.tick(hours=25)
        assert await digest.send(chat.messenger) == 0
    await corrects(chat, "where is the lamp?")
    chat.world.clock.tick(hours=25)
    assert await digest.send(chat.messenger) == 2


async def test_of_two_processes_one_sends_it(chat: Chat) -> None:
    await corrects(chat)
    chat.world.clock.tick(hours=25)
    memory, executor = chat.world.memory, chat.executor
    counts = [await Digest(memory, executor).send(chat.messenger) for _ in range(2)]
    assert counts == [2, 0]


async def test_only_what_may_be_read_anywhere_and_never_ones_own(chat: Chat) -> None:
    await corrects(chat, by=scope("ana", channel="secret", visibility=Visibility.PRIVATE))
    await corrects(chat, "mine?", by=scope("tom", channel="c3"))
    await corrects(chat, "theirs?", by=scope("ana", workspace="other:w"))
    before = len(chat.messenger.posts)
    chat.world.clock.tick(hours=25)
    assert await chat.bot.digest.send(chat.messenger) == 1
    [sent] = chat.messenger.posts[before:]
    assert sent.private_to == "tea"
    assert "mine?" in sent.text
    assert "theirs?" not in sent.text
    assert "spare key" not in sent.text


async def test_it_can_go_to_a_channel_or_nowhere(chat: Chat) -> None:
    await corrects(chat)
    chat.world.clock.tick(hours=25)
    memory, executor = chat.world.memory, chat.executor
    assert await Digest(memory, executor, "off").send(chat.messenger) == 0
    assert await Digest(memory, executor, "C-teachers").send(chat.messenger) == 1
    assert (chat.messenger.posts[-1].channel, chat.messenger.posts[-1].private_to) == ("C-teachers", "")


async def test_where_another_organisation_reads_along_teachers_get_it_themselves(chat: Chat) -> None:
    await corrects(chat)
    await chat.ask("lunch?", scope("ana", channel="ext", visibility=Visibility.SHARED))
    chat.world.clock.tick(hours=25)
    assert await Digest(chat.world.memory, chat.executor, to="ext").send(chat.messenger) == 2
    assert [each.private_to for each in chat.messenger.posts[-2:]] == list(TEACHERS)


class Sharing(Teaching):
    """A platform that knows who reads a channel."""

    is_away = False

    async def profile(self, scope: Scope) -> Profile:
        return Profile()

    async def channel_card(self, scope: Scope) -> ChannelCard:
        if self.is_away:
            raise MessengerUnavailable("the platform is down")
        return ChannelCard(visibility=Visibility.SHARED if scope.channel == "ext" else Visibility.PUBLIC)


async def test_the_platform_is_asked_whether_it_does_as_nothing_may_have_happened_there() -> None:
    chat, platform = Chat(messenger=Sharing()), Sharing()
    for days, (channel, count) in enumerate([("ext", 2), ("ours", 1)]):
        await corrects(chat, f"where is lamp {days}?")
        chat.world.clock.tick(hours=25)
        assert await Digest(chat.world.memory, chat.executor, to=channel).send(platform) == count
    await corrects(chat, "where is the bell?")
    chat.world.clock.tick(hours=25)
    platform.is_away = True
    assert await Digest(chat.world.memory, chat.executor, to="ext").send(platform) == 2


async def test_many_are_counted_and_what_was_refused_is_in_the_next_days(chat: Chat) -> None:
    for number in range(SHOWN + 2):
        await corrects(chat, f"question {number}?")
    chat.world.clock.tick(hours=25)
    chat.messenger.fails.add("post")
    chat.messenger.refusal = NotPermitted("no direct messages")
    assert await chat.bot.digest.send(chat.messenger) == 0
    chat.messenger.fails.clear()
    chat.world.clock.tick(hours=2)
    assert await chat.bot.digest.send(chat.messenger) == 0
    chat.world.clock.tick(hours=23)
    assert await chat.bot.digest.send(chat.messenger) == 2
    assert "and 2 more: `review` lists them." in chat.messenger.posts[-1].text
    await corrects(chat, "one more?")
    chat.world.clock.tick(hours=25)
    assert await chat.bot.digest.send(chat.messenger) == 2
    assert "and 3 more: `review` lists them." in chat.messenger.posts[-1].text


async def test_what_nobody_could_answer_is_in_it_once_with_a_button_that_teaches_where_it_was_asked() -> None:
    chat = Chat(messenger=Teaching(), model=Ignorant())  # type: ignore[arg-type]  # it does not look at the request
    for person in ("ana", "bo"):
        await chat.ask("where is the bell?", scope(person))
    await chat.ask("what is secret?", scope("ana", channel="secret", visibility=Visibility.PRIVATE))
    digest = chat.bot.digest
    assert await digest.send(chat.messenger) == 0
    chat.world.clock.tick(hours=25)
    before = len(chat.messenger.posts)
    assert await digest.send(chat.messenger) == 2
    sent = chat.messenger.posts[before]
    assert (sent.private_to, sent.is_direct) == ("tea", True)
    assert "1. 2 questions like “where is the bell?”" in sent.text
    assert "secret" not in sent.text
    await chat.ask("where is the bell?", scope("cy"))
    chat.world.clock.tick(hours=25)
    assert await digest.send(chat.messenger) == 0  # of the same there was a digest

    button = pressed(chat, sent, "Answer 1: where is the bell?")
    tea_direct = scope("tea", channel="D-tea", visibility=Visibility.DIRECT)
    await chat.command(button.command, f"{button.argument} Beside the door.", tea_direct, role=Role.TEACHER)
    found = chat.world.memory.recalling.recall(scope("dee"), "where is the bell?")
    assert "Beside the door." in [each.episode.output for each in found.exemplars]
    assert chat.world.memory.gaps.find(ANA.workspace, reader=ANA) == []

    chat.world.memory.privacy.forget(ANA.workspace, "ana")
    chat.world.memory.privacy.forget(ANA.workspace, "bo")
    chat.world.memory.privacy.forget(ANA.workspace, "cy")
    stored = chat.world.memory.audit.episodes(ANA.workspace, EpisodeFilter(limit=None))
    assert "bell" not in "".join(each.goal for each in stored)


@pytest.mark.parametrize(
    ("label", "words"),
    [
        ("Approve 1", "approved: “where is the spare key?” counts for #c1 now"),
        ("Reject 1", "not taken over as it was: “where is the spare key?”"),
    ],
)
async def test_who_wrote_it_hears_of_the_decision_once(chat: Chat, label: str, words: str) -> None:
    await corrects(chat)
    chat.world.clock.tick(hours=25)
    await chat.bot.digest.send(chat.messenger)
    button = pressed(chat, chat.messenger.posts[-1], label)
    before = len(chat.messenger.posts)
    for _ in range(2):
        await chat.command(button.command, button.argument, TEA, role=Role.TEACHER)
    told = [each for each in chat.messenger.posts[before:] if each.private_to == "ana"]
    assert [each.is_direct for each in told] == [True]
    assert words in told[0].text


async def test_edit_puts_the_teachers_words_in_its_place(chat: Chat) -> None:
    await corrects(chat)
    chat.world.clock.tick(hours=25)
    await chat.bot.digest.send(chat.messenger)
    button = pressed(chat, chat.messenger.posts[-1], "Edit 1")
    said = await chat.command(button.command, f"{button.argument} In the red box.", TEA, role=Role.TEACHER)
    assert "a lesson for everybody in #c1" in "".join(each.text for each in chat.messenger.posts[-2:]), said
    found = chat.world.memory.recalling.recall(scope("cy"), "where is the spare key?")
    assert [each.episode.output for each in found.exemplars] == ["In the red box."]


async def test_who_created_a_channel_decides_about_its_lessons_alone(chat: Chat) -> None:
    here, there = scope("ana", channel="c1"), scope("ana", channel="c2")
    await corrects(chat, "here?", here)
    await corrects(chat, "there?", there)
    creator = scope("cleo", channel="c1")

    async def says(name: str, argument: str = "") -> str:
        event = PersonCommand(
            event_id=chat.world.ids(),
            scope=creator,
            name=name,
            argument=argument,
            at=chat.world.clock.tick(),
            role=Role.TEACHER,
            is_role_local=True,
        )
        await chat.sink(event)
        return [each for each in chat.messenger.posts if not each.is_direct][-1].text

    listed = await says("review")
    assert "here?" in listed
    assert "there?" not in listed
    found = chat.world.memory.audit.episodes(ANA.workspace, EpisodeFilter(limit=None))
    ids = {each.channel: each.id[-8:] for each in found if each.origin is Origin.CORRECTION}
    refused = ("purge", "ana"), ("promote", f"{ids['c1']} workspace"), ("gaps", ""), ("teach", f"{ids['c1']} x")
    for name, argument in refused:
        assert await says(name, argument) == messages.ONLY_IN_YOUR_CHANNEL
    for name in ("promote", "archive", "release"):
        await says(name, ids["c2"])
    await says("promote", f"{ids['c1']} channel")
    found = chat.world.memory.audit.episodes(ANA.workspace, EpisodeFilter(limit=None))
    reach = {each.channel: each.verdicts.channel for each in found if each.origin is Origin.CORRECTION}
    assert reach == {"c1": Verdict.SUCCESS, "c2": Verdict.PENDING}


async def test_whoever_decides_about_their_own_hears_nothing_more() -> None:
    world = World()
    lesson = world.correct(world.ask("where is the spare key?"), "in the blue box", by="ana")
    world.memory.curation.archive(lesson.workspace, lesson.id, actor="ana")
    assert world.memory.decision_notices.waiting(lesson.workspace, "ana") == []
    world.clock.tick(seconds=timedelta(days=1).total_seconds())
    world.memory.privacy.forget(lesson.workspace, "ana")
    assert world.memory.decision_notices.waiting(lesson.workspace, "ana") == []
