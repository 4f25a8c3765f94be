"""What is said about the choice of what a question offered."""

from bot.conversation.messages import Spell
from memory.rules.retrieval.prompt import shown_line

NONE_OF_THESE = "None of these"
NO_SUCH_QUESTION = "I do not know that question any more, or it is not yours to see. Ask it once more."


def none_of_these(spell: Spell) -> str:
    """To whoever said that nothing of what was offered is meant."""
    return f"Noted: none of these. What would have been right? `{spell('correct')} ...` tells me."


def opinion_kept(label: str, spell: Spell) -> str:
    """To somebody else than the asker who chose."""
    return (
        f"Noted: you would say “{shown_line(label, 70)}”. The question was somebody else's, so I answer nothing; it "
        f"counts like your 👍. `{spell('undo')}` takes it back."
    )
