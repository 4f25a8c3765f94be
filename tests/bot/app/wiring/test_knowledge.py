"""Documents that are looked up in: folders with PDF and HTML, pages by their addresses, and what a server offers."""

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

import pytest
from pypdf import PdfWriter
from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

from bot.agent.tools.knowledge import knowledge_tool
from bot.agent.tools.registry import ToolRegistry
from bot.app.wiring.knowledge import make_knowledge
from bot.config import Settings, load_settings
from memory.adapters.embedding import HashingEmbedder
from memory.model import Vector
from tests.bot.adapters.tools.test_mcp_servers import connected, local
from tests.bot.adapters.tools.test_pages import ARTICLE, html, response, server
from tests.bot.agent.test_tools_registry import CONTEXT
from tests.doubles.model import tool_call

_EMBEDDER = HashingEmbedder()


async def embed(texts: Sequence[str]) -> list[Vector]:
    return list(_EMBEDDER.embed(texts))


def configured(folder: Path, **environment: str) -> Settings:
    return load_settings(environment, config_path=None, cwd=folder, data_dir=folder)


def pdf(text: str) -> bytes:
    """A PDF of one page."""
    writer = PdfWriter()
    page = writer.add_blank_page(300, 100)
    font = DictionaryObject(
        {NameObject("/Type"): NameObject("/Font"), NameObject("/Subtype"): NameObject("/Type1"),
         NameObject("/BaseFont"): NameObject("/Helvetica")}
    )  # fmt: skip
    page[NameObject("/Resources")] = DictionaryObject(
        {NameObject("/Font"): DictionaryObject({NameObject("/F1"): font})}
    )
    content = DecodedStreamObject()
    content.set_data(f"BT /F1 12 Tf 10 50 Td ({text}) Tj ET".encode())
    page[NameObject("/Contents")] = writer._add_object(content)
    made = BytesIO()
    writer.write(made)
    return made.getvalue()


async def looked_up(settings: Settings, query: str) -> str:
    knowledge = make_knowledge(settings, embed)
    assert knowledge is not None
    await knowledge.reload()
    result = await ToolRegistry([knowledge_tool(knowledge.base)]).run(
        tool_call("search_knowledge", query=query), CONTEXT
    )
    assert result.is_outside
    return result.content


async def test_a_folder_with_a_pdf_and_a_page_is_cited_with_links(tmp_path: Path) -> None:
    (tmp_path / "parking.pdf").write_bytes(pdf("Visitors park behind the green barn."))
    (tmp_path / "canteen.html").write_text(ARTICLE, encoding="utf-8")
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.7 nothing")
    settings = configured(
        tmp_path, GOODBOT_KNOWLEDGE_FOLDER=str(tmp_path), GOODBOT_KNOWLEDGE_LINK="https://wiki.example/h/"
    )
    found = await looked_up(settings, "visitors park behind the green barn")
    assert "Visitors park behind the green barn." in found
    assert "(from https://wiki.example/h/parking.pdf" in found
    assert "https://wiki.example/h/canteen.html" in await looked_up(
        settings, "canteen opens at eleven on weekdays noon"
    )


async def test_pages_are_read_by_their_address_and_kept_where_they_are_gone(tmp_path: Path) -> None:
    pages = {
        "/canteen": html(ARTICLE),
        "/parking.pdf": response(pdf("Park behind the barn."), "Content-Type: application/pdf"),
    }
    async with server(pages) as (url, _):
        settings = configured(tmp_path, GOODBOT_KNOWLEDGE_PAGES=f"{url}/canteen, {url}/parking.pdf, {url}/gone")
        knowledge = make_knowledge(settings, embed)
        assert knowledge is not None
        await knowledge.reload()
        (first, *_) = await knowledge.base.search("the canteen opens at eleven on weekdays")
        assert first.file == f"{url}/canteen"
        (first, *_) = await knowledge.base.search("park behind the barn")
        assert first.file == f"{url}/parking.pdf"
        del pages["/canteen"]
        pages["/parking.pdf"] = response(pdf("Park in the yard."), "Content-Type: application/pdf")
        await knowledge.reload()
        (first, *_) = await knowledge.base.search("the canteen opens at eleven on weekdays")
        assert first.file == f"{url}/canteen"
        (first, *_) = await knowledge.base.search("park in the yard")
        assert "yard" in first.text


@pytest.mark.process
async def test_what_a_server_offers_is_looked_up_in(tmp_path: Path) -> None:
    settings = configured(tmp_path, GOODBOT_MCP_SERVERS='[{name = "office", url = "http://127.0.0.1:9/mcp"}]')
    knowledge = make_knowledge(settings, embed)
    assert knowledge is not None
    async with connected(local()) as link:
        await link.has("office__echo")
        knowledge.servers = link.servers
        await knowledge.reload()
    (first, *_) = await knowledge.base.search("visitors park behind the green barn")
    assert (first.file, first.heading) == ("docs://handbook", "Parking")


def test_without_anything_to_look_up_in_there_is_no_tool(tmp_path: Path) -> None:
    assert make_knowledge(configured(tmp_path), embed) is None
