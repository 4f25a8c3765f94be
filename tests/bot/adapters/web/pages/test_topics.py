"""Topics on the pages: what is listed for whom, changed and taken back, archived, and what it costs."""

import re

import pytest

from memory.model import Role, Visibility
from tests.bot.adapters.web.pages.test_lists import HOSTILE
from tests.doubles.memory_world import World, scope
from tests.doubles.pages import Visitor

TESS = scope("tess")


@pytest.fixture
def world(world: World) -> World:
    world.memory.facts.change(TESS, "deploy", "owner", "Priya", role=Role.TEACHER)
    world.clock.tick(days=2)
    return world


def address(html: str, act: str) -> str:
    """Where a form of the page is sent to."""
    (found, *_) = re.findall(rf'action="/w/[^/]+/(topics/[^/"]+/{act})"', html)
    return str(found)


def test_it_is_changed_from_the_page_with_its_history_and_taken_back(world: World, admin: Visitor) -> None:
    html = admin.page("topics")
    changing = address(html, "change")
    after = admin.done(changing, name="owner", value="Aya", before="Priya", why="handoff")
    assert "owner is Aya from now on." in after
    assert re.search(r"<bdi>Aya</bdi><p><bdi>handoff</bdi></p>", after)
    assert re.search(r"<li><bdi>Priya</bdi>", after)
    ((undo, fields),) = re.findall(
        r'<form method="post" action="/w/[^/]+/(topics/[^"]+)">(.*?)<button>Undo', after, re.S
    )
    sent = dict(re.findall(r'name="(name|revision)" value="([^"]*)"', fields))
    undone = admin.done(undo, **sent)
    assert "owner is what it was before." in undone
    assert re.search(r'<td class="full"><bdi>Priya</bdi>', undone)
    assert "nothing was taken back" in admin.done(undo, **sent)
    assert "owner was Priya already." in admin.done(changing, name="owner", value="Priya", before="Priya")
    (topic,) = world.memory.facts.listed(TESS)
    assert [each.value for each in topic.fields[0].history] == ["Priya", "Aya", "Priya"]
    trail = world.memory.world.trail(TESS, topic.topic.id)
    assert [event.actor for event in trail] == ["tess", "tess", "web:admin", "web:admin", "web:admin"]
    assert admin.page(f"topics/{topic.topic.id}").count("web:admin") == 3


def test_it_is_archived_and_restored(world: World, admin: Visitor) -> None:
    archived = admin.done(address(admin.page("topics"), "archive"))
    assert "Archived: it is told no more." in archived
    assert world.memory.facts.listed(TESS) == []
    assert "Restored." in admin.done(address(archived, "restore"))
    assert [each.title for each in world.memory.facts.listed(TESS)] == ["deploy"]


def test_something_new_is_noted_for_a_channel_or_for_everybody(world: World, admin: Visitor) -> None:
    admin.done("topics", title="standup", name="room", value="4.12", channel="c2")
    admin.done("topics", title="retro", name="room", value="5", channel="")
    assert [each.title for each in world.memory.facts.listed(scope("bo", channel="c2"))] == ["retro", "standup"]
    assert [each.title for each in world.memory.facts.listed(scope("bo", channel="c3"))] == ["retro"]
    assert admin.send("topics", title=" ", name="room", value="5").status_code == 422


def test_what_was_noted_is_undone_alone_if_it_joined_what_was_known(world: World, admin: Visitor) -> None:
    noted = admin.done("topics", title="retro", name="room", value="5", channel="")
    (undo,) = re.findall(r'<form method="post" action="/w/[^/]+/(topics/[^"/]+/archive)">[^/]*<button>Undo', noted)
    joined = admin.done("topics", title="retro", name="floor", value="2", channel="")
    assert "floor is 2 from now on." in joined
    ((back, fields),) = re.findall(r'action="/w/[^/]+/(topics/[^"]+/undo)">(.*?)<button>Undo', joined, re.S)
    admin.done(back, **dict(re.findall(r'name="(name|revision)" value="([^"]*)"', fields)))
    retro = next(each for each in world.memory.facts.listed(TESS) if each.title == "retro")
    values = {field.name: field.current.value for field in retro.fields if field.current is not None}
    assert values == {"room": "5", "floor": None}
    admin.done(undo)
    assert [each.title for each in world.memory.facts.listed(TESS)] == ["deploy"]


def test_who_is_no_administrator_sees_what_is_public_and_viewers_change_nothing(world: World, nobody: Visitor) -> None:
    private = scope("ana", channel="p1", visibility=Visibility.PRIVATE)
    for place, role in ((private, Role.TEACHER), (scope("ana"), Role.MEMBER)):
        world.memory.facts.change(place, f"secret {role.value}", "code", "4711", role=role)
    nobody.log_in("vera")
    html = nobody.page("topics")
    assert "deploy" in html
    assert "secret" not in html
    assert "4711" not in html
    assert "Archive" not in html
    (topic,) = world.memory.facts.listed(TESS)
    assert nobody.send(f"topics/{topic.topic.id}/archive").status_code == 403
    nobody.log_in("tom")
    assert "secret" not in nobody.page("topics")
    (hidden,) = [each for each in world.memory.facts.listed(private) if each.title == "secret teacher"]
    assert nobody.send(f"topics/{hidden.topic.id}/archive").status_code == 404
    assert nobody.get(f"topics/{hidden.topic.id}").status_code == 404
    nobody.log_in()
    html = nobody.page("topics")
    assert "secret teacher" in html
    (own,) = [each for each in world.memory.facts.listed(scope("ana")) if each.title == "secret member"]
    assert nobody.send(f"topics/{own.topic.id}/change", name="code", value="1").status_code == 422


def test_it_is_found_by_text_and_read_on(world: World, admin: Visitor) -> None:
    for number in range(30):
        world.memory.facts.change(TESS, f"thing {number:02}", "room", str(number), role=Role.TEACHER)
    html = admin.page("topics")
    assert html.count('<article class="card topic') == 25
    (more,) = re.findall(r'rel="next" href="([^"]+)"', html)
    assert admin.http.get(more.replace("&amp;", "&")).text.count('<article class="card topic') == 6
    assert admin.page("topics", text="DEPLOY").count('<article class="card topic') == 1
    assert "like that" in admin.page("topics", text="nothing")
    assert admin.get("topics", after="nonsense").status_code == 200


def test_what_people_write_stays_text(world: World, admin: Visitor) -> None:
    for text in HOSTILE:
        for value in (text, f"{text}!"):
            world.memory.facts.change(scope(text, channel=text), text, text, value, role=Role.TEACHER)
    html = admin.page("topics")
    assert "<script>alert" not in html
    assert "<img src=x" not in html
    assert "<svg/onload" not in html
    shown = re.sub(r'<input type="hidden"[^>]*>', "", html)  # what names a property is sent as it is stored
    assert "\u202e" not in shown
