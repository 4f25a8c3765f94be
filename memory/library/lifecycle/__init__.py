"""The lifecycle of an agent that records runs step by step, and learns from earlier runs.

context = init_episode("ticket-7", task="Set the priority to High")
lessons = retrieve_memories(context, env=elements, internal_state="look for the priority")
record_step_start(context, "click('42')", env_pre=elements, action_element_text="Priority dropdown")
persist_memories(context)
add_grades_to_memories(context, [StepGrade(step_number=1, is_correct=True, explanation="opened the selector")])
"""

from memory.library.lifecycle.context import (
    EpisodeContext as EpisodeContext,
    init_episode as init_episode,
    record_step_end as record_step_end,
    record_step_start as record_step_start,
)
from memory.library.lifecycle.entries import load_all_memories_for_session as load_all_memories_for_session
from memory.library.lifecycle.grades import (
    GradingReport as GradingReport,
    ReactionGrader as ReactionGrader,
    add_grades_to_memories as add_grades_to_memories,
    grade_run as grade_run,
)
from memory.library.lifecycle.importing import ImportReport as ImportReport, import_memories as import_memories
from memory.library.lifecycle.persisting import persist_memories as persist_memories
from memory.library.lifecycle.remembering import retrieve_memories as retrieve_memories
