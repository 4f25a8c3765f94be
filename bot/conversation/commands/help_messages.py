"""The texts of `help` and `privacy`."""

from bot.conversation.messages import HowToType
from memory.model import Role

_COMMANDS = {
    "why": "which lessons and steps an answer came from",
    "parts": "which parts of an answer were right, and which went about it the wrong way",
    "memory": "what I believe here, and taking your lessons out of use",
    "ratings": "your 👍 and 👎, and taking one back",
    "reminders": "what I remind you of, and cancelling it",
    "new": "begin a new conversation: what was said before here is left out of it",
    "undo": "take back the last thing you taught me",
    "restate": "your lessons that need a new question, and giving them one",
    "export": "your data as a file",
    "forget": "erase your data",
    "privacy": "what I keep and who sees it",
    "stop": "stop what I am working on",
    "mode": "which messages of a channel I answer; teachers choose",
}
_TEACHERS_COMMANDS = {
    "review": "lessons that wait for a teacher",
    "promote": "give a lesson, by its id, to the channel or the workspace",
    "release": "let a lesson, by its id, be used that I hold back",
    "gaps": "questions nobody could answer, and teaching their answers",
    "teach": "the answer to one of them, by its id",
    "known-answers": "whether I give what people taught here without asking the language model: `on` or `off`",
    "purge": "take back everything one person taught, after showing how much it is",
    "settings": "who teaches, who may use me, how I listen; most of it for administrators",
}


def help_text(how_to_type: HowToType, role: Role) -> str:
    """What the bot is for, and the commands for this role."""
    lines = [
        "Ask me anything. When an answer is right, react 👍; when it is wrong, react 👎 and tell me what would have "
        f"been right: `{how_to_type('correct')} ...`. I use what people taught me the next time somebody asks "
        "something like it.",
        "",
        *(f"- `{how_to_type(name)}` - {what}" for name, what in _COMMANDS.items()),
    ]
    if role.may_promote:
        lines += ["", "For teachers:", ""]
        lines += [f"- `{how_to_type(name)}` - {what}" for name, what in _TEACHERS_COMMANDS.items()]
    return "\n".join(lines)


def privacy_text(how_to_type: HowToType) -> str:
    """What is stored, who sees it, and a person's rights."""
    return (
        "**What I keep.** Your questions to me, my answers and how I got there, your reactions and corrections. What "
        "people say to each other I read only where I am asked something, and do not keep, unless somebody saves one "
        "message as a lesson (📚): then it is its author's.\n\n"
        "**Who sees it.** A lesson counts for you alone until a teacher, or several other people, approve it for the "
        "channel; only a teacher can share it with the workspace. Teachers may look through the lessons of public "
        "channels. What comes from a direct message or a private channel never leaves it.\n\n"
        "**What I never do.** I train no model on it and show nobody else's memory to you.\n\n"
        f"**Your rights.** `{how_to_type('memory')}` shows it, `{how_to_type('ratings')}` your votes, "
        f"`{how_to_type('undo')}` takes back what you taught, `{how_to_type('export')}` gives you a copy, "
        f"`{how_to_type('forget')}` erases it. What others taught me about your questions stays theirs, without the "
        "questions."
    )
