"""The playground as people use it: in a real Chromium, with the offline model."""

import re

import pytest
from playwright.async_api import Locator, Page, expect

from tests.bot.adapters.web.pages.test_lists import HOSTILE
from tests.bot.adapters.web.playground.conftest import Playing
from tests.doubles.browser import browser_running, needs_browser, page_open
from tests.doubles.playground_driver import PAGE

pytestmark = [needs_browser, pytest.mark.slow]


async def asks(page: Page, text: str) -> Locator:
    """Type a question; its answer, once it is whole."""
    answers = page.locator(".message.bot:has(button:text('Why?'))")
    before = await answers.count()
    await page.get_by_label("Say something as").fill(text)
    await page.keyboard.press("Enter")
    await expect(answers).to_have_count(before + 1)
    return answers.nth(before)


async def test_what_is_taught_changes_the_next_answer(learning: Playing) -> None:
    async with browser_running() as browser, page_open(browser) as page:
        await page.goto(learning.url)
        answer = await asks(page, "who owns the deploy pipeline?")
        await expect(answer).to_contain_text("I don't know")
        await answer.get_by_text("Correct it").click()
        await answer.get_by_label("What would have been right?").fill("Olga of the platform team.")
        await answer.get_by_role("button", name="Teach it").click()
        await expect(answer.locator(".beside")).to_contain_text("Saved as your lesson")
        await expect(answer.get_by_role("button", name="Teach it")).to_be_hidden()

        answer = await asks(page, "who owns the deploy pipeline?")
        await expect(answer).to_contain_text("Olga of the platform team.")
        await answer.get_by_role("button", name="👍").click()
        await expect(answer.get_by_role("button", name="👍 1", pressed=True)).to_be_visible()
        await expect(answer.locator(".mark")).to_have_text("🧠")
        await answer.get_by_role("button", name="Why?").click()
        await expect(answer.locator(".beside")).to_contain_text("Lessons it was shown")

        await page.get_by_label("Person").fill("ben")
        await page.get_by_role("button", name="Go there").click()
        await expect(page.locator(".beside")).to_have_count(0)
        await expect(page.locator(".message.bot")).to_have_count(2)


async def test_it_is_used_with_the_keyboard_alone_and_on_a_phone(playing: Playing) -> None:
    async with browser_running() as browser, page_open(browser, viewport={"width": 380, "height": 760}) as page:
        await page.goto(f"{playing.url}{PAGE}")
        answer = await asks(page, "capital of France?")
        assert await page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        await page.keyboard.press("Shift+Tab")  # back from the text to the last message
        for _ in range(10):
            if await page.evaluate("document.activeElement.textContent.includes('👍')"):
                break
            await page.keyboard.press("Shift+Tab")
        await page.keyboard.press("Space")
        await expect(answer.get_by_role("button", name=re.compile("👍 1"), pressed=True)).to_be_focused()


async def test_hostile_text_runs_nothing(playing: Playing) -> None:
    async with browser_running() as browser, page_open(browser) as page:
        await page.goto(f"{playing.url}{PAGE}")
        for text in HOSTILE:
            await asks(page, text)
        await page.reload()
        await expect(page.locator(".message.bot")).to_have_count(len(HOSTILE))
        assert await page.locator(".messages img, .messages script, .messages svg").count() == 0


async def test_two_browsers_see_the_same_channel(playing: Playing) -> None:
    async with browser_running() as browser, page_open(browser) as ana, page_open(browser) as ben:
        await ana.goto(f"{playing.url}{PAGE}?person=ana")
        await ben.goto(f"{playing.url}{PAGE}?person=ben")
        await asks(ana, "capital of France?")
        await expect(ben.locator(".message.bot")).to_contain_text("the answer to capital of France?")
        await ben.get_by_role("button", name="👎").click()
        await expect(ana.get_by_role("button", name="👎 1", pressed=False)).to_be_visible()
        await expect(ben.locator(".beside textarea")).to_be_visible()
        await expect(ana.locator(".beside")).to_have_count(0)
