"""What is said about taking back what one person taught."""

from bot.conversation.counts import count, counts
from memory.rules.retrieval.prompt import shown_line
from memory.services import Purge


def purge_usage(command: str) -> str:
    """`purge` without a person."""
    return f"Whose lessons? `{command} PERSON` shows first how much it is."


def nothing_to_purge(person: str) -> str:
    """There is nothing to purge of this person."""
    return f"I find nothing taught by {shown_line(person, 40)} that still counts. (I look for the person's id.)"


def purge_question(planned: Purge, command: str) -> str:
    """The one question before everything that a person taught is withdrawn."""
    return (
        f"This takes back what {shown_line(planned.taught_by, 40)} taught me: {purge_counts(planned)}. It all stays "
        f"in my log, but nothing of it counts any more. To go ahead: `{command}`"
    )


def purged(done: Purge) -> str:
    """What a purge has taken back."""
    return f"Taken back from {shown_line(done.taught_by, 40)}: {purge_counts(done)}."


def purge_counts(purge: Purge) -> str:
    """What a purge takes back, without what there is none of."""
    taken = counts(
        (purge.votes, "vote"),
        (purge.lessons, "lesson"),
        (purge.corrections, "correction"),
        (purge.promotions, "promotion"),
        (purge.shelved, "archived or restored lesson"),
        (purge.released, "released lesson"),
        (purge.grades, "grade"),
        (purge.values, "topic value"),
        (purge.topics, "topic"),
        (purge.permissions, "permission"),
    )
    rest = f"; and {count(purge.unlearned, 'other lesson')} that rested on it back to pending"
    return f"{taken}{rest if purge.unlearned else ''}"
