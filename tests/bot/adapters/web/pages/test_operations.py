"""People, jobs, the audit log, settings and health: what they show and do, for administrators alone."""

import json
import re

import pytest

from bot.adapters.web.health import Check
from memory.model import Role, Verdict
from tests.bot.adapters.web.pages.test_lists import HOSTILE
from tests.doubles.memory_world import World, scope
from tests.doubles.pages import Visitor, site_parts

ADMINISTRATION = ("people", "jobs", "log", "settings", "health")


@pytest.mark.parametrize("page", ADMINISTRATION)
@pytest.mark.parametrize("who", ["vera", "tom"])
def test_only_administrators_look_here(nobody: Visitor, page: str, who: str) -> None:
    nobody.log_in(who)
    assert nobody.get(page).status_code == 403
    assert f'/{page}"' not in nobody.page("overview")
    nobody.log_in()
    assert nobody.get(page).status_code == 200


def test_a_person_is_shown_and_copied(world: World, admin: Visitor) -> None:
    world.react(world.ask("where is the key?", "under the mat", of=scope("bo")), by="bo")
    assert "<bdi>bo</bdi>" in admin.page("people")
    html = admin.page("people", person="bo")
    assert re.search(r"reactions</th><td class=\"number\">1<", html)
    copy = json.loads(admin.page("people/export", person="bo"))
    assert "under the mat" in json.dumps(copy)
    assert "Nothing is held" in admin.page("people", person="stranger")


def test_what_a_person_taught_is_taken_back_after_a_look(world: World, admin: Visitor) -> None:
    episode = world.ask("where is the key?", "under the mat", of=scope("bo"))
    world.react(episode, by="bo")
    response = admin.send("people/plan", person="bo")
    assert response.status_code == 200
    assert "<p>1 vote; and 1 other lesson that rested on it back to pending.</p>" in response.text
    assert world.episode(episode).verdict is Verdict.SUCCESS
    assert "Taken back: 1 vote" in admin.done("people/purge", person="bo")
    assert world.episode(episode).verdict is Verdict.PENDING
    assert "they taught nothing" in admin.send("people/plan", person="bo").text
    assert "purged" in admin.page("log", actor="web:admin")


def test_forgetting_says_what_stays_with_others(world: World, admin: Visitor) -> None:
    world.correct(world.ask("where is the key?", of=scope("bo")), "in the drawer", by="tea", role=Role.TEACHER)
    told = admin.done("people/forget", person="bo", again="bo")
    assert "1 lesson that somebody else wrote stays theirs, without the question." in told


def test_forgetting_asks_for_the_name_again(world: World, admin: Visitor) -> None:
    world.ask("where is the key?", "under the mat", of=scope("bo"))
    assert admin.send("people/forget", person="bo", again="ana").status_code == 422
    assert admin.send("people/forget", person="", again="").status_code == 422
    assert "Erased: 1 message, 1 remembered answer" in admin.done("people/forget", person="bo", again="bo")
    assert "Nothing is held" in admin.page("people", person="bo")
    log = admin.page("log", kind="forgotten")
    assert "web:admin" in log
    assert ">bo<" not in log


def test_the_log_stays_when_the_last_person_of_a_workspace_is_forgotten(world: World, admin: Visitor) -> None:
    admin.done("people/forget", person="ana", again="ana")
    assert world.memory.privacy.people("terminal:w", limit=10) == []
    assert "web:admin" in admin.page("log", kind="forgotten")


def test_jobs_run_when_told(admin: Visitor) -> None:
    assert "sweep" in admin.page("jobs")
    assert "sweep: 0 ledger rows" in admin.done("jobs/sweep")
    html = admin.page("log", kind="job_run", actor="web:admin")
    assert re.search(r"<th scope=\"row\">job run</th><td><bdi>web:admin</bdi></td>.*&#34;sweep&#34;", html)
    assert admin.send("jobs/nothing").status_code == 422


def test_the_log_is_read_on_and_filtered(world: World, admin: Visitor) -> None:
    for number in range(40):
        world.react(world.ask(f"question {number}?", of=scope("bo")), by="chidi")
    first = admin.page("log")
    assert first.count("<tr>") == 101
    (older,) = re.findall(r'rel="next" href="([^"]+)"', first)
    second = admin.http.get(older.replace("&amp;", "&")).text
    assert second.count("<tr>") > 1
    votes = admin.page("log", actor="chidi", kind="voted")
    assert votes.count("<tr>") == 41
    assert admin.page("log", before="-1", kind="nonsense").count("<tr>") == 101
    assert "Nothing like that" in admin.page("log", actor="stranger")


def test_what_happened_to_topics_is_in_the_log_with_everything_else(world: World, admin: Visitor) -> None:
    world.clock.tick(minutes=1)
    token = admin.token()
    for number in range(60):
        world.clock.tick()
        sent = admin.send("topics", token=token, title=f"thing {number}", name="room", value="4", channel="")
        assert sent.status_code == 303
        if number % 2:
            world.react(world.ask(f"question {number}?"), by="bo")
    (topic, *_) = world.memory.facts.listed(scope("bo"))
    world.memory.world.query(scope("bo"), {"q": topic.title})  # attention is no change
    html = ""
    for query in ({}, {"actor": "web:admin"}, {"kind": "topics"}):
        html, seen = admin.page("log", **query), list[str]()
        while True:
            seen += re.findall(r'<tr><td><time datetime="([^"]+)"', html)
            more = re.findall(r'rel="next" href="([^"]+)"', html)
            if not more:
                break
            html = admin.http.get(more[0].replace("&amp;", "&")).text
        assert seen == sorted(seen, reverse=True)
        assert len(seen) == (120 if query else 120 + len(_events(world)))
    assert "topic created" in html
    assert "question" not in html


def _events(world: World) -> list[object]:
    with world.memory.store.read() as tx:
        return list(tx.log.newest("terminal:w", limit=10_000))


def test_settings_and_health(world: World, admin: Visitor) -> None:
    html = admin.page("settings")
    assert "openai_api_key" in html
    assert "(set)" in html
    visitor = Visitor(world.memory, site_parts(world.memory, checks=(Check("database", lambda: "fine"), BROKEN)))
    visitor.log_in()
    html = visitor.page("health")
    assert "Something is missing" in html
    assert "no route to host" in html
    assert "fine" in html


def no_route() -> str:
    raise OSError("no route to host")


BROKEN = Check("slack", no_route)


def test_hostile_text_stays_text(world: World, admin: Visitor) -> None:
    for text in HOSTILE:
        world.react(world.ask(text, text, of=scope(text)), by=text)
        for html in (admin.page("people"), admin.page("people", person=text), admin.page("log", actor=text)):
            assert not re.search(r"<script(?![^>]*\bsrc=\"/static)|<img src=x|<svg/onload", html)
