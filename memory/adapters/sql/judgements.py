"""Judgements and thresholds."""

from collections.abc import Iterable, Mapping, Sequence

from sqlalchemy import bindparam, delete, func, select

from memory.adapters.row_validation import chunks
from memory.adapters.sql.judgement_tables import judgements, thresholds
from memory.adapters.sql.session import ID_LIMIT, SqlTable, among, matching
from memory.model.judgement import Judgement, JudgementCount, Threshold

_j = judgements.c
_OF_RUN = select(judgements).where(matching(judgements, "run_id")).order_by(_j.actor)
_OF_RUNS = select(judgements).where(among(judgements, "run_id"))
_DELETE = delete(judgements).where(matching(judgements, "run_id", "actor"))
_DELETE_RUNS = delete(judgements).where(among(judgements, "run_id"))
_newest = (
    select(_j.actor, _j.confidence, _j.is_right, _j.is_known, _j.is_asked)
    .where(matching(judgements))
    .order_by(_j.at.desc(), _j.run_id.desc(), _j.actor.desc())  # as the index has them
    .limit(bindparam("newest"))
    .subquery()
)
_n = _newest.c
_COUNTS = select(_n.actor, _n.confidence, _n.is_right, _n.is_known, func.count().label("number"), _n.is_asked).group_by(
    *_n
)  # as `JudgementCount` has them
_THRESHOLD = select(thresholds).where(matching(thresholds))


class SqlJudgementTable(SqlTable):
    """`memory.ports.JudgementTable` in SQL."""

    def set(
        self,
        workspace: str,
        given: Mapping[str, Sequence[Judgement]],
        *,
        stored: Mapping[str, Sequence[Judgement]] | None = None,
    ) -> bool:
        wanted = {(run_id, each.actor): each for run_id, judged in given.items() for each in judged}
        if any((each.workspace, each.run_id) != (workspace, run_id) for (run_id, _), each in wanted.items()):
            raise ValueError(f"judgements of another run given in {workspace}")
        read = (
            self._of_runs(workspace, given)
            if stored is None
            else [each for of_one in stored.values() for each in of_one]
        )
        known = {(each.run_id, each.actor): each for each in read}
        gone = [{"workspace": workspace, "run_id": run_id, "actor": actor} for run_id, actor in known.keys() - wanted]
        self._session.run(_DELETE, gone)
        new = [each for key, each in wanted.items() if known.get(key) != each]
        self._session.put(judgements, *new)
        return bool(gone or new)

    def _of_runs(self, workspace: str, run_ids: Iterable[str]) -> list[Judgement]:
        return [
            each
            for ids in chunks(run_ids, ID_LIMIT)
            for each in self._session.all(Judgement, _OF_RUNS, workspace=workspace, ids=ids)
        ]

    def of_run(self, workspace: str, run_id: str) -> list[Judgement]:
        return self._session.all(Judgement, _OF_RUN, workspace=workspace, run_id=run_id)

    def delete_runs(self, workspace: str, run_ids: Iterable[str]) -> int:
        some = chunks(run_ids, ID_LIMIT)
        return sum(self._session.run(_DELETE_RUNS, {"workspace": workspace, "ids": ids}) for ids in some)

    def counts(self, workspace: str, newest: int) -> list[JudgementCount]:
        return list(map(JudgementCount._make, self._session.rows(_COUNTS, {"workspace": workspace, "newest": newest})))

    def put_threshold(self, threshold: Threshold) -> None:
        self._session.put(thresholds, threshold)

    def threshold(self, workspace: str) -> Threshold | None:
        return self._session.first(Threshold, _THRESHOLD, workspace=workspace)
