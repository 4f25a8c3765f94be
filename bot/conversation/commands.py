"""The bot's own commands, the same words on every platform: each takes a person's command and says what to post."""

import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace

from bot.conversation import wording
from bot.conversation.explanation import explain
from bot.conversation.off_loop import OffLoop
from bot.model import Attachment, PersonCommand
from memory.audience import may_see, partitions_for, partitions_of
from memory.errors import NotFound
from memory.export import export_memories, export_person
from memory.model import Episode, Lesson, Scope, Verdict
from memory.ports import EpisodeFilter
from memory.service import Holdings, Memory


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandReply:
    """What a command answers: text, perhaps a file, perhaps answers whose 🧠 must be shown anew."""

    text: str
    attachment: Attachment | None = None
    changed_runs: tuple[str, ...] = field(default_factory=tuple)


Handler = Callable[[PersonCommand, wording.Spell], Awaitable[CommandReply]]


class Commands:
    """Runs one command. Nobody is shown what they may not see."""

    def __init__(self, memory: Memory, off_loop: OffLoop, stop: Callable[[PersonCommand], bool]) -> None:
        self._memory = memory
        self._off_loop = off_loop
        self._stop = stop
        self._handlers: dict[str, Handler] = {
            "help": self._help,
            "privacy": self._privacy,
            "why": self._why,
            "memory": self._beliefs,
            "undo": self._undo,
            "export": self._export,
            "forget": self._forget,
            "stop": self._stop_run,
        }

    async def run(self, command: PersonCommand, spell: wording.Spell) -> CommandReply:
        """Carry out a command; an unknown name gets a hint."""
        handler = self._handlers.get(command.name)
        if handler is None:
            return CommandReply(text=wording.unknown_command(spell))
        return await handler(command, spell)

    async def _help(self, command: PersonCommand, spell: wording.Spell) -> CommandReply:
        return CommandReply(text=wording.help_text(spell))

    async def _privacy(self, command: PersonCommand, spell: wording.Spell) -> CommandReply:
        return CommandReply(text=wording.privacy_text(spell))

    async def _stop_run(self, command: PersonCommand, spell: wording.Spell) -> CommandReply:
        return CommandReply(text=wording.STOPPED if self._stop(command) else wording.NOTHING_RUNNING)

    async def _why(self, command: PersonCommand, spell: wording.Spell) -> CommandReply:
        return CommandReply(text=await self._off_loop(self._explained, command))

    def _explained(self, command: PersonCommand) -> str:
        run_id = find_run(self._memory, command)
        if run_id is None:
            return wording.NO_SUCH_ANSWER if command.message_id else wording.NO_ANSWER_YET
        try:
            view = self._memory.audit.run(command.scope.workspace, run_id)
        except NotFound:
            return wording.NO_SUCH_ANSWER
        same_channel = view.root.channel == command.scope.channel
        if not same_channel and not may_see(command.scope, view.root):
            return wording.NOT_YOURS
        (root,) = self._as_seen_by(command.scope, [view.root])
        return explain(replace(view, nodes=(root, *view.nodes[1:])), command.scope)

    async def _beliefs(self, command: PersonCommand, spell: wording.Spell) -> CommandReply:
        lessons = await self._off_loop(self._visible_lessons, command)
        return CommandReply(text=wording.beliefs(lessons, command.scope.place))

    def _visible_lessons(self, command: PersonCommand) -> list[tuple[Episode, Lesson]]:
        """Root lessons the person's questions here could be answered with, newest first, with the verdict for them."""
        order = {name: rank for rank, name in enumerate(partitions_for(command.scope))}
        found: list[tuple[Episode, Lesson]] = []
        wanted = EpisodeFilter(roots_only=True, limit=None)
        for episode in self._memory.audit.episodes(command.scope.workspace, wanted):
            filed = [entry for entry in partitions_of(episode) if entry.partition in order]
            if filed:
                verdict = min(filed, key=lambda entry: order[entry.partition]).verdict
                found.append((episode, Lesson.REPEAT if verdict is Verdict.SUCCESS else Lesson.AVOID))
        shown = found[:20]
        episodes = self._as_seen_by(command.scope, [episode for episode, _ in shown])
        return [(episode, lesson) for episode, (_, lesson) in zip(episodes, shown, strict=True)]

    def _as_seen_by(self, reader: Scope, episodes: Sequence[Episode]) -> list[Episode]:
        """The episodes without the text of corrections that nobody has approved for this person yet."""
        corrected = [episode.id for episode in episodes if episode.correction]
        seen = self._memory.recalling.corrections_for(reader, corrected)
        texts = {episode_id: lessons[-1].output for episode_id, lessons in seen.items()}
        return [replace(episode, correction=texts.get(episode.id, "")) for episode in episodes]

    async def _undo(self, command: PersonCommand, spell: wording.Spell) -> CommandReply:
        undone = await self._off_loop(
            self._memory.teaching.undo,
            command.scope.workspace,
            command.scope.person,
            at=command.at,
            event_id=command.event_id,
        )
        if undone is None:
            return CommandReply(text=wording.NOTHING_TO_UNDO)
        return CommandReply(text=wording.undone(undone, spell), changed_runs=undone.runs)

    async def _export(self, command: PersonCommand, spell: wording.Spell) -> CommandReply:
        scope = command.scope
        held = await self._off_loop(self._memory.privacy.holdings, scope.workspace, scope.person)
        if held.is_empty:
            return CommandReply(text=wording.NO_DATA)
        return CommandReply(text="Your data:", attachment=_document(held, scope.person, command.argument.strip()))

    async def _forget(self, command: PersonCommand, spell: wording.Spell) -> CommandReply:
        scope = command.scope
        held = await self._off_loop(self._memory.privacy.holdings, scope.workspace, scope.person)
        if held.is_empty:
            return CommandReply(text=wording.NO_DATA)
        if command.argument.strip().casefold() not in ("yes", "me yes"):
            return CommandReply(text=wording.forget_question(held, spell("forget yes")))
        erased = await self._off_loop(self._memory.privacy.forget, scope.workspace, scope.person)
        return CommandReply(text=wording.forgotten(erased))


def _document(held: Holdings, person: str, wanted: str) -> Attachment:
    """A person's data as a file: everything as json, or their episodes as csv or as lesson text."""
    if wanted == "csv":
        return _attachment("csv", export_memories(held.episodes, "csv"), "text/csv")
    if wanted == "prompt":
        return _attachment("txt", export_memories(held.episodes, "prompt"), "text/plain")
    text = json.dumps(export_person(held, person), ensure_ascii=False, indent=2)
    return _attachment("json", text, "application/json")


def _attachment(ending: str, text: str, media_type: str) -> Attachment:
    return Attachment(name=f"goodbot-export.{ending}", content=text.encode(), media_type=media_type)


def find_run(memory: Memory, event: PersonCommand) -> str | None:
    """The answer a command or correction means: the named message's, else the newest one posted in the channel."""
    scope = event.scope
    with memory.store.read() as tx:
        if event.message_id:
            entry = tx.teaching.ledger(scope.workspace, scope.channel, event.message_id, event.at)
            return entry.run_id if entry else None
        for entry in tx.teaching.recent_ledger(scope.workspace, scope.channel, 20):
            if tx.episodes.of_run(scope.workspace, entry.run_id):
                return entry.run_id
    return None
