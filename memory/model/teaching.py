"""The data of teaching: reactions, votes, roles, and the policy by which they are weighed.

Slack sends emoji as names with an optional skin tone (`+1::skin-tone-3`), Discord as the character with its modifiers
(U+1F44D U+1F3FD) or a custom emoji by name and id; everybody may add U+FE0F.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import NamedTuple

from memory.model.episode import Episode
from memory.model.evidence import EvidenceRecord, Judgement, Threshold

_MODIFIERS = re.compile("[\ufe0f\ufe0e\U0001f3fb-\U0001f3ff]")
_CUSTOM = re.compile(r"^<?(?:a?:)?(?P<name>\w+):(?P<id>\d{5,})>?$")


class Role(StrEnum):
    """What a person may decide. Determined when they act and stored with the act."""

    ADMIN = "admin"
    """Decides for every audience (command line, admin pages)."""
    TEACHER = "teacher"
    """Decides for the channel at once, may promote."""
    MEMBER = "member"
    """Decides alone for themself, and together with others for a channel."""
    GUEST = "guest"
    """Guests and external people: stored, never counted."""
    BOT = "bot"
    """This bot or another: never recorded."""

    @property
    def may_promote(self) -> bool:
        """Whether this role may widen a lesson's audience."""
        return self in (Role.ADMIN, Role.TEACHER)


def normalised_emoji(raw: str) -> str:
    """One spelling per emoji: lower case, without skin tone, variation selector and colons; perhaps empty."""
    text = raw.strip()
    if text.startswith(":") and text.endswith(":") and len(text) > 2:
        text = text[1:-1]
    text = text.split("::", 1)[0]
    return _MODIFIERS.sub("", text).strip().casefold()


def emoji_spellings(raw: str) -> tuple[str, ...]:
    """Every name an emoji may be configured under: itself, or a custom emoji's name and id."""
    custom = _CUSTOM.match(raw.strip())
    if custom:
        return (normalised_emoji(custom["name"]), custom["id"])
    return (normalised_emoji(raw),)


