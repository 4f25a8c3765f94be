"""The decisions about an episode, with undo where possible."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeVar

from starlette.responses import Response

from bot.adapters.web.pages.access import WebRole
from bot.adapters.web.pages.cookies import Notice
from bot.adapters.web.pages.page import Visit
from bot.conversation.messages import lesson_state
from memory.errors import InvalidInput, NotFound
from memory.model import Audience, Episode, Verdict

E = TypeVar("E", Verdict, Audience)
_BACK = ("review", "map")
"""The pages besides the episode's that a decision may return to."""
_GRADES = {1: Verdict.SUCCESS, -1: Verdict.FAILURE, 0: Verdict.PENDING}


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


def decide(act: Callable[[Visit, Episode], Response], visit: Visit) -> Response:
    """Do it to the episode in the path."""
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
    visit.memory.curation.archive(visit.workspace, episode.id, actor=visit.actor)
    return _done(visit, episode, "Archived: it is recalled no more.", "" if episode.archived_at else "restore")


def restore(visit: Visit, episode: Episode) -> Response:
    """Restore the episode."""
    restored = visit.memory.curation.restore(visit.workspace, episode.id, actor=visit.actor)
    return _done(visit, restored, f"Restored: {lesson_state(restored)}.", "archive" if episode.archived_at else "")


def promote(visit: Visit, episode: Episode) -> Response:
    """Promote the episode to an audience, or withdraw that."""
    audience = _one(Audience, visit.form.get("audience", ""))
    promoted = visit.memory.curation.promote(
        visit.workspace, episode.id, audience, actor=visit.actor, role=visit.role.role
    )
    if (promoted.promoted or Audience.PERSONAL) is not audience:
        raise InvalidInput("you have promoted as many as you may for now; an administrator can, or try later")
    before = episode.promoted or Audience.PERSONAL
    text = "It is no longer shared" if audience is Audience.PERSONAL else f"Shared with the {audience.value}"
    return _done(visit, promoted, f"{text}: {lesson_state(promoted)}.", "promote", audience=before)


def release(visit: Visit, episode: Episode) -> Response:
    """Release the episode from quarantine."""
    release = visit.memory.curation.release
    released = release(visit.workspace, episode.id, actor=visit.actor, role=visit.role.role)
    return _done(visit, released, f"Released: {lesson_state(released)}.", "hold")


def hold(visit: Visit, episode: Episode) -> Response:
    """Quarantine the episode again after a release."""
    visit.memory.curation.hold_again(visit.workspace, episode.id, actor=visit.actor, role=visit.role.role)
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
