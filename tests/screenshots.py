"""Takes the pictures that the README shows: `python -m tests.screenshots`. Needs a Chromium.

With a folder as argument, pictures of every page go there: light and dark, wide and on a phone.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Browser, Locator, Page, expect

from bot.adapters.web.pages.site import PAGES
from memory.adapters.sql import SqlStore
from tests import CHECKOUT
from tests.doubles.browser import PROGRAM, chromium, served
from tests.doubles.demo_world import demo_world
from tests.doubles.pages import WORKSPACE, Visitor, site_parts
from tests.doubles.process import GOODBOT, Chat, Home

OVERVIEW, TEACHING = CHECKOUT / "config" / "overview.png", CHECKOUT / "config" / "teaching.png"
_SIZES = {"wide": (1280, 900), "phone": (390, 844)}


def main(folder: Path | None) -> None:
    """The README's pictures, or those of every page."""
    if not PROGRAM:
        sys.exit("there is no Chromium: apt-get install chromium")
    with chromium() as browser:
        if folder is None:
            _take_teaching(browser)
        with _demo() as address:
            if folder is None:
                _take(browser, f"{address}/overview", OVERVIEW, (1280, 720), scheme="light", is_whole=False)
            else:
                _take_all(browser, address, folder)


@contextmanager
def _demo() -> Iterator[str]:
    """The pages of a workspace that people have used for three months; their address."""
    world = demo_world(SqlStore.in_memory())
    site = site_parts(world.memory, password="", accounts=())
    with served(Visitor(world.memory, site).application) as address:
        yield f"{address}/w/{WORKSPACE}"


def _take_all(browser: Browser, address: str, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for page in PAGES:
        for scheme in ("light", "dark"):
            for name, size in _SIZES.items():
                target = folder / f"{page.name}-{scheme}-{name}.png"
                if page.is_listed and page.name != "playground":
                    _take(browser, f"{address}/{page.name}", target, size, scheme=scheme)


def _take(
    browser: Browser, address: str, target: Path, size: tuple[int, int], *, scheme: str, is_whole: bool = True
) -> None:
    context = browser.new_context(
        color_scheme="dark" if scheme == "dark" else "light", viewport={"width": size[0], "height": size[1]}
    )
    page = context.new_page()
    page.goto(address)
    page.screenshot(path=target, full_page=is_whole)
    context.close()


def _take_teaching(browser: Browser) -> None:
    """The conversation of the README in the playground of `goodbot web`."""
    with TemporaryDirectory() as folder:
        home = Home(Path(folder), GOODBOT_EMBEDDER_NAME="packaged", GOODBOT_WEB_PORT="0")
        with Chat([*GOODBOT, "web"], home.folder, home.environment({})) as process:
            address = process.wait_for("Serving at").split()[2].rstrip(".")
            page = browser.new_page(viewport={"width": 1040, "height": 1000})
            page.goto(f"{address}/w/playground:test/playground")
            answer = _ask(page, "where is the spare key?")
            answer.get_by_role("button", name="👎").click()
            answer.locator(".beside textarea").fill("Under the blue pot.")
            answer.locator(".beside").get_by_role("button", name="Teach it").click()
            expect(answer.locator(".beside")).to_contain_text("Saved as your lesson")
            answer = _ask(page, "where do I find the spare key?")
            answer.get_by_role("button", name="👍").click()
            expect(answer.locator(".mark")).to_have_text("🧠")
            page.locator(".messages").screenshot(path=TEACHING)


def _ask(page: Page, text: str) -> Locator:
    """Type a question; its answer, once it is whole."""
    answers = page.locator(".message.bot:has(button:text('Why?'))")
    before = answers.count()
    page.get_by_label("Say something as").fill(text)
    page.keyboard.press("Enter")
    expect(answers).to_have_count(before + 1, timeout=120_000)  # the first one waits for the embedder
    return answers.nth(before)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
