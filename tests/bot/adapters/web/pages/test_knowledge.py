"""The map: which lessons and gaps are on it, for whom, in which colours, what teaching from it does, what it costs."""

import re

from bot.adapters.web.pages.knowledge import shown_groups
from memory.model import Audience, Role, Termination, Verdict, Visibility
from memory.rules.map_layout import Group
from tests.bot.adapters.web.pages.test_lists import HOSTILE
from tests.doubles.memory_world import World, scope
from tests.doubles.pages import WORKSPACE, Visitor


def unknown(world: World, goal: str, *, person: str = "ana", channel: str = "c1") -> str:
    asked = world.ask(goal, "I don't know.", of=scope(person, channel=channel), termination=Termination.FAILURE)
    return asked.id


def points(html: str) -> list[tuple[str, str]]:
    """What is on the map: in which colour, which question."""
    found = re.findall(r'data-goal="([^"]*)".*?class="point (?:fill )?(\w+)"', html, re.DOTALL)
    return sorted((kind, goal) for goal, kind in found)


def test_lessons_have_the_colour_of_their_verdict_and_gaps_are_beside_them(world: World, admin: Visitor) -> None:
    world.react(world.ask("which printer works?", "the blue one"), "👍")
    world.react(world.ask("when does the canteen open?", "at noon"), "👎")
    disputed = world.ask("which room has the screen?", "Turing")
    world.react(disputed, "👍", by="bo")
    world.react(disputed, "👎", by="chidi")
    unknown(world, "who may deploy?")
    assert points(admin.page("map")) == [
        ("bad", "when does the canteen open?"),
        ("gap", "who may deploy?"),
        ("good", "which printer works?"),
        ("warn", "which room has the screen?"),
    ]


def test_the_name_of_a_group_covers_no_other() -> None:
    rota = Group(x=100, y=100, radius=40, words=("rota", "swapped"), members=())
    office = Group(x=170, y=105, radius=40, words=("decide", "office"), members=())
    key = Group(x=400, y=100, radius=40, words=(), members=())
    shown = [(each.name, each.name_y) for each in shown_groups([rota, office, key], [])]
    assert shown == [("rota · swapped", 51.0), ("decide · office", 167.0), ("without words", 51.0)]


def test_or_that_of_whom_it_is_for(world: World, admin: Visitor) -> None:
    mine, ours, everybodys = (world.ask(f"{word} question?") for word in ("first", "second", "third"))
    world.react(mine)
    world.react(ours, by="tess", role=Role.TEACHER)
    world.react(everybodys, by="tess", role=Role.ADMIN)
    world.memory.curation.promote(WORKSPACE, everybodys.id, Audience.WORKSPACE, actor="tess", role=Role.ADMIN)
    assert points(admin.page("map", colour="audience")) == [
        ("calm", "second question?"),
        ("good", "third question?"),
        ("warn", "first question?"),
    ]


def test_what_nobody_judged_is_not_on_it_nor_what_was_archived(world: World, admin: Visitor) -> None:
    lesson = world.ask("which printer works?", "the blue one")
    world.react(lesson)
    assert points(admin.page("map")) == [("good", "which printer works?")]
    world.memory.curation.archive(WORKSPACE, lesson.id, actor="ana")
    assert "Nothing is on it yet" in admin.page("map")


def test_a_gap_is_taught_from_the_map_and_is_one_no_more(world: World, admin: Visitor) -> None:
    gap = unknown(world, "who has the key of the archive?")
    unknown(world, "who has the key of the archive, please?", person="bo")
    html = admin.page("map")
    assert html.count("Teach it") == 1
    assert "2 questions like it" in html
    after = admin.done(f"episodes/{gap}/correct", text="Bianca has it.", back="map")
    assert "it is a lesson now" in after
    assert "What to teach next" not in after
    assert points(after) == [("good", "who has the key of the archive?")]
    (event,) = re.findall(r'name="event" value="([^"]+)"', after)
    undone = admin.done(f"episodes/{gap}/uncorrect", event=event, back="map")
    assert "taken back" in undone
    assert len([kind for kind, _ in points(undone) if kind == "gap"]) == 2


def test_a_lesson_that_only_its_author_meets_settles_nothing_for_others(world: World, admin: Visitor) -> None:
    world.react(world.ask("who has the key?", "bo has it", of=scope("cy", channel="c2")))
    unknown(world, "who has the key?")
    assert ("gap", "who has the key?") in points(admin.page("map"))
    lesson = world.ask("who has the key?", "bo has it", of=scope("dora", channel="c1"))
    world.react(lesson, by="tess", role=Role.TEACHER)
    assert world.episode(lesson).verdicts.channel is Verdict.SUCCESS
    assert not [kind for kind, _ in points(admin.page("map")) if kind == "gap"]


def test_who_is_no_administrator_sees_what_was_said_in_public(world: World, nobody: Visitor) -> None:
    secret = scope("ana", channel="D1", visibility=Visibility.DIRECT)
    world.react(world.ask("secret lesson?", of=secret))
    world.ask("secret gap?", "I don't know.", of=secret, termination=Termination.FAILURE)
    world.react(world.ask("which printer works?"))
    unknown(world, "who may deploy?")
    nobody.log_in("vera")
    html = nobody.page("map")
    assert points(html) == [("gap", "who may deploy?"), ("good", "which printer works?")]
    assert "secret" not in html
    assert "Teach it" not in html
    nobody.log_in("tom")
    assert "Teach it" in nobody.page("map")


def test_what_people_write_stays_text(world: World, admin: Visitor) -> None:
    for text in HOSTILE:
        world.react(world.ask(text, text, of=scope(text, channel=text)), by="ana", role=Role.ADMIN)
        unknown(world, f"{text} unknown", person=text, channel=text)
    html = admin.page("map")
    assert "<script>alert" not in html
    assert "<img src=x" not in html
    assert "<svg/onload" not in html
    assert "\u202e" not in html
    assert "&lt;script&gt;alert(1)" in html
