"""The tools `look_up` and `change_fact`: facts about things, with their history."""

from collections.abc import Awaitable, Callable, Sequence

from bot.agent.tools.registry import Tool, ToolContext, text_property, text_tool
from bot.agent.tools.topic_words import TopicQuestion, change_result, sentences_about, wanted_in
from bot.errors import ToolFailed, ToolRetry
from memory.errors import Conflict, InvalidInput, MemoryFault
from memory.model import Role, Scope
from memory.services.topics.facts import ChangeResult
from memory.services.topics.listing import KnownTopic

_LIKE = 0.45
"""The least similarity, 0..1, of a topic that is shown."""

About = Callable[[Scope, str], Awaitable[Sequence[KnownTopic]]]
"""The topics most like a text, best first. Raises `MemoryFault`."""
Attend = Callable[[Scope, str], Awaitable[None]]
"""Notes that a topic, by its id, was shown. Raises `MemoryFault`."""
ChangeFact = Callable[[Scope, str, str, str, Role], Awaitable[ChangeResult]]
"""Sets a property of a thing to a value, if the person may. Raises `MemoryFault`."""


def look_up_tool(topics_about: About, attend: Attend) -> Tool:
    """The tool `look_up`."""

    @text_tool("look_up", {"about": text_property("the question about the thing, with the thing's name")})
    async def look_up(context: ToolContext, about: str) -> str:
        """Looks up in the team's knowledge what holds for a thing, since when, and what held before.

        For example: who owns the deploy?; since when is Aya the owner of the deploy?; who was the owner before?
        """
        if not about:
            raise ToolRetry("look_up needs to be told what about.")
        try:
            fitting = [each for each in await topics_about(context.scope, about) if each.similarity >= _LIKE]
            answer, topic = _first_answer(fitting, wanted_in(about))
            if topic is not None:
                context.credit(topic.people)
                await attend(context.scope, topic.topic.id)
        except MemoryFault as fault:
            raise ToolFailed("What is known about things cannot be read at the moment.") from fault
        if not answer:
            raise ToolFailed("Nothing is known about that thing.")
        return answer

    return look_up


def _first_answer(topics: Sequence[KnownTopic], wanted: TopicQuestion) -> tuple[str, KnownTopic | None]:
    """The first topic with an answer, and that answer."""
    for each in topics:
        if answer := sentences_about(each, wanted):
            return answer, each
    return "", None


def change_tool(change: ChangeFact) -> Tool:
    """The tool `change_fact`."""
    texts = {
        "thing": text_property("what it is about: deploy, standup", 200),
        "property": text_property("owner, room, date", 200),
        "new_value": text_property("what holds from now on", 2000),
    }

    @text_tool("change_fact", texts, has_side_effects=True)
    async def change_fact(context: ToolContext, thing: str, property: str, new_value: str) -> str:
        """Notes what holds for a thing from now on.

        For example: change the owner of the deploy to Bianca; the room of the standup is now 4.12
        """
        try:
            changed = await change(context.scope, thing, property, new_value, context.role)
        except (InvalidInput, Conflict) as problem:
            raise ToolRetry(f"That cannot be noted: {problem}.") from problem
        except MemoryFault as fault:
            raise ToolFailed("What is known about things cannot be changed at the moment.") from fault
        context.credit(filter(None, [changed.topic.person]))
        return change_result(changed, new_value)

    return change_fact
