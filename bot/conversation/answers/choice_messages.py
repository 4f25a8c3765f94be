"""What is said about the choice of what a question offered."""

from bot.conversation.messages import Spell
from memory.model import Grant, Option
from memory.rules.retrieval.prompt import shown_line
from memory.services import Chosen

NONE_OF_THESE = "None of these"
DO_IT = "Do it"
DO_IT_FOR_A_WHILE = "Allow for 10 minutes"
DO_IT_ALWAYS = "Always allow here"
DO_NOT = "Don't"
NOT_DECIDED = {
    "stranger": "That is for whoever asked, or for a teacher of this channel, to decide. I did nothing.",
    "expired": "That question is too old to be answered now. I did nothing; ask me once more.",
    "teachers": "Only a teacher can allow more than this once. “Do it” lets me do it now.",
    "decided": "That was decided already, and holds once. Ask me again to have it done again.",
}
"""Why a press let nothing run, by `Chosen.refusal`."""
GRANTS = {
    Grant.ONCE: "this once",
    Grant.SHORT: "for 10 minutes",
    Grant.ALWAYS: "always here",
    Grant.LEARNED: "learned: a teacher approved of the same here",
}
"""How an action was let run, in words."""
NO_SUCH_QUESTION = "I do not know that question any more, or it is not yours to see. Ask it once more."


def reply_to_choice(chosen: Chosen, spell: Spell) -> str:
    """The reply to a choice that leads to no answer; empty if there is none."""
    if chosen.refusal:
        return NOT_DECIDED[chosen.refusal]
    if chosen.has_declined:
        return "Noted: I do nothing."
    if chosen.option is None:
        return f"Noted: none of these. What would have been right? `{spell('correct')} ...` tells me."
    return "" if chosen.is_asker else _opinion_kept(chosen.option, spell)


def _opinion_kept(chosen: Option, spell: Spell) -> str:
    """To somebody else than the asker who chose."""
    choice = shown_line(chosen.text or chosen.label, 70)
    return (
        f"Noted: you would say “{choice}”. The question was somebody else's, so I answer nothing; it "
        f"counts like your 👍. `{spell('undo')}` takes it back."
    )
