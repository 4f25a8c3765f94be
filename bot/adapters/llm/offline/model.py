"""The offline model as pydantic-ai sees it: messages and tool definitions in, one response out."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from pydantic_ai import messages as vendor
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.settings import ModelSettings

from bot.adapters.llm.offline.deciding import Call, Decider, Say, ToolOutput
from bot.adapters.llm.offline.reading import Prompt, read_output, read_prompt
from bot.adapters.llm.offline.similarity import Embed, Similarity
from bot.errors import ModelUnavailable
from bot.model import ToolSpec
from memory.errors import EmbeddingFailed

NAME = "offline"
BLIND = "(I cannot see pictures: I am the offline model.)"
_WHY = "This goal exists because: "
"""Stands in the prompt of every node below the root (`bot.agent.prompt`)."""


class OfflineModel(Model[None]):
    """A deterministic model that uses no tokens and costs nothing."""

    def __init__(self, embed: Embed) -> None:
        super().__init__()
        self._similarity = Similarity(embed)
        self._turn = asyncio.Lock()
        """One decision at a time: several would only take the interpreter from each other, and from the event loop."""

    @property
    def model_name(self) -> str:
        """`offline`."""
        return NAME

    @property
    def system(self) -> str:
        """The provider: goodbot itself."""
        return "goodbot"

    async def request(
        self,
        messages: list[vendor.ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> vendor.ModelResponse:
        """Decide in a thread. Raises `ModelUnavailable` when nothing can be embedded."""
        _, parameters = self.prepare_request(model_settings, model_request_parameters)
        prompt, outputs = read_dialogue(messages)
        tools = [
            ToolSpec(name=tool.name, description=tool.description or "", parameters=tool.parameters_json_schema)
            for tool in parameters.function_tools
        ]
        try:
            async with self._turn:
                decision = await asyncio.to_thread(self._decide, prompt, tools, outputs)
        except EmbeddingFailed as exc:
            raise ModelUnavailable(f"{NAME}: cannot compare texts: {exc}") from exc
        if isinstance(decision, Say) and _has_pictures(messages):
            decision = replace(decision, text=f"{decision.text}\n\n{BLIND}")
        return vendor.ModelResponse(
            parts=_parts(decision, number=len(outputs) + 1), model_name=NAME, provider_name=self.system
        )

    def _decide(self, prompt: Prompt, tools: Sequence[ToolSpec], outputs: Sequence[ToolOutput]) -> Say | Call:
        return Decider(self._similarity, prompt, tools, outputs).decide()


def read_dialogue(messages: Sequence[vendor.ModelMessage]) -> tuple[Prompt, list[ToolOutput]]:
    """The node's opening turn, and what its calls returned, in order."""
    opening: str | None = None
    outputs: list[ToolOutput] = []
    for message in messages:
        if not isinstance(message, vendor.ModelRequest):
            continue
        for part in message.parts:
            if isinstance(part, vendor.UserPromptPart) and opening is None:
                opening = _words(part.content)
            elif isinstance(part, vendor.ToolReturnPart):
                output = read_output(part.model_response_str(wrap_if_error=False))
                outputs.append(ToolOutput(tool=part.tool_name, output=output, is_error=part.outcome != "success"))
    return read_prompt(opening or ""), outputs


def _words(content: str | Sequence[vendor.UserContent]) -> str:
    return content if isinstance(content, str) else "\n".join(one for one in content if isinstance(one, str))


def _has_pictures(messages: Sequence[vendor.ModelMessage]) -> bool:
    """Whether the person's question came with pictures. A node below the root leaves it to the root to say so."""
    prompts = [part for message in messages for part in message.parts if isinstance(part, vendor.UserPromptPart)]
    return any(
        isinstance(part.content, Sequence)
        and any(isinstance(one, vendor.BinaryContent) for one in part.content)
        and _WHY not in _words(part.content).partition("<goal>")[0]
        for part in prompts
    )


def _parts(decision: Say | Call, number: int) -> list[vendor.ModelResponsePart]:
    if isinstance(decision, Say):
        return [vendor.TextPart(content=decision.text)]
    call = vendor.ToolCallPart(tool_name=decision.tool, args=dict(decision.arguments), tool_call_id=f"{NAME}-{number}")
    thought = [vendor.TextPart(content=decision.thought)] if decision.thought else []
    return [*thought, call]
