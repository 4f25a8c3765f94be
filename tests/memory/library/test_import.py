"""Memories that leave as text and come back: equal, once, and as the importer's own."""

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, strategies as st

from memory import (
    Episode,
    EpisodeStatus,
    MemoryEntry,
    StepGrade,
    add_grades_to_memories,
    content_hash,
    export_memories,
    grade_run,
    import_memories,
    load_export,
    retrieve_memories,
)
from memory.adapters.sql import SqlStore
from memory.errors import InvalidInput
from memory.library.export import plain
from memory.library.import_ import read_export
from memory.model import EnvironmentState, Grade, GradeSource, Outcome, Verdict
from memory.rules.retrieval.adapter import ScoredMemory
from tests.memory.adapters.store_samples import ALL, full_episode
from tests.memory.library.test_grading import Guessing
from tests.memory.library.test_lifecycle import PAGE, Agent


@pytest.fixture
def agents() -> Iterator[tuple[Agent, Agent]]:
    """Two programs with a memory each."""
    both = (Agent(SqlStore.in_memory()), Agent(SqlStore.in_memory()))
    yield both
    for agent in both:
        assert agent.service.audit.check() == []
        agent.service.store.close()


def a_history(agent: Agent) -> None:
    """Two runs with every kind of grade."""
    first = agent.ran("r1", "Open", "Delete", "Save", "Close")
    agent.clock.tick()
    add_grades_to_memories(
        first,
        {
            "taskCompleted": False,
            "overallExplanation": "never saved",
            "stepGrades": [
                {"stepNumber": 1, "isCorrect": True, "explanation": "opened", "confidence": 0.25},
                {"stepNumber": 2, "isCorrect": True, "explanation": "fine"},
            ],
        },
    )
    agent.clock.tick()
    add_grades_to_memories(first, [StepGrade(step_number=2, is_correct=False, explanation="no", correction="save")])
    grade_run(agent.ran("r2", "Open"), Guessing(False))


# Laws -----------------------------------------------------------------------------------------------------------

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
moments = st.integers(0, 2**42).map(lambda number: datetime(1971, 1, 1, tzinfo=UTC) + timedelta(milliseconds=number))
environments = st.builds(
    EnvironmentState,
    elements=st.lists(texts, max_size=3).map(tuple),
    url=texts,
    details=st.dictionaries(texts, st.none() | st.booleans() | st.integers(-5, 5) | texts, max_size=2),
)
given_grades = st.builds(
    Grade,
    source=st.sampled_from(GradeSource),
    is_correct=st.booleans(),
    explanation=texts,
    correction=texts,
    confidence=st.floats(0, 1),
    at=moments,
    grader=texts,
)
entries = st.builds(
    MemoryEntry,
    id=st.integers(1, 99),
    step_id=texts,
    env_pre=environments,
    internal_state=texts,
    think=texts,
    internal_state_embedding=st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=3).map(tuple),
    action=texts,
    action_element_text=texts,
    env_post=environments,
    outcome=st.sampled_from(Outcome),
    outcome_reason=texts,
    correction=texts,
    task_incomplete=texts,
    created_at=moments,
    step_num=st.integers(1, 9),
    rep=st.integers(1, 9),
    session_id=texts,
    run_id=texts,
    graded_by=st.none() | st.sampled_from(GradeSource),
    graded_at=st.none() | moments,
    grades=st.lists(given_grades, max_size=2).map(tuple),
    run_grades=st.lists(given_grades, max_size=2).map(tuple),
)
episodes = st.builds(
    lambda goal, output, reason, at: replace(
        full_episode(), goal=goal, output=output, outcome_reason=reason, created_at=at
    ),
    texts,
    texts,
    texts,
    moments,
)


@given(st.lists(entries | episodes, max_size=3))
def test_reading_an_export_gives_what_was_exported(memories: list[MemoryEntry | Episode]) -> None:
    assert load_export(export_memories(memories, "json")) == memories


@given(st.lists(entries | episodes, min_size=1, max_size=3))
def test_an_export_of_one_record_a_line_is_read_as_well(memories: list[MemoryEntry | Episode]) -> None:
    records = json.loads(export_memories(memories, "json"))
    lines = "".join(f"{json.dumps(each, ensure_ascii=False)}\r\n" for each in records)
    assert load_export(lines) == load_export(json.dumps(records))


