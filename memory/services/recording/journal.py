"""The journal of an unfinished run, from which another process can continue it without doing anything twice.

It is a short memory of the asker (`memory.model.ShortMemory`), so it is forgotten with the asker's other data. It is
written before effects and after costly steps, never for an ordinary answer, and deleted once the message is answered.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from memory.model import AllowedAction, Episode, Grant, Incoming, Permission, Termination
from memory.model.episode import step_as_json, step_from_json
from memory.services.core import Core, put_short_memory

KIND = "goodbot/journal"
_KEPT = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class InterruptedRun:
    """A run that was interrupted by the end of its process."""

    nodes: tuple[Episode, ...]
    """The nodes so far; unfinished ones are marked as aborted."""
    allowed: tuple[AllowedAction, ...]
    doing: tuple[str, Mapping[str, object]] | None
    """Tool and arguments of an action with effects that was started, and may have happened or not."""


@dataclass(frozen=True, slots=True)
class Journals:
    """The use cases of runs that may be interrupted."""

    _core: Core

    def write(
        self,
        message: Incoming,
        nodes: Sequence[Episode],
        allowed: Sequence[AllowedAction],
        doing: tuple[str, Mapping[str, object]] | None,
    ) -> None:
        """Store the state of the run that answers this message. Secrets are redacted."""
        scope, now = message.scope, self._core.clock()
        kept = list(map(self._core.redactor.episode, nodes))
        value = {
            "question": message.text,
            "nodes": [_as_json(node) for node in kept],
            "allowed": [_allowed_as_json(each) for each in allowed],
            "doing": [doing[0], self._core.redactor.value(dict(doing[1]))] if doing else None,
        }
        with self._core.store.write() as tx:
            owner = (scope.workspace, scope.person)
            put_short_memory(tx, KIND, message.event_id, value, of=owner, at=now, until=now + _KEPT)

    def read(self, message: Incoming) -> InterruptedRun | None:
        """The interrupted run of this message; None if there is none, or the message was edited since.

        A run that may have had effects is returned for an edited message, too.
        """
        with self._core.store.read() as tx:
            kept = tx.short.get(message.scope.workspace, KIND, message.event_id, self._core.clock())
        if kept is None:
            return None
        value: Mapping[str, Any] = kept.value
        doing = value["doing"]
        if doing is None and not value["allowed"] and value["question"] != message.text:
            return None
        return InterruptedRun(
            nodes=tuple(_node(message, each) for each in value["nodes"]),
            allowed=tuple(map(_allowed, value["allowed"])),
            doing=(str(doing[0]), doing[1]) if doing else None,
        )

    def drop(self, message: Incoming) -> None:
        """Delete the journal of an answered message."""
        with self._core.store.write() as tx:
            tx.short.delete(message.scope.workspace, KIND, message.event_id)


def _as_json(node: Episode) -> dict[str, object]:
    names = ("id", "parent_id", "node_path", "step_number", "flow", "why", "goal", "action", "action_target", "output")
    return {
        **{name: getattr(node, name) for name in names},
        "model": node.model,
        "termination": node.termination.value,
        "trajectory": [step_as_json(step) for step in node.trajectory],
    }


def _node(message: Incoming, stored: Mapping[str, Any]) -> Episode:
    scope = message.scope
    rest = {name: value for name, value in stored.items() if name not in ("termination", "trajectory")}
    return Episode(
        **rest,
        termination=Termination(stored["termination"]),
        trajectory=tuple(map(step_from_json, stored["trajectory"])),
        workspace=scope.workspace,
        channel=scope.channel,
        thread=scope.thread,
        person=scope.person,
        visibility=scope.visibility,
        place=scope.place,
        author=scope.person,
        created_at=message.at,
    )


def _allowed_as_json(each: AllowedAction) -> dict[str, str]:
    permission = each.permission
    return {
        "node": each.node_id,
        "tool": each.tool,
        "grant": permission.grant.value,
        "by": permission.by,
        "basis": permission.basis,
    }


def _allowed(stored: Mapping[str, Any]) -> AllowedAction:
    permission = Permission(grant=Grant(stored["grant"]), by=stored["by"], basis=stored["basis"])
    return AllowedAction(node_id=stored["node"], tool=stored["tool"], permission=permission)
