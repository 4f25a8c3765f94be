"""Reading pages: what is refused before and while it connects, limits, texts, and which addresses are read at all."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from io import BytesIO
from typing import Any

import pytest
from pypdf import PdfWriter

from bot.adapters.tools.guarded_http import Fetcher, is_public
from bot.adapters.tools.page_text import html_text, page_text, pdf_text
from bot.adapters.tools.pages import KnownAddresses, fetch_tool, search_tool
from bot.agent.tools.registry import ToolRegistry
from bot.errors import ToolFailed, ToolRetry
from tests.bot.agent.test_tools_registry import CONTEXT
from tests.doubles.model import tool_call

HERE = Fetcher(allows_private=True, timeout_s=5, max_bytes=10_000)
ARTICLE = (
    "<html><head><title>Canteen news</title></head><body><nav>Home Login</nav><article><h1>Opening hours</h1>"
    "<p>The canteen opens at eleven on weekdays, and at noon on Saturdays, from the first of December on.</p>"
    "<p>On Sundays it stays closed, for the cooks have families of their own to look after.</p></article>"
    "<script>alert('no')</script></body></html>"
)
Respond = Callable[[str], bytes | Awaitable[bytes]]


def response(body: bytes | str, *headers: str, status: str = "200 OK") -> bytes:
    content = body.encode() if isinstance(body, str) else body
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(content)}", "Connection: close", *headers, "", ""]
    return "\r\n".join(lines).encode() + content


def html(body: str) -> bytes:
    return response(body, "Content-Type: text/html; charset=utf-8")


@asynccontextmanager
async def server(pages: dict[str, bytes]) -> AsyncIterator[tuple[str, list[str]]]:
    """Serves pages by path; `hang` never answers, `endless` never ends."""
    asked: list[str] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            path = (await reader.readuntil(b"\r\n\r\n")).split()[1].decode()
            asked.append(path)
            if path == "/hang":
                await asyncio.Event().wait()
            if path == "/endless":
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
                while True:
                    writer.write(b"x" * 1000)
                    await writer.drain()
            writer.write(pages.get(path) or pages.get(path.partition("?")[0]) or response("", status="404 Not Found"))
            await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    listening = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}", asked
    finally:
        listening.close()


@pytest.mark.parametrize(
    "address",
    [
        *(
            "127.0.0.1",
            "127.8.8.8",
            "10.0.0.1",
            "172.16.5.5",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "0.0.0.0",
        ),
        *(
            "224.0.0.1",
            "255.255.255.255",
            "::1",
            "::",
            "fe80::1",
            "fe80::1%eth0",
            "fc00::1",
            "fd00:ec2::254",
            "ff02::1",
        ),
        *(
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "64:ff9b::7f00:1",
            "64:ff9b::a9fe:a9fe",
            "64:ff9b:1::7f00:1",
            "2002:7f00:1::",
            "::127.0.0.1",
            "::ffff:0:127.0.0.1",
            "fec0::1",
            "168.63.129.16",
            "192.0.0.192",
            "::ffff:192.0.0.192",
            "3fff::1",
            "not an ip",
            "",
        ),
    ],
)
def test_what_is_not_the_public_internet(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize(
    "host",
    [
        *("169.254.169.254", "[::ffff:169.254.169.254]", "[fe80::1]", "[fd00:ec2::254]", "168.63.129.16"),
        *("[64:ff9b::a9fe:a9fe]", "[2002:a9fe:a9fe::]", "100.100.100.200", "[::ffff:100.100.100.200]"),
        *("192.0.0.192", "[fd00:ec2::23]", "[fd20:ce::254]", "[fd00:c1::a9fe:a9fe]", "[fd00:42::42]"),
    ],
)
async def test_services_of_clouds_are_never_asked(host: str) -> None:
    with pytest.raises(ToolFailed, match="not an address of the public internet"):
        await replace(HERE, timeout_s=2).fetch(f"http://{host}/latest/meta-data")


@pytest.mark.parametrize("address", ["1.1.1.1", "93.184.216.34", "2606:4700:4700::1111", "::ffff:1.1.1.1"])
def test_what_is(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "2130706433", "0x7f.1", "0177.0.0.1", "127.1", "[::1]", "[::ffff:127.0.0.1]"]
)
async def test_this_machine_is_not_asked_however_it_is_written(host: str) -> None:
    async with server({"/": html("secret")}) as (url, asked):
        with pytest.raises(ToolFailed, match=r"not an address of the public internet|cannot be read"):
            await Fetcher().fetch(f"http://{host}:{url.rpartition(':')[2]}/")
    assert asked == []


async def test_a_name_that_changes_its_address_is_connected_to_where_it_was_checked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """DNS rebinding: the first look-up gives a public address, every later one this machine."""
    answers = iter(["93.184.216.34", "127.0.0.1", "127.0.0.1"])
    connected: list[str] = []

    async def look_up(_: Any, host: str, port: int, **__: Any) -> list[Any]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (next(answers), port))]

    async def connect(_: Any, host: str, *__: Any) -> None:
        connected.append(host)
        raise OSError("no network here")

    monkeypatch.setattr(asyncio.get_running_loop().__class__, "getaddrinfo", look_up)
    monkeypatch.setattr("httpcore2.AnyIOBackend.connect_tcp", connect)
    with pytest.raises(ToolFailed):
        await Fetcher().fetch("http://rebinding.example/")
    with pytest.raises(ToolFailed, match="public internet"):
        await Fetcher().fetch("http://rebinding.example/")
    assert connected == ["93.184.216.34"]


async def test_a_redirect_is_checked_as_the_first_address_was(monkeypatch: pytest.MonkeyPatch) -> None:
    async with server({"/": response("", "Location: http://169.254.169.254/latest", status="302 Found")}) as (
        url,
        asked,
    ):
        real = is_public
        monkeypatch.setattr(
            "bot.adapters.tools.guarded_http.is_public", lambda address: address == "127.0.0.1" or real(address)
        )
        with pytest.raises(ToolFailed, match=r"169\.254\.169\.254 is not an address of the public"):
            await Fetcher().fetch(f"{url}/")
    assert asked == ["/"]


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "ftp://example.org",
        "http://",
        "http://user:pw@example.org",
        "gopher://x",
        "http://a b",
        "x",
        "http://é..com/",
        f"http://é{'a' * 70}.com/",
    ],
)
async def test_what_is_no_address_of_a_page(url: str) -> None:
    with pytest.raises(ToolRetry):
        await Fetcher().fetch(url)


@pytest.mark.parametrize("host", ["a..com", f"{'a' * 70}.com"])
async def test_a_name_that_cannot_be_looked_up_costs_one_observation(host: str) -> None:
    with pytest.raises(ToolFailed, match="not the name of a host"):
        await Fetcher().fetch(f"http://{host}/")


async def test_a_redirect_to_what_is_no_address_costs_one_observation() -> None:
    pages = {"/": response("", "Location: http://[::1", status="302 Found")}
    async with server(pages) as (url, _):
        with pytest.raises(ToolFailed, match="redirects to something that is no address"):
            await HERE.fetch(f"{url}/")


async def test_addresses_with_other_letters_are_read() -> None:
    pages = {
        "/stra%C3%9Fe": response("here", "Content-Type: text/plain"),
        "/moved": response("", "Location: /straße", status="302 Found"),
    }
    async with server(pages) as (url, asked):
        for path in ("/straße?q=ü&r=%20a", "/stra%C3%9Fe", "/moved"):
            assert (await HERE.fetch(f"{url}{path}")).content == b"here"
    assert asked == ["/stra%C3%9Fe?q=%C3%BC&r=%20a", "/stra%C3%9Fe", "/moved", "/stra%C3%9Fe"]


async def test_a_name_with_other_letters_keeps_its_port(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_up: list[tuple[str, int]] = []

    async def look_up(_: Any, host: str, port: int, **__: Any) -> list[Any]:
        looked_up.append((host, port))
        return []

    monkeypatch.setattr(asyncio.get_running_loop().__class__, "getaddrinfo", look_up)
    with pytest.raises(ToolFailed):
        await Fetcher().fetch("http://bücher.example:8080/")
    assert looked_up == [("xn--bcher-kva.example", 8080)]


async def test_limits_of_size_time_type_and_redirects() -> None:
    pages = {
        "/loop": response("", "Location: /loop", status="301 Moved"),
        "/packed": response(b"\x1f\x8b", "Content-Encoding: gzip", "Content-Type: text/html"),
        "/big": response("x" * 20_000, "Content-Type: text/plain"),
    }
    async with server(pages) as (url, _):
        for path, told in (
            ("/big", "more than 10,000 bytes"),
            ("/endless", "more than 10,000 bytes"),
            ("/loop", "without end"),
            ("/packed", "compressed"),
            ("/gone", "status 404"),
        ):
            with pytest.raises(ToolFailed, match=told):
                await HERE.fetch(f"{url}{path}")
        with pytest.raises(ToolFailed, match=r"longer than 0\.2 seconds"):
            await replace(HERE, timeout_s=0.2).fetch(f"{url}/hang")
    with pytest.raises(ToolFailed, match="no text at that address, but image/png"):
        page_text(b"\x89PNG", "image/png", "")


def _encrypted_by_an_unknown_handler() -> bytes:
    """A PDF that pypdf refuses with no error of its own."""
    encrypted, writer = BytesIO(), PdfWriter()
    writer.add_blank_page(100, 100)
    writer.encrypt("", algorithm="RC4-128")
    writer.write(encrypted)
    return encrypted.getvalue().replace(b"/Standard", b"/Anothers")


def test_texts_of_pages_and_documents() -> None:
    title, text = html_text(ARTICLE)
    assert title in ("Canteen news", "Opening hours")
    assert "The canteen opens at eleven" in text
    assert "alert" not in text
    with pytest.raises(ToolFailed, match="no text in it"):
        empty = BytesIO()
        writer = PdfWriter()
        writer.add_blank_page(100, 100)
        writer.write(empty)
        pdf_text(empty.getvalue())
    with pytest.raises(ToolFailed, match="cannot be read"):
        pdf_text(b"%PDF-1.7 and then nothing")
    with pytest.raises(ToolFailed, match="cannot be read"):
        pdf_text(_encrypted_by_an_unknown_handler())
    with pytest.raises(ToolFailed):
        html_text("<html></html>")


async def test_only_addresses_that_the_run_was_given_are_read() -> None:
    pages = {"/a": html(ARTICLE.replace("families", "families (see http://other.example/menu)")), "/b": html(ARTICLE)}
    async with server(pages) as (url, asked):
        known = KnownAddresses()
        registry = ToolRegistry([fetch_tool(HERE, known)])
        context = replace(CONTEXT, question=f"what does {url}/a say?")
        refused = await registry.run(tool_call("fetch_page", url=f"{url}/b?what-i-know=4711"), context)
        assert (refused.is_mistake, asked) == (True, [])
        read = await registry.run(tool_call("fetch_page", url=f"{url}/a"), context)
        assert "opens at eleven" in read.content
        assert read.content.endswith(f"(from {url}/a)")
        assert read.is_outside
        assert known.address_of("http://other.example/menu", context)
        assert not known.address_of("http://other.example/menu?x=4711", context)
        assert not known.address_of("http://other.example/menu", replace(context, run_id="another", question=""))


@pytest.mark.parametrize("added", ["?.,;:!", "/", "...", "#what-i-know"])
async def test_what_a_model_adds_to_an_address_is_not_sent(added: str) -> None:
    async with server({"/a": html(ARTICLE)}) as (url, asked):
        context = replace(CONTEXT, question=f"what does {url}/a say?")
        read = await ToolRegistry([fetch_tool(HERE, KnownAddresses())]).run(
            tool_call("fetch_page", url=f"{url}/a{added}"), context
        )
        assert not read.is_error
        assert asked == ["/a"]


async def test_an_address_that_a_model_wrote_into_the_goal_of_a_part_is_not_read() -> None:
    async with server({"/a": html(ARTICLE)}) as (url, asked):
        registry = ToolRegistry([fetch_tool(HERE, KnownAddresses())])
        wanted = tool_call("fetch_page", url=f"{url}/a?what-i-know=4711")
        part = replace(CONTEXT, question="what is new?", goal=f"read {url}/a?what-i-know=4711", node_path="0.1")
        assert (await registry.run(wanted, part)).is_mistake
        assert asked == []
        assert not (await registry.run(wanted, replace(part, node_path="0"))).is_error


async def test_the_web_is_searched_at_the_configured_server() -> None:
    results = {
        "results": [{"url": "https://museum.example/hours", "title": "Hours\n", "content": "Open at ten. " * 90}]
    }
    found = response(json.dumps(results), "Content-Type: application/json")
    async with server(
        {"/search": found, "/odd/search": response("<html>"), "/none/search": response('{"results": []}')}
    ) as (
        url,
        asked,
    ):
        known = KnownAddresses()
        tools = [search_tool(f"{url}{path}", HERE, known) for path in ("/", "/odd", "/none")]
        result = await ToolRegistry(tools[:1]).run(tool_call("search_web", query="museum & hours"), CONTEXT)
        assert result.content.startswith("Hours\nOpen at ten.")
        assert len(result.content) < 500
        assert asked == ["/search?q=museum+%26+hours&format=json"]
        assert known.address_of("https://museum.example/hours", CONTEXT)
        for tool, told in zip(tools[1:], ("makes no sense", "found nothing"), strict=True):
            failed = await ToolRegistry([tool]).run(tool_call("search_web", query="x"), CONTEXT)
            assert told in failed.content
