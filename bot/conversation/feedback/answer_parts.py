"""The parts of an answer that people can judge one by one with buttons."""

from collections.abc import Sequence

from bot.model import Choice
from memory.model import Episode, Termination
from memory.rules.retrieval.prompt import shown_line

PART = "part"
"""The command behind the buttons."""
_MOST = 6
"""The number of parts that get their two buttons each; platforms limit the buttons of a message."""
RIGHT, WRONG = "right", "wrong"
_WHICH_PARTS = "Which parts of it were right, and which went about it the wrong way? The others stay as they are."
NOTED_WRONG_APPROACH = (
    "Noted: that was the wrong tool, or the wrong way to go about it. I avoid it for questions like this."
)


def part_choices(nodes: Sequence[Episode]) -> tuple[Choice, ...]:
    """Two buttons for each finished part of an answer; none for an answer without parts."""
    return tuple(
        Choice(label=f"{word}: {shown_line(node.goal, 60)}", command=PART, argument=f"{node.id} {judgement}")
        for node in parts_of(nodes)[:_MOST]
        for word, judgement in (("Right", RIGHT), ("Wrong", WRONG))
    )


def which_parts(nodes: Sequence[Episode]) -> str:
    """The question above the buttons."""
    left = len(parts_of(nodes)) - _MOST
    return f"{_WHICH_PARTS} (These are the first {_MOST} of {_MOST + left}.)" if left > 0 else _WHICH_PARTS


def parts_of(nodes: Sequence[Episode]) -> list[Episode]:
    """The parts that can be judged: those that ended in success or failure, which excludes parts split further.

    Of an answer that knows no part, none can.
    """
    over = (Termination.SUCCESS, Termination.FAILURE)
    parts = [node for node in nodes if not node.is_root and node.termination in over]
    return parts if any(node.termination is Termination.SUCCESS for node in parts) else []
