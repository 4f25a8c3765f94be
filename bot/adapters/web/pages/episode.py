"""The page of an episode: its run, explanation, feedback and decisions."""

from dataclasses import asdict, dataclass, replace
from functools import partial

from starlette.responses import Response

from bot.adapters.web.pages.access import WebRole
from bot.adapters.web.pages.episode_actions import ACTIONS, decide, found_episode
from bot.adapters.web.pages.page import AdminPage, PageRoute, Visit
from bot.conversation.explanations.evidence_explanation import explain_evidence
from memory.errors import NotFound
from memory.model import Audience, Episode, Event, EventKind, Scope, Visibility
from memory.model.evidence import BeliefRecord, Evidence, EvidenceRecord
from memory.rules.audience import visibility_of
from memory.rules.evidence.judged_lesson import ANSWER
from memory.services import AnswerExplanation
from memory.services.reports.explain import RecallExplanation

USES = 20
"""How many of its uses as a lesson are listed."""
_ADDRESS = "episodes/{episode_id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownNode:
    """A node of the run with its recalls."""

    node: Episode
    depth: int
    recalls: tuple[RecallExplanation, ...]


def show(visit: Visit) -> Response:
    """Show the episode."""
    (episode,) = visit.shown(found_episode(visit))
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
        events=[_without_hidden_text(visit, each) for each in explanation.view.events],
        evidence=_evidence(explanation, seen),
        seen=seen,
        may_see=visit.may_see,
        may_decide=visit.role >= WebRole.TEACHER,
        may_delete=visit.role >= WebRole.ADMIN,
        own_vote=next((each.vote.value for each in lesson.votes if each.vote.actor == visit.actor), 0),
        audiences=_wider(episode),
        label=belief_label,
    )


def _without_hidden_text(visit: Visit, event: Event) -> Event:
    """An event without the text of a correction that the account may not see."""
    if event.kind is not EventKind.CORRECTED or not visit.public_only:
        return event
    try:
        lesson = visit.memory.audit.get(visit.workspace, str(event.detail.get("lesson", "")))
    except NotFound:
        return event
    return event if visit.may_see(lesson) else replace(event, detail={**event.detail, "text": ""})


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
    """Show what chat would recall for the goal now, for its asker or another person and channel."""
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
    context = frozenset({f"platform:{scope.platform}", f"channel:{scope.channel}", f"person:{scope.person}"})
    actions = visit.parts.actions(scope)
    chosen = visit.memory.recalling.recall(scope, goal, context=context, actions=actions)
    return visit.render(
        "recall.html",
        episode=episode,
        scope=scope,
        goal=goal,
        recollection=chosen,
        exemplars=[each for each in chosen.exemplars if visit.may_see(each.episode)],
        hidden=sum(not visit.may_see(each.episode) for each in chosen.exemplars),
        counts=asdict(chosen.counts),
        evidence=chosen.evidence or Evidence(),
    )


PAGE = AdminPage(
    name="episodes",
    title="Episode",
    is_listed=False,
    routes=(
        PageRoute(path=_ADDRESS, handler=show),
        PageRoute(path=f"{_ADDRESS}/recall", handler=recall),
        *(
            PageRoute(path=f"{_ADDRESS}/{name}", handler=partial(decide, act), method="POST", needs=needs)
            for name, (act, needs) in ACTIONS.items()
        ),
    ),
)
