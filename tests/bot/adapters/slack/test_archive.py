"""Slack exports: made by the local Slack, and such as nobody should be able to do harm with."""

import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from bot.adapters.slack.archive import is_export, read
from bot.adapters.sources import archive as archives
from bot.adapters.sources.entries import Contents
from bot.config import Settings
from memory.errors import InvalidInput
from memory.model import Visibility
from memory.model.teaching import EmojiMap
from tests.doubles.slack import SlackServer
from tests.doubles.slack.export import export
from tests.doubles.slack.state import Channel

EMOJI = EmojiMap(("👍", "+1", "✅", "white_check_mark"), ("👎", "-1"))
STAMP = "1700000000.00000{}"


def contents(path: Path) -> Contents:
    return read(path, EMOJI, lambda what, done, total: None)


def zipped(path: Path, files: Mapping[str, object]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, value in files.items():
            archive.writestr(name, value if isinstance(value, str | bytes) else json.dumps(value))
    return path


def message(number: int, user: str, text: str, **more: Any) -> dict[str, Any]:
    return {
        "type": "message",
        "ts": STAMP.format(number),
        "thread_ts": STAMP.format(1),
        "user": user,
        "text": text,
    } | more


def checked(user: str) -> dict[str, Any]:
    return {"reactions": [{"name": "white_check_mark", "users": [user], "count": 1}]}


def small(**more: object) -> dict[str, object]:
    return {
        "users.json": [{"id": "U1", "team_id": "T1", "name": "ana"}, {"id": "U2", "team_id": "T1", "name": "ben"}],
        "channels.json": [{"id": "C1", "name": "help"}],
        "help/2023-11-14.json": [message(1, "U1", "where is it?"), message(2, "U2", "in room 5", **checked("U1"))],
        **more,
    }


async def test_what_people_marked_in_the_local_slack(tmp_path: Path) -> None:
    async with SlackServer() as slack:
        ana, ben, cy = (slack.person(name) for name in ("ana", "ben", "cy"))
        public, secret = slack.channel("help"), slack.channel("board", private=True)
        pinned = set[str]()
        for place, asked, answered, how in (
            (public, f"<@{ben.id}> where is the key?", "In the <https://a.test/x|blue box> &amp; locked", "check"),
            (public, "who has the van?", f"<@{cy.id}> has it, ask in <#{secret}>", "words"),
            (public, "when do we open?", "At nine.", "pin"),
            (public, "is it open on Monday?", "Yes, until six.", "thumb"),
            (public, "is it open on Sunday?", "No idea, sorry.", "others"),
            (public, "I deployed the page", "great work", "thumb"),
            (secret, "what do we pay?", "A hundred.", "check"),
        ):
            question = ana.says(place, asked, mention=False)
            answer = ben.says(place, answered, thread_ts=question.ts, mention=False)
            if how == "check":
                ana.reacts(answer, "white_check_mark::skin-tone-2")
            elif how == "words":
                ana.says(place, "thanks, that worked!", thread_ts=question.ts, mention=False)
            elif how == "pin":
                pinned.add(answer.ts)
            elif how == "thumb":
                ana.reacts(answer, "+1")
            else:
                cy.reacts(answer, "+1")
        path = export(ana.workspace, tmp_path / "export.zip", pinned=frozenset(pinned))
    found = contents(path)
    assert (found.kind, found.workspace, found.faults) == ("Slack export", f"slack:{ana.workspace.id}", ())
    taken = {each.question: (each.answer, each.mark, each.place.visibility) for each in found.entries if each.place}
    assert taken == {
        "@Ben where is the key?": ("In the blue box (https://a.test/x) & locked", "✅ by who asked", Visibility.PUBLIC),
        "who has the van?": ("@Cy has it, ask in #a-channel", "accepted in words", Visibility.PUBLIC),
        "when do we open?": ("At nine.", "pinned", Visibility.PUBLIC),
        "is it open on Monday?": ("Yes, until six.", "👍 by who asked", Visibility.PUBLIC),
        "what do we pay?": ("A hundred.", "✅ by who asked", Visibility.PRIVATE),
    }
    assert {(each.author, each.asker) for each in found.entries} == {(ben.id, ana.id)}
    assert found.skipped == {"threads without a marked answer": 1, "marked replies to what is no question": 1}


async def test_what_two_people_said_is_told_apart(tmp_path: Path) -> None:
    async with SlackServer() as slack:
        ana, ben = slack.person("ana"), slack.person("ben")
        both = Channel(id="D9", name="", kind="im", members={ana.id, ben.id})
        ana.workspace.channels[both.id] = both
        question = ana.says("D9", "what is the code?", mention=False)
        ana.reacts(ben.says("D9", "It is four digits", thread_ts=question.ts, mention=False), "white_check_mark")
        path = export(ana.workspace, tmp_path / "export.zip")
    (entry,) = contents(path).entries
    assert entry.place is not None
    assert (entry.place.visibility, entry.place.people) == (Visibility.DIRECT, tuple(sorted((ana.id, ben.id))))


def test_several_marked_messages_of_one_person_are_one_answer(tmp_path: Path) -> None:
    thread = [
        message(1, "U1", "how do I build?"), message(2, "U2", "run make", **checked("U1")),
        message(3, "U1", "and then?"),
        message(4, "U2", "then make test", **checked("U1")), message(5, "U2", "hm", **checked("U1")),
    ]  # fmt: skip
    (entry,) = contents(zipped(tmp_path / "e.zip", small(**{"help/2023-11-14.json": thread}))).entries
    assert entry.answer == "run make\n\nthen make test"


def test_a_thread_over_several_days_is_one(tmp_path: Path) -> None:
    files = small(**{
        "help/2023-11-14.json": [message(1, "U1", "where?")],
        "help/2023-11-15.json": [message(2, "U2", "in room 5", **checked("U1"))],
    })  # fmt: skip
    assert [each.answer for each in contents(zipped(tmp_path / "e.zip", files)).entries] == ["in room 5"]


@pytest.mark.parametrize(
    ("thread", "count"),
    [
        ([message(2, "U2", "in room 5", **checked("U1"))], 0),
        ([message(1, "U1", "where?", bot_id="B1"), message(2, "U2", "in room 5", **checked("U1"))], 0),
        ([message(1, "U1", "where?"), message(2, "U2", "in room 5", bot_id="B1", **checked("U1"))], 0),
        ([message(1, "U1", "where?"), message(2, "U2", "🎉", **checked("U1"))], 0),
        ([message(1, "U1", "where?"), message(2, "U2", "in room 5", **checked("U2"))], 0),
        ([message(1, "U1", "where?"), message(2, "U1", "found it: room 5", **checked("U1"))], 1),
        ([message(1, "U1", "where?", subtype="channel_join"), message(2, "U2", "in room 5", **checked("U1"))], 0),
    ],
)
def test_what_counts_as_an_answer(tmp_path: Path, thread: list[object], count: int) -> None:
    path = zipped(tmp_path / "e.zip", small(**{"help/2023-11-14.json": thread}))
    assert len(contents(path).entries) == count


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("help/2023-11-15.json", "{broken"),
        ("help/2023-11-15.json", "[" * 200_000),
        ("help/2023-11-15.json", b"\xff\xfe\x00"),
        ("help/2023-11-15.json", {"no": "list"}),
        ("help/2023-11-15.json", [7, "x", None]),
        ("groups.json", [{"name": "without an id"}]),
        ("unlisted/2023-11-15.json", [message(1, "U1", "where?")]),
        ("../../etc/evil.json", []),
        ("/etc/evil.json", []),
    ],
)
def test_what_is_broken_is_named_and_the_rest_goes_on(tmp_path: Path, name: str, value: object) -> None:
    found = contents(zipped(tmp_path / "e.zip", small(**{name: value})))
    assert [each.answer for each in found.entries] == ["in room 5"]
    assert len(found.faults) == 1
    assert list(tmp_path.iterdir()) == [tmp_path / "e.zip"]


