"""Takes the picture of the pages that the README shows: `python -m tests.screenshots`. Needs a Chromium.

With a folder as argument, pictures of every page go there: light and dark, wide and on a phone.
"""

import sys
from pathlib import Path

from playwright.sync_api import Browser

from bot.adapters.web.pages.site import PAGES
from memory.adapters.sql import SqlStore
from tests import CHECKOUT
from tests.doubles.browser import PROGRAM, chromium, served
from tests.doubles.demo_world import demo_world
from tests.doubles.pages import WORKSPACE, Visitor, site_parts

PICTURE = CHECKOUT / "config" / "overview.png"
_SIZES = {"wide": (1280, 900), "phone": (390, 844)}


def main(folder: Path | None) -> None:
    """The README's picture, or all of them."""
    if not PROGRAM:
        sys.exit("there is no Chromium: apt-get install chromium")
    world = demo_world(SqlStore.in_memory())
    site = site_parts(world.memory, password="", accounts=())
    with served(Visitor(world.memory, site).application) as address, chromium() as browser:
        if folder is None:
            _take(browser, f"{address}/w/{WORKSPACE}/overview", PICTURE, (1280, 720), scheme="light", is_whole=False)
            return
        folder.mkdir(parents=True, exist_ok=True)
        for page in PAGES:
            for scheme in ("light", "dark"):
                for name, size in _SIZES.items():
                    target = folder / f"{page.name}-{scheme}-{name}.png"
                    if page.is_listed and page.name != "playground":
                        _take(browser, f"{address}/w/{WORKSPACE}/{page.name}", target, size, scheme=scheme)


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


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
