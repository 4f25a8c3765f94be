"""Every way in which somebody can be shown what others said, each as the text that it shows."""

import asyncio
from collections.abc import Callable, Sequence
from itertools import count
from typing import ParamSpec, TypeVar

from bot.conversation.commands.runner import Commands
from bot.conversation.executor import Executor
from bot.model import PersonCommand
from memory.model import Episode, Role, Scope
from memory.rules.retrieval.prompt import render_lessons
from memory.services import Memory
from memory.services.conversation.answers import askers_of, root_behind

P = ParamSpec("P")
R = TypeVar("R")

QUESTION = "where is the key"


class _Inline(Executor):
    """Calls at once: nothing here waits for anything."""

    def __init__(self) -> None:
        pass

    async def __call__(self, function: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
        return function(*args, **kwargs)


async def _nothing_runs(command: PersonCommand) -> str:
    return ""


class Looking:
    """One person in one place. `posted` are the answers whose messages people may point at."""

    def __init__(self, memory: Memory, here: Scope, role: Role, posted: Sequence[Episode]) -> None:
        self._memory = memory
        self._here = here
        self._role = role
        self._posted = [each for each in posted if each.workspace == here.workspace]
        self._commands = Commands(memory, _Inline(), stop=_nothing_runs)

    def command(self, name: str, argument: str = "", message_id: str = "") -> str:
        """What one of the bot's commands replies."""
        command = PersonCommand(
            event_id="",
            scope=self._here,
            name=name,
            argument=argument,
            at=self._memory.clock(),
            role=self._role,
            message_id=message_id,
        )
        reply = asyncio.run(self._commands.run(command, lambda word: f"/{word}"))
        return repr((reply.text, reply.choices))

    def pages(self, name: str) -> str:
        """Every page of a list: behind the last one it is shown again."""
        pages = [self.command(name, "page 1")]
        for number in count(2):
            page = self.command(name, f"page {number}")
            if page == pages[-1]:
                break
            pages.append(page)
        return "\n".join(pages)

    def prompt(self) -> str:
        """What a question here would be answered with."""
        recollection = self._memory.recalling.recall(self._here, QUESTION)
        lessons, _ = render_lessons(recollection.exemplars, budget_tokens=100_000)
        return repr((recollection.exemplars, lessons, [rule.line for rule in recollection.rules]))

    def why_by_message(self) -> str:
        """`why` on every message of the bot's in this channel, and on the last."""
        here = [each for each in self._posted if each.channel == self._here.channel]
        return self.command("why") + "".join(self.command("why", message_id=f"m-{each.run_id}") for each in here)

    def why_by_id(self) -> str:
        """`why` with the id of everything there is."""
        return "".join(self.command("why", each.id[-8:]) for each in self._posted)

    def ratings(self) -> str:
        """What they rated themselves."""
        return self.pages("ratings")

    def history(self) -> str:
        """What the agent's tool finds of their own words in this conversation."""
        return repr([each.text for each in self._memory.exchanges.messages_of(self._here, 200)])

    def retry(self) -> str:
        """The questions that "try again" would ask again in this channel."""
        here = [each for each in self._posted if each.channel == self._here.channel]
        now = self._memory.clock()
        with self._memory.store.read() as tx:
            found = [root_behind(tx, self._here, f"m-{each.run_id}", now) for each in here]
            return repr([(root.goal, askers_of(tx, root)[0]) for root in found if root is not None])

    def topics(self) -> str:
        """Topics and lessons as the query interface returns them."""
        wanted = {"q": QUESTION, "explain": True, "top_k": 99, "reinforce": False}
        return repr(self._memory.world.query(self._here, wanted))

    def memory(self) -> str:
        """`memory`, page by page."""
        return self.pages("memory")

    def review(self) -> str:
        """`review`, page by page."""
        return self.pages("review")

    def everything(self) -> dict[str, str]:
        """What each way of looking shows, by its name."""
        ways = (
            self.prompt,
            self.memory,
            self.review,
            self.why_by_message,
            self.why_by_id,
            self.ratings,
            self.history,
            self.retry,
            self.topics,
        )
        return {way.__name__: way() for way in ways}
