"""Approvals of tools with effects: who may allow an action, and which actions run without asking.

A question is decided once, by its asker or a teacher of the channel, before it expires. The action that runs is the one
stored with the question and shown; a press only names the question and the button.

Without a question, an action runs only if a teacher allowed it in the channel for some time or always, or, with the
channel's setting `learned`, if it is the same as an action that a teacher approved of there. A 👎 by anybody but a
guest revokes both until a teacher allows it again.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from memory.model import (
    ASK,
    Episode,
    EventKind,
    Grant,
    Offer,
    Permission,
    Role,
    Scope,
    StandingPermission,
    StepKind,
    Tap,
    Verdict,
    Vote,
    options_of,
)
from memory.ports import EpisodeFilter, Transaction
from memory.rules.approvals import argument_kinds, permission_key
from memory.rules.chat_settings import APPROVALS, LEARNED
from memory.rules.retrieval.similarity import unit_cosine
from memory.services.core import Core, event, put_short_memory
from memory.services.settings.chat_settings import settings_at

KIND = "goodbot/permission"
SHORT_TIME = timedelta(minutes=10)
_FOR_GOOD = datetime(9999, 1, 1, tzinfo=UTC)
_NEAR = 0.6
"""The least cosine of two goals for which an approval or refusal of one counts for the other."""
_LAST = "~"
"""Sorts after all keys."""
_NEWEST = 500
"""How many of the channel's newest uses of a tool are read, and how many of the newest judged ones."""
_DECISIONS = 5_000
"""How many of a workspace's newest events of a kind are read, and how many standing permissions."""


@dataclass(frozen=True, slots=True)
class Approvals:
    """The use cases of permissions for tools with effects."""

    _core: Core

    def permission(self, scope: Scope, goal: str, tool: str, arguments: Mapping[str, object]) -> Permission | None:
        """The permission to run this now; None if a person must be asked. Raises `StoreUnavailable`."""
        vector = self._core.embedded(goal)
        now = self._core.clock()
        with self._core.store.read() as tx:
            settings = settings_at(self._core, tx, scope.workspace, scope.channel)
            chosen = settings.get(APPROVALS)
            learned = chosen.value == LEARNED if chosen else self._core.approvals.learned
            kept = tx.short.get(scope.workspace, KIND, permission_key(scope.channel, tool, arguments), now)
            if kept is None and not learned:
                return None
            uses = _uses(tx, scope, tool)
            same = [each for each in uses if _is_same(each.node, tool, arguments)]
            if kept is not None and not any(_refused_since(each, kept.created_at) for each in same):
                return Permission(grant=Grant(str(kept.value["grant"])), by=kept.person, basis=str(kept.value["basis"]))
            if not learned or vector is None:
                return None
            vectors = tx.episodes.vectors(scope.workspace, [each.node.id for each in uses])
            model = self._core.embedder.name
            similar = {
                name
                for name, (of_model, known) in vectors.items()
                if of_model == model and unit_cosine(known, vector) >= _NEAR
            }
            if any(each.is_refused for each in uses if each.node.id in similar or each in same):
                return None
            return _learned([each for each in same if each.node.id in similar])

    def standing_permissions(self, scope: Scope) -> list[StandingPermission]:
        """Standing permissions of teachers in this channel that have not expired, the oldest first."""
        now = self._core.clock()
        with self._core.store.read() as tx:
            kept = tx.short.up_to(scope.workspace, KIND, _LAST, _DECISIONS)
            here = [each for each in kept if each.value["channel"] == scope.channel and each.expires_at > now]
            asked = tx.episodes.get_many(scope.workspace, {str(each.value["basis"]) for each in here})
        labels = {name: next((one.label for one in options_of(node.trajectory)), "") for name, node in asked.items()}
        return [
            StandingPermission(
                key=each.key,
                tool=str(each.value["tool"]),
                what=labels.get(str(each.value["basis"]), ""),
                grant=Grant(str(each.value["grant"])),
                by=each.person,
                at=each.created_at,
            )
            for each in sorted(here, key=lambda each: (each.created_at, each.key))
        ]

    def revoke(self, scope: Scope, role: Role, key: str) -> bool:
        """Revoke the standing permission in this channel whose key starts with `key`.

        False if the role is not a teacher's, or not exactly one permission matches.
        """
        if not role.may_promote:
            return False
        found = [each.key for each in self.standing_permissions(scope) if each.key.startswith(key)]
        if len(found) != 1:
            return False
        with self._core.store.write() as tx:
            return tx.short.delete(scope.workspace, KIND, found[0])


def drop_permissions(tx: Transaction, workspace: str, person: str) -> int:
    """Revoke all standing permissions by one person. Returns how many."""
    keys = [each.key for each in tx.short.of_person(workspace, person, KIND)]
    return sum(tx.short.delete(workspace, KIND, key) for key in keys)