def test_a_damaged_line_of_an_export_is_named() -> None:
    with pytest.raises(InvalidInput, match=r"no JSON export.*line 3 is damaged or cut off"):
        load_export('{"goal": "a", "output": "b"}\n\n{"goal": "c", "outp')


@given(entries)
def test_what_is_said_of_a_memory_does_not_make_it_another_one(entry: MemoryEntry) -> None:
    graded = replace(entry, outcome=Outcome.SUCCESS, outcome_reason="x", correction="y", grades=(), id=entry.id + 1)
    assert content_hash(graded) == content_hash(entry)
    assert content_hash(replace(entry, action=entry.action + "!")) != content_hash(entry)
    assert len(content_hash(entry)) == 64


sound = entries.filter(lambda entry: entry.action.strip() != "")


@given(st.lists(sound, max_size=4))
def test_importing_twice_adds_nothing(given_entries: list[MemoryEntry]) -> None:
    agent = Agent(SqlStore.in_memory())
    text = export_memories(given_entries, "json")
    first = import_memories(text, episodic=agent.ana, session_id="s")
    before = agent.all()
    again = import_memories(text, episodic=agent.ana, session_id="s")
    assert first.imported == len(before) <= len(given_entries)
    assert first.imported + first.skipped == len(given_entries)
    assert (again.imported, again.skipped, agent.all()) == (0, len(given_entries), before)
    assert agent.service.audit.check() == []


# Memory entries -------------------------------------------------------------------------------------------------


def test_export_then_import_is_identity(agents: tuple[Agent, Agent]) -> None:
    one, two = agents
    a_history(one)
    text = export_memories(one.all(), "json")
    report = import_memories(text, episodic=two.ana)
    assert (report.imported, report.skipped, report.errors) == (5, 0, ())
    assert two.all() == one.all()
    assert export_memories(two.all(), "json") == text
    assert import_memories(text, episodic=one.ana).imported == 0
    assert import_memories(text, episodic=two.ana).imported == 0


def test_what_was_imported_comes_back_as_a_lesson(agents: tuple[Agent, Agent]) -> None:
    one, two = agents
    a_history(one)
    import_memories(export_memories(one.all(), "json"), episodic=two.ana, session_id="mine")
    assert two.all() == []
    context = two.begin(session="mine")
    assert context.rep == 3
    assert sorted(two.found(context)) == [("Delete", "failure"), ("Open", "success")]


def test_an_import_is_the_importers_own_and_nobody_elses(agents: tuple[Agent, Agent]) -> None:
    one, two = agents
    a_history(one)
    text = export_memories(one.all(), "json")
    import_memories(text, episodic=two.ana)
    import_memories(text, episodic=two.of("bob"))
    assert len(two.all()) == len(two.all(of=two.of("bob"))) == 5
    two.service.privacy.forget(two.ana.scope.workspace, "ana")
    assert (two.all(), len(two.all(of=two.of("bob")))) == ([], 5)
    assert import_memories(text, episodic=two.ana).imported == 5


def test_the_seeds_own_export_is_read(agents: tuple[Agent, Agent]) -> None:
    agent = agents[0]
    seeds = {
        "id": 7, "stepId": "a", "envPre": {"elements": ["b", "a"], "url": "/tickets"}, "internalState": "look",
        "internalStateEmbedding": [1, 0.5], "action": "click('42')", "actionElementText": "Priority dropdown",
        "envPost": {"elements": []}, "outcome": "failure", "outcomeReason": "wrong", "correction": "the other one",
        "taskIncomplete": "not set", "createdAt": 1760000000000, "stepNum": 2, "rep": 1,
    }  # fmt: skip
    assert import_memories(json.dumps([seeds]), episodic=agent.ana, session_id="s").imported == 1
    (entry,) = agent.all()
    assert (entry.id, entry.step_id, entry.step_num, entry.run_id) == (7, "a", 2, "imported-1")
    assert entry.env_pre == EnvironmentState(elements=("a", "b"), url="/tickets")
    assert entry.created_at == datetime(2025, 10, 9, 8, 53, 20, tzinfo=UTC)
    assert (entry.outcome, entry.outcome_reason, entry.correction, entry.task_incomplete) == (
        Outcome.FAILURE, "wrong", "the other one", "not set",
    )  # fmt: skip
    assert entry.internal_state_embedding == (1.0, 0.5)


