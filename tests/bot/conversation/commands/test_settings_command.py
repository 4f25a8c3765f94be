"""`settings`: seen, changed, taken back and recorded, by words and by buttons."""

from dataclasses import replace

import pytest

from bot.conversation.commands.setting_messages import ADMINISTRATORS_ONLY, NOTHING_CHANGED, ONLY_HERE
from bot.conversation.commands.settings_command import SettingsFile
from bot.model import PersonCommand
from memory.model import Role, Scope
from memory.rules.chat_settings import CATALOGUE
from tests.doubles.conversation import ANA, Chat, direct
from tests.doubles.memory_world import scope

ROOT = scope("root")
W = ROOT.workspace


@pytest.fixture
def chat() -> Chat:
    return Chat(
        settings_file=SettingsFile(
            values={"mode": "threads", "known-answers": "off", "digest": "dm", "control-arm": "0"},
            lists={("terminal", "allowed-people"): ("ana", "root")},
        )
    )


async def say(chat: Chat, argument: str = "", by: Scope = ROOT, role: Role = Role.ADMIN) -> str:
    return await chat.command("settings", argument, by, role=role)


def values(chat: Chat, channel: str = ROOT.channel) -> dict[str, str]:
    return chat.world.memory.chat_settings.values(W, channel)


async def press(chat: Chat, label: str) -> str:
    choice = next(each for each in chat.messenger.posts[-1].choices if each.label == label)
    return await chat.command(choice.command, choice.argument, ROOT, role=Role.ADMIN)


async def test_all_of_them_are_listed_with_a_button_each(chat: Chat) -> None:
    text = await say(chat)
    for line in (
        "`mode`: threads (settings file)",
        "`teachers`: nobody is named here",
        "`allowed-people`: ana, root (settings file)",
        "`digest`: to each teacher (settings file)",
        "`control-arm`: 0% (settings file)",
    ):
        assert line in text
    assert [each.label for each in chat.messenger.posts[-1].choices] == [f"Change {name}" for name in CATALOGUE]


async def test_buttons_change_a_setting_and_take_it_back(chat: Chat) -> None:
    await say(chat)
    await press(chat, "Change mode")
    assert "`mode`: always here, set by root" in await press(chat, "always")
    assert values(chat) == {"mode": "always"}
    await press(chat, "Undo the last change")
    assert values(chat) == {}
    await press(chat, "mention")
    await press(chat, "As in the settings file")
    assert values(chat) == {}
    await say(chat, "control-arm")
    assert "`control-arm`: 10%, set by root" in await press(chat, "10%")
    await say(chat, "digest")
    await press(chat, "This channel")
    assert values(chat) == {"control-arm": "0.1", "digest": ROOT.channel}


async def test_words_change_every_one_of_them(chat: Chat) -> None:
    for words, expected in (
        ("mode always", ("mode", "always")),
        ("known-answers on everywhere", ("known-answers", "on")),
        ("teachers add @bo", ("teachers", "bo")),
        ("teachers add <@cy> dee", ("teachers", "bo cy dee")),
        ("teachers remove @bo", ("teachers", "cy dee")),
        ("allowed-channels add <#C1|general>", ("allowed-channels", "C1")),
        ("digest off", ("digest", "off")),
        ("control-arm 5%", ("control-arm", "0.05")),
    ):
        await say(chat, words)
        assert values(chat)[expected[0]] == expected[1], words
    assert values(chat, "elsewhere") == {k: v for k, v in values(chat).items() if k != "mode"}


async def test_the_first_change_of_a_list_begins_with_the_settings_file_s(chat: Chat) -> None:
    await say(chat, "allowed-people remove ana")
    assert values(chat) == {"allowed-people": "root"}
    await say(chat, "allowed-people default")
    await say(chat, "allowed-people add bo")
    assert values(chat) == {"allowed-people": "ana bo root"}


@pytest.mark.parametrize("value", ["approvals learned", "mode always"])
async def test_who_set_it_is_among_the_people_to_be_named(chat: Chat, value: str) -> None:
    assert "set by root" in await say(chat, value)
    assert chat.messenger.posts[-1].people == ("root",)


async def test_each_id_of_a_list_has_a_button_that_removes_it(chat: Chat) -> None:
    text = await say(chat, "teachers add bo cy")
    assert "1. bo\n2. cy" in text
    assert set(chat.messenger.posts[-1].people) == {"root", "bo", "cy"}
    await press(chat, "Remove 1")
    assert values(chat) == {"teachers": "cy"}


async def test_teachers_change_what_is_theirs_and_others_nothing(chat: Chat) -> None:
    assert await say(chat, "mode always", ANA, Role.MEMBER) == ADMINISTRATORS_ONLY
    assert "mode" in await say(chat, "mode always", ANA, Role.TEACHER)
    assert await say(chat, "digest off", ANA, Role.TEACHER) == "Only administrators change digest."
    await say(chat, "digest", ANA, Role.TEACHER)
    assert chat.messenger.posts[-1].choices == ()
    assert values(chat) == {"mode": "always"}
    event = PersonCommand(
        event_id="local",
        scope=ANA,
        name="settings",
        argument="mode mention everywhere",
        at=chat.world.clock.tick(),
        role=Role.TEACHER,
        is_role_local=True,
    )
    await chat.sink(event)
    assert chat.messenger.posts[-1].text == ONLY_HERE


async def test_what_is_not_taken_says_what_is(chat: Chat) -> None:
    assert await say(chat, "mode sometimes") == "Mode takes mention, threads or always."
    assert (await say(chat, "weather fine")).startswith("There is no setting 'weather' to change in chat")
    assert await say(chat, "undo digest") == NOTHING_CHANGED
    assert values(chat) == {}


async def test_in_direct_messages_buttons_are_for_everywhere(chat: Chat) -> None:
    await say(chat, "mode", direct("root"))
    choice = next(each for each in chat.messenger.posts[-1].choices if each.label == "mention")
    await say(chat, choice.argument, direct("root"))
    assert values(chat) == {"mode": "mention"}


async def test_the_record_names_who_changed_what(chat: Chat) -> None:
    await say(chat, "mode always")
    await say(chat, "teachers add bo")
    await say(chat, "mode mention", replace(ROOT, channel="c9"))
    text = await say(chat, "history")
    assert [line.split(", by")[0] for line in text.splitlines()[2:]] == [
        "- `mode` in c9: default → mention",
        "- `teachers`: default → bo",
        f"- `mode` in {ROOT.place or ROOT.channel}: default → always",
    ]
    of_teacher = await say(chat, "history", ANA, Role.TEACHER)
    assert "c9" not in of_teacher


def test_every_button_fits() -> None:
    assert all(len(f"settings undo {name} everywhere") <= 80 for name in CATALOGUE)
