"""A real browser, where this machine has one."""

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from playwright.async_api import Browser, Page, async_playwright

PROGRAM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), "")

needs_browser = pytest.mark.skipif(not PROGRAM, reason="there is no Chromium here: apt-get install chromium")


@asynccontextmanager
async def browser_running() -> AsyncIterator[Browser]:
    """Chromium without a window."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=PROGRAM, args=["--no-sandbox"])
        try:
            yield browser
        finally:
            await browser.close()


@asynccontextmanager
async def page_open(browser: Browser, **context: Any) -> AsyncIterator[Page]:
    """An empty page of a new visitor. Nothing may be reported in its console at the end."""
    async with await browser.new_context(**context) as visitor:
        page = await visitor.new_page()
        page.set_default_timeout(30_000)
        faults: list[str] = []
        page.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("dialog", lambda dialog: faults.append(f"a dialog: {dialog.message}"))
        yield page
        assert faults == []
