"""Attached pictures, from the messenger to the model: within limits, named in the question, seen where one can see."""

import base64
from collections.abc import AsyncIterator

import pytest

from bot.adapters.attachments import LARGEST_IMAGE, MOST_FILES, file_from_content
from bot.adapters.llm.offline.model import BLIND, OfflineModel
from bot.adapters.llm.provider_model import ProviderModel
from bot.agent.dialogue import node_prompt
from bot.agent.record import Task
from bot.conversation.answers import answering
from bot.conversation.answers.conversations import image_line
from bot.errors import ModelRejected
from bot.model import ImageFile, ModelRequest, PersonMessage, TextFile, UserTurn
from memory.adapters.embedding.hashing import HashingEmbedder
from tests.doubles import openai_server as server_says
from tests.doubles.conversation import ANA, Chat
from tests.doubles.discord import DiscordServer, File
from tests.doubles.discord_driver import connected as on_discord
from tests.doubles.model import NOW
from tests.doubles.openai_server import OpenAIServer
from tests.doubles.slack import SlackServer
from tests.doubles.slack.people import Enclosed
from tests.doubles.slack_driver import connected as on_slack

PNG = b"\x89PNG\r\n\x1a\n" + b"pixels" * 10
CAT = ImageFile(name="cat.png", media_type="image/png", content=PNG)
SENT = (
    ("cat.png", "image/png", PNG),
    ("huge.jpg", "image/jpeg", b"\xff\xd8\xff" + b"x" * LARGEST_IMAGE),
    ("page.png", "image/png", b"<!DOCTYPE html>"),
    ("film.mp4", "video/mp4", b"film"),
)
UNREAD = (
    TextFile(name="huge.jpg", text=f"[not read: it has {LARGEST_IMAGE + 3} bytes; {LARGEST_IMAGE} are read]"),
    TextFile(name="page.png", text="[not read: it is no picture in PNG, JPEG, GIF or WebP]"),
    TextFile(name="film.mp4", text="[not read: it is neither text nor a picture]"),
)


# Messengers -----------------------------------------------------------------------------------------------------------


async def test_slack_brings_pictures_within_limits() -> None:
    async with SlackServer() as server, on_slack(server) as session:
        ana = server.person("ana")
        ana.says(ana.dm, "what is this?", files=[Enclosed(name, content, kind) for name, kind, content in SENT])
        [event] = await session.heard.of(PersonMessage, 1)
    assert (event.images, event.files) == ((CAT,), UNREAD)


async def test_discord_brings_pictures_within_limits() -> None:
    async with DiscordServer() as server, on_discord(server) as session:
        files = [File(name=name, content=content, media_type=kind) for name, kind, content in SENT]
        session.asks("what is this?", files=files)
        [event] = await session.heard.of(PersonMessage, 1)
    assert (event.images, event.files) == ((CAT,), UNREAD)


async def test_only_so_many_files_are_read() -> None:
    async with SlackServer() as server, on_slack(server) as session:
        ana = server.person("ana")
        ana.says(ana.dm, "look", files=[Enclosed(f"{n}.png", PNG, "image/png") for n in range(MOST_FILES + 1)])
        [event] = await session.heard.of(PersonMessage, 1)
    assert len(event.images) == MOST_FILES
    assert event.files == (TextFile(name="5.png", text=f"[not read: only {MOST_FILES} files are read]"),)


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"GIF89a...", "image/gif"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"RIFF\x00\x00\x00\x00WEBPVP8", "image/webp"),
        (PNG, "image/png"),
    ],
)
def test_what_a_picture_is_its_first_bytes_say(content: bytes, kind: str) -> None:
    assert file_from_content("x", "image/anything", content) == ImageFile(name="x", media_type=kind, content=content)


# The conversation -----------------------------------------------------------------------------------------------------


@pytest.fixture
async def chat() -> AsyncIterator[Chat]:
    chat = Chat()
    yield chat
    await chat.bot.idle()
    chat.executor.close()


