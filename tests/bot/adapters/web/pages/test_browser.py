"""The pages as people use them, in a real Chromium: by mouse, by key, without JavaScript, on a phone, in the dark."""

import json
import re
from collections.abc import Iterator

import pytest
from axe_core_python.sync_playwright import Axe
from playwright.sync_api import Browser, ConsoleMessage, Page, expect

from bot.adapters.web.pages.site import PAGES
from memory.adapters.sql import SqlStore
from memory.model import Audience, Verdict
from tests.bot.adapters.web.pages.test_lists import HOSTILE
from tests.doubles.browser import chromium, needs_browser, served
from tests.doubles.demo_world import demo_world
from tests.doubles.memory_world import World, scope
from tests.doubles.pages import PASSWORD, WORKSPACE, Visitor, site_parts

pytestmark = [pytest.mark.browser, needs_browser, pytest.mark.slow]

LISTED = [page.name for page in PAGES if page.is_listed and page.name != "playground"]
"""The playground is a world of its own, with tests of its own."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


@pytest.fixture
def world() -> World:
    return demo_world(SqlStore.in_memory(), weeks=2)


@pytest.fixture
def address(world: World) -> Iterator[str]:
    with served(Visitor(world.memory, site_parts(world.memory)).application) as url:
        yield url


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    """An administrator's, where nothing is refused by the content security policy and no dialog opens."""
    context = browser.new_context(base_url=address, viewport={"width": 1280, "height": 900})
    page = context.new_page()
    faults: list[str] = []
    page.on("console", lambda message: faults.append(_line(message)) if message.type == "error" else None)
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("dialog", lambda dialog: faults.append(dialog.message))
    log_in(page)
    yield page
    context.close()
    assert faults == []


def _line(message: ConsoleMessage) -> str:
    return f"{message.text} {message.location}"


def log_in(page: Page) -> None:
    page.goto("/")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()


def at(path: str) -> str:
    return f"/w/{WORKSPACE}/{path}"


def test_from_the_overview_to_a_verdict_and_back(world: World, page: Page) -> None:
    expect(page.locator("figure.chart svg").first).to_be_visible()
    page.get_by_role("link", name="Episodes").click()
    page.get_by_label("Text").fill("big screen")
    page.get_by_role("button", name="Show").click()
    page.get_by_role("link", name="which meeting room has the big screen?").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("which meeting room has the big screen?")
    episode = world.memory.audit.find(page.url.rpartition("/")[2])
    assert episode.verdicts.channel is not Verdict.SUCCESS
    page.keyboard.press("g")
    expect(page.get_by_role("status")).to_contain_text("Your verdict: success")
    assert world.episode(episode).verdicts.channel is Verdict.SUCCESS
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("status")).to_contain_text("taken back")
    assert world.episode(episode).verdicts == episode.verdicts
    page.get_by_text("Correct it").click()
    page.get_by_label("What would have been right").fill("The one called Hopper.")
    page.keyboard.press("g")  # somebody writes: no verdict
    page.get_by_role("button", name="Correct", exact=True).click()
    expect(page.get_by_role("status")).to_contain_text("it is a lesson now")


def test_several_are_chosen_at_once(page: Page) -> None:
    page.goto(at("episodes"))
    boxes = page.get_by_role("checkbox", name="Choose")
    boxes.nth(0).click()
    boxes.nth(3).click(modifiers=["Shift"])
    expect(page.get_by_text("4 chosen")).to_be_visible()
    page.get_by_role("button", name="Do it").click()
    expect(page.get_by_role("status")).to_contain_text("4 archived")


def test_several_are_shared_at_once_and_the_list_stays_as_it_was_filtered(world: World, page: Page) -> None:
    page.goto(at("episodes?verdict=success&audience=channel"))
    boxes = page.get_by_role("checkbox", name="Choose")
    chosen = [boxes.nth(place).get_attribute("value") or "" for place in (0, 1)]
    for place in (0, 1):
        boxes.nth(place).check()
    page.get_by_label("Chosen:").select_option("promote to the workspace")
    page.get_by_role("button", name="Do it").click()
    expect(page.get_by_role("status")).to_contain_text("2 promoted")
    expect(page.get_by_label("Verdict")).to_have_value("success")
    assert [world.memory.audit.find(each).promoted for each in chosen] == [Audience.WORKSPACE] * 2
    page.get_by_role("link", name="JSON").evaluate("link => { link.target = '_self' }")
    with page.expect_download() as saved:
        page.get_by_role("link", name="JSON").click()
    lines = saved.value.path().read_text("utf-8").splitlines()
    assert {json.loads(line)["verdicts"]["channel"] for line in lines} == {"success"}


