"""The commands `parts` and `part`: list the parts of an answer, and vote on one of them."""

from bot.conversation import messages
from bot.conversation.commands.command_context import CommandContext
from bot.conversation.commands.lesson_access import may_repeat
from bot.conversation.feedback.answer_parts import RIGHT, WRONG, part_choices, which_parts
from bot.conversation.reply import CommandReply
from memory.errors import NotFound
from memory.model import Reaction
from memory.rules.retrieval.prompt import shown_line

SOURCE = "part"
"""The source of these votes."""
NO_PARTS = "That answer has no parts. React 👍 or 👎 to the whole answer."
NO_SUCH_PART = "I do not know that part of an answer any more, or it is not yours to judge."


def show(context: CommandContext, run_id: str | None) -> CommandReply:
    """`parts`: the parts of the last answer, or of the one that is replied to."""
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
    if judgement not in (RIGHT, WRONG) or node.is_root or not may_repeat(context.scope, root):
        return CommandReply(text=NO_SUCH_PART)
    context.memory.teaching.vote(
        Reaction.on_run(
            node,
            context.scope.person,
            SOURCE,
            1 if judgement == RIGHT else -1,
            context.command.at,
            role=context.role_for(node),
            node_id=node.id,
            event_id=context.command.event_id,
        )
    )
    worth = "was right" if judgement == RIGHT else "went about it the wrong way"
    text = f"Noted: “{shown_line(node.goal, 80)}” {worth}. `{context.how_to_type('undo')}` takes it back."
    return CommandReply(text=text, changed_runs=(node.run_id,))
