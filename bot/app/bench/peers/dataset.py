"""The dataset of the comparison: pseudorandom vectors, the same each time, and the true nearest neighbours.

By Zipf's law a few people have most of the rows. Rows are about as close together as the questions of one team, each
near one of a few hundred topics.
"""

import json
from pathlib import Path

import numpy as np

DIMENSION = 384
ADDED = 20
_PEOPLE = 1000
_TOPICS = 500
_NOISE = 0.9
_NEAREST = 10
_CHUNK = 10_000


def write_dataset(folder: Path, rows: int, questions: int) -> None:
    """`vectors.npy`, the questions' after the rows', and `data.json`: whose row each is, who asks, what is nearest."""
    chance = np.random.default_rng(7)
    topics = chance.standard_normal((_TOPICS, DIMENSION), np.float32)
    topics /= np.linalg.norm(topics, axis=1, keepdims=True)
    weights = 1 / np.arange(1, _PEOPLE + 1)
    people = chance.choice(_PEOPLE, rows, p=weights / weights.sum())
    asked = people[chance.integers(rows, size=questions)]
    vectors = np.lib.format.open_memmap(
        folder / "vectors.npy", mode="w+", dtype=np.float32, shape=(rows + questions, DIMENSION)
    )
    for start in range(0, rows + questions, _CHUNK):
        size = min(_CHUNK, rows + questions - start)
        noise = chance.standard_normal((size, DIMENSION), np.float32) * (_NOISE / DIMENSION**0.5)
        some = topics[chance.integers(_TOPICS, size=size)] + noise
        vectors[start : start + size] = some / np.linalg.norm(some, axis=1, keepdims=True)
    vectors.flush()
    nearest = []
    for number, person in enumerate(asked):
        own = np.flatnonzero(people == person)
        cosines = vectors[own] @ vectors[rows + number]
        nearest.append([f"t{own[place]}" for place in np.argsort(-cosines)[:_NEAREST]])
    data = {
        "people": [f"p{person}" for person in people],
        "asked": [f"p{person}" for person in asked],
        "nearest": nearest,
        "added": min(ADDED, questions),
    }
    (folder / "data.json").write_text(json.dumps(data), encoding="utf-8")