@dataclass(frozen=True, slots=True, kw_only=True)
class _ToolUse:
    """A node of the channel that used or asked for a tool, with the votes about it."""

    node: Episode
    votes: tuple[Vote, ...]

    @property
    def refusals(self) -> list[Vote]:
        return [each for each in self.votes if each.value < 0 and each.role is not Role.GUEST]

    @property
    def is_refused(self) -> bool:
        return bool(self.refusals) or self.node.verdict in (Verdict.FAILURE, Verdict.DISPUTED)


def _uses(tx: Transaction, scope: Scope, tool: str) -> list[_ToolUse]:
    """The channel's newest uses of the tool, and the questions about it that were declined."""
    workspace = scope.workspace
    newest = EpisodeFilter(channel=scope.channel, action=tool, include_archived=True, limit=_NEWEST)
    # Judged uses are read separately, so that an old refusal is found behind many newer uses.
    judged = replace(newest, judged_only=True)
    ids = {each.id for wanted in (newest, judged) for each in tx.episodes.outlines(workspace, wanted)}
    ran = tx.log.newest(workspace, kind=EventKind.ALLOWED, limit=_DECISIONS)
    decided = tx.log.newest(workspace, kind=EventKind.DECIDED, limit=_DECISIONS)
    ids |= {each.episode_id for each in ran if each.detail.get("tool") == tool}
    ids |= {each.episode_id for each in decided if not each.detail.get("grant")}
    found = [
        each
        for each in tx.episodes.get_many(workspace, ids).values()
        if each.channel == scope.channel and (each.action != ASK or tool in _asked_about(each))
    ]
    cast = tx.teaching.votes_of_runs(workspace, {each.run_id for each in found})
    return [
        _ToolUse(node=node, votes=tuple(vote for vote in cast.get(node.run_id, ()) if vote.node_id in ("", node.id)))
        for node in found
    ]


def _asked_about(node: Episode) -> set[str]:
    return {option.action for option in options_of(node.trajectory) if option.is_approval}


def _is_same(node: Episode, tool: str, arguments: Mapping[str, object]) -> bool:
    wanted = argument_kinds(arguments)
    done = [step.arguments for step in node.trajectory if step.kind is StepKind.ACT and step.tool == tool]
    asked = [option.arguments for option in options_of(node.trajectory) if option.action == tool]
    return any(argument_kinds(each) == wanted for each in (*done, *asked))


def _refused_since(use: _ToolUse, since: datetime) -> bool:
    return any(vote.at >= since for vote in use.refusals)


def _learned(uses: Sequence[_ToolUse]) -> Permission | None:
    for use in uses:
        teachers = [vote.actor for vote in use.votes if vote.value > 0 and vote.role.may_promote]
        is_live = use.node.archived_at is None and not use.node.quarantine
        is_action = use.node.action != ASK
        if teachers and is_live and is_action and use.node.verdicts.channel is Verdict.SUCCESS:
            return Permission(grant=Grant.LEARNED, by=teachers[-1], basis=use.node.id)
    return None


def why_not(core: Core, tx: Transaction, scope: Scope, offer: Offer, role: Role, grant: Grant) -> str:
    """Why this person may not decide with this grant: `stranger`, `expired` or `teachers`; empty if they may."""
    node = offer.node
    is_teacher = role.may_promote and scope.channel == node.channel
    if scope.person != node.person and not is_teacher:
        return "stranger"
    if core.clock() - node.created_at > core.approvals.waits:
        return "expired"
    return "teachers" if grant.lasts and not is_teacher else ""


def decide(
    core: Core, tx: Transaction, scope: Scope, offer: Offer, tap: Tap, grant: Grant | None, event_id: str
) -> bool:
    """Store a decision, with its standing permission if the grant lasts. False if the question was decided before.

    `grant` is None if the action was declined.
    """
    node, now = offer.node, core.clock()
    if not tx.log.claim(node.workspace, f"approval/{node.id}", now):
        return False
    detail = {"number": tap.number, "grant": grant.value if grant else ""}
    tx.log.append(event(node, EventKind.DECIDED, scope.person, now, source=event_id, detail=detail))
    if grant is not None and grant.lasts:
        key = permission_key(node.channel, offer.option.action, offer.option.arguments)
        tx.short.delete(node.workspace, KIND, key)
        value = {"grant": grant.value, "basis": node.id, "tool": offer.option.action, "channel": node.channel}
        until = now + SHORT_TIME if grant is Grant.SHORT else _FOR_GOOD
        put_short_memory(tx, KIND, key, value, of=(node.workspace, scope.person), at=now, until=until)
    return True


def decision_on(tx: Transaction, offer: Offer, number: int) -> Permission | None:
    """The permission by which this option was allowed; None if it was not, or its event is gone."""
    for each in tx.log.of_episode(offer.node.workspace, offer.node.id):
        if each.kind is EventKind.DECIDED and each.detail.get("number") == number and each.detail.get("grant"):
            return Permission(grant=Grant(str(each.detail["grant"])), by=each.actor, basis=offer.node.id)
    return None


def carried_out(tx: Transaction, offer: Offer, number: int) -> Offer | None:
    """The offer with the permission for its option; None if nobody allowed it."""
    permission = decision_on(tx, offer, number)
    return replace(offer, option=replace(offer.option, permission=permission)) if permission else None