@pytest.mark.parametrize(
    "odd",
    [
        {"ts": None}, {"user": None}, {"text": None}, {"reactions": "many"}, {"reactions": [{"name": "x"}]},
        {"reactions": [7]}, {"ts": "not a number"}, {"thread_ts": 12.5}, {"text": ["a"]}, {"user": {"id": "U1"}},
        {"ts": "9" * 400},
    ],
)  # fmt: skip
def test_messages_of_another_version_do_not_stop_it(tmp_path: Path, odd: dict[str, object]) -> None:
    more = {"help/2023-11-15.json": [{"type": "message"}, {**message(3, "U2", "odd one"), **odd}]}
    found = contents(zipped(tmp_path / "e.zip", small(**more)))
    assert [each.answer for each in found.entries] == ["in room 5"]


def test_an_export_without_lists_or_profiles(tmp_path: Path) -> None:
    files = small(**{"users.json": [{"id": "U1", "profile": None}, {}, 7]})
    found = contents(zipped(tmp_path / "e.zip", files))
    assert (len(found.entries), found.workspace) == (1, "")
    assert is_export(list(files))
    assert not is_export(["a.json"])


def test_a_bomb_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = b"[" + b" " * 30_000_000 + b"]"
    found = contents(zipped(tmp_path / "e.zip", small(**{"help/2023-11-15.json": bomb})))
    assert [(each.position, "suspiciously" in each.reason) for each in found.faults] == [("help/2023-11-15.json", True)]
    monkeypatch.setattr(archives, "_LARGEST_SUM", 1000)
    with pytest.raises(InvalidInput, match="unpacked"):
        contents(tmp_path / "e.zip")
    monkeypatch.setattr(archives, "_MOST_FILES", 3)
    with pytest.raises(InvalidInput, match="files"):
        contents(tmp_path / "e.zip")


def test_a_size_that_is_a_lie_is_found_out(tmp_path: Path) -> None:
    path = zipped(tmp_path / "e.zip", small(**{"help/2023-11-15.json": "[" + " " * 5000 + "]"}))
    packed = path.read_bytes()
    true_size = (5002).to_bytes(4, "little")
    assert packed.count(true_size) == 2
    path.write_bytes(packed.replace(true_size, (5).to_bytes(4, "little")))
    found = contents(path)
    assert [each.answer for each in found.entries] == ["in room 5"]
    assert len(found.faults) == 1


def test_settings_say_which_emoji_approve() -> None:
    teaching = Settings().teaching
    assert EmojiMap(teaching.emoji_success, teaching.emoji_failure).value("white_check_mark") == 1
