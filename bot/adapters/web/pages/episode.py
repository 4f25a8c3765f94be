"""The page of an episode: its run, explanation, feedback, and the decisions about it, with undo where possible."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

from starlette.responses import Response

from bot.adapters.web.pages.access import WebRole
from bot.adapters.web.pages.cookies import Notice
from bot.adapters.web.pages.page import AdminPage, PageRoute, Visit
from bot.conversation.explanations.evidence_explanation import explain_evidence
from bot.conversation.messages import standing
from memory.errors import InvalidInput, NotFound
from memory.model import Audience, Episode, Scope, Verdict, Visibility
from memory.model.evidence import BeliefRecord, Evidence, EvidenceRecord
from memory.rules.audience import visibility_of
from memory.rules.evidence.judged_lesson import ANSWER
from memory.services import AnswerExplanation
from memory.services.reports.explain import RecallExplanation

USES = 20
"""How many of its uses as a lesson are listed."""
_ADDRESS = "episodes/{episode_id}"
E = TypeVar("E", Verdict, Audience)
_BACK = ("review", "map")
"""The pages besides the episode's that a decision may return to."""
_GRADES = {1: Verdict.SUCCESS, -1: Verdict.FAILURE, 0: Verdict.PENDING}


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownNode:
    """A node of the run with its recalls."""

    node: Episode
    depth: int
    recalls: tuple[RecallExplanation, ...]


def show(visit: Visit) -> Response:
    """Show the episode."""
    episode = found_episode(visit)
    explanation = visit.memory.explaining.answer(visit.workspace, episode.run_id)
    lesson = visit.memory.explaining.lesson(visit.workspace, episode.id, uses=USES)
    seen = {
        name: each for name, each in {**explanation.view.lessons, **explanation.weighed}.items() if visit.may_see(each)
    }
    return visit.render(
        "episode.html",
        episode=episode,
        visibility=visibility_of(episode),
        explanation=explanation,
        lesson=lesson,
        nodes=_tree(explanation),
        evidence=_evidence(explanation, seen),
        seen=seen,
        may_see=visit.may_see,
        may_decide=visit.role >= WebRole.TEACHER,
        may_delete=visit.role >= WebRole.ADMIN,
        own_vote=next((each.vote.value for each in lesson.votes if each.vote.actor == visit.actor), 0),
        audiences=_wider(episode),
        label=belief_label,
    )


def _tree(explanation: AnswerExplanation) -> list[ShownNode]:
    nodes = sorted(explanation.view.nodes, key=lambda node: [int(part) for part in node.node_path.split(".")])
    return [
        ShownNode(
            node=node,
            depth=min(node.node_path.count("."), 6),
            recalls=tuple(each for each in explanation.recalls if each.retrieval.node_path == node.node_path),
        )
        for node in nodes
    ]


def _evidence(explanation: AnswerExplanation, seen: dict[str, Episode]) -> list[tuple[EvidenceRecord, str]]:
    """The evidence of each recall that has any, with its explanation."""
    kept = [each.retrieval.evidence for each in explanation.recalls if each.retrieval.evidence]
    return [(each, explain_evidence(each, seen, None)[0]) for each in kept if each.beliefs]


def belief_label(belief: BeliefRecord, seen: dict[str, Episode]) -> str:
    """The label of a candidate: an action's name, or the answer's text from its lessons."""
    if belief.action != ANSWER:
        return belief.action
    of = next((seen[each.episode_id] for each in belief.weights if each.episode_id in seen), None)
    return of.output if of is not None else "an answer that is gone or not yours to see"


def _wider(episode: Episode) -> list[Audience]:
    """The audiences that the episode may be promoted to."""
    is_public = visibility_of(episode) is Visibility.PUBLIC
    return [
        audience
        for audience in Audience
        if audience is not (episode.promoted or Audience.PERSONAL) and (audience is not Audience.WORKSPACE or is_public)
    ]


