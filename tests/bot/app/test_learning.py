"""Where the lessons of a file go: exports of the local platforms into their workspaces, channels and people."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot.app.learning import LearnReport, Target, learn, read_file
from memory.errors import InvalidInput
from memory.model import Episode, Role, Scope, Visibility
from memory.model.teaching import EmojiMap
from memory.services import Reviewer
from tests.doubles.memory_world import World, scope
from tests.doubles.slack import SlackServer
from tests.doubles.slack.export import export
from tests.doubles.slack.state import Channel

EMOJI = EmojiMap(("👍", "+1"), ("👎",))
ROOT = Reviewer(actor="cli:root", role=Role.ADMIN)
HERE = Target(workspace="terminal:w", actor="cli:root")
DISCORD: Mapping[str, Any] = {
    "guild": {"id": "7"},
    "channel": {"id": "70", "type": "GuildTextChat", "name": "help"},
    "messages": [
        {"id": "1", "author": {"id": "11", "name": "ana"}, "content": "where is it?"},
        {
            "id": "2",
            "author": {"id": "12", "name": "ben"},
            "content": "in room 5",
            "reference": {"messageId": "1"},
            "isPinned": True,
        },
    ],
}


@pytest.fixture
def world() -> World:
    return World()


async def slack_export(tmp_path: Path) -> tuple[Path, dict[str, str]]:
    """An export with a question in a public channel, in a private one, and between two people; and the ids in it."""
    async with SlackServer() as slack:
        ana, ben = slack.person("ana"), slack.person("ben")
        both = Channel(id="D9", name="", kind="im", members={ana.id, ben.id})
        ana.workspace.channels[both.id] = both
        places = {"public": slack.channel("help"), "private": slack.channel("board", private=True), "direct": both.id}
        for name, place in places.items():
            question = ana.says(place, f"what is the {name} code?", mention=False)
            ana.reacts(ben.says(place, f"It is {name}", thread_ts=question.ts, mention=False), "white_check_mark")
        path = export(ana.workspace, tmp_path / "export.zip")
        return path, {**places, "ana": ana.id, "ben": ben.id, "workspace": f"slack:{ana.workspace.id}"}


def learned(world: World, path: Path, target: Target = HERE) -> LearnReport:
    world.clock.tick()
    contents = read_file(path, EMOJI, lambda *_: None)
    return learn(world.memory, path, contents, target, lambda *_: None, is_dry_run=False)


def approved(world: World, report: LearnReport) -> list[Episode]:
    waiting, _ = world.memory.batches.waiting(report.workspace, report.batch, lambda _: True, lambda _: slice(None))
    world.memory.batch_review.approve(report.workspace, report.batch, ROOT)
    return [world.episode(lesson) for lesson, _ in waiting]


def recalled(world: World, reader: Scope, question: str) -> list[str]:
    return [each.episode.output for each in world.memory.recalling.recall(reader, question).exemplars]


async def test_a_slack_export_goes_to_its_own_workspace_and_channels(world: World, tmp_path: Path) -> None:
    path, ids = await slack_export(tmp_path)
    report = learned(world, path)
    assert report.workspace == ids["workspace"]
    assert report.counts == {"added": 2}
    assert report.left_out == {"in direct messages; --direct takes them, for the asker alone": 1}
    lessons = approved(world, report)
    assert {(each.channel, each.author) for each in lessons} == {
        (ids["public"], ids["ben"]), (ids["private"], ids["ben"])
    }  # fmt: skip
    cy = scope("cy", workspace=ids["workspace"], channel=ids["public"])
    assert recalled(world, cy, "what is the public code?") == ["It is public"]
    assert recalled(world, cy, "what is the private code?") == ["It is public"]
    inside = replace(cy, channel=ids["private"], visibility=Visibility.PRIVATE)
    assert recalled(world, inside, "what is the private code?")[0] == "It is private"
    for person in ("ana", "ben"):  # whose question it is, and whose answer
        held = world.memory.privacy.personal_data(ids["workspace"], ids[person])
        assert {each.id for each in (*held.episodes, *held.derived, *held.kept)} == {each.id for each in lessons}
    assert learned(world, path).counts == {"known": 2}
    assert world.memory.audit.check() == []


async def test_what_two_people_said_is_the_askers_alone(world: World, tmp_path: Path) -> None:
    path, ids = await slack_export(tmp_path)
    report = learned(world, path, replace(HERE, with_direct=True))
    assert report.counts == {"added": 2, "own": 1}
    ana = scope(ids["ana"], workspace=ids["workspace"], channel="D5", visibility=Visibility.DIRECT)
    assert "It is direct" in recalled(world, ana, "what is the direct code?")
    assert "It is direct" not in recalled(world, replace(ana, person=ids["ben"]), "what is the direct code?")
    approved(world, report)
    cy = scope("cy", workspace=ids["workspace"], channel=ids["public"])
    assert "It is direct" not in recalled(world, cy, "what is the direct code?")


async def test_into_another_workspace_only_what_was_public_and_nobody_is_mistaken(world: World, tmp_path: Path) -> None:
    path, ids = await slack_export(tmp_path)
    other = replace(HERE, workspace="discord:7", is_workspace_given=True)
    with pytest.raises(InvalidInput, match="--channel"):
        learned(world, path, other)
    other = replace(other, channel="70", visibility=Visibility.PUBLIC, people={ids["ana"]: "11"}, with_direct=True)
    report = learned(world, path, other)
    assert report.counts == {"added": 1}
    assert report.left_out["not public, in another workspace"] == 1
    (lesson,) = approved(world, report)
    assert (lesson.workspace, lesson.channel) == ("discord:7", "70")
    assert lesson.author == f"{ids['workspace']}/{ids['ben']}"
    held = world.memory.privacy.personal_data("discord:7", "11")
    assert lesson.id in {each.id for each in (*held.derived, *held.kept)}


def test_who_can_read_a_channel_of_discords_is_known_or_asked_for(world: World, tmp_path: Path) -> None:
    path = tmp_path / "help.json"
    path.write_text(json.dumps(DISCORD), encoding="utf-8")
    with pytest.raises(InvalidInput, match="--public"):
        learned(world, path)
    (lesson,) = approved(world, learned(world, path, replace(HERE, visibility=Visibility.PRIVATE)))
    assert (lesson.workspace, lesson.visibility, lesson.author) == ("discord:7", Visibility.PRIVATE, "12")
    world = World()
    world.memory.channels.note(scope("bot", workspace="discord:7", channel="70"))
    (lesson,) = approved(world, learned(world, path))
    assert lesson.visibility is Visibility.PUBLIC


def test_an_faq_is_for_the_workspace_or_for_one_channel(world: World, tmp_path: Path) -> None:
    path = tmp_path / "faq.csv"
    path.write_text("question,answer\nwhere is the key?,In the box\n", encoding="utf-8")
    (lesson,) = approved(world, learned(world, path))
    assert recalled(world, scope("cy", channel="any"), "where is the key?") == ["In the box"]
    assert (lesson.author, lesson.place) == ("cli:root", "faq.csv")
    world = World()
    approved(world, learned(world, path, replace(HERE, channel="c1", visibility=Visibility.PUBLIC)))
    assert recalled(world, scope("cy", channel="c1"), "where is the key?") == ["In the box"]
    assert recalled(world, scope("cy", channel="any"), "where is the key?") == []


def test_a_row_that_no_database_keeps_is_named_and_the_rest_goes_on(world: World, tmp_path: Path) -> None:
    table, lines = tmp_path / "faq.csv", tmp_path / "faq.jsonl"
    table.write_text("question,answer\nwhere\0?,here\nwhen?,now\n", encoding="utf-8")
    entries = [{"question": "who\ud800?", "answer": "ana"}, {"question": "why?", "answer": "\0"}]
    lines.write_text("\n".join(map(json.dumps, [*entries, {"question": "how?", "answer": "so"}])), encoding="utf-8")
    for path, positions in ((table, ["line 2"]), (lines, ["line 1", "line 2"])):
        contents = read_file(path, EMOJI, lambda *_: None)
        assert [fault.position for fault in contents.faults] == positions
        assert len(contents.entries) == 1
        assert learned(world, path).added == 1
