"""Exports of DiscordChatExporter, made from the local Discord; of other versions, and broken ones."""

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from bot.adapters.discord.archive import is_export, read, read_archive
from bot.adapters.sources.archive import opened
from memory.errors import InvalidInput
from memory.model import Visibility
from memory.model.teaching import EmojiMap
from tests.doubles.discord import DiscordServer
from tests.doubles.discord.export import export
from tests.doubles.discord.model import Channel

EMOJI = EmojiMap(("👍", "✅"), ("👎",))


class Place:
    """A channel of the local Discord in which people asked and answered."""

    def __init__(self) -> None:
        self.server = DiscordServer()
        self.guild = self.server.guild("Home")
        self.general = self.server.channel(self.guild, "general")
        self.ana, self.ben, self.cy = (self.server.person(name, self.guild) for name in ("ana", "ben", "cy"))

    def answered(self, question: str, answer: str, channel: Channel | None = None, emoji: str = "") -> str:
        where = channel or self.general
        asked = self.server.says(self.ana, where, question)
        said = self.server.says(self.ben, where, answer, reply_to=asked)
        if emoji:
            self.server.reacts(self.ana, said, emoji)
        return said.id

    def export(self, channel: Channel | None = None, **more: Any) -> dict[str, Any]:
        return export(self.server.state, channel or self.general, **more)


@pytest.fixture
def place() -> Place:
    return Place()


def test_replies_that_people_marked(place: Place) -> None:
    place.answered("where is the key?", f"{place.cy.mention} has it", emoji="✅")
    pinned = place.answered("when do we open?", "At nine.")
    place.answered("is it open on Monday?", "Until six.", emoji="👍🏽")
    place.answered("is it open on Sunday?", "No idea.")
    asked = place.server.says(place.ana, place.general, "who has the van?")
    answer = place.server.says(place.ben, place.general, "Cy has it.", reply_to=asked)
    place.server.says(place.ana, place.general, "thanks, that worked", reply_to=answer)
    found = read(place.export(pinned=frozenset({pinned})), EMOJI)
    assert {each.question: (each.answer, each.mark) for each in found.entries} == {
        "where is the key?": ("@Cy has it", "✅ by who asked"),
        "when do we open?": ("At nine.", "pinned"),
        "is it open on Monday?": ("Until six.", "👍 by who asked"),
        "who has the van?": ("Cy has it.", "accepted in words"),
    }
    assert found.workspace == f"discord:{place.guild.id}"
    assert {(each.author, each.asker) for each in found.entries} == {(place.ben.id, place.ana.id)}
    assert {each.place.visibility for each in found.entries if each.place} == {None}


def test_a_thread_is_in_its_channel_and_a_private_one_by_itself(place: Place) -> None:
    thread = place.server.thread(place.general, place.ana, "keys")
    place.server.says(place.ana, thread, "where is the key?")
    place.server.reacts(place.ana, place.server.says(place.ben, thread, "In the box."), "✅")
    (entry,) = read(place.export(thread), EMOJI).entries
    assert entry.place is not None
    assert (entry.place.channel, entry.answer) == (place.general.id, "In the box.")
    secret = place.server.private_thread(place.general, place.ana, place.ben)
    place.server.says(place.ana, secret, "what do we pay?")
    place.server.reacts(place.ana, place.server.says(place.ben, secret, "A hundred."), "✅")
    (entry,) = read(place.export(secret), EMOJI).entries
    assert entry.place is not None
    assert (entry.place.channel, entry.place.visibility) == (secret.id, Visibility.PRIVATE)


def test_a_direct_conversation_is_no_channel(place: Place) -> None:
    direct = place.server.state.direct(place.ana.id, place.ben.id)
    place.answered("what is the code?", "Four digits.", direct, "✅")
    found = read(place.export(direct), EMOJI)
    (entry,) = found.entries
    assert entry.place is not None
    assert (entry.place.visibility, found.workspace) == (Visibility.DIRECT, "")
    assert set(entry.place.people) == {place.ana.id, place.ben.id}


def test_an_older_version_does_not_say_who_reacted(place: Place) -> None:
    place.answered("where is the key?", "In the box.", emoji="✅")
    found = read(place.export(with_users=False), EMOJI)
    assert found.entries == ()
    assert found.skipped == {
        "files whose reactions do not say whose they are": 1, "threads without a marked answer": 1,
    }  # fmt: skip


@pytest.mark.parametrize(
    "odd",
    [
        {"id": None}, {"author": None}, {"author": {"id": 7}}, {"content": None}, {"reactions": None},
        {"reactions": [7]}, {"reference": "x"}, {"reference": {"messageId": "unknown"}}, {"mentions": "x"},
        {"type": 99},
        {"timestamp": 7},
    ],
)  # fmt: skip
def test_missing_and_odd_fields_do_not_stop_it(place: Place, odd: dict[str, object]) -> None:
    place.answered("where is the key?", "In the box.", emoji="✅")
    value = place.export()
    value["messages"].append({**value["messages"][1], "id": "99", **odd})
    value["messages"] += [7, None, {}]
    found = read(value, EMOJI)
    assert next(each.answer for each in found.entries).startswith("In the box.")
    del value["guild"], value["channel"]["type"], value["channel"]["categoryId"]
    assert len(read(value, EMOJI).entries) == 1


@pytest.mark.parametrize("value", [None, [], {}, {"messages": []}, {"messages": {}, "channel": {}}])
def test_what_is_no_export_is_refused(value: object) -> None:
    assert not is_export(value)
    with pytest.raises(InvalidInput, match="DiscordChatExporter"):
        read(value, EMOJI)


def test_an_archive_has_many_channels_of_one_server(place: Place, tmp_path: Path) -> None:
    other = place.server.channel(place.guild, "other")
    place.answered("where is the key?", "In the box.", emoji="✅")
    place.answered("who waters?", "Ben does.", other, "✅")
    path = tmp_path / "all.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for channel in (place.general, other):
            archive.writestr(f"{channel.name}.json", json.dumps(place.export(channel)))
        archive.writestr("broken.json", "{")
    found = read_archive(path, EMOJI, lambda what, done, total: None)
    assert sorted(each.answer for each in found.entries) == ["Ben does.", "In the box."]
    assert len(found.faults) == 1
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("foreign.json", json.dumps({**place.export(other), "guild": {"id": "7"}}))
    with pytest.raises(InvalidInput, match="2 servers"):
        read_archive(path, EMOJI, lambda what, done, total: None)
    with zipfile.ZipFile(tmp_path / "empty.zip", "w"):
        pass
    with pytest.raises(InvalidInput, match="neither"):
        read_archive(tmp_path / "empty.zip", EMOJI, lambda what, done, total: None)


def test_a_fault_of_the_reader_is_not_one_of_the_archive(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "all.zip", "w"):
        pass
    with pytest.raises(BrokenPipeError), opened(tmp_path / "all.zip"):
        raise BrokenPipeError
    with pytest.raises(InvalidInput, match="cannot read"), opened(tmp_path / "none.zip"):
        pass
