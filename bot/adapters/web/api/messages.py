"""`/v1/answers` and `/v1/reactions`: answers of another messenger as episodes, and reactions on them."""

from datetime import timedelta

from fastapi import APIRouter, Request
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from bot.adapters.web.api.dependencies import Id, Place, ServedMemory, Teacher, Text
from memory.errors import InvalidInput
from memory.library.episodic import EpisodicMemory
from memory.library.ledger import ReactionContext, ReactionLedger
from memory.model import Reaction, Role
from memory.model.teaching import EmojiMap

router = APIRouter(tags=["messages"])

_AHEAD = timedelta(minutes=5)
"""The most that another machine's clock may be ahead."""


class AnswerBody(BaseModel):
    """An answer that was posted elsewhere. The same message again changes nothing.

    Another answer with its id replaces it, until there are reactions on it: then the code is 409.
    """

    model_config = ConfigDict(extra="forbid")

    message_id: Id
    goal: Text
    output: Text
    scope: Place


class AnswerKept(BaseModel):
    """The answer's message, which can be reacted to."""

    message_id: str


class ReactionBody(BaseModel):
    """A reaction on such an answer, or its withdrawal. An event that is known changes nothing.

    One that comes before its answer is kept, and counts as soon as the answer is stored.
    """

    model_config = ConfigDict(extra="forbid")

    event_id: Id
    message_id: Id
    emoji: Id
    is_active: bool = Field(default=True, description="False takes the reaction back.")
    at: AwareDatetime | None = None
    scope: Place


class ReactionTaken(BaseModel):
    """Whether the message is known, and what the answer counts as now."""

    is_known: bool
    verdict: str = ""


@router.post("/answers")
def answer(body: AnswerBody, memory: ServedMemory, who: Teacher) -> AnswerKept:
    """Store an answer with its question; it is pending until somebody reacts."""
    if not body.goal.strip():
        raise InvalidInput("the goal is blank: what was asked?")
    scope = who.place(**body.scope.model_dump())
    ledger = ReactionLedger(EpisodicMemory(memory, scope))
    context = ReactionContext(goal=body.goal, output=body.output, sender_key=scope.sender_key)
    ledger.record(body.message_id, context, channel=scope.channel)
    return AnswerKept(message_id=body.message_id)


@router.post("/reactions")
def react(body: ReactionBody, memory: ServedMemory, who: Teacher, request: Request) -> ReactionTaken:
    """Record a reaction to an answer, or its withdrawal."""
    emoji: EmojiMap = request.state.emoji
    value = emoji.value(body.emoji)
    if value is None:
        raise InvalidInput(f"the emoji {body.emoji!r} has no meaning here; the settings list those that have one")
    scope, now = who.place(**body.scope.model_dump()), memory.clock()
    if body.at is not None and body.at > now + _AHEAD:
        raise InvalidInput("`at` is in the future: this reaction would override all later ones")
    done = memory.teaching.react(
        Reaction(
            workspace=scope.workspace,
            channel=scope.channel,
            message_id=body.message_id,
            actor=scope.person,
            source=f"emoji:{body.emoji}",
            value=value,
            at=body.at or now,
            role=Role.MEMBER,
            is_active=body.is_active,
        ),
        event_id=body.event_id,
    )
    root = done.root
    if root is None and done.is_known:  # a repetition
        run_id = memory.answers.of_message(scope, body.message_id, now)
        root = memory.audit.run(scope.workspace, run_id).root if run_id is not None else None
    return ReactionTaken(is_known=root is not None, verdict=root.verdict.value if root is not None else "")