def test_a_step_without_a_date_is_of_the_day_of_its_import_and_imported_once(agents: tuple[Agent, Agent]) -> None:
    agent = agents[0]
    steps = [{"id": each, "stepNum": each, "action": "click('42')", "internalState": "look"} for each in (1, 2)]
    before = agent.clock.tick()
    for imported in (2, 0):
        assert import_memories(json.dumps(steps), episodic=agent.ana, session_id="s").imported == imported
        agent.clock.tick(days=1)
    assert {entry.created_at for entry in agent.all()} == {before}
    later = json.dumps([{**steps[0], "id": 3, "stepNum": 3, "createdAt": "2999-01-01T00:00:00Z"}])
    now = agent.clock.tick()
    for imported in (1, 0):
        assert import_memories(later, episodic=agent.ana, session_id="s").imported == imported
    assert max(entry.created_at for entry in agent.all()) == now


def test_a_broken_record_does_not_keep_the_others_out(agents: tuple[Agent, Agent]) -> None:
    agent = agents[0]
    a_history(agent)
    records = json.loads(export_memories(agent.all(), "json"))
    records[1] |= {"outcome": "great"}
    records[2] |= {"mood": "good"}
    records[3] |= {"session_id": ""}
    report = import_memories(json.dumps([*records, 5]), episodic=agents[1].ana)
    assert [(error.position, error.reason.split(";")[0]) for error in report.errors] == [
        (2, "outcome: Input should be 'pending', 'success' or 'failure', got 'great'"),
        (3, "it has no field 'mood'"),
        (6, "expected an object, got int"),
        (4, "no session is named"),
    ]
    assert report.imported == 2


def test_what_other_programs_leave_out_of_an_episode_is_filled_in(agents: tuple[Agent, Agent]) -> None:
    agent = agents[0]
    seeds = [{"goal": f"{status} {n}", "status": status} for status in ("success", "failure", "expand") for n in (1, 2)]
    ahead = {"goal": "ahead", "status": "success", "id": "e1", "created_at": "9999-12-31T23:59:59Z"}
    text = json.dumps([*seeds, {"goal": "nothing said"}, ahead | {"graded_at": ahead["created_at"]}])
    for imported in (8, 0):
        assert import_memories(text, episodic=agent.ana).imported == imported
    found = {each.goal: each for each in agent.service.audit.episodes(agent.ana.scope.workspace, ALL)}
    assert {each.created_at for each in found.values()} == {agent.clock()}
    assert found["ahead"].graded_at == agent.clock()
    assert found["nothing said"].status is EpisodeStatus.PENDING
    for each in seeds:
        stored = found[each["goal"]]
        assert (stored.status, stored.action, stored.action_target) == (each["status"], "answer", each["goal"])
    assert agent.ana.retrieve("success 1", 1)[0].goal == "success 1"


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        ("strength", float("nan"), "finite"),
        ("rep", 2**63, "64 bits"),
        ("goal", "\0", "NUL"),
        ("goal", "\ud83d", "surrogate"),
        ("goal", None, "needs the field 'goal'"),
        ("created_at", "2026-01-01T00:00:00", "aware"),
        ("mood", "good", "no field"),
        ("trajectory", [{"kind": "act", "arguments": {"a": json.loads("[" * 60 + "]" * 60)}}], "levels deep"),
        ("trajectory", [{"kind": "act", "arguments": {"a": float("inf")}}], "finite"),
    ],
)
def test_one_wrong_episode_is_named_and_the_others_are_read(field: str, value: object, reason: str) -> None:
    one = full_episode()
    record = json.loads(export_memories([one], "json"))[0]
    memories, unreadable = read_export(json.dumps([record, record | {field: value}, record]))
    assert memories == [one, one]
    assert [each.position for each in unreadable] == [2]
    assert reason in unreadable[0].reason


