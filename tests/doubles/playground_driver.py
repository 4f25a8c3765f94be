"""The playground over HTTP: the real server and messenger, and people who fill in forms and read the stream."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from html import unescape
from itertools import count
from typing import Any

import httpx2

from bot.adapters.web.pages.site import Site
from bot.adapters.web.playground.messenger import PlaygroundMessenger
from bot.adapters.web.playground.persona import WORKSPACE
from bot.adapters.web.server import serving
from bot.model import MessageRef
from memory.adapters.system import utc_now
from memory.ports import Clock
from memory.services import Memory
from tests.doubles.pages import application_with, site_parts, token_in
from tests.doubles.sleep import Naps

PAGE = f"/w/{WORKSPACE}/playground"
TIMEOUT_S = 10.0


def make_messenger(clock: Clock = utc_now) -> PlaygroundMessenger:
    """A messenger whose answers grow at once."""
    numbers = count(1)
    return PlaygroundMessenger(clock=clock, new_id=lambda: f"id{next(numbers):06d}", sleep=Naps())


@asynccontextmanager
async def served(memory: Memory, messenger: PlaygroundMessenger, site: Site | None = None) -> AsyncIterator[str]:
    """The site with this playground, served to this machine, without a password if none is given; its URL."""
    site = site or site_parts(memory, password="", accounts=(), playground=messenger)
    async with serving(application_with(memory, site, workspace=WORKSPACE), host="127.0.0.1", port=0) as url:
        try:
            yield url
        finally:
            messenger.end()


@dataclass
class Tab:
    """A browser's tab with the page of one person open."""

    http: httpx2.AsyncClient
    person: str = "ana"
    channel: str = "general"
    role: str = "member"
    token: str = ""
    cards: dict[str, str] = field(default_factory=dict)
    """The newest state of each message, as HTML."""
    states: list[str] = field(default_factory=list)
    """Every state of every message."""
    progress: list[str] = field(default_factory=list)
    _more: asyncio.Condition = field(default_factory=asyncio.Condition)
    _reading: asyncio.Task[None] | None = None

    @property
    def persona(self) -> dict[str, str]:
        """The fields that every form has."""
        return {"person": self.person, "channel": self.channel, "role": self.role}

    async def open(self) -> str:
        """Load the page and follow its stream; the page."""
        page = await self.http.get(PAGE, params=self.persona)
        assert page.status_code == 200, page.text
        self.token = token_in(page.text)
        found = re.search(r'data-after="([^"]*)"', page.text)
        assert found is not None
        from_the_beginning = f"{found[1].rpartition('-')[0]}-0"
        self._reading = asyncio.create_task(self._read(from_the_beginning))
        return page.text

    async def close(self) -> None:
        """Close it."""
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)

    async def _read(self, after: str) -> None:
        query = {**self.persona, "after": after}
        async with self.http.stream("GET", f"{PAGE}/events", params=query, timeout=None) as response:
            kind = ""
            async for line in response.aiter_lines():
                name, _, value = line.partition(": ")
                kind = value if name == "event" else kind
                if name == "data":
                    await self._take(kind, json.loads(value))

    async def _take(self, kind: str, content: dict[str, Any]) -> None:
        async with self._more:
            if kind == "message":
                self.cards[content["id"]] = content["html"]
                self.states.append(content["html"])
            elif kind == "progress":
                self.progress.append(content["text"])
            self._more.notify_all()

    async def until(self, text: str) -> str:
        """The message that shows this text, once one does."""

        def found() -> str:
            return next((html for html in self.cards.values() if text in unescape(html)), "")

        async with asyncio.timeout(TIMEOUT_S), self._more:
            await self._more.wait_for(found)
        return found()

    async def until_card(self, message_id: str, wanted: Callable[[str], bool] = bool) -> None:
        """Until a message is there, and as wanted."""
        async with asyncio.timeout(TIMEOUT_S), self._more:
            await self._more.wait_for(lambda: wanted(self.cards.get(message_id, "")))

    async def until_state(self, text: str, count: int) -> None:
        """Until this text was in so many states of messages."""
        async with asyncio.timeout(TIMEOUT_S), self._more:
            await self._more.wait_for(lambda: sum(text in each for each in self.states) >= count)

    async def until_progress(self, text: str) -> None:
        """Until this is the line below the messages."""
        async with asyncio.timeout(TIMEOUT_S), self._more:
            await self._more.wait_for(lambda: self.progress[-1:] == [text])

    async def send(self, act: str, **fields: str) -> httpx2.Response:
        """Send one of the page's forms."""
        sent = {"token": self.token, "live": "yes", **self.persona, **fields}
        return await self.http.post(f"{PAGE}/{act}", data=sent)

    async def does(self, act: str, **fields: str) -> None:
        """Send one that must be taken."""
        response = await self.send(act, **fields)
        assert response.status_code == 204, (response.status_code, response.text)


class PlaygroundDriver:
    """People at tabs of their own, under the contract of all messengers."""

    workspace = WORKSPACE
    channel = "general"

    def __init__(self, url: str, messenger: PlaygroundMessenger, stack: AsyncExitStack) -> None:
        self.messenger = messenger
        self._url = url
        self._stack = stack
        self._tabs: dict[str, Tab] = {}

    async def tab(self, person: str, channel: str = "general", role: str = "member") -> Tab:
        """The tab of a person, with the page open; the first time it is asked for says where they sit."""
        if person not in self._tabs:
            http = await self._stack.enter_async_context(httpx2.AsyncClient(base_url=self._url, timeout=TIMEOUT_S))
            self._tabs[person] = Tab(http, person=person, channel=channel, role=role)
            await self._tabs[person].open()
            self._stack.push_async_callback(self._tabs[person].close)
        return self._tabs[person]

    async def person_posts(self, text: str, person: str = "ana") -> None:
        await (await self.tab(person)).does("write", text=text)

    async def person_reacts(self, ref: MessageRef, emoji: str, person: str = "ana") -> None:
        tab = await self.tab(person)
        await tab.until_card(ref.message_id)
        await tab.does("react", message=ref.message_id, emoji=emoji, added="yes")

    async def person_unreacts(self, ref: MessageRef, emoji: str, person: str = "ana") -> None:
        await (await self.tab(person)).does("react", message=ref.message_id, emoji=emoji, added="no")

    async def ends(self) -> None:
        await self._stack.aclose()

    def sent(self) -> str:
        return "\n".join(unescape(card) for card in self._tabs["ana"].cards.values())

    def emoji_spellings(self) -> list[str]:
        return ["👍", "👍🏽", "+1", "👎", "✔️", "partyparrot", "👩‍💻", "1️⃣", "🇫🇷"]
