"""A real browser, where this machine has one; and what it looks at, served by a thread of this process."""

import asyncio
import shutil
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import pytest
from playwright import sync_api
from playwright.async_api import Browser, Page, async_playwright
from starlette.applications import Starlette

from bot.adapters.web.server import serving

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


@contextmanager
def chromium() -> Iterator[sync_api.Browser]:
    """The same for what waits for nothing else meanwhile."""
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=PROGRAM, args=["--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()


@contextmanager
def served(application: Starlette) -> Iterator[str]:
    """The application on a free port; its address."""
    is_there, is_over = threading.Event(), asyncio.Event()
    address: list[str] = []
    loops: list[asyncio.AbstractEventLoop] = []

    async def serve() -> None:
        loops.append(asyncio.get_running_loop())
        async with serving(application, host="127.0.0.1", port=0) as url:
            address.append(url)
            is_there.set()
            await is_over.wait()

    thread = threading.Thread(target=asyncio.run, args=[serve()])
    thread.start()
    is_there.wait(20)
    try:
        yield address[0]
    finally:
        loops[0].call_soon_threadsafe(is_over.set)
        thread.join()
