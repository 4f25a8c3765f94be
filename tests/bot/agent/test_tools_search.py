"""Searching the conversation and the knowledge folder, with an embedder that counts words."""

import os
import re
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from bot.agent.tools import folder as folder_module
from bot.agent.tools.chunks import CHUNK_CHARACTERS, Chunk, chunk_document
from bot.agent.tools.conversation import conversation_tool
from bot.agent.tools.folder import MAX_FILE_BYTES
from bot.agent.tools.knowledge import KnowledgeBase, knowledge_tool
from bot.agent.tools.registry import ToolContext, ToolRegistry, ToolResult
from bot.errors import ToolFailed
from memory.errors import EmbeddingFailed, StoreUnavailable
from memory.library.working_memory import WorkingMemory
from memory.model import Incoming, Scope, Vector
from tests.doubles.model import NOW, SCOPE, tool_call

WORDS = ["vacation", "deploy", "lunch", "deadline", "friday", "server", "soup", "berlin"]


class CountingEmbedder:
    """One dimension per known word, and keeps what it embedded."""

    def __init__(self) -> None:
        self.embedded: list[str] = []
        self.is_broken = False

    async def __call__(self, texts: Sequence[str]) -> list[Vector]:
        if self.is_broken:
            raise EmbeddingFailed("no model")
        self.embedded.extend(texts)
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> Vector:
        found = re.findall(r"\w+", text.casefold())
        counts = np.array([found.count(word) for word in WORDS], dtype=np.float32)
        length = float(np.linalg.norm(counts))
        return counts / length if length else counts


def context(question: str = "Q") -> ToolContext:
    return ToolContext(scope=SCOPE, run_id="R", node_path="0", question=question, memory=WorkingMemory())


# Conversation -----------------------------------------------------------------------------------------------------


class History:
    """What was said, by scope."""

    def __init__(self, *texts: str, fault: Exception | None = None) -> None:
        self._texts = texts
        self._fault = fault
        self.asked: list[Scope] = []

    async def __call__(self, scope: Scope, limit: int) -> list[Incoming]:
        self.asked.append(scope)
        if self._fault is not None:
            raise self._fault
        latest = [
            Incoming(scope=scope, event_id="", message_id="", text=text, at=NOW - timedelta(minutes=age))
            for age, text in enumerate(self._texts)
        ]
        return latest[:limit]


async def find(history: History, query: str, question: str = "Q") -> ToolResult:
    registry = ToolRegistry([conversation_tool(history, CountingEmbedder())])
    return await registry.run(tool_call("search_conversation", query=query), context(question))


async def test_what_was_said_is_quoted_in_order_of_time() -> None:
    history = History("soup for lunch", "hello", "the deadline is Friday", "is friday the deadline?")
    result = await find(history, "deadline")
    assert result.content == (
        'On 21 November 2026 at 09:57 you said: "is friday the deadline?"\n'
        'On 21 November 2026 at 09:58 you said: "the deadline is Friday"'
    )
    assert history.asked == [SCOPE]


async def test_the_question_itself_and_repetitions_are_left_out() -> None:
    history = History(
        "When is the deadline?", "the deadline is friday", "The  deadline is Friday", "when is the DEADLINE?"
    )
    result = await find(history, "deadline", question="When is the deadline?")
    assert result.content == 'On 21 November 2026 at 09:59 you said: "the deadline is friday"'


@pytest.mark.parametrize("history", [History(), History("soup for lunch"), History(" ", "Q")])
async def test_nothing_said_is_told(history: History) -> None:
    result = await find(history, "deadline")
    assert result == ToolResult(content="You said nothing about that earlier in this conversation.", is_error=True)


async def test_a_history_out_of_order_is_told() -> None:
    result = await find(History(fault=StoreUnavailable("gone")), "deadline")
    assert result == ToolResult(content="The conversation cannot be searched at the moment.", is_error=True)


async def test_an_empty_query_is_a_mistake() -> None:
    assert (await find(History("x"), " ")).is_mistake


# Cutting documents ------------------------------------------------------------------------------------------------


def test_a_document_is_cut_at_headings() -> None:
    text = "intro\n\n# Handbook\n\nfirst\n\nsecond\n## Holidays ##\nthird\n```\n# no heading\n```\n# Other\nlast"
    assert chunk_document(text, is_markdown=True) == [
        Chunk(heading="", text="intro"),
        Chunk(heading="Handbook", text="first\n\nsecond"),
        Chunk(heading="Handbook > Holidays", text="third\n```\n# no heading\n```"),
        Chunk(heading="Other", text="last"),
    ]
    assert chunk_document("# no heading\ntext", is_markdown=False) == [Chunk(heading="", text="# no heading\ntext")]


