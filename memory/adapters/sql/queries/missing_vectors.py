"""Episodes and topics without a vector of a model (none, or another model's), and the models of stored vectors."""

from sqlalchemy import Select, Table, and_, bindparam, func, or_, select

from memory.adapters.sql.tables.episodes import episode_vectors, episodes
from memory.adapters.sql.tables.topics import topic_vectors, topics


def _without_vector(owner: Table, vectors: Table, name: str, *texts: str) -> Select[tuple[str]]:
    """The query of ids without a vector of model `m` in workspace `w`. Rows whose `texts` are all empty need none."""
    of_owner = and_(vectors.c.workspace == owner.c.workspace, vectors.c[name] == owner.c.id)
    return (
        select(owner.c.id)
        .select_from(owner.outerjoin(vectors, of_owner))
        .where(
            owner.c.workspace == bindparam("w"),
            or_(vectors.c.model.is_(None), vectors.c.model != bindparam("m")),
            or_(*(owner.c[text] != "" for text in texts)),
        )
    )


_EPISODES = _without_vector(episodes, episode_vectors, "episode_id", "goal")
_TOPICS = _without_vector(topics, topic_vectors, "topic_id", "title", "summary")
GOALS = (
    _EPISODES.add_columns(episodes.c.goal)
    .where(episodes.c.id > bindparam("after"))
    .order_by(episodes.c.id)
    .limit(bindparam("count"))
)
"""The query of (id, goal) of the first episodes without a vector behind an id, by id."""
TOPIC_IDS = _TOPICS.where(topics.c.id > bindparam("after")).order_by(topics.c.id).limit(bindparam("count"))
"""The same of topics, without texts."""
EPISODE_COUNT = select(func.count()).select_from(_EPISODES.subquery())
TOPIC_COUNT = select(func.count()).select_from(_TOPICS.subquery())


def _models() -> Select[tuple[str]]:
    """The query of model names, which steps through the index by name; DISTINCT would read all rows."""
    here = select(func.min(episode_vectors.c.model).label("model")).where(episode_vectors.c.workspace == bindparam("w"))
    known = here.cte("known", recursive=True)
    following = here.where(episode_vectors.c.model > known.c.model).scalar_subquery()
    known = known.union_all(select(following).where(known.c.model.is_not(None)))
    return select(known.c.model).where(known.c.model.is_not(None))


MODELS = _models()
"""The query of the models of episodes' vectors."""
