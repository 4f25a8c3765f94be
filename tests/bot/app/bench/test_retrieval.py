"""Retrieval as a benchmark sees it: taught lessons are found again, and what lies outside is told from them."""

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest

from bot.app.bench.retrieval import auroc, measure
from bot.config import load_settings
from memory.adapters.embedding import HashingEmbedder
from tests.bot.app.bench.sets import messages


def test_taught_lessons_are_found_and_strange_messages_are_told_from_them(tmp_path: Path) -> None:
    lessons = messages(tmp_path)
    settings = load_settings({}, config_path=None, cwd=tmp_path, data_dir=tmp_path)
    steps: list[None] = []
    found = asyncio.run(
        measure(
            lessons,
            lessons,
            ["zzz qqq"],
            pace=timedelta(minutes=2),
            settings=settings,
            embedder=HashingEmbedder(),
            on_step=lambda: steps.append(None),
        )
    )
    assert (found.lessons, found.messages, found.outside) == (6, 6, 1)
    assert (found.hit_at_1, found.mrr, found.auroc) == (1.0, 1.0, 1.0)
    assert found.recall_ms.median > 0
    assert len(steps) == 13


def test_auroc_counts_pairs_and_halves_of_ties() -> None:
    assert auroc([3, 2], [1, 0]) == 1.0
    assert auroc([0], [1]) == 0.0
    assert auroc([1, 1], [1]) == 0.5
    assert auroc([0.9, 0.5, 0.2], [0.5, 0.1]) == pytest.approx((2 + 1.5 + 1) / 6)