def recall(visit: Visit) -> Response:
    """Show what the goal would recall now, for its asker or another person and channel."""
    episode = found_episode(visit)
    goal = visit.query.get("goal", "").strip() or episode.goal
    person = visit.query.get("person", "").strip() or episode.person
    channel = visit.query.get("channel", "").strip() or episode.channel
    scope = Scope(
        workspace=visit.workspace,
        channel=channel,
        person=person,
        visibility=episode.visibility if channel == episode.channel else Visibility.PUBLIC,
    )
    recalling = visit.memory.recalling
    context = frozenset({f"platform:{scope.platform}", f"channel:{scope.channel}", f"person:{scope.person}"})
    chosen = recalling.recall(scope, goal, context=context)
    weighed = recalling.recall(scope, goal, context=context, actions=())
    return visit.render(
        "recall.html",
        episode=episode,
        scope=scope,
        goal=goal,
        recollection=chosen,
        exemplars=[each for each in chosen.exemplars if visit.may_see(each.episode)],
        hidden=sum(not visit.may_see(each.episode) for each in chosen.exemplars),
        counts=chosen.counts.as_dict(),
        evidence=weighed.evidence or Evidence(),
    )


# Decisions ----------------------------------------------------------------------------------------------------------


def found_episode(visit: Visit) -> Episode:
    """The episode in the path. Raises `NotFound`, also if the account may not see it."""
    try:
        episode = visit.memory.audit.get(visit.workspace, visit.path["episode_id"])
    except NotFound:
        episode = None
    if episode is None or not visit.may_see(episode):
        # The same text for both, so that it does not reveal hidden episodes.
        raise NotFound("There is no such episode, or it is not yours to see. It may have been deleted or forgotten.")
    return episode


def own_vote(visit: Visit, episode: Episode) -> int:
    """The account's earlier vote on the episode: 1, -1 or 0."""
    node_id = "" if episode.is_root else episode.id
    votes = visit.memory.audit.run(visit.workspace, episode.run_id).votes
    return next((each.value for each in votes if (each.actor, each.node_id) == (visit.actor, node_id)), 0)


def _decide(act: Callable[[Visit, Episode], Response], visit: Visit) -> Response:
    return act(visit, found_episode(visit))


def _done(visit: Visit, episode: Episode, text: str, undo: str = "", **fields: str) -> Response:
    """Redirect to the page of the decision, with a notice and undo."""
    address = f"{_address(episode)}/{undo}" if undo else ""
    back = {name: visit.form[name] for name in ("back", "after") if visit.form.get(name)}
    notice = Notice(text, undo=visit.url(address) if undo else "", fields={**back, **fields})
    if visit.form.get("back") in _BACK:
        return visit.back(visit.form["back"], notice, after=visit.form.get("after", ""))
    return visit.back(_address(episode), notice)


def _address(episode: Episode) -> str:
    return f"episodes/{episode.id}"


def grade(visit: Visit, episode: Episode) -> Response:
    """Grade the episode; `pending` withdraws the grade."""
    verdict = _one(Verdict, visit.form.get("verdict", ""))
    before = own_vote(visit, episode)
    graded = visit.memory.teaching.grade(
        visit.workspace,
        episode.id,
        verdict,
        actor=visit.actor,
        role=visit.role.role,
        reason=visit.form.get("reason", ""),
    )
    text = "Your verdict is taken back." if verdict is Verdict.PENDING else f"Your verdict: {verdict.value}."
    return _done(visit, graded, f"{text} It counts as {graded.verdict.value} now.", "grade", verdict=_GRADES[before])


def correct(visit: Visit, episode: Episode) -> Response:
    """Correct the episode's answer."""
    event_id = visit.memory.new_id()
    visit.memory.teaching.correct(
        replace(episode.scope, person=visit.actor),
        episode.run_id,
        visit.form.get("text", ""),
        role=visit.role.role,
        at=visit.memory.clock(),
        event_id=event_id,
        reason=visit.form.get("reason", ""),
    )
    return _done(visit, episode, "Corrected: it is a lesson now.", "uncorrect", event=event_id)


