"""The tools `look_up` and `change_fact`: facts about things, with their history."""

from collections.abc import Awaitable, Callable, Mapping, Sequence

from bot.agent.tools.registry import Tool, ToolContext, text_argument, text_schema, texts_schema
from bot.agent.tools.topic_words import TopicQuestion, change_result, sentences_about, wanted_in
from bot.errors import ToolFailed, ToolRetry
from memory.errors import Conflict, InvalidInput, MemoryFault
from memory.model import Role, Scope
from memory.services.topics.facts import Changed
from memory.services.topics.listing import KnownTopic

_LIKE = 0.45
"""The least likeness, 0..1, of a topic that is shown."""

About = Callable[[Scope, str], Awaitable[Sequence[KnownTopic]]]
"""The topics most like a text, best first. Raises `MemoryFault`."""
Attend = Callable[[Scope, str], Awaitable[None]]
"""Notes that a topic, by its id, was shown. Raises `MemoryFault`."""
ChangeFact = Callable[[Scope, str, str, str, Role], Awaitable[Changed]]
"""Sets a property of a thing to a value, if the person may. Raises `MemoryFault`."""


def look_up_tool(about: About, attend: Attend) -> Tool:
    """The tool `look_up`."""

    async def run(arguments: Mapping[str, object], context: ToolContext) -> str:
        question = text_argument(arguments, "about")
        if not question:
            raise ToolRetry("look_up needs to be told what about.")
        try:
            found = await about(context.scope, question)
            fitting = [each for each in found if each.likeness >= _LIKE]
            answer, topic = _first_answer(fitting, wanted_in(question))
            if topic is not None:
                context.credit(topic.people)
                await attend(context.scope, topic.topic.id)
        except MemoryFault as fault:
            raise ToolFailed("What is known about things cannot be read at the moment.") from fault
        if not answer:
            raise ToolFailed("Nothing is known about that thing.")
        return answer

    return Tool(
        name="look_up",
        description=(
            "Looks up in the team's knowledge what holds for a thing, since when, and what held before. "
            "For example: who owns the deploy?; since when is Aya the owner of the deploy?; who was the owner before?"
        ),
        parameters=text_schema("about", "the question about the thing, with the thing's name"),
        run=run,
    )


def _first_answer(topics: Sequence[KnownTopic], wanted: TopicQuestion) -> tuple[str, KnownTopic | None]:
    """The first topic with an answer, and that answer."""
    for each in topics:
        if answer := sentences_about(each, wanted):
            return answer, each
    return "", None


def change_tool(change: ChangeFact) -> Tool:
    """The tool `change_fact`."""

    async def run(arguments: Mapping[str, object], context: ToolContext) -> str:
        thing, name, value = (text_argument(arguments, each) for each in ("thing", "property", "new_value"))
        try:
            changed = await change(context.scope, thing, name, value, context.role)
        except (InvalidInput, Conflict) as problem:
            raise ToolRetry(f"That cannot be noted: {problem}.") from problem
        except MemoryFault as fault:
            raise ToolFailed("What is known about things cannot be changed at the moment.") from fault
        context.credit(filter(None, [changed.topic.person]))
        return change_result(changed, value)

    return Tool(
        name="change_fact",
        description=(
            "Notes what holds for a thing from now on. "
            "For example: change the owner of the deploy to Bianca; the room of the standup is now 4.12"
        ),
        parameters=texts_schema(
            thing=("what it is about: deploy, standup", 200),
            property=("owner, room, date", 200),
            new_value=("what holds from now on", 2000),
        ),
        run=run,
        has_side_effects=True,
    )
