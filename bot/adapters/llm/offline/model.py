"""The offline model as a `LanguageModel`: a request in, a decision out."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from bot.adapters.llm.offline.conversation_prompt import read_followed, read_last_message, read_last_question
from bot.adapters.llm.offline.decisions import Decider
from bot.adapters.llm.offline.follow_ups import may_follow, rewrite_follow_up
from bot.adapters.llm.offline.prompt_parser import Prompt, read_output, read_prompt
from bot.adapters.llm.offline.similarity import Embed, Similarity
from bot.errors import ModelUnavailable
from bot.model import ModelReply, ModelRequest, ModelTurn, ToolTurn, UserTurn
from memory.errors import EmbeddingFailed
from memory.model.evidence import Evidence

BLIND = "(I cannot see pictures: I am the offline model.)"
_WHY = "This goal exists because: "
"""In the prompt of every node below the root (`bot.agent.dialogue`)."""


class OfflineModel:
    """A deterministic model that uses no tokens. `embed` is called in threads and may be slow at first, as it loads."""

    name = "offline"

    def __init__(self, embed: Embed, *, must_choose: bool = False) -> None:
        self._similarity = Similarity(embed)
        self._must_choose = must_choose
        """Whether it chooses the best action even if it is not sure, for benchmarks."""
        self._turn = asyncio.Lock()
        """Serialises decisions: concurrent ones would only compete for the interpreter, also with the event loop."""

    async def warm_up(self) -> None:
        """Do nothing: there is nothing to load."""

    async def close(self) -> None:
        """Do nothing: there are no connections."""

    async def reply(self, request: ModelRequest) -> ModelReply:
        """Decide in a thread. Raises `ModelUnavailable` if the embedder fails."""
        prompts = [turn for turn in request.turns if isinstance(turn, UserTurn)]
        outputs = [
            replace(turn, content=read_output(turn.content)) for turn in request.turns if isinstance(turn, ToolTurn)
        ]
        opening = prompts[0].text if prompts else ""
        message = read_last_message(opening)
        prompt = replace(read_prompt(opening), last_goal=read_followed(opening))
        try:
            async with self._turn:
                if message is not None:
                    meant = await asyncio.to_thread(self._understand, message, opening, request)
                    return ModelReply(turn=ModelTurn(text=meant), model=self.name)
                turn, impossible = await asyncio.to_thread(self._decide, prompt, request, outputs)
        except EmbeddingFailed as exc:
            raise ModelUnavailable(f"{self.name}: cannot compare texts: {exc}") from exc
        if not turn.calls and _has_pictures(prompts):
            turn = replace(turn, text=f"{turn.text}\n\n{BLIND}")
        return ModelReply(turn=turn, model=self.name, impossible=impossible)

    def _understand(self, message: str, opening: str, request: ModelRequest) -> str:
        """The message rewritten to stand alone."""
        last = read_last_question(opening)
        if not last or not may_follow(message, last):
            return message
        evidence = request.weigh(f"{last} {message}") if request.weigh else Evidence()
        known = [weight.goal for belief in evidence.beliefs for weight in belief.weights if weight.approves]
        return rewrite_follow_up(message, last, self._similarity, known)

    def _decide(
        self, prompt: Prompt, request: ModelRequest, outputs: Sequence[ToolTurn]
    ) -> tuple[ModelTurn, frozenset[str]]:
        tools, weigh = request.tools, request.weigh
        decider = Decider(self._similarity, prompt, tools, outputs, weigh, must_choose=self._must_choose)
        return decider.decide(), decider.impossible


def _has_pictures(prompts: Sequence[UserTurn]) -> bool:
    """Whether the question came with pictures; False in nodes below the root, as the root says so."""
    return any(turn.images and _WHY not in turn.text.partition("<goal>")[0] for turn in prompts)