def test_an_episode_is_read_as_other_programs_write_it() -> None:
    one = full_episode()
    record = json.loads(export_memories([one], "json"))[0]
    number = record.pop("step_number")
    other = record | {"stepNumber": number, "model": None, "created_at": 1760000000000}
    assert load_export(json.dumps([record | {"step_number": number}, other])) == [
        one,
        replace(one, model="", created_at=datetime(2025, 10, 9, 8, 53, 20, tzinfo=UTC)),
    ]


@pytest.mark.parametrize("text", ["", "{", "{}", "5", "null", "id,goal\n1,x"])
def test_what_is_no_export_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match=r"JSON"):
        import_memories(text, episodic=Agent(SqlStore.in_memory()).ana)


# Episodes -------------------------------------------------------------------------------------------------------


def test_episodes_are_imported_once_and_count_as_ones_own(agents: tuple[Agent, Agent]) -> None:
    one, two = agents
    one.clock.tick()
    for goal, status in [("deploy", "success"), ("bake bread", "failure"), ("sing", "pending")]:
        one.clock.tick()
        one.ana.store(Episode(goal=goal, output=f"how to {goal}", status=EpisodeStatus(status)))
    goals = ("deploy", "bake bread", "sing")
    stored = [each for goal in goals[:2] for each in one.ana.retrieve(goal, 1)]
    text = export_memories(stored, "json")
    for count in (2, 0, 0):
        assert import_memories(text, episodic=two.ana).imported == count
    got = [each for goal in goals for each in two.ana.retrieve(goal, 1)]
    assert [(e.id, e.goal, e.output, e.status, e.created_at, e.graded_at, e.action, e.trajectory) for e in got] == [
        (e.id, e.goal, e.output, e.status, e.created_at, e.graded_at, e.action, e.trajectory) for e in stored
    ]
    assert import_memories(text, episodic=one.ana).skipped == 2
    assert import_memories(text, episodic=two.of("bob")).imported == 2
    assert import_memories(text, episodic=two.of("bob")).imported == 0
    assert [e.goal for e in two.of("bob").retrieve("deploy", 9)] == ["deploy"]


def test_what_is_said_of_a_whole_run_holds_for_what_joins_it_later(agents: tuple[Agent, Agent]) -> None:
    one, two = agents
    first, later = (Episode(goal=goal, output=f"how to {goal}", run_id="r1") for goal in ("deploy", "sing"))
    import_memories(export_memories([first], "json"), episodic=two.ana)
    for agent in agents:
        with agent.service.store.read() as tx:
            known = tx.episodes.of_run(agent.ana.scope.workspace, "r1") or [first]
        assert agent.ana.store(replace(known[0], status=EpisodeStatus.SUCCESS)).status is EpisodeStatus.SUCCESS
    assert one.ana.store(later).status is EpisodeStatus.SUCCESS
    import_memories(export_memories([later], "json"), episodic=two.ana)
    assert [[each.goal for each in agent.ana.retrieve("sing", 1)] for agent in agents] == [["sing"], ["sing"]]


def test_a_file_brings_no_votes_and_no_audience(agents: tuple[Agent, Agent]) -> None:
    forged = full_episode()
    assert forged.verdicts.workspace is Verdict.FAILURE
    import_memories(export_memories([forged], "json"), episodic=agents[0].ana)
    with agents[0].service.store.read() as tx:
        (stored,) = tx.episodes.find_prefix(forged.id)
        votes = tx.teaching.votes(stored.workspace, stored.run_id)
    assert {vote.actor for vote in votes} == {"ana"}
    assert (stored.workspace, stored.person, stored.author, stored.promoted) == (
        agents[0].ana.scope.workspace, "ana", "ana", None,
    )  # fmt: skip
    assert (stored.verdicts.channel, stored.verdicts.workspace) == (Verdict.PENDING, Verdict.PENDING)


# Text -----------------------------------------------------------------------------------------------------------

