"""What is noted about things: who finds it, who may change it, and that its history stays."""

import pytest

from memory.errors import InvalidInput, NotFound
from memory.model import Audience, Role, Visibility
from memory.services.topics import FieldInput, Ingest
from memory.services.topics.facts import ChangeOutcome
from tests.doubles.memory_world import World, scope

ANA, BO, TESS = scope("ana"), scope("bo"), scope("tess")
DIRECT = scope("ana", channel="D-ana", visibility=Visibility.DIRECT)


def values(world: World, of: str = "ana", thing: str = "deploy") -> list[object]:
    (topic,) = [each for each in world.memory.facts.listed(scope(of)) if each.title == thing]
    (field,) = topic.fields
    return [each.value for each in field.history]


def test_what_is_new_is_its_authors_alone_and_a_teachers_is_for_the_channel() -> None:
    world = World()
    mine = world.memory.facts.change(ANA, "deploy", "owner", "Priya", role=Role.MEMBER)
    assert (mine.outcome, mine.audience) == (ChangeOutcome.NEW_TOPIC, Audience.PERSONAL)
    assert world.memory.facts.listed(BO) == []
    ours = world.memory.facts.change(TESS, "release", "owner", "Aya", role=Role.TEACHER)
    assert ours.audience is Audience.CHANNEL
    assert [each.title for each in world.memory.facts.listed(BO)] == ["release"]
    assert world.memory.facts.listed(scope("bo", channel="c2")) == []
    alone = world.memory.facts.change(DIRECT, "diary", "place", "drawer", role=Role.ADMIN)
    assert alone.audience is Audience.PERSONAL


def test_its_author_and_teachers_change_a_topic_and_nobody_else() -> None:
    world = World()
    change = world.memory.facts.change
    change(TESS, "Deploy", "owner", "Priya", role=Role.TEACHER)
    refused = change(BO, "the deploy", "Owner", "Bo", role=Role.MEMBER)
    assert (refused.outcome, refused.topic.person) == (ChangeOutcome.REFUSED, "tess")
    assert values(world, thing="Deploy") == ["Priya"]
    world.clock.tick(days=3)
    changed = change(scope("uma"), "deploy", "owner", "Aya", role=Role.TEACHER)
    assert changed.outcome is ChangeOutcome.CHANGED
    assert changed.before is not None
    assert changed.before.value == "Priya"
    world.clock.tick(days=3)
    assert change(TESS, "DEPLOY", "owner", "Aya", role=Role.MEMBER).outcome is ChangeOutcome.KNOWN
    assert change(TESS, "deploy", "owner", "Bianca", role=Role.MEMBER).outcome is ChangeOutcome.CHANGED
    assert values(world, thing="Deploy") == ["Bianca", "Aya", "Priya"]


def test_a_teacher_of_one_channel_changes_nothing_that_was_brought_up_elsewhere() -> None:
    world = World()
    wide = Ingest(title="deploy", audience=Audience.WORKSPACE, fields=[FieldInput(name="owner", value="Priya")])
    world.memory.world.ingest(TESS, wide)
    elsewhere = scope("uma", channel="c2")
    change = world.memory.facts.change
    assert change(elsewhere, "deploy", "owner", "Uma", role=Role.TEACHER).outcome is ChangeOutcome.REFUSED
    assert change(elsewhere, "deploy", "owner", "Aya", role=Role.ADMIN).outcome is ChangeOutcome.CHANGED
    assert values(world) == ["Aya", "Priya"]


def test_ones_own_comes_before_that_of_others_with_the_same_title() -> None:
    world = World()
    change = world.memory.facts.change
    change(TESS, "deploy", "owner", "Priya", role=Role.TEACHER)
    own = Ingest(title="deploy", fields=[FieldInput(name="owner", value="me")])
    world.memory.world.ingest(BO, own)
    assert change(BO, "deploy", "owner", "still me", role=Role.MEMBER).outcome is ChangeOutcome.CHANGED
    assert values(world, "ana") == ["Priya"]


def test_a_title_in_a_text_comes_before_what_is_only_like_it() -> None:
    world = World()
    for thing in ("deploy", "owner of the parking place"):
        world.memory.facts.change(ANA, thing, "who", "Priya", role=Role.MEMBER)
    found = world.memory.facts.about(ANA, "who is the owner of the deploy?")
    assert [each.title for each in found] == ["deploy", "owner of the parking place"]
    assert world.memory.facts.about(BO, "who is the owner of the deploy?") == []


def test_what_was_told_gains_attention() -> None:
    world = World()
    topic = world.memory.facts.change(ANA, "deploy", "owner", "Priya", role=Role.MEMBER).topic
    world.memory.facts.attend(ANA, topic.id)
    world.memory.facts.attend(BO, topic.id)
    (after,) = world.memory.facts.listed(ANA)
    assert after.topic.salience == pytest.approx(topic.salience + 0.1)
    assert world.memory.audit.check() == []


def test_forgetting_and_purging_reach_what_was_noted() -> None:
    world = World()
    change = world.memory.facts.change
    change(TESS, "deploy", "owner", "Priya", role=Role.TEACHER)
    change(scope("uma"), "deploy", "owner", "Aya", role=Role.TEACHER)
    world.memory.purging.purge("terminal:w", "uma", actor="admin", at=world.clock.tick())
    assert values(world)[0] == "Priya"
    world.memory.privacy.forget("terminal:w", "uma")
    world.memory.privacy.forget("terminal:w", "tess")
    assert world.memory.facts.listed(ANA) == []
    assert world.memory.facts.every("terminal:w", public_only=False, after=0, limit=9) == ([], 0)


def test_a_whole_workspace_is_listed_in_parts_and_what_is_one_persons_only_for_administrators() -> None:
    world = World()
    for thing in ("b", "a", "c"):
        world.memory.facts.change(TESS, thing, "owner", "Priya", role=Role.TEACHER)
    mine = world.memory.facts.change(ANA, "mine", "owner", "me", role=Role.MEMBER).topic
    every, total = world.memory.facts.every("terminal:w", public_only=False, after=1, limit=2)
    assert ([each.title for each in every], total) == (["b", "c"], 4)
    public, total = world.memory.facts.every("terminal:w", public_only=True, after=0, limit=9, text="C")
    assert ([each.title for each in public], total) == (["c"], 1)
    assert world.memory.facts.one("terminal:w", mine.id, public_only=False).title == "mine"
    with pytest.raises(NotFound):
        world.memory.facts.one("terminal:w", mine.id, public_only=True)
    with pytest.raises(NotFound):
        world.memory.facts.name_in(BO, mine.id)


@pytest.mark.parametrize(("thing", "name", "value"), [("", "owner", "x"), ("x", " ", "y"), ("x", "y", "z" * 2001)])
def test_what_is_empty_or_too_long_is_not_noted(thing: str, name: str, value: str) -> None:
    world = World()
    with pytest.raises(InvalidInput):
        world.memory.facts.change(ANA, thing, name, value, role=Role.ADMIN)
    assert world.memory.facts.listed(ANA) == []
