"""Waiting for work that has begun elsewhere."""

import asyncio

import pytest

from bot.conversation.answers.delivery import WorkInProgress


async def test_who_waits_and_is_cancelled_leaves_nothing_behind() -> None:
    work, before = WorkInProgress(), asyncio.all_tasks()
    with work.begun("here"):
        waiting = asyncio.ensure_future(work.ended("here", within_s=60))
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        await asyncio.sleep(0)
        assert asyncio.all_tasks() == before


async def test_work_that_fails_is_over_and_other_work_is_not_waited_for() -> None:
    work = WorkInProgress()
    with work.begun("there"):
        with pytest.raises(KeyError), work.begun("here"):
            waiting = asyncio.ensure_future(work.ended("here", within_s=60))
            await asyncio.sleep(0)
            raise KeyError
        await waiting
        assert (work.is_going_on("here"), work.is_going_on("there")) == (False, True)
