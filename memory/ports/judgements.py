"""What people's votes say of the best candidates, and the thresholds counted from it, in a store."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from memory.model.evidence import Judgement, JudgementCount, Threshold


class JudgementTable(Protocol):
    """Judgements, by run and voter, and one threshold for each workspace."""

    def set(
        self,
        workspace: str,
        given: Mapping[str, Sequence[Judgement]],
        *,
        stored: Mapping[str, Sequence[Judgement]] | None = None,
    ) -> bool:
        """Replace the judgements of these runs; whether that changed anything. Costs the same for many as for one.

        `stored` are those of the same runs as they were read already.
        """
        ...

    def of_run(self, workspace: str, run_id: str) -> list[Judgement]:
        """The run's judgements, by voter."""
        ...

    def delete_runs(self, workspace: str, run_ids: Iterable[str]) -> int:
        """Erase the judgements of these runs; returns how many."""
        ...

    def counts(self, workspace: str, newest: int) -> list[JudgementCount]:
        """How often each person judged alike, of the `newest` judgements by the time of the answer, then run, voter."""
        ...

    def put_threshold(self, threshold: Threshold) -> None:
        """Keep a workspace's threshold; it replaces the one before."""
        ...

    def threshold(self, workspace: str) -> Threshold | None:
        """The workspace's threshold, or None where nobody judged anything yet."""
        ...