def test_long_paragraphs_are_cut_at_sentences_then_spaces() -> None:
    sentence = "word " * 59 + "end."
    chunks = chunk_document(" ".join([sentence] * 5), is_markdown=False)
    assert [chunk.text.count("end.") for chunk in chunks] == [2, 2, 1]
    assert all(chunk.text.endswith("end.") for chunk in chunks)
    assert [len(chunk.text) for chunk in chunk_document("x" * 2_000, is_markdown=False)] == [800, 800, 400]


@pytest.mark.parametrize(
    ("line", "heading"),
    [("# A  b ##", "A b"), ("# A#", "A"), ("# #", "#"), ("#  ", ""), (f"# {'a' * 300}", "a" * 200)],
)
def test_what_a_heading_says(line: str, heading: str) -> None:
    """Every passage carries it, so that a long one is cut."""
    (chunk,) = chunk_document(f"{line}\ntext", is_markdown=True)
    assert " ".join(chunk.heading.split()) == heading


@given(st.text(alphabet="ab .\n#`", max_size=3_000), st.booleans())
def test_chunks_are_short_and_lose_no_word(text: str, is_markdown: bool) -> None:
    chunks = chunk_document(text, is_markdown=is_markdown)
    assert all(0 < len(chunk.text) <= CHUNK_CHARACTERS for chunk in chunks)
    if not is_markdown:
        assert "".join("".join(chunk.text.split()) for chunk in chunks) == "".join(text.split())


# Knowledge --------------------------------------------------------------------------------------------------------


@pytest.fixture
def embed() -> CountingEmbedder:
    return CountingEmbedder()


@pytest.fixture
def search(tmp_path: Path, embed: CountingEmbedder) -> "Search":
    return Search(KnowledgeBase(tmp_path, embed))


class Search:
    def __init__(self, base: KnowledgeBase) -> None:
        self.base = base
        self._registry = ToolRegistry([knowledge_tool(base)])

    async def __call__(self, query: str) -> str:
        return (await self._registry.run(tool_call("search_knowledge", query=query), context())).content


NOTHING = "The documents say nothing about that."


async def test_a_passage_is_found_with_file_and_heading(tmp_path: Path, search: Search) -> None:
    (tmp_path / "guides").mkdir()
    (tmp_path / "guides" / "ops.md").write_text("# Ops\n## Servers\nHow to deploy: run the deploy job.\n")
    (tmp_path / "food.txt").write_text("Soup is for lunch.")
    (tmp_path / "code.py").write_text("deploy deploy deploy")
    assert await search("how do I deploy?") == "How to deploy: run the deploy job.\n(from guides/ops.md, Ops > Servers)"
    assert await search("lunch soup") == "Soup is for lunch.\n(from food.txt)"
    assert await search("berlin") == NOTHING


async def test_only_passages_as_good_as_the_best_are_shown(tmp_path: Path, search: Search) -> None:
    (tmp_path / "a.txt").write_text("Vacation needs a form.")
    (tmp_path / "b.txt").write_text("Vacation is long.")
    (tmp_path / "c.txt").write_text("Vacation in Berlin: take the server offline on friday.")
    assert await search("vacation") == "Vacation needs a form.\n(from a.txt)\n\nVacation is long.\n(from b.txt)"


async def test_changes_are_seen_and_only_they_are_embedded(
    tmp_path: Path, search: Search, embed: CountingEmbedder
) -> None:
    ops, food = tmp_path / "ops.md", tmp_path / "food.md"
    ops.write_text("deploy on friday")
    food.write_text("soup for lunch")
    assert await search("deploy") == "deploy on friday\n(from ops.md)"
    embed.embedded.clear()
    assert await search("deploy") == "deploy on friday\n(from ops.md)"
    assert embed.embedded == ["deploy"]
    ops.write_text("deploy to berlin, never on friday")
    food.touch()
    assert await search("deploy") == "deploy to berlin, never on friday\n(from ops.md)"
    assert embed.embedded == ["deploy", "deploy to berlin, never on friday", "deploy"]
    ops.unlink()
    assert await search("deploy") == NOTHING


async def test_same_time_and_size_are_trusted_but_a_new_time_is_read_again(tmp_path: Path, search: Search) -> None:
    file = tmp_path / "a.txt"
    file.write_text("deploy now")
    os.utime(file, ns=(1, 1))
    assert "deploy now" in await search("deploy")
    file.write_text("server now")
    os.utime(file, ns=(2, 2))
    assert await search("deploy") == NOTHING
    assert "server now" in await search("server")


