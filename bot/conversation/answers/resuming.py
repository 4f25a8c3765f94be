"""Resumes runs that waited for their asker, and runs that a process left unfinished."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from bot.agent.earlier_run import EarlierRun
from bot.agent.options import call_in_full
from bot.conversation.executor import Executor
from bot.model import ToolCall, ToolSpec
from memory.model import AllowedAction, Episode, Exchange, Incoming, Option
from memory.services import FinishedRun, Memory


@dataclass(frozen=True, slots=True, kw_only=True)
class Resumed:
    """The state that a run starts with, beside its message."""

    chosen: Option | None = None
    """The option that the asker chose or approved."""
    earlier: EarlierRun | None = None
    allowed: tuple[AllowedAction, ...] = ()
    """Actions with effects that were done before, and who allowed them."""
    broken_off: str = ""
    """The answer instead of continuing, if an action had begun that must not be repeated."""

    def finished(self, answer: FinishedRun) -> FinishedRun:
        """The answer of a run that is not continued, with the nodes and actions before it broke off."""
        nodes = self.earlier.nodes.values() if self.earlier is not None else ()
        kept = [replace(node, run_id=answer.run_id) for node in nodes]
        return replace(answer, nodes=sorted(kept, key=lambda node: node.step_number), allowed=self.allowed)


class Resuming:
    """Finds the run that a message resumes, and writes the journals of this process's runs."""

    def __init__(self, memory: Memory, executor: Executor) -> None:
        self._memory = memory
        self._executor = executor
        self.written: set[str] = set()
        """Event ids of messages whose run has a journal."""
        self.with_effects: set[str] = set()
        """Event ids of messages whose run did something with effects, so that an edit has no effect any more."""

    async def of(self, message: Incoming, last: Exchange | None, *, is_fresh: bool) -> Resumed:
        """The state that this message's run starts with. `is_fresh`: no earlier process can have started it."""
        if message.has_notes and not is_fresh:
            left = await self._left(message)
            if left is not None:
                return left
        if message.tap is not None:
            asking, scope, tap = self._memory.choices, message.scope, message.tap
            chosen = await self._executor(asking.option, scope, tap)
            nodes, path = await self._executor(asking.waiting, scope, tap) if chosen else ((), "")
            return Resumed(chosen=chosen, earlier=_earlier(nodes, path) if nodes else None)
        nodes, path = (), ""
        if last is not None:
            nodes, path = await self._executor(self._memory.choices.open_question, message.scope, last.run_id)
        return Resumed(earlier=_earlier(nodes, path, message.text) if nodes else None)

    async def _left(self, message: Incoming) -> Resumed | None:
        run = await self._executor(self._memory.journals.read, message)
        if run is None or not run.nodes:
            return None
        self.written.add(message.event_id)
        if run.allowed or run.doing:
            self.with_effects.add(message.event_id)
        earlier, chosen = _earlier(run.nodes, ""), None
        if message.tap is not None:
            chosen = await self._executor(self._memory.choices.option, message.scope, message.tap)
        broken_off = ""
        if run.doing:
            shown = call_in_full(ToolSpec(name=run.doing[0], description="", parameters={}), run.doing[1])
            broken_off = BROKEN_OFF.format(what=shown)
        return Resumed(chosen=chosen, earlier=earlier, allowed=run.allowed, broken_off=broken_off)

    async def write(
        self, message: Incoming, nodes: Sequence[Episode], allowed: Sequence[AllowedAction], doing: ToolCall | None
    ) -> None:
        """Write the journal of a run under way (`bot.agent.run.Journal`, but for the message)."""
        self.written.add(message.event_id)
        if doing is not None:
            self.with_effects.add(message.event_id)
        done = (doing.name, doing.arguments or {}) if doing is not None else None
        await self._executor(self._memory.journals.write, message, list(nodes), list(allowed), done)

    async def drop(self, message: Incoming) -> None:
        """Delete the journal of a message that is answered."""
        self.written.discard(message.event_id)
        self.with_effects.discard(message.event_id)
        await self._executor(self._memory.journals.drop, message)


BROKEN_OFF = (
    "I was interrupted while I did this:\n\n{what}\n\nIt may have happened, or not. I did not do it again: please "
    "look, and ask me once more if it did not."
)


def _earlier(nodes: Sequence[Episode], path: str, reply: str = "") -> EarlierRun:
    return EarlierRun(nodes={node.node_path: node for node in nodes}, answered=path, reply=reply)
