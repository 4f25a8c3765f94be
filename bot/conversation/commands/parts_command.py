"""`parts` and `part`: which parts of an answer were right, and which went about it the wrong way, one tap each."""

from collections.abc import Sequence

from bot.conversation import messages
from bot.conversation.commands.command_context import CommandContext
from bot.conversation.commands.lesson_access import may_repeat
from bot.conversation.reply import CommandReply
from bot.model import Choice
from memory.errors import NotFound
from memory.model import Episode, Reaction, Termination
from memory.rules.retrieval.prompt import shown_line

PART = "part"
SOURCE = "part"
"""Of the votes that are given so."""
_MOST = 6
"""Parts with buttons: two for each, within what platforms put under one message."""
_RIGHT, _WRONG = "right", "wrong"
NO_PARTS = "That answer has no parts: 👍 and 👎 say all there is to say."
NO_SUCH_PART = "I do not know that part of an answer any more, or it is not yours to judge."
WHICH_PARTS = "Which parts of it were right, and which went about it the wrong way? The others stay as they are."
NOTED_WRONG_APPROACH = (
    "Noted: that was the wrong tool, or the wrong way to go about it. I avoid it for questions like this."
)


def part_choices(nodes: Sequence[Episode]) -> tuple[Choice, ...]:
    """Two buttons for each part of an answer that came to an end; none for an answer in one piece."""
    return tuple(
        Choice(label=f"{word}: {shown_line(node.goal, 60)}", command=PART, argument=f"{node.id} {judgement}")
        for node in parts_of(nodes)[:_MOST]
        for word, judgement in (("Right", _RIGHT), ("Wrong", _WRONG))
    )


def which_parts(nodes: Sequence[Episode]) -> str:
    """The question above those buttons."""
    left = len(parts_of(nodes)) - _MOST
    return f"{WHICH_PARTS} (These are the first {_MOST} of {_MOST + left}.)" if left > 0 else WHICH_PARTS


def parts_of(nodes: Sequence[Episode]) -> list[Episode]:
    """The parts that people can judge by themselves: those that did something, and were not split further."""
    over = (Termination.SUCCESS, Termination.FAILURE)
    return [node for node in nodes if not node.is_root and node.termination in over]


def show(context: CommandContext, run_id: str | None) -> CommandReply:
    """`parts`: those of the last answer, or of the one that is replied to."""
    if run_id is None:
        return CommandReply(text=messages.NO_ANSWER_YET)
    nodes = context.memory.audit.run(context.scope.workspace, run_id).nodes
    if not nodes or not may_repeat(context.scope, nodes[0]):
        return CommandReply(text=messages.NOT_YOURS)
    choices = part_choices(nodes)
    return CommandReply(text=which_parts(nodes) if choices else NO_PARTS, choices=choices)


def judge(context: CommandContext) -> CommandReply:
    """`part ID right|wrong`: a vote on that part alone."""
    node_id, _, judgement = context.argument.partition(" ")
    try:
        node = context.memory.audit.get(context.scope.workspace, node_id.lower())
        root = context.memory.audit.run(node.workspace, node.run_id).root
    except NotFound:
        return CommandReply(text=NO_SUCH_PART)
    if judgement not in (_RIGHT, _WRONG) or node.is_root or not may_repeat(context.scope, root):
        return CommandReply(text=NO_SUCH_PART)
    context.memory.teaching.vote(
        Reaction.on_run(
            node,
            context.scope.person,
            SOURCE,
            1 if judgement == _RIGHT else -1,
            context.command.at,
            role=context.role_for(node),
            node_id=node.id,
            event_id=context.command.event_id,
        )
    )
    worth = "was right" if judgement == _RIGHT else "went about it the wrong way"
    text = f"Noted: “{shown_line(node.goal, 80)}” {worth}. `{context.spell('undo')}` takes it back."
    return CommandReply(text=text, changed_runs=(node.run_id,))