DROPDOWN = MemoryEntry(
    id=1,
    env_pre=EnvironmentState(url="https://app.example/tickets?id=7"),
    action="click('42')",
    action_element_text="Priority dropdown",
    outcome=Outcome.SUCCESS,
    outcome_reason="Correctly opened the priority selector",
)
DELETE = replace(
    DROPDOWN,
    id=2,
    action_element_text="Delete button",
    outcome=Outcome.FAILURE,
    outcome_reason="Wrong action — task was to change priority",
    correction='Select "High" from the priority dropdown',
)


def scored(entry: MemoryEntry, score: float) -> ScoredMemory[MemoryEntry]:
    verdict = Verdict.SUCCESS if entry.outcome is Outcome.SUCCESS else Verdict.FAILURE
    return ScoredMemory(memory=entry, env_score=score, int_score=score, score=score, verdict=verdict)


SEED = """\
# Lessons From Previous Attempt
These are results from a PREVIOUS attempt at this task.
- REPEAT: actions that worked before — do them again now
- AVOID: mistakes from before — do NOT repeat them
1. REPEAT: [/tickets 85%] click: 'Priority dropdown'
This worked: Correctly opened the priority selector
2. AVOID: [/tickets 72%] click: 'Delete button'
This failed: Wrong action — task was to change priority
Do this instead: Select "High" from the priority dropdown"""


def test_the_prompt_is_the_seeds_line_by_line() -> None:
    assert export_memories([scored(DROPDOWN, 0.845), scored(DELETE, 0.72)], "prompt") == SEED
    bare = export_memories([DROPDOWN, DELETE], "prompt")
    assert bare == SEED.replace(" 85%", "").replace(" 72%", "")


def test_the_prompt_leaves_out_what_is_not_there() -> None:
    pending = replace(DROPDOWN, outcome=Outcome.PENDING)
    assert export_memories([], "prompt") == export_memories([pending], "prompt") == ""
    plainest = MemoryEntry(id=1, action="click('42')", outcome=Outcome.FAILURE, task_incomplete="never saved")
    assert export_memories([pending, plainest], "prompt").splitlines()[4:] == [
        "1. AVOID: click: '42'",
        "The task still failed because: never saved",
    ]
    right = replace(DROPDOWN, correction="not shown for what was right")
    assert "Do this instead" not in export_memories([right], "prompt")


def test_what_was_retrieved_can_be_exported(agents: tuple[Agent, Agent]) -> None:
    agent = agents[0]
    agent.grade(agent.ran("r1"), True)
    found = retrieve_memories(agent.begin(), env=PAGE, internal_state="s")
    assert "1. REPEAT: [100%] click: 'Save'" in export_memories(found.memories, "prompt")
    assert load_export(export_memories(found.memories, "json")) == agent.all()


@given(texts, texts, texts)
def test_a_spreadsheet_of_entries_reads_back_and_holds_no_formula(state: str, reason: str, element: str) -> None:
    entry = replace(DELETE, internal_state=state, outcome_reason=reason, action_element_text=element)
    rows = list(csv.DictReader(io.StringIO(export_memories([entry, DROPDOWN], "csv"), newline="")))
    assert [row["outcome"] for row in rows] == ["failure", "success"]
    for name, value in (("internal_state", state), ("outcome_reason", reason), ("action_element_text", element)):
        assert rows[0][name] in (value, f"'{value}")
    cells = [cell for row in rows for cell in row.values()]
    assert not any(cell.startswith(("=", "+", "-", "@", "\t", "\r", "\n")) for cell in cells)


def test_two_kinds_do_not_share_a_spreadsheet() -> None:
    with pytest.raises(InvalidInput, match="one kind at a time"):
        export_memories([DROPDOWN, Episode(goal="x")], "csv")
    with pytest.raises(InvalidInput, match="cannot export a str"):
        export_memories(["x"], "json")  # type: ignore[list-item]  # the wrong value on purpose


def test_json_holds_every_field_of_an_entry() -> None:
    (written,) = json.loads(export_memories([DELETE], "json"))
    assert list(written) == [field.name for field in fields(MemoryEntry)]
    assert written["created_at"] == plain(DELETE.created_at)
    assert DELETE.created_at + timedelta(0) == datetime(1970, 1, 1, tzinfo=UTC)
