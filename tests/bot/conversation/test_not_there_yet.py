"""What people do before the answer is there, or before the models are loaded."""

import asyncio
from collections.abc import Sequence

import pytest

from memory.errors import EmbeddingFailed
from memory.model import Vector
from tests.doubles.conversation import BOB, Chat


async def test_a_correction_before_the_answer_is_there_corrects_no_other() -> None:
    chat = Chat()
    await chat.ask("dinner?")
    chat.oracle.gates["lunch?"] = asyncio.Event()
    await chat.sink(chat.message("lunch?"))
    await chat.oracle.arrived.get()
    await chat.oracle.arrived.get()
    assert (await chat.correct("at noon")).startswith("My answer is not here yet.")
    assert (await chat.correct("at seven", BOB)).startswith("Saved")
    chat.oracle.gates["lunch?"].set()
    await chat.bot.idle()
    assert (await chat.correct("at noon")).startswith("Saved")
    chat.executor.close()


async def test_nobody_waits_for_loading_models_but_who_needs_them(monkeypatch: pytest.MonkeyPatch) -> None:
    warm_up: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    chat = Chat(warm_up=warm_up)
    posted = await Chat(chat.world, messenger=chat.messenger).ask("dinner?")
    embedded: list[str] = []

    def embed(texts: Sequence[str]) -> list[Vector]:
        embedded.extend(texts)
        raise EmbeddingFailed("it is not loaded")

    monkeypatch.setattr(chat.world.memory.embedder, "embed", embed)
    await chat.sink(chat.message("lunch?"))
    corrections = [asyncio.create_task(chat.correct(each, message_id=posted)) for each in ("at six", "at seven")]
    assert await chat.command("stop") == "Stopped."
    await chat.bot.idle()
    assert chat.messenger.answers[-1].startswith("I had to stop")
    assert (await chat.command("forget")).startswith("This erases")
    assert embedded == []
    monkeypatch.undo()
    warm_up.set_result(None)
    await asyncio.gather(*corrections)
    assert any(each.startswith("Saved") for each in chat.messenger.notices)
    await chat.bot.idle()
    chat.executor.close()
