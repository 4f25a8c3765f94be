"""The terminal under the contract of all messengers: once between pipes, once at a keyboard."""

from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from prompt_toolkit.input import create_pipe_input

from bot.model import MessageRef
from tests.bot.adapters.messenger_contract import Driver, MessengerContract, overridden
from tests.doubles.terminal import SETTINGS, FedPipe, Typist, piped


class _Typing:
    """What people do, typed. Reactions are typed with the number their answer has on the screen."""

    workspace = SETTINGS.workspace
    channel = SETTINGS.channel

    def __init__(self) -> None:
        self._person = SETTINGS.person

    def enter(self, line: str) -> None:
        raise NotImplementedError

    def number(self, ref: MessageRef) -> int:
        raise NotImplementedError

    async def person_posts(self, text: str, person: str = "ana") -> None:
        if person != self._person:
            self.enter(f"/as {person}")
            self._person = person
        self.enter(text)

    async def person_reacts(self, ref: MessageRef, emoji: str, person: str = "ana") -> None:
        await self.person_posts(f"/react {emoji} {self.number(ref)}", person)

    async def person_unreacts(self, ref: MessageRef, emoji: str, person: str = "ana") -> None:
        await self.person_posts(f"/unreact {emoji} {self.number(ref)}", person)

    def emoji_spellings(self) -> list[str]:
        return ["👍", "👍🏽", "+1", "👎", "-1", "✔️", "partyparrot", "👩‍💻", "1️⃣", "🇫🇷"]


class PipeDriver(_Typing):
    """Lines come through a pipe."""

    def __init__(self) -> None:
        super().__init__()
        self._pipe = FedPipe()
        self.messenger, self._out = piped(self._pipe)

    def enter(self, line: str) -> None:
        self._pipe.feed(f"{line}\n".encode())

    def number(self, ref: MessageRef) -> int:
        return self.messenger.answers.index(ref) + 1

    async def ends(self) -> None:
        self._pipe.feed(b"")

    def sent(self) -> str:
        return self._out.getvalue()


class KeyboardDriver(_Typing):
    """Lines are typed at a prompt."""

    def __init__(self, typist: Typist) -> None:
        super().__init__()
        self._typist = typist
        self.messenger = typist.messenger

    def enter(self, line: str) -> None:
        self._typist.type(f"{line}\r")

    def number(self, ref: MessageRef) -> int:
        return self.messenger.answers.index(ref) + 1

    async def ends(self) -> None:
        self._typist.type("\x04")

    def sent(self) -> str:
        return self._typist.out.getvalue()


class TestPipedTerminal(MessengerContract):
    async def make_driver(self) -> Driver:
        return PipeDriver()


class TestTerminalAtAKeyboard(MessengerContract):
    @pytest.fixture(autouse=True)
    def _keyboard(self) -> Iterator[None]:
        with ExitStack() as self.stack:
            yield

    async def make_driver(self) -> Driver:
        return KeyboardDriver(Typist(self.stack.enter_context(create_pipe_input())))


@pytest.mark.parametrize("suite", [TestPipedTerminal, TestTerminalAtAKeyboard])
def test_no_test_of_the_contract_is_replaced(suite: type[MessengerContract]) -> None:
    assert overridden(suite) == []
