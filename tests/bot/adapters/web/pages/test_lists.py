"""The overview and the list of episodes: what they show, how many statements they cost, and hostile text in them."""

import json
import re
from typing import NoReturn

import pytest

from memory.errors import StoreUnavailable
from memory.library.export import plain
from memory.model import Role, Termination, Visibility
from memory.services.reports.audit import Audit
from tests.doubles.memory_world import World, scope
from tests.doubles.pages import Visitor

HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "javascript:alert(1)",
    "{{ 7 * 7 }}{% raw %}",
    "</title></textarea><svg/onload=alert(1)>",
    "'-alert(1)-'",
    "\u202egnp.exe",
    "&lt;b&gt;",
)


def test_the_overview_counts(world: World, admin: Visitor) -> None:
    right, wrong = world.ask("one?"), world.ask("two?")
    world.ask("three?", termination=Termination.FAILURE)
    world.react(right, "👍")
    world.react(wrong, "👎")
    html = admin.page("overview")
    assert re.search(r"<dt>Questions</dt><dd>4</dd>", html)
    assert re.search(r"<dt>Answered</dt><dd>75%</dd>", html)
    assert re.search(r"<dt>👍 among reactions</dt><dd>50%</dd>", html)
    assert '<dd class="bad">50%</dd>' in html
    assert html.count("<svg") >= 4


def test_weeks_begin_on_monday(world: World) -> None:
    world.clock.now = world.clock.now.replace(day=22, hour=23)  # a Sunday
    world.ask("sunday?")
    world.clock.tick(hours=2)
    world.ask("monday?")
    weeks = world.memory.overviews.of("terminal:w").weeks
    assert [(f"{week.begins}", week.answered) for week in weeks[-2:]] == [("2026-11-16", 1), ("2026-11-23", 1)]


def test_lists_are_filtered_and_read_on(world: World, admin: Visitor) -> None:
    for number in range(60):
        world.ask(f"question {number}?", of=scope("bo", channel="c2" if number % 2 else "c1"))
    liked = world.ask("which printer?", "the blue one")
    world.react(liked, by="ana")
    first = admin.page("episodes")
    assert first.count('<td class="text">') == 50
    (older,) = re.findall(r'rel="next" href="([^"]+)"', first)
    assert admin.http.get(older.replace("&amp;", "&")).text.count('<td class="text">') == 12
    for query in ({"text": "PRINTER"}, {"verdict": "success"}, {"audience": "personal"}, {"text": "blue one"}):
        assert re.findall(r"<bdi>(which printer\?)</bdi>", admin.page("episodes", **query)) == ["which printer?"]
        assert admin.page("episodes", **query).count('<td class="text">') == 1
    assert admin.page("episodes", channel="c2").count('<td class="text">') == 30
    assert "Nothing is like that" in admin.page("episodes", until="2020-01-01")
    assert admin.page("episodes", until="9999-12-31").count('<td class="text">') == 50
    assert admin.page("episodes", since="2026-11-21", person="bo", verdict="nonsense").count('<td class="text">') == 50


def test_what_was_wrong_is_shown_as_it_was_said_with_what_was_right_behind_it(world: World, admin: Visitor) -> None:
    world.correct(world.ask("which printer?", "the red one"), "the blue one")
    for page in ("episodes", "map"):
        assert "the red one → the blue one" in admin.page(page)


def test_several_are_archived_and_promoted_at_once(world: World, admin: Visitor) -> None:
    one, two = world.ask("one?"), world.ask("two?")
    world.react(two)
    assert "2 archived" in admin.done("episodes", chosen=[one.id, two.id], what="archive")
    assert world.episode(one).archived_at is not None
    assert "2 restored" in admin.done("episodes", chosen=[one.id, two.id], what="restore")
    assert "1 promoted" in admin.done("episodes", chosen=[two.id], what="workspace", query="text=two")
    assert world.episode(two).promoted is not None
    actors = {each.actor for each in world.memory.audit.run(two.workspace, two.run_id).events}
    assert "web:admin" in actors
    assert "1 could not be" in admin.done("episodes", chosen=["nobody"], what="archive")


def test_what_was_done_to_several_is_undone_at_once(world: World, admin: Visitor) -> None:
    many = [world.ask(f"question {number}?", of=scope("bo")) for number in range(50)]
    for each in many:
        world.react(each, by="bo")
    ids = [each.id for each in many]
    for what, undone in (("archive", "50 restored"), ("workspace", "50 shared no more")):
        html = admin.done("episodes", chosen=ids, what=what, query="person=bo")
        found = re.search(r'action="/w/[^/]+/episodes">(.*?)<button>Undo', html, re.DOTALL)
        assert found is not None
        fields = dict(re.findall(r'name="(what|ids|query)" value="([^"]*)"', found[1]))
        assert undone in admin.done("episodes", **fields)
    assert {(world.episode(each).archived_at, world.episode(each).promoted) for each in many} == {(None, None)}


def test_what_was_shared_before_is_not_taken_from_others_by_undoing(world: World, admin: Visitor) -> None:
    one, two = world.ask("one?"), world.ask("two?")
    for each in (one, two):
        world.react(each)
    admin.done("episodes", chosen=[one.id], what="channel")
    assert "Undo" not in admin.done("episodes", chosen=[one.id, two.id], what="workspace")


def test_lists_are_files_too(world: World, admin: Visitor) -> None:
    asked = world.ask("=1+1", "@SUM(1)")
    lines = admin.page("episodes.jsonl").splitlines()
    assert [json.loads(line)["goal"] for line in lines] == ["=1+1", "where is the key?"]
    whole = world.memory.audit.get("terminal:w", asked.id)
    assert whole.trajectory
    assert json.loads(lines[0]) == json.loads(json.dumps(plain(whole)))
    table = admin.page("episodes.csv", text="=1")
    assert "'=1+1,'@SUM(1)" in table
    assert len(table.splitlines()) == 2


@pytest.mark.parametrize("path", ["episodes.csv", "episodes.jsonl"])
def test_a_file_that_cannot_be_begun_is_a_page_that_says_why(
    admin: Visitor, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    def away(*_: object) -> NoReturn:
        raise StoreUnavailable("The database cannot be reached.")

    monkeypatch.setattr(Audit, "whole", away)
    response = admin.get(path)
    assert response.status_code == 503
    assert "The database cannot be reached." in response.text


def test_only_administrators_see_what_was_said_in_private(world: World, nobody: Visitor) -> None:
    secret = world.ask("secret?", of=scope("ana", channel="D1", visibility=Visibility.DIRECT))
    nobody.log_in("tom")
    assert "secret" not in nobody.page("episodes")
    assert "secret" not in nobody.page("episodes.jsonl")
    assert "1 could not be" in nobody.done("episodes", chosen=[secret.id], what="archive")
    nobody.log_in()
    assert "secret?" in nobody.page("episodes")


@pytest.mark.parametrize("page", ["overview", "episodes", "episodes?text=%3Cscript%3E&channel=%22%3E"])
def test_what_people_write_stays_text(world: World, admin: Visitor, page: str) -> None:
    for text in HOSTILE:
        place = scope(text, channel=text)
        world.react(world.ask(text, text, of=place, termination=Termination.FAILURE), by="ana", role=Role.ADMIN)
    html = admin.page(page)
    assert "<script>alert" not in html
    assert "<img src=x" not in html
    assert "<svg/onload" not in html
    assert "\u202e" not in html
    if page == "episodes":
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
        assert "{{ 7 * 7 }}" in html
