"""The use cases of curating a lesson: promote, release from quarantine, archive. Each is one transaction."""

from datetime import datetime

from memory.errors import InvalidInput
from memory.model import Audience, Episode, EventKind, Role, Visibility
from memory.rules.audience import visibility_of
from memory.rules.quarantine import Flag
from memory.rules.verdict import REVIEW
from memory.services.conversation.notices import note_decision
from memory.services.core import Core, record_and_index, require_episode
from memory.services.verdicts.archive import why_archived
from memory.services.verdicts.promotion import set_audience, undo_promotion
from memory.services.verdicts.quarantine import release_undone, restore_texts
from memory.services.verdicts.verdicts import settle, withdraw_votes


class Curation:
    """The use cases by which teachers and administrators decide on one lesson."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def promote(self, workspace: str, episode_id: str, audience: Audience, *, actor: str, role: Role) -> Episode:
        """Widen a lesson's audience, or narrow it with `personal`. Teachers and administrators only.

        For a teacher who exceeded the limit of promotions, the episode is returned unchanged and the attempt is logged.
        Raises `InvalidInput` if the lesson would become readable outside its direct message or private channel.
        """
        if not role.may_promote:
            raise InvalidInput("only a teacher may promote a lesson; ask one to do it")
        now = self._core.clock()
        with self._core.store.write() as tx:
            episode = require_episode(tx, workspace, episode_id)
            if audience is Audience.WORKSPACE and visibility_of(episode) is not Visibility.PUBLIC:
                where = f"a {episode.visibility.value} conversation"
                if visibility_of(episode) is not episode.visibility:
                    where += f" that is {episode.channel_visibility or episode.visibility} now"
                raise InvalidInput(
                    f"episode {episode_id} comes from {where} and stays there; "
                    "teach it again in a public channel to share it"
                )
            promoted = set_audience(self._core, tx, episode, audience, actor, role, now)
            settle(tx, workspace, promoted.run_id, actor, now, self._core.policy)
            after = require_episode(tx, workspace, episode_id)
            note_decision(tx, episode, after, actor, now)
            return after

    def take_back_promotion(self, workspace: str, episode_id: str, *, actor: str, role: Role, at: datetime) -> Episode:
        """Undo this person's promotions of a lesson, and their vote for it in a review. Others' stay.

        Raises `NotFound`.
        """
        now = self._core.clock()
        with self._core.store.write() as tx:
            before = require_episode(tx, workspace, episode_id)
            cast = tx.teaching.reactions_of_run(workspace, before.run_id)
            own = [each for each in cast if each.is_active and (each.actor, each.source) == (actor, REVIEW)]
            withdraw_votes(self._core, tx, now, *own, at=at)
            after = undo_promotion(self._core, tx, require_episode(tx, workspace, episode_id), actor, role, now)
            note_decision(tx, before, after, actor, now)
            return after

    def release(self, workspace: str, episode_id: str, *, actor: str, role: Role) -> Episode:
        """Release an episode from quarantine, so that its verdicts decide who recalls it. Idempotent.

        The text of a released correction is put on the answers it corrects. Raises `NotFound`, and `InvalidInput` if
        the role is neither teacher nor administrator, or if the lesson only needs its question restated.
        """
        if not role.may_promote:
            raise InvalidInput("only a teacher may release a lesson from quarantine; ask one to look at it")
        now = self._core.clock()
        with self._core.store.write() as tx:
            episode = require_episode(tx, workspace, episode_id)
            if not episode.quarantine:
                return episode
            if set(episode.quarantine) == {Flag.NEEDS_QUESTION}:
                raise InvalidInput("this lesson waits for a question in its author's own words; ask them to restate it")
            released = record_and_index(tx, episode, EventKind.RELEASED, actor, now, {"role": role.value, "flags": []})
            restore_texts(tx, released, actor, now)
            note_decision(tx, episode, released, actor, now)
            return released

    def hold_again(self, workspace: str, episode_id: str, *, actor: str, role: Role) -> Episode:
        """Take a release back: the episode is held back for the same flags as before. Idempotent.

        Raises `NotFound`, and `InvalidInput` if the role is neither teacher nor administrator, or if the episode was
        never released.
        """
        if not role.may_promote:
            raise InvalidInput("only a teacher may take back the release of a lesson; ask one to do it")
        now = self._core.clock()
        with self._core.store.write() as tx:
            episode = require_episode(tx, workspace, episode_id)
            if not episode.quarantine and not (episode := release_undone(tx, episode, actor, role, now)).quarantine:
                raise InvalidInput("nobody released this lesson, so there is nothing to take back")
            return episode

    def archive(self, workspace: str, episode_id: str, *, actor: str) -> Episode:
        """Archive an episode: it is no longer recalled, but nothing is deleted. Idempotent. Raises `NotFound`."""
        return self._set_archived(workspace, episode_id, actor, EventKind.ARCHIVED)

    def restore(self, workspace: str, episode_id: str, *, actor: str) -> Episode:
        """Restore an archived episode. Raises `NotFound`."""
        return self._set_archived(workspace, episode_id, actor, EventKind.RESTORED)

    def _set_archived(self, workspace: str, episode_id: str, actor: str, kind: EventKind) -> Episode:
        now = self._core.clock()
        with self._core.store.write() as tx:
            episode = require_episode(tx, workspace, episode_id)
            is_as_wanted = (episode.archived_at is not None) == (kind is EventKind.ARCHIVED)
            # Recorded even if upkeep archived it before: upkeep may restore what it archived, not what a person did.
            if is_as_wanted and not why_archived(tx, episode):
                return episode
            after = record_and_index(tx, episode, kind, actor, now)
            restore_texts(tx, after, actor, now)
            note_decision(tx, episode, after, actor, now)
            return after