def test_the_map_is_walked_by_key_and_taught_from(world: World, page: Page) -> None:
    page.goto(at("map"))
    first = page.locator("svg a[data-goal]").first
    first.focus()
    expect(page.locator("[data-under]")).to_contain_text(first.get_attribute("data-goal") or "?")
    reached = {page.evaluate("document.activeElement.dataset.goal")}
    for key in ("ArrowRight", "ArrowDown", "ArrowLeft", "ArrowUp") * 6:
        page.keyboard.press(key)
        reached.add(page.evaluate("document.activeElement.dataset.goal"))
    assert len(reached) > 3
    assert page.locator('svg a[tabindex="0"]').count() == 1
    page.get_by_role("link", name="audience").click()
    expect(page.locator(".legend")).to_contain_text("channel")
    gap = page.locator(".next a").first.inner_text()
    page.get_by_text("Teach it").first.click()
    page.get_by_label(f"The right answer to “{gap}”").fill("We stay where we are.")
    page.get_by_role("button", name="Teach", exact=True).first.click()
    expect(page.get_by_role("status")).to_contain_text("it is a lesson now")
    expect(page.locator(".next")).not_to_contain_text(gap)
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".next")).to_contain_text(gap)


def test_a_point_leads_to_its_episode(page: Page) -> None:
    page.goto(at("map"))
    goal = page.locator("svg a[data-goal]").nth(2).get_attribute("data-goal") or ""
    page.locator("svg a[data-goal]").nth(2).press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text(goal)


def test_the_review_queue_by_key(page: Page) -> None:
    page.goto(at("review"))
    expect(page.get_by_role("heading", name="what are the deployment rules?")).to_be_visible()
    page.keyboard.press("n")
    expect(page.get_by_role("heading", name="when does the canteen open?")).to_be_visible()
    page.keyboard.press("x")
    expect(page.get_by_role("heading", name="which meeting room has the big screen?")).to_be_visible()


def test_without_scripts_everything_is_decided_by_buttons(browser: Browser, address: str) -> None:
    context = browser.new_context(base_url=address, java_script_enabled=False)
    page = context.new_page()
    log_in(page)
    page.goto(at("review"))
    page.get_by_role("button", name="Archive").click()
    expect(page.get_by_role("heading", name="when does the canteen open?")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("heading", name="what are the deployment rules?")).to_be_visible()
    page.goto(at("overview"))
    expect(page.locator("svg rect").first).to_be_visible()
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nobody_is_kept_out_and_nothing_is_wider_than_a_phone(
    world: World, page: Page, browser: Browser, scheme: str
) -> None:
    episode = page.goto(at("episodes"))
    assert episode is not None
    one = page.locator("table.list a").first.get_attribute("href") or ""
    state = page.context.storage_state()
    phone = browser.new_context(
        base_url=page.url.partition("/w/")[0],
        storage_state=state,
        color_scheme="dark" if scheme == "dark" else "light",
        viewport={"width": 390, "height": 844},
    )
    seen = phone.new_page()
    for path in [*map(at, LISTED), one, f"{one}/recall", at("people?person=ana")]:
        _look(seen, path)
    phone.close()


def _look(page: Page, path: str) -> None:
    page.goto(path)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path
    found = Axe().run(page, options={"resultTypes": ["violations"]})["violations"]
    grave = [each for each in found if each["impact"] in ("serious", "critical")]
    serious = [(each["id"], node["html"], node["failureSummary"]) for each in grave for node in each["nodes"]]
    assert serious == [], path


def test_the_dark_is_dark(browser: Browser, address: str) -> None:
    context = browser.new_context(base_url=address, color_scheme="dark")
    page = context.new_page()
    page.goto("/login")
    colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert max(int(part) for part in re.findall(r"\d+", colour)[:3]) < 60
    context.close()


def test_what_people_write_runs_nowhere(world: World, page: Page) -> None:
    paths = [at(path) for path in LISTED]
    for text in HOSTILE:
        episode = world.ask(text, text, of=scope(text, channel=text))
        world.react(episode, by=text)
        lesson = world.correct(episode, f"{text} is right", by=text)
        paths += [at(f"episodes/{each.id}") for each in (episode, lesson)] + [at(f"episodes/{episode.id}/recall")]
    for path in paths:
        page.goto(path)
        assert page.locator("main script, main img, main iframe").count() == 0, path
    page.goto(at("episodes"))
    expect(page.get_by_text("<script>alert(1)</script>", exact=True).first).to_be_visible()


def test_the_keyboard_reaches_the_content_first(page: Page) -> None:
    page.goto(at("overview"))
    page.keyboard.press("Tab")
    skip = page.get_by_role("link", name="Skip to the content")
    expect(skip).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()
