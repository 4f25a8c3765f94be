"""Messages in and out in dictionaries."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from memory.adapters.inmemory.state import Access
from memory.adapters.row_validation import storable
from memory.errors import NotFound
from memory.model import Incoming, Outgoing, Posted, Progress


class Deliveries:
    """`memory.ports.DeliveryTable` over dictionaries."""

    def __init__(self, access: Access) -> None:
        self._access = access

    def accept(self, message: Incoming) -> Incoming | None:
        state = self._access.changing
        if not storable(message).event_id:
            raise ValueError("an incoming message needs the id of the event that brought it")
        workspace = message.scope.workspace
        place = (message.scope.channel, message.message_id)
        if (workspace, message.event_id) in state.incoming or (
            message.message_id and any((m.scope.channel, m.message_id) == place for m in self._incoming(workspace))
        ):
            return None
        state.incoming[workspace, message.event_id] = replace(message, channel_visibility=None, has_notes=False)
        notes = (note for note in state.short.values() if note.workspace == workspace)
        return replace(self._now(message), has_notes=any(note.person == message.scope.person for note in notes))

    def incoming(self, workspace: str, event_id: str) -> Incoming | None:
        message = self._access.state.incoming.get((workspace, event_id))
        return None if message is None else self._now(message)

    def incoming_of_message(self, workspace: str, channel: str, message_id: str) -> Incoming | None:
        place = (channel, message_id)
        found = (m for m in self._incoming(workspace) if message_id and (m.scope.channel, m.message_id) == place)
        return next(found, None)

    def reword(self, workspace: str, event_id: str, text: str) -> None:
        incoming = self._access.changing.incoming
        message = incoming.get((workspace, event_id))
        if message is None:
            raise NotFound(f"No message was accepted for event {event_id} in {workspace}; accept it first.")
        incoming[workspace, event_id] = replace(message, text=storable(text))

    def has_sent(self, workspace: str, channel: str, thread: str) -> bool:
        return any(
            (part.workspace, part.channel, part.thread) == (workspace, channel, thread) and part.sent_at is not None
            for part in self._access.state.outgoing.values()
        )

    def incoming_of_run(self, workspace: str, run_id: str) -> Incoming | None:
        found = [m for m in self._incoming(workspace) if run_id and m.run_id == run_id]
        return min(found, key=lambda m: (m.at, m.event_id), default=None)

    def advance(self, workspace: str, event_id: str, before: Progress, after: Progress, run_id: str = "") -> bool:
        incoming = self._access.changing.incoming
        message = incoming.get((workspace, event_id))
        if message is None or message.progress is not before:
            return False
        incoming[workspace, event_id] = replace(message, progress=after, run_id=storable(run_id) or message.run_id)
        return True

    def answer(self, workspace: str, event_id: str, run_id: str) -> Incoming | None:
        is_moved = self.advance(workspace, event_id, Progress.ACCEPTED, Progress.ANSWERED, run_id)
        return self.incoming(workspace, event_id) if is_moved else None

    def advance_run(self, workspace: str, run_id: str, before: Progress, after: Progress) -> bool:
        answered = [m for m in self._incoming(workspace) if run_id and m.run_id == run_id]
        return sum(self.advance(workspace, each.event_id, before, after) for each in answered) > 0

    def unfinished(self, workspace: str | None = None) -> list[Incoming]:
        found = [
            self._now(message)
            for key, message in self._access.state.incoming.items()
            if workspace in (None, key[0])
            and (message.progress in (Progress.ACCEPTED, Progress.ANSWERED) or self._is_to_be_told(message))
        ]
        return sorted(found, key=lambda m: (m.at, m.scope.workspace, m.event_id))

    def _is_to_be_told(self, message: Incoming) -> bool:
        """Whether it was set aside and its asker does not know yet."""
        parts = self.outgoing(message.scope.workspace, message.run_id)
        return message.progress is Progress.SET_ASIDE and any(part.sent_at is None for part in parts)

    def set_aside(self) -> list[Incoming]:
        found = [each for each in self._access.state.incoming.values() if each.progress is Progress.SET_ASIDE]
        return sorted(found, key=lambda m: (m.at, m.scope.workspace, m.event_id), reverse=True)

    def put_deaths(self, workspace: str, event_id: str, *, crashes: int, kills: int) -> None:
        incoming = self._access.changing.incoming
        if (workspace, event_id) in incoming:
            incoming[workspace, event_id] = replace(incoming[workspace, event_id], crashes=crashes, kills=kills)

    def said_by(self, workspace: str, channel: str, person: str, limit: int) -> list[Incoming]:
        said = [
            message
            for message in self._incoming(workspace)
            if message.scope.person == person and channel in ("", message.scope.channel) and not message.asked_by
        ]
        return sorted(said, key=lambda m: (m.at, m.event_id), reverse=True)[:limit]

    def put_outgoing(self, *parts: Outgoing) -> None:
        for part in parts:
            key = (storable(part).workspace, part.run_id, part.part)
            self._access.changing.outgoing[key] = replace(part, channel_visibility=None)

    def post(self, workspace: str, run_id: str, part: int, message_id: str, at: datetime) -> Posted | None:
        state = self._access.changing
        unsent = state.outgoing.get((workspace, run_id, part))
        if unsent is None or unsent.sent_at is not None:
            return None
        self.put_outgoing(replace(unsent, sent_at=at, message_id=message_id))
        nodes = [node for key, node in state.episodes.items() if key[0] == workspace and node.run_id == run_id]
        root = min(nodes, key=lambda node: (node.step_number, node.id), default=None)
        place = (workspace, unsent.channel, message_id, "")
        waiting = ((r.workspace, r.channel, r.message_id, r.run_id) == place for r in state.reactions.values())
        return Posted(channel=unsent.channel, root_id=root.id if root else "", is_overtaken=any(waiting))

    def deliver(self, workspace: str, run_id: str) -> bool:
        if any(part.sent_at is None for part in self.outgoing(workspace, run_id)):
            return False
        return self.advance_run(workspace, run_id, Progress.ANSWERED, Progress.DELIVERED)

    def outgoing(self, workspace: str, run_id: str) -> list[Outgoing]:
        parts = self._access.state.outgoing
        found = [parts[key] for key in sorted(parts) if key[:2] == (workspace, run_id)]
        known = {part.channel: self._access.channel_visibility(workspace, part.channel) for part in found}
        return [replace(part, channel_visibility=known[part.channel]) for part in found]

    def drop_unsent(self, workspace: str, run_id: str) -> bool:
        outgoing = self._access.changing.outgoing
        unsent = [part for part in self.outgoing(workspace, run_id) if part.sent_at is None]
        for part in unsent:
            del outgoing[workspace, run_id, part.part]
        return bool(unsent)

    def delete_by(self, workspace: str, person: str) -> int:
        state = self._access.changing
        gone = [each for each in self._incoming(workspace) if person in (each.scope.person, each.asked_by)]
        for message in gone:
            del state.incoming[workspace, message.event_id]
        self.delete_runs(workspace, {message.run_id for message in gone if message.run_id})
        return len(gone)

    def delete_runs(self, workspace: str, run_ids: Iterable[str]) -> None:
        outgoing = self._access.changing.outgoing
        wanted = set(run_ids)
        for key in [key for key in outgoing if key[0] == workspace and key[1] in wanted]:
            del outgoing[key]

    def _incoming(self, workspace: str) -> list[Incoming]:
        every = self._access.state.incoming
        return [self._now(message) for key, message in every.items() if key[0] == workspace]

    def _now(self, message: Incoming) -> Incoming:
        known = self._access.channel_visibility(message.scope.workspace, message.scope.channel)
        return replace(message, channel_visibility=known)