def uncorrect(visit: Visit, episode: Episode) -> Response:
    """Undo the account's own correction."""
    event_id = visit.form.get("event", "")
    undone = event_id and visit.memory.teaching.undo(
        visit.workspace, visit.actor, at=visit.memory.clock(), of_event=event_id
    )
    return _done(visit, episode, "The correction is taken back." if undone else "There was nothing to take back.")


def archive(visit: Visit, episode: Episode) -> Response:
    """Archive the episode."""
    visit.memory.teaching.archive(visit.workspace, episode.id, actor=visit.actor)
    return _done(visit, episode, "Archived: it is recalled no more.", "" if episode.archived_at else "restore")


def restore(visit: Visit, episode: Episode) -> Response:
    """Restore the episode."""
    restored = visit.memory.teaching.restore(visit.workspace, episode.id, actor=visit.actor)
    return _done(visit, restored, f"Restored: {standing(restored)}.", "archive" if episode.archived_at else "")


def promote(visit: Visit, episode: Episode) -> Response:
    """Promote the episode to an audience, or withdraw that."""
    audience = _one(Audience, visit.form.get("audience", ""))
    promoted = visit.memory.teaching.promote(
        visit.workspace, episode.id, audience, actor=visit.actor, role=visit.role.role
    )
    if (promoted.promoted or Audience.PERSONAL) is not audience:
        raise InvalidInput("you have promoted as many as you may for now; an administrator can, or try later")
    before = episode.promoted or Audience.PERSONAL
    text = "It is no longer shared" if audience is Audience.PERSONAL else f"Shared with the {audience.value}"
    return _done(visit, promoted, f"{text}: {standing(promoted)}.", "promote", audience=before)


def release(visit: Visit, episode: Episode) -> Response:
    """Release the episode from quarantine."""
    release = visit.memory.teaching.release
    released = release(visit.workspace, episode.id, actor=visit.actor, role=visit.role.role)
    return _done(visit, released, f"Released: {standing(released)}.", "hold")


def hold(visit: Visit, episode: Episode) -> Response:
    """Quarantine the episode again after a release."""
    visit.memory.teaching.hold_again(visit.workspace, episode.id, actor=visit.actor, role=visit.role.role)
    return _done(visit, episode, "It is held back again.", "release")


def delete(visit: Visit, episode: Episode) -> Response:
    """Erase the question and the answer that the episode belongs to."""
    if visit.form.get("sure") != "yes":
        raise InvalidInput("tick the box first: what is deleted is gone for good")
    count = visit.memory.privacy.erase_run(visit.workspace, episode.run_id, actor=visit.actor)
    return visit.back("episodes", Notice(f"Deleted for good, {count} episodes in all."))


def _one(kind: type[E], text: str) -> E:
    """The member with this value. Raises `InvalidInput` if there is none."""
    try:
        return kind(text)
    except ValueError as error:
        raise InvalidInput("choose one of what is offered") from error


ACTIONS: Mapping[str, tuple[Callable[[Visit, Episode], Response], WebRole]] = {
    "grade": (grade, WebRole.TEACHER),
    "correct": (correct, WebRole.TEACHER),
    "uncorrect": (uncorrect, WebRole.TEACHER),
    "archive": (archive, WebRole.TEACHER),
    "restore": (restore, WebRole.TEACHER),
    "promote": (promote, WebRole.TEACHER),
    "release": (release, WebRole.TEACHER),
    "hold": (hold, WebRole.TEACHER),
    "delete": (delete, WebRole.ADMIN),
}
"""Handlers and the roles they need, by the last part of their paths."""

PAGE = AdminPage(
    name="episodes",
    title="Episode",
    is_listed=False,
    routes=(
        PageRoute(path=_ADDRESS, handler=show),
        PageRoute(path=f"{_ADDRESS}/recall", handler=recall),
        *(
            PageRoute(path=f"{_ADDRESS}/{name}", handler=partial(_decide, act), method="POST", needs=needs)
            for name, (act, needs) in ACTIONS.items()
        ),
    ),
)