async def test_what_cannot_be_used_is_left_out_with_a_note(
    tmp_path: Path, search: Search, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "good.md").write_text("deploy")
    (tmp_path / "bom.txt").write_bytes(b"\xef\xbb\xbfsoup")
    (tmp_path / "binary.txt").write_bytes(b"deploy\0deploy")
    (tmp_path / "latin.txt").write_bytes("deploy für".encode("latin-1"))
    (tmp_path / "huge.md").write_bytes(b"deploy " * (MAX_FILE_BYTES // 7 + 1))
    (tmp_path / ".hidden.md").write_text("deploy")
    real = Path.read_bytes

    def refuse(path: Path) -> bytes:
        if path.name == "locked.md":
            raise PermissionError(13, "Permission denied")
        return real(path)

    (tmp_path / "locked.md").write_text("deploy")
    monkeypatch.setattr(Path, "read_bytes", refuse)
    assert await search("deploy") == "deploy\n(from good.md)"
    assert await search("soup") == "soup\n(from bom.txt)"
    assert search.base.notes == (
        "binary.txt: not a text file",
        f"huge.md: larger than {MAX_FILE_BYTES} bytes",
        "latin.txt: not valid UTF-8",
        "locked.md: cannot be read: Permission denied",
    )


async def test_what_can_be_read_again_is_read(tmp_path: Path, search: Search, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    (tmp_path / "locked.md").write_text("deploy")
    with monkeypatch.context() as locked:
        locked.setattr(Path, "read_bytes", refuse)
        assert await search("deploy") == NOTHING
    assert await search("deploy") == "deploy\n(from locked.md)"
    assert search.base.notes == ()


async def test_what_could_not_be_converted_is_tried_again_when_it_is_touched(
    tmp_path: Path, embed: CountingEmbedder, caplog: pytest.LogCaptureFixture
) -> None:
    calls: list[bytes] = []

    def convert(content: bytes) -> str:
        calls.append(content)
        if len(calls) == 1:
            raise ToolFailed("That PDF cannot be read.")
        return content.decode()

    (tmp_path / "plan.pdf").write_bytes(b"deploy")
    search = Search(KnowledgeBase(tmp_path, embed, converters={".pdf": convert}))
    assert await search("deploy") == await search("deploy") == NOTHING
    assert len(calls) == 1  # not at each search, for it takes long
    assert "left out plan.pdf: That PDF cannot be read. It is tried again once its time has changed" in caplog.text
    os.utime(tmp_path / "plan.pdf", ns=(1, 1))
    assert await search("deploy") == "deploy\n(from plan.pdf)"
    assert search.base.notes == ()


async def test_too_many_files_are_noted(tmp_path: Path, search: Search, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder_module, "MAX_FILES", 1)
    (tmp_path / "a.txt").write_text("deploy")
    (tmp_path / "b.txt").write_text("soup")
    assert await search("soup") == NOTHING
    assert search.base.notes == ("b.txt: beyond the first 1 files",)


async def test_links_out_of_the_folder_are_not_followed(tmp_path: Path, embed: CountingEmbedder) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir()
    outside.mkdir()
    (outside / "secret.md").write_text("the server key")
    (inside / "notes.md").write_text("soup")
    (inside / "leak.md").symlink_to(outside / "secret.md")
    (inside / "leak").symlink_to(outside, target_is_directory=True)
    (inside / "broken.md").symlink_to(inside / "nowhere.md")
    (inside / "loop.md").symlink_to(inside / "loop.md")
    (inside / "again.md").symlink_to(inside / "notes.md")
    search = Search(KnowledgeBase(inside, embed))
    assert await search("server") == NOTHING
    assert await search("soup") == "soup\n(from again.md)\n\nsoup\n(from notes.md)"


async def test_a_folder_that_is_not_there_is_told_and_found_later(tmp_path: Path, embed: CountingEmbedder) -> None:
    search = Search(KnowledgeBase(tmp_path / "later", embed))
    assert await search("deploy") == "The knowledge folder cannot be read at the moment."
    (tmp_path / "later").mkdir()
    assert await search("deploy") == NOTHING
    (tmp_path / "later" / "a.md").write_text("deploy")
    assert await search("deploy") == "deploy\n(from a.md)"


async def test_an_embedder_that_fails_changes_nothing(tmp_path: Path, search: Search, embed: CountingEmbedder) -> None:
    (tmp_path / "a.md").write_text("deploy")
    embed.is_broken = True
    assert await search("deploy") == "The knowledge folder cannot be searched at the moment."
    embed.is_broken = False
    assert await search("deploy") == "deploy\n(from a.md)"


def test_the_descriptions_say_what_people_say(embed: CountingEmbedder) -> None:
    for tool in (conversation_tool(History(), embed), knowledge_tool(KnowledgeBase(Path(), embed))):
        assert "For example: " in tool.description