def message(text: str, number: int) -> PersonMessage:
    return PersonMessage(event_id=f"e{number}", scope=ANA, message_id=f"m{number}", text=text, at=NOW, images=(CAT,))


async def test_the_model_gets_the_picture_with_a_question_that_names_it(chat: Chat) -> None:
    await chat.sink(message("what is this?", 1))
    await chat.bot.idle()
    await chat.ask("and now?")
    seen = [request.turns[0].images for request in chat.oracle.requests if isinstance(request.turns[0], UserTurn)]
    assert seen == [(CAT,), ()]
    assert chat.oracle.asked[0] == f"what is this?\n\n{image_line(CAT)}"
    assert image_line(CAT) == f"Attached picture cat.png (image/png, {len(PNG)} bytes)"


async def test_a_picture_without_a_word_is_a_question_too(chat: Chat) -> None:
    await chat.sink(message("", 1))
    await chat.bot.idle()
    assert chat.oracle.asked == [image_line(CAT)]


async def test_no_more_than_so_many_bytes_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answering, "_MOST_IMAGE_BYTES", 2 * len(PNG))
    chat = Chat()
    chat.bot.conversations.start_draining()
    for number in (1, 2, 3):
        await chat.sink(message("what is this?", number))
    assert list(chat.bot._answering.images.items()) == [("e2", (CAT,)), ("e3", (CAT,))]
    chat.executor.close()


# Models ---------------------------------------------------------------------------------------------------------------

REQUEST = ModelRequest(system="You are Goodbot.", turns=(UserTurn(text="What is this?", images=(CAT,)),))


async def test_a_model_on_a_server_gets_the_bytes() -> None:
    with OpenAIServer() as server:
        server.script(server_says.text("A cat."))
        model = ProviderModel("openai:gpt-4o-mini", base_url=server.base_url, retries=0)
        reply = await model.reply(REQUEST)
        await model.close()
    assert reply.turn.text == "A cat."
    words, picture = server.asked[0].body["messages"][-1]["content"]
    assert words == {"type": "text", "text": "What is this?"}
    assert picture["image_url"]["url"] == f"data:image/png;base64,{base64.b64encode(PNG).decode()}"


async def test_a_model_that_takes_no_pictures_is_asked_without_and_told_so() -> None:
    with OpenAIServer() as server:
        server.script(server_says.failure(400, "image input is not supported"), server_says.text("I see none."))
        model = ProviderModel("openai:gpt-4o-mini", base_url=server.base_url, retries=0)
        reply = await model.reply(REQUEST)
        await model.close()
    assert reply.turn.text == "I see none."
    asked = server.asked[1].body["messages"][-1]["content"]
    assert asked.endswith("What is this?")
    assert "could not be shown" in asked


async def test_a_refusal_that_is_not_about_the_pictures_stays_one() -> None:
    with OpenAIServer() as server:
        server.script(*[server_says.failure(401, "wrong key")] * 3)
        model = ProviderModel("openai:gpt-4o-mini", base_url=server.base_url, retries=0)
        with pytest.raises(ModelRejected, match="wrong key"):
            await model.reply(REQUEST)
        await model.close()


@pytest.mark.parametrize(("why", "says_so"), [("", True), ("a part of the whole", False)])
async def test_the_offline_model_says_once_that_it_cannot_see(why: str, says_so: bool) -> None:
    model = OfflineModel(HashingEmbedder().embed)
    prompt = node_prompt(Task(goal="what is this?", why=why), NOW)
    with_picture = ModelRequest(system="", turns=(UserTurn(text=prompt, images=(CAT,)),))
    without = ModelRequest(system="", turns=(UserTurn(text=prompt),))
    seen, plain = (await model.reply(with_picture)).turn, (await model.reply(without)).turn
    await model.close()
    assert seen.text == (f"{plain.text}\n\n{BLIND}" if says_so else plain.text)
