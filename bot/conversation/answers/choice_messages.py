"""The options of the bot's question ("Did you mean ...?") as buttons, and its replies to choices of them."""

from collections.abc import Sequence

from bot.conversation.messages import HowToType
from bot.conversation.reply import CHOICE, CHOOSE, NO, NONE
from bot.model import Choice
from memory.model import Grant, Option
from memory.rules.retrieval.prompt import shown_line
from memory.services import ChoiceResult

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
"""Why a press did not let the action run, by `Chosen.refusal`."""
GRANTS = {
    Grant.ONCE: "this once",
    Grant.SHORT: "for 10 minutes",
    Grant.ALWAYS: "always here",
    Grant.LEARNED: "learned: a teacher approved of the same here",
}
"""How an action was allowed, in words."""
NEEDS_TAP = f"For that I need a tap: press “{DO_IT}” or “{DO_NOT}” under my question."
NO_SUCH_QUESTION = "I do not know that question any more, or it is not yours to answer. If it is, ask it once more."
NOTHING_TO_CHOOSE = "There is nothing to choose that way: no question of mine is open here, or it has no such option."


def option_choices(run_id: str, options: Sequence[Option]) -> tuple[Choice, ...]:
    """The buttons of a question: one for each option, and "none of these"."""
    if any(option.is_approval for option in options):
        return _approval_choices(run_id, options)
    offered = [
        Choice(label=option.label, command=CHOOSE, argument=f"{run_id} {number}", words=option.text)
        for number, option in enumerate(options, start=1)
    ]
    return (*offered, Choice(label=NONE_OF_THESE, command=CHOOSE, argument=f"{run_id} {NONE}"))


def _approval_choices(run_id: str, options: Sequence[Option]) -> tuple[Choice, ...]:
    """The buttons for a tool with effects that waits for approval, also for later actions."""
    buttons = [
        (DO_IT if len(options) == 1 else f"{DO_IT}: {option.label}", f"{number}")
        for number, option in enumerate(options, start=1)
    ]
    if len(options) == 1:
        buttons += [(DO_IT_FOR_A_WHILE, f"1 {Grant.SHORT.value}"), (DO_IT_ALWAYS, f"1 {Grant.ALWAYS.value}")]
    buttons.append((DO_NOT, NO))
    return tuple(Choice(label=label, command=CHOOSE, argument=f"{run_id} {which}") for label, which in buttons)


def not_chosen(argument: str) -> str:
    """The reply to a choice of nothing: of a question that is gone, or of none, as only a button names it."""
    found = CHOICE.fullmatch(argument.strip())
    return NO_SUCH_QUESTION if found is not None and found["run"] else NOTHING_TO_CHOOSE


def reply_to_choice(chosen: ChoiceResult, how_to_type: HowToType) -> str:
    """The reply to a choice that is not answered; empty if there is none."""
    if chosen.refusal:
        return NOT_DECIDED[chosen.refusal]
    if chosen.has_declined:
        return "Noted: I do nothing."
    if chosen.option is None:
        return f"Noted: none of these. What would have been right? `{how_to_type('correct')} ...` tells me."
    return "" if chosen.is_asker else _opinion_kept(chosen.option, how_to_type)


def _opinion_kept(chosen: Option, how_to_type: HowToType) -> str:
    """To a person who chose but is not the asker."""
    choice = shown_line(chosen.text or chosen.label, 70)
    return (
        f"Noted: you would say “{choice}”. The question was somebody else's, so I answer nothing; it "
        f"counts like your 👍. `{how_to_type('undo')}` takes it back."
    )
