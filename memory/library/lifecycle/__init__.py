"""An agent's learning from run to run, step by step.

context = init_episode("ticket-7", task="Set the priority to High")
lessons = retrieve_memories(context, env=elements, internal_state="look for the priority")
record_step_start(context, "click('42')", env_pre=elements, action_element_text="Priority dropdown")
persist_memories(context)
add_grades_to_memories(context, [StepGrade(step_number=1, is_correct=True, explanation="opened the selector")])
"""

from memory.library.lifecycle.context import EpisodeContext, init_episode, record_step_end, record_step_start
from memory.library.lifecycle.entries import load_all_memories_for_session
from memory.library.lifecycle.grades import GradingReport, ReactionGrader, add_grades_to_memories, grade_run
from memory.library.lifecycle.importing import ImportReport, import_memories
from memory.library.lifecycle.persisting import persist_memories
from memory.library.lifecycle.remembering import retrieve_memories

__all__ = [
    "EpisodeContext",
    "GradingReport",
    "ImportReport",
    "ReactionGrader",
    "add_grades_to_memories",
    "grade_run",
    "import_memories",
    "init_episode",
    "load_all_memories_for_session",
    "persist_memories",
    "record_step_end",
    "record_step_start",
    "retrieve_memories",
]
