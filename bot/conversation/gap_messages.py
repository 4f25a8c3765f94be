"""What is said about questions that nobody could answer."""

from collections.abc import Sequence

from bot.conversation.messages import titled
from memory.model import Episode
from memory.rules.retrieval.prompt import shown_line
from memory.services import Gap

NO_SUCH_GAP = "I know no such question that waits for an answer. `gaps` lists those that do."
TITLE = "What nobody could answer, those first whose answer settles most"
COUNTS_THERE = "What you answer here counts where it was asked. `gaps` lists them all."


def gap_line(gap: Gap, number: int) -> str:
    """One question to teach: how often it was asked, in which words, where, and its id."""
    asked = f"{gap.asked} questions like" if gap.asked > 1 else "asked once:"
    where = f" in {shown_line(gap.episode.place, 40)}" if gap.episode.place else ""
    return f"{number}. {asked} “{shown_line(gap.episode.goal, 80)}”{where} (`{gap.episode.id[-8:]}`)"


def gaps(lines: Sequence[str], command: str, *, is_direct: bool) -> str:
    """The list behind `gaps`."""
    if not lines:
        return "Every question that I may show here was answered, as far as I know."
    text = titled(TITLE, lines, "")
    alone = " What you teach in our direct messages, I tell nobody else: for others, teach it in a channel."
    return f"{text}\n\nTo teach one: `{command}`.{alone if is_direct else ''}"


def how_to_teach(question: Episode, command: str) -> str:
    """`teach ID` without an answer."""
    return f"What is the right answer to “{shown_line(question.goal, 100)}”? `{command}`"
