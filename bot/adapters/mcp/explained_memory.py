"""A memory for other agents that can explain answers and lessons."""

from dataclasses import dataclass, replace

from bot.conversation.explanations.explanation import explain
from bot.conversation.explanations.lesson_explanation import explain_lesson
from memory.errors import NotFound
from memory.library.agent import AgentMemory
from memory.model.validation import shown_value
from memory.rules.audience import may_read, may_see


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedMemory(AgentMemory):
    """The memory as one person's agent sees it, with explanations."""

    def why(self, subject_id: str) -> str:
        """Explain a recorded answer or a lesson by its id, as Markdown. Raises `NotFound`."""
        entry = self.memory.answers.of_message(self.scope, subject_id, self.memory.clock())
        if entry is not None:
            explanation = self.memory.explaining.answer(self.scope.workspace, entry)
            view = explanation.view
            if may_read(self.scope, view.root):
                (root,) = self.memory.recalling.as_seen_by(self.scope, [view.root])
                view = replace(view, nodes=(root, *view.nodes[1:]))
                return explain(replace(explanation, view=view), self.scope)
        nothing = NotFound(
            f"nothing with the id {shown_value(subject_id)} can be explained here; `recall` and `record` give ids"
        )
        try:
            lesson = self.memory.explaining.lesson(self.scope.workspace, subject_id)
        except NotFound:
            raise nothing from None
        if not may_see(self.scope, lesson.episode):
            raise nothing
        return explain_lesson(lesson, self.scope)