class EmojiMap:
    """What each emoji means as feedback. An emoji in neither list means nothing."""

    def __init__(self, success: Iterable[str], failure: Iterable[str]) -> None:
        self._value = {normalised_emoji(emoji): 1 for emoji in success}
        for emoji in failure:
            if self._value.get(normalised_emoji(emoji)) == 1:
                raise ValueError(f"{emoji!r} is listed both as success and as failure; keep it in one list")
            self._value[normalised_emoji(emoji)] = -1

    def value(self, raw: str) -> int | None:
        """+1, -1, or None for an emoji that is no feedback."""
        return next((self._value[name] for name in emoji_spellings(raw) if name in self._value), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reaction:
    """A person's emoji, button, choice, correction or grade on one answer, as it is now: a last-writer-wins register.

    The register's key is (workspace, channel, message_id, node_id, actor, source). `source` tells emoji, buttons,
    corrections and grades apart (`emoji:👍🏽`, `button`, `grade`).
    """

    workspace: str
    channel: str
    message_id: str
    actor: str
    source: str
    value: int
    """+1, -1, or 0 for a reaction that carries no judgement."""
    at: datetime
    """The platform's time, which decides which of two reactions is later."""
    role: Role = Role.MEMBER
    node_id: str = ""
    """The one episode that is judged; empty for the whole answer."""
    run_id: str = ""
    """Empty while the message is not in the ledger (a reaction that arrived before its answer)."""
    is_active: bool = True
    seq: int = 0
    """Arrival order, to break ties of `at`."""
    event_id: str = ""
    """The platform's id of what caused it; empty where there is none."""

    def __post_init__(self) -> None:
        if self.value not in (-1, 0, 1):
            raise ValueError(f"a reaction's value is -1, 0 or +1, got {self.value!r}")
        if self.at.tzinfo is None:
            raise ValueError(f"a reaction's time must be aware (UTC), got {self.at!r}")

    @classmethod
    def on_run(
        cls,
        episode: Episode,
        actor: str,
        source: str,
        value: int,
        at: datetime,
        *,
        role: Role = Role.MEMBER,
        node_id: str = "",
        is_active: bool = True,
        event_id: str = "",
    ) -> "Reaction":
        """A reaction on the run of an episode, or on one node of it, that names no message."""
        return cls(
            workspace=episode.workspace,
            channel=episode.channel,
            message_id=f"run/{episode.run_id}",
            run_id=episode.run_id,
            actor=actor,
            source=source,
            value=value,
            at=at,
            role=role,
            node_id=node_id,
            is_active=is_active,
            event_id=event_id,
        )

    @property
    def key(self) -> tuple[str, str, str, str, str, str]:
        """The register this reaction writes to."""
        return (self.workspace, self.channel, self.message_id, self.node_id, self.actor, self.source)


MAX_WEIGHT = 2.0
"""The largest weight of a vote, that of two newcomers: with a quorum of two it still needs somebody else."""


class Standing(StrEnum):
    """What a vote does for people other than its voter, by who was known in the workspace when it was cast."""

    DECIDES = "decides"
    """Counts towards a verdict."""
    PROPOSES = "proposes"
    """A teacher was there to decide, so it is only evidence."""
    NEWCOMER = "newcomer"
    """The voter was not known yet: it has no effect."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Vote:
    """One person's current judgement of one answer or node: their latest active reaction."""

    workspace: str
    run_id: str
    actor: str
    role: Role
    value: int
    at: datetime
    node_id: str = ""
    source: str = ""
    event_id: str = ""
    is_limited: bool = False
    """Whether it exceeds its voter's limit in a window of time: it then counts only for the voter."""
    standing: Standing = Standing.DECIDES

    def decides(self, weight: float) -> bool:
        """Whether it counts towards a verdict with this weight: it may decide, or its voter is trusted most."""
        return self.standing is Standing.DECIDES or weight >= MAX_WEIGHT


class PlacedVote(NamedTuple):
    """The fields of a vote that its voter's limit depends on; ordered like the votes."""

    at: datetime
    run_id: str
    node_id: str
    actor: str
    is_limited: bool


TrustRecord = tuple[int, int]
"""How often administrators' verdicts proved a person (right, wrong) in one workspace."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownPeople:
    """What is known of a workspace's people."""

    known_from: Mapping[str, datetime] = field(default_factory=dict[str, datetime])
    """When each person stops being a newcomer. People not listed came with an import and are known."""
    taught_from: datetime | None = None
    """The time of the first vote of a teacher; None where there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Poll:
    """Everything stored about people's feedback on one answer."""

    reactions: tuple[Reaction, ...] = ()
    """Every register, active or not, in order of arrival."""
    votes: tuple[Vote, ...] = ()
    """By node, then actor."""
    records: Mapping[str, TrustRecord] = field(default_factory=dict[str, TrustRecord])
    """The records of everybody with one of the votes, and of the others requested."""
    people: KnownPeople = field(default_factory=KnownPeople)
    """What is known of everybody who reacted, and of the others requested."""
    evidence: EvidenceRecord = field(default_factory=EvidenceRecord)
    """The evidence of the answer's root node."""
    judgements: tuple[Judgement, ...] = ()
    """The judgements of that evidence by the votes, ordered by voter."""
    threshold: Threshold | None = None
    """The workspace's threshold, as last computed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustEvidence:
    """One vote that an administrator's verdict on the same thing proved right or wrong."""

    workspace: str
    run_id: str
    actor: str
    agrees: bool
    node_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TeachingPolicy:
    """The configuration of verdicts. Each field is a setting (`[teaching]`, and `error_budget` of `[recall]`)."""

    quorum_up: int = 2
    """People other than the asker whose 👍 make a channel lesson."""
    quorum_down: int = 2
    """The same for 👎; never smaller than `quorum_up`."""
    votes_per_window: int = 60
    """How many votes of one person count for others within `window`, not counting votes without a limit
    (`memory.rules.verdict.may_be_limited`)."""
    promotions_per_window: int = 20
    """How many promotions of one teacher take effect within `window`."""
    window: timedelta = timedelta(hours=1)
    trust_agree: float = 2.0
    """A newcomer's initial trust: the number of votes assumed proven right."""
    trust_disagree: float = 1.0
    """A newcomer's initial trust: the number of votes assumed proven wrong."""
    trust_teacher: float = 2.0
    """What being appointed a teacher adds to `trust_agree`."""
    error_budget: float = 0.05
    """The share of answers that may be wrong, 0..1. Votes move the threshold to keep it
    (`memory.rules.evidence.threshold`)."""
    newcomer: timedelta = timedelta(days=7)
    """How long a member stays a newcomer, whose votes have no effect for others unless one of them is confirmed. People
    who come within this time after the very first person are known at once."""

    def __post_init__(self) -> None:
        if self.votes_per_window < 1 or self.promotions_per_window < 1 or self.window <= timedelta(0):
            raise ValueError("limits need at least 1 vote and 1 promotion in a window longer than nothing")
        if not 0 < self.error_budget < 1:
            raise ValueError(f"the error budget is a share between 0 and 1, got {self.error_budget!r}")
        if self.newcomer < timedelta(0):
            raise ValueError("a newcomer becomes known after some time or at once, not before they came")
        if min(self.trust_agree, self.trust_disagree) <= 0 or self.trust_teacher < 0:
            raise ValueError("trust starts from more than 0 agreements and more than 0 disagreements")
        if self.quorum_up < 1 or self.quorum_down < self.quorum_up:
            raise ValueError(
                f"quorums must satisfy 1 <= quorum_up <= quorum_down, got {self.quorum_up} and {self.quorum_down}"
            )
