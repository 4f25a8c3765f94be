"""The retrieval pipeline by the numbers: worked cases with the count after every stage, then laws.

The situation has ten context elements a..j; "k of 10" is a memory with the first k, so its overlap is k/10. Scores are
0.65 overlap + 0.35 cosine, worked out by hand.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

import pytest
from hypothesis import given, strategies as st

from memory.model import Verdict
from memory.rules.retrieval.config import RetrievalConfig
from memory.rules.retrieval.pipeline import MemoryCandidate, Scored, overlap, select
from tests.doubles.memory_world import START

S, F = Verdict.SUCCESS, Verdict.FAILURE
TEN = frozenset("abcdefghij")
Memory = MemoryCandidate[int]
COUNTS = ("total_loaded", "env_matched", "env_top_k", "state_ranked", "deduped", "above_threshold", "selected")


def memory(number: int, k: int, intent: float, verdict: Verdict = S, *, act: object = None, **more: object) -> Memory:
    """A memory with the first `k` elements; created, and unless said otherwise decided, at minute `number`."""
    moment = START + timedelta(minutes=number)
    values: dict[str, object] = {
        "memory": number,
        "id": number,
        "elements": frozenset("abcdefghij"[:k]),
        "intent": intent,
        "verdict": verdict,
        "created_at": moment,
        "decided_at": moment,
        "signature": ("click", act or f"el{number}", ""),
    }
    return MemoryCandidate(**(values | more))  # type: ignore[arg-type]  # any field by name


@dataclass(frozen=True)
class Case:
    """What goes in, and the (id, verdict, score) and counts that must come out."""

    name: str
    memories: Sequence[Memory]
    config: dict[str, object]
    expected: Sequence[tuple[int, Verdict, float]]
    counts: tuple[int, ...]
    current: frozenset[str] = TEN


THREE = (memory(1, 9, 0.0), memory(2, 8, 0.5), memory(3, 7, 1.0))
RANKED = (memory(1, 10, 1.0), memory(2, 9, 1.0), memory(3, 8, 1.0, F))
SAVE = ("click", "save", "")
CASES = [
    Case(
        "T03 T04 a memory at the threshold is kept",
        [memory(1, 7, 1.0), memory(2, 9, 1.0, elements=frozenset("abcdefghi") | set("uvw"))],
        {"finalK": 5},
        [(1, S, 0.805)],
        (2, 1, 1, 1, 1, 1, 1),
    ),
    Case("T18 all three", THREE, {"finalK": 3}, [(3, S, 0.805), (2, S, 0.695), (1, S, 0.585)], (3,) * 7),
    Case("T19 context cuts before intent is looked at", THREE, {"topK": 2, "finalK": 1}, [(2, S, 0.695)],
         (3, 3, 2, 2, 2, 2, 1)),
    Case("T20 the best one", THREE, {"topK": 10, "finalK": 1}, [(3, S, 0.805)], (3, 3, 3, 3, 3, 3, 1)),
    Case("T21 six of ten is too little", [memory(1, 7, 1.0), memory(2, 6, 1.0)], {}, [(1, S, 0.805)],
         (2, 1, 1, 1, 1, 1, 1)),
    Case(
        "T25 same action: the latest one with the best score of its group",
        [memory(1, 8, 1.0, act="save"), memory(2, 10, 1.0, act="save"), memory(3, 9, 1.0, act="open")],
        {"finalK": 3},
        [(2, S, 1.0), (3, S, 0.935)],
        (3, 3, 3, 3, 2, 2, 2),
    ),
    Case(
        "T27 another value is another action",
        [memory(number, 10, 1.0, signature=("fill", "t", value)) for number, value in enumerate("xyx", start=1)],
        {"finalK": 5},
        [(3, S, 1.0), (2, S, 1.0)],
        (3, 3, 3, 3, 2, 2, 2),
    ),
    Case(
        "T28 another kind of action too",
        [memory(1, 10, 1.0, signature=("click", "t", "")), memory(2, 10, 1.0, signature=("hover", "t", ""))],
        {"finalK": 5},
        [(2, S, 1.0), (1, S, 1.0)],
        (2,) * 7,
    ),
    Case(
        "T29 the later verdict holds, with the better score",
        [
            memory(1, 10, 1.0, S, signature=SAVE),
            memory(2, 8, 1.0, F, signature=SAVE, decided_at=START + timedelta(minutes=9)),
        ],
        {"finalK": 2},
        [(2, F, 1.0)],
        (2, 2, 2, 2, 1, 1, 1),
    ),
    Case(
        "T30 regraded still later",
        [
            memory(1, 10, 1.0, S, signature=SAVE, decided_at=START + timedelta(minutes=99)),
            memory(2, 8, 1.0, F, signature=SAVE, decided_at=START + timedelta(minutes=9)),
        ],
        {"finalK": 2},
        [(1, S, 1.0)],
        (2, 2, 2, 2, 1, 1, 1),
    ),
    Case("T31 none wanted", RANKED, {"finalK": 0}, [], (3, 3, 3, 3, 3, 3, 0)),
    Case("T31 one: the best, whatever its class", RANKED, {"finalK": 1}, [(1, S, 1.0)], (3, 3, 3, 3, 3, 3, 1)),
    Case("T31 two: one of each class", RANKED, {"finalK": 2}, [(1, S, 1.0), (3, F, 0.87)], (3, 3, 3, 3, 3, 3, 2)),
    *(
        Case(f"T31 {k}: all", RANKED, {"finalK": k}, [(1, S, 1.0), (2, S, 0.935), (3, F, 0.87)], (3,) * 7)
        for k in (3, 4)
    ),
    *(
        Case(
            f"T32 {k} where the mistakes lead",
            [memory(1, 10, 1.0, F), memory(2, 9, 1.0, F), memory(3, 7, 1.0, S)],
            {"finalK": k},
            expected,
            (3, 3, 3, 3, 3, 3, k),
        )
        for k, expected in [
            (1, [(1, F, 1.0)]),
            (2, [(1, F, 1.0), (3, S, 0.805)]),
            (3, [(1, F, 1.0), (2, F, 0.935), (3, S, 0.805)]),
        ]
    ),
    *(
        Case(
            f"T33 T34 one class alone: {verdict.value}",
            [memory(1, 10, 1.0, verdict), memory(2, 9, 1.0, verdict)],
            {"finalK": 2},
            [(1, verdict, 1.0), (2, verdict, 0.935)],
            (2,) * 7,
        )
        for verdict in (S, F)
    ),
    Case(
        "T35 six memories, the four best of one class",
        [memory(1, 10, 1.0), memory(2, 9, 1.0), memory(3, 9, 0.9), memory(4, 9, 0.85),
         memory(5, 8, 1.0, F), memory(6, 7, 1.0, F)],
        {"finalK": 3},
        [(1, S, 1.0), (2, S, 0.935), (5, F, 0.87)],
        (6, 6, 6, 6, 6, 6, 3),
    ),
    Case(
        "T36 ties: the newer first",
        [memory(1, 10, 1.0, F), memory(2, 10, 1.0, S), memory(3, 10, 1.0, F), memory(4, 10, 1.0, S)],
        {"finalK": 2},
        [(4, S, 1.0), (3, F, 1.0)],
        (4, 4, 4, 4, 4, 4, 2),
    ),
    Case("T37 fewer than wanted", RANKED, {"topK": 1, "finalK": 3}, [(1, S, 1.0)], (3, 3, 1, 1, 1, 1, 1)),
    Case("T38 the cut took the only mistake", RANKED, {"topK": 2, "finalK": 2}, [(1, S, 1.0), (2, S, 0.935)],
         (3, 3, 2, 2, 2, 2, 2)),
    Case("T39 nothing there", [], {}, [], (0,) * 7),
    Case("T40 nothing in common, threshold 0", [memory(1, 0, 1.0, elements=frozenset("xyz"))], {"envThreshold": 0.0},
         [(1, S, 0.35)], (1,) * 7),
    Case("T41 threshold 1", [memory(1, 10, 1.0), memory(2, 9, 1.0)], {"envThreshold": 1.0, "finalK": 5},
         [(1, S, 1.0)], (2, 1, 1, 1, 1, 1, 1)),
    Case("T05 no context on either side", [memory(1, 0, 1.0)], {}, [(1, S, 1.0)], (1,) * 7, frozenset()),
    Case("T06 no context on one side", [memory(1, 0, 1.0)], {}, [], (1, 0, 0, 0, 0, 0, 0)),
    Case("a score too small", THREE, {"finalK": 3, "min_score": 0.695}, [(3, S, 0.805), (2, S, 0.695)],
         (3, 3, 3, 3, 3, 2, 2)),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_worked_cases(case: Case) -> None:
    chosen, counts = select(case.memories, case.current, RetrievalConfig().merged(case.config))
    assert [(s.candidate.id, s.candidate.verdict, s.score) for s in chosen] == list(case.expected)
    assert tuple(getattr(counts, name) for name in COUNTS) == case.counts


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("abc", "abc", 1.0),
        ("abc", "abd", 0.5),
        ("abcdefg", "abcdefghij", 0.7),
        ("abcdefghijk", "abcdefghilm", 9 / 13),
        ("", "", 1.0),
        ("abc", "", 0.0),
        ("", "abc", 0.0),
        ("aab", "abb", 1.0),
        ("abc", "xyz", 0.0),
    ],
)
def test_overlap_is_intersection_over_union(left: str, right: str, expected: float) -> None:
    assert overlap(frozenset(left), frozenset(right)) == expected


def test_elements_weigh_by_their_kind() -> None:
    weights = {"platform": 1.0, "channel": 3.0, "person": 3.0, "tool": 2.0, "thread": 0.5}
    here = {"platform:slack", "channel:c1", "person:ana", "tool:a", "tool:b", "thread:t1"}
    other_thread = here - {"thread:t1"} | {"thread:t2"}
    other_channel = other_thread - {"channel:c1"} | {"channel:c2"}
    assert round(overlap(here, other_thread, weights=weights), 3) == 0.917
    assert round(overlap(here, other_channel, weights=weights), 3) == 0.533
    assert overlap({"mood:good"}, {"mood:good", "mood:bad"}, weights=weights) == 0.5
    assert overlap({"a:1"}, {"b:1"}, weights={"a": 0.0, "b": 0.0}, both_empty=0.25) == 0.25


@pytest.mark.parametrize(
    ("k", "intent", "expected"),
    [(10, 1.0, 1.0), (7, 0.0, 0.455), (8, 0.96, 0.856), (10, -1.0, 0.65), (7, 1.0, 0.805)],
)
def test_scores_are_exact(k: int, intent: float, expected: float) -> None:
    """T13-T17; an opposite goal counts as none, and keeps its cosine for those who look."""
    chosen, _ = select([memory(1, k, intent)], TEN, RetrievalConfig())
    assert [(s.score, s.candidate.intent) for s in chosen] == [(expected, intent)]


def test_a_survivor_knows_how_often_its_action_worked_and_failed() -> None:
    group = [memory(number, 10, 1.0, verdict, act="save") for number, verdict in enumerate([S, F, S, S], start=1)]
    (survivor,), _ = select(group, TEN, RetrievalConfig())
    assert (survivor.candidate.id, survivor.n_success, survivor.n_failure) == (4, 3, 1)


def test_the_soft_gate_goes_on_by_intent_alone_and_says_so() -> None:
    far = [memory(1, 2, 0.5), memory(2, 1, 0.75), memory(3, 3, -0.5)]
    assert select(far, TEN, RetrievalConfig())[0] == []
    chosen, counts = select(far, TEN, RetrievalConfig(soft_gate=True, final_k=3))
    assert [(s.candidate.id, s.score) for s in chosen] == [(2, 0.75), (1, 0.5), (3, 0.0)]
    assert (counts.env_matched, counts.env_fallback) == (3, True)
    near = [memory(1, 8, 0.5), memory(2, 1, 1.0)]
    chosen, counts = select(near, TEN, RetrievalConfig(soft_gate=True, final_k=3))
    assert ([s.candidate.id for s in chosen], counts.env_fallback) == ([1], False)
    assert select([], TEN, RetrievalConfig(soft_gate=True))[1].env_fallback is False


def test_the_similarity_gate_lets_nothing_below_it_through() -> None:
    chosen, counts = select(THREE, TEN, RetrievalConfig(min_intent=0.5, final_k=3))
    assert [s.candidate.id for s in chosen] == [3, 2]
    assert (counts.state_ranked, counts.gated, counts.selected) == (3, 2, 2)


def test_one_voice_per_author_and_kind_but_the_askers_own() -> None:
    loud = [memory(number, 10, 1.0, author="bob") for number in (1, 2, 3)]
    loud.append(memory(4, 9, 1.0, F, author="bob"))
    own = [memory(number, 8, 1.0, author="ana") for number in (5, 6)]
    config = RetrievalConfig(final_k=10, max_per_author=1)
    assert [s.candidate.id for s in select([*loud, *own], TEN, config, asker="ana")[0]] == [3, 4, 6, 5]
    assert [s.candidate.id for s in select([*loud, *own], TEN, config, asker="cy")[0]] == [3, 4, 6]
    none = replace(config, max_per_author=0)
    assert [s.candidate.id for s in select([*loud, *own], TEN, none, asker="cy")[0]] == []


verdicts = st.sampled_from([S, F])
candidates = st.lists(
    st.tuples(st.integers(0, 10), st.floats(-1, 1), verdicts, st.integers(0, 4), st.sampled_from(["ana", "bob", "cy"])),
    max_size=12,
).map(
    lambda rows: [
        memory(number, k, intent, verdict, act=f"act{act}", author=author)
        for number, (k, intent, verdict, act, author) in enumerate(rows)
    ]
)
configs = st.builds(
    RetrievalConfig,
    env_threshold=st.floats(0, 1),
    top_k=st.none() | st.integers(0, 12),
    final_k=st.integers(0, 6),
    min_intent=st.floats(-1, 1),
    min_score=st.floats(0, 1),
    soft_gate=st.booleans(),
    max_per_author=st.none() | st.integers(0, 3),
)


@given(candidates, configs, st.randoms(use_true_random=False))
def test_the_order_of_loading_does_not_matter(found: list[Memory], config: RetrievalConfig, chance: object) -> None:
    shuffled = list(found)
    chance.shuffle(shuffled)  # type: ignore[attr-defined]  # hypothesis types it as object
    assert select(shuffled, TEN, config, asker="ana") == select(found, TEN, config, asker="ana")


@given(candidates, configs)
def test_every_stage_only_narrows(found: list[Memory], config: RetrievalConfig) -> None:
    chosen, counts = select(found, TEN, config, asker="ana")
    stages = [getattr(counts, name) for name in (*COUNTS[:4], "gated", *COUNTS[4:])]
    assert stages == sorted(stages, reverse=True)
    assert stages[0] == len(found)
    assert stages[-1] == len(chosen) <= config.final_k


@given(candidates, configs)
def test_what_is_chosen_is_fit_to_be_shown(found: list[Memory], config: RetrievalConfig) -> None:
    chosen, counts = select(found, TEN, config, asker="ana")
    assert all(s.candidate.intent >= config.min_intent and s.score >= config.min_score for s in chosen)
    assert counts.env_fallback or all(s.env >= config.env_threshold for s in chosen)
    assert len({s.candidate.signature for s in chosen}) == len(chosen)
    assert [s.rank for s in chosen] == sorted((s.rank for s in chosen), reverse=True)


@given(candidates, configs)
def test_both_classes_where_both_exist(found: list[Memory], config: RetrievalConfig) -> None:
    """From two on, a class that survived every stage is never crowded out; the best one always stays."""
    everything, _ = select(found, TEN, replace(config, final_k=1_000), asker="ana")
    chosen, _ = select(found, TEN, config, asker="ana")
    assert _verdicts(chosen[:1]) == _verdicts(everything[: min(1, config.final_k)])
    if config.final_k >= 2:
        assert _verdicts(chosen) == _verdicts(everything)


def _verdicts(scored: Sequence[Scored[int]]) -> set[Verdict]:
    return {item.candidate.verdict for item in scored}


@pytest.mark.parametrize(
    "wrong",
    [
        {"env_threshold": -0.1},
        {"envThreshold": 1.1},
        {"env_threshold": float("nan")},
        {"env_threshold": True},
        {"env_threshold": "0.7"},
        {"topK": -1},
        {"topK": 2.5},
        {"topK": True},
        {"finalK": -1},
        {"finalK": None},
        {"finalK": "2"},
        {"max_per_author": -1},
        {"min_intent": -1.5},
        {"min_score": float("inf")},
        {"element_weights": {"tool": -1.0}},
        {"element_weights": {"tool": float("nan")}},
        {"final": 2},
        {"__class__": 2},
    ],
    ids=str,
)
def test_a_wrong_setting_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError):
        RetrievalConfig().merged(wrong)


def test_a_partial_configuration_is_merged_over_the_defaults() -> None:
    assert (RetrievalConfig().env_threshold, RetrievalConfig().top_k, RetrievalConfig().final_k) == (0.7, 10, 2)
    merged = RetrievalConfig(min_intent=0.4).merged({"finalK": 5, "env_threshold": 0.5})
    assert merged == RetrievalConfig(min_intent=0.4, final_k=5, env_threshold=0.5)
    assert RetrievalConfig().merged(None) == RetrievalConfig() == RetrievalConfig().merged({})
